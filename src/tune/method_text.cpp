#include "yosida/tune/method_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "yosida/error.hpp"

namespace yosida {
namespace {

SettingValues::value_type parse_setting(const std::string& whole, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError(
        fmt::format("methods = {}: {} must be SETTING=VALUE, as in sho:alpha=0.05", whole, text));
  std::string name = text.substr(0, equals);
  std::replace(name.begin(), name.end(), '-', '_');
  return {name, text.substr(equals + 1)};
}

}  // namespace

MethodText parse_method(const std::string& text) {
  std::size_t end = std::min(text.find(':'), text.size());
  MethodText parsed{.method = &method(text.substr(0, end)), .settings = {}};
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    end = std::min(text.find(':', begin), text.size());
    const auto setting = parse_setting(text, text.substr(begin, end - begin));
    if (!parsed.settings.insert(setting).second)
      throw InputError(fmt::format("methods = {}: {} is given twice", text, setting.first));
  }
  return parsed;
}

bool has_setting(const Method& method, const std::string& name) {
  return std::any_of(method.settings.begin(), method.settings.end(),
                     [&](const SettingInfo& setting) { return setting.name == name; });
}

std::string name_with_settings(const Method& method, const SettingValues& all_settings) {
  std::string name = method.name;
  const SettingValues defaults = method.all_settings({});
  for (const auto& [setting, value] : all_settings)
    if (value != defaults.at(setting)) name += fmt::format(":{}={}", setting, value);
  return name;
}

}  // namespace yosida
