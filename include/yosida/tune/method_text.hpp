#pragma once

#include <string>

#include "yosida/export.hpp"
#include "yosida/solver/methods.hpp"

namespace YOSIDA_EXPORT yosida {

/// A method with settings, as one writes it: "sho:alpha=0.05".
struct MethodText {
  const Method* method;
  SettingValues settings;  // those that the text names
};

/// NAME or NAME:SETTING=VALUE:SETTING=VALUE… Throws InputError for an unknown method, what is no setting, or
/// one that is given twice.
MethodText parse_method(const std::string& text);
/// Whether the method has a setting of this name.
bool has_setting(const Method& method, const std::string& name);
/// The method with every setting that is not its default's.
std::string name_with_settings(const Method& method, const SettingValues& all_settings);

}  // namespace yosida
