#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// Values of settings as text, by name: what flags, files and keyword arguments come down to.
using SettingValues = std::map<std::string, std::string>;

/// What a person needs to know of one setting.
struct SettingInfo {
  std::string name;
  std::string default_value;
  std::string rule;  // "> 0", "shared or own"
  std::string meaning;
  std::string origin;  // where the default comes from
};

/// The range of a real setting, and how messages put it.
struct LowerLimit {
  double low;
  bool low_included;
  static LowerLimit positive() { return {0.0, false}; }
  static LowerLimit non_negative() { return {0.0, true}; }
};

/// One row of a solver's table of settings: validation, flags, help and documents derive from it.
template <typename Settings>
struct Setting {
  std::string name;
  std::string meaning;
  std::string origin;
  std::string rule;
  /// Parses `text` into the member; false where the text or its value breaks the rule.
  std::function<bool(Settings&, std::string_view text)> assign;
  std::function<std::string(const Settings&)> text;
};

namespace settings {

bool parse_real(std::string_view text, const LowerLimit& bound, double& value);
std::string real_text(double value);
std::string bound_text(const LowerLimit& bound);
[[noreturn]] void refuse_value(std::string_view method, std::string_view name, std::string_view value,
                               std::string_view rule);
[[noreturn]] void refuse_name(std::string_view method, std::string_view name,
                              const std::vector<std::string>& known);

template <typename S>
Setting<S> real(std::string name, double S::*member, LowerLimit bound, std::string meaning,
                std::string origin) {
  return {std::move(name),
          std::move(meaning),
          std::move(origin),
          bound_text(bound),
          [=](S& s, std::string_view text) { return parse_real(text, bound, s.*member); },
          [=](const S& s) { return real_text(s.*member); }};
}

/// A member of an enum whose values are 0, 1, … in the order of `names`.
template <typename S, typename Enum>
Setting<S> choice(std::string name, Enum S::*member, const std::vector<std::string>& names,
                  std::string meaning, std::string origin) {
  std::string rule;
  for (const std::string& each : names) rule += (rule.empty() ? "" : " or ") + each;
  return {std::move(name),
          std::move(meaning),
          std::move(origin),
          std::move(rule),
          [=](S& s, std::string_view text) {
            for (std::size_t i = 0; i < names.size(); ++i)
              if (names[i] == text) {
                s.*member = static_cast<Enum>(i);
                return true;
              }
            return false;
          },
          [=](const S& s) { return names[static_cast<std::size_t>(s.*member)]; }};
}

/// `defaults` with the values given put in; throws InputError naming method, setting, value and rule.
template <typename S>
S apply(std::string_view method, const std::vector<Setting<S>>& table, S defaults,
        const SettingValues& values) {
  for (const auto& [name, value] : values) {
    bool known = false;
    for (const Setting<S>& setting : table) {
      if (setting.name != name) continue;
      known = true;
      if (!setting.assign(defaults, value)) refuse_value(method, name, value, setting.rule);
    }
    if (!known) {
      std::vector<std::string> names;
      for (const Setting<S>& setting : table) names.push_back(setting.name);
      refuse_name(method, name, names);
    }
  }
  return defaults;
}

/// Throws InputError where a value breaks its rule, for settings that did not come as text.
template <typename S>
void verify(std::string_view method, const std::vector<Setting<S>>& table, const S& values) {
  S copy = values;
  for (const Setting<S>& setting : table)
    if (const std::string text = setting.text(values); !setting.assign(copy, text))
      refuse_value(method, setting.name, text, setting.rule);
}

template <typename S>
std::vector<SettingInfo> describe(const std::vector<Setting<S>>& table, const S& defaults) {
  std::vector<SettingInfo> infos;
  for (const Setting<S>& setting : table)
    infos.push_back({setting.name, setting.text(defaults), setting.rule, setting.meaning, setting.origin});
  return infos;
}

/// Every setting with its value as the table writes it: equal settings give equal text.
template <typename S>
SettingValues written(const std::vector<Setting<S>>& table, const S& values) {
  SettingValues texts;
  for (const Setting<S>& setting : table) texts[setting.name] = setting.text(values);
  return texts;
}

}  // namespace settings
}  // namespace yosida
