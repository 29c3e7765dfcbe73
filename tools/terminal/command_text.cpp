#include "command_text.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "folding.hpp"

namespace yosida::cli {
namespace {

OptionText describe(const CLI::Option& option, const Choices& choices) {
  OptionText text;
  text.is_positional = option.get_positional();
  text.is_list = option.get_delimiter() == ',';
  if (text.is_positional) text.names.push_back(option.get_name());
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  // Types that begin with : are rules, which messages name.
  if (option.get_items_expected_max() > 0)
    text.value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  text.help = option.get_description();
  text.group = option.get_group() == kHiddenGroup ? "" : option.get_group();
  text.choices = choices(text.names.back());
  return text;
}

/// "  --train TEXT        training rows", in two columns.
std::string entry(const std::string& head, const std::string& help, std::size_t width) {
  constexpr std::size_t kHead = 24;
  std::string text = "  " + head;
  if (text.size() + 2 > kHead)
    text = folded(text, width) + "\n" + std::string(kHead, ' ');
  else
    text.resize(kHead, ' ');
  for (const char c : folded(help, width - kHead))
    text += c == '\n' ? "\n" + std::string(kHead, ' ') : std::string(1, c);
  return text + "\n";
}

std::string head_of(const OptionText& option) {
  return fmt::format("{}{}{}", fmt::join(option.names, ", "),
                     option.value.empty() || option.is_positional ? "" : " ",
                     option.is_positional ? "" : option.value);
}

/// Examples are commands, which go on after a \.
std::string folded_footer(const std::string& footer, std::size_t width) {
  std::string text;
  std::string_view left = footer;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, std::min(left.find('\n'), left.size()));
    const bool is_command = line.starts_with("  yosida ") && line.find("  ", 2) == std::string_view::npos;
    text += folded(line, width, is_command ? " \\" : "") + "\n";
    left.remove_prefix(std::min(line.size() + 1, left.size()));
  }
  return text;
}

}  // namespace

std::string CommandText::name() const { return path.substr(path.rfind(' ') + 1); }

CommandText describe(const CLI::App& app, const Choices& choices, const std::string& above) {
  CommandText text;
  text.path = above.empty() ? app.get_name() : above + " " + app.get_name();
  text.description = app.get_description();
  text.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) text.options.push_back(describe(*option, choices));
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) text.commands.push_back(describe(*command, choices, text.path));
  return text;
}

std::string help_text(const CommandText& command, std::size_t width) {
  std::string usage = command.path;
  std::vector<std::string> groups;
  bool has_positional = false;
  for (const OptionText& option : command.options) {
    has_positional |= option.is_positional;
    if (option.is_positional) usage += fmt::format(" {}", option.names[0]);
    if (!option.group.empty() && std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  }
  if (!command.commands.empty()) usage += " COMMAND";
  std::string text =
      folded(command.description, width) + "\n\n" + folded("Usage: " + usage + " [OPTIONS]", width) + "\n";
  if (has_positional) text += "\nArguments:\n";
  for (const OptionText& option : command.options)
    if (option.is_positional) text += entry(option.names[0], option.help, width);
  if (!command.commands.empty()) text += "\nCommands:\n";
  for (const CommandText& below : command.commands) text += entry(below.name(), below.description, width);
  // What stands apart for being asked for first, then the others as they were added, then help itself.
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return group != "Options"; });
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return group.starts_with("Most"); });
  for (const std::string& group : groups) {
    std::string entries;
    for (const OptionText& option : command.options)
      if (option.group == group && !option.is_positional)
        entries += entry(head_of(option), option.help, width);
    if (!entries.empty()) text += folded(fmt::format("\n{}:\n", group), width) + entries;
  }
  if (!command.footer.empty()) text += "\n" + folded_footer(command.footer, width);
  return text;
}

}  // namespace yosida::cli
