#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "flags.hpp"
#include "yosida/tune/method_text.hpp"

namespace yosida::cli {

std::string flag_of_setting(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

void print_method(const Method& method) {
  fmt::print("{}: {}\n", method.name, method.summary);
  if (method.counts_trials)
    fmt::print("  {} trials unless a limit is given\n", method.default_iterations);
  else
    fmt::print("  starts from lambda {}; {} iterations unless a limit is given\n", method.lambda0,
               method.default_iterations);
  for (const SettingInfo& setting : method.settings) {
    fmt::print("\n  {} {}\n      {}\n      must be {}; default from: {}\n", flag_of_setting(setting.name),
               setting.default_value, setting.meaning, setting.rule, setting.origin);
  }
}

void add_methods(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("methods", "the methods there are, or one method's settings");
  auto name = std::make_shared<std::string>();
  command->add_option("method", *name, "show the settings, defaults and meanings of this one");
  command->footer("Examples:\n  yosida methods\n  yosida methods my-hpo");
  command->callback([name, &exit_code] {
    exit_code = kOk;
    if (!name->empty()) return print_method(method(*name));
    std::size_t width = 0;
    for (const Method& each : methods()) width = std::max(width, each.name.size());
    for (const Method& each : methods())
      fmt::print("{:<{}}  {}{}\n", each.name, width, each.summary,
                 each.name == kDefaultMethod ? " (the default)" : "");
    fmt::print("\nyosida methods NAME shows the settings of one.\n");
  });
}

}  // namespace yosida::cli
