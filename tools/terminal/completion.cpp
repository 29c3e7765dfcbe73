#include <fmt/format.h>

#include <algorithm>

#include "command_text.hpp"
#include "yosida/nearest.hpp"

namespace yosida::cli {
namespace {

/// In single quotes of a shell; for bash and zsh, which end them to put one in.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The same for fish, which escapes them.
std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result + "'";
}

/// The first clause of a help text: a menu has no room for more.
std::string brief(const std::string& help) {
  std::string text =
      help.substr(0, std::min({help.find("; "), help.find(": "), help.find(" ["), help.size()}));
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text = text.substr(0, text.rfind(' ', kMost)) + " ...";
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::vector<std::string> flags_of(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options)
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> names_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name());
  return names;
}

/// The values of the first argument that has some.
std::vector<std::string> positional_choices(const CommandText& command) {
  for (const OptionText& option : command.options)
    if (option.is_positional && !option.choices.empty()) return option.choices;
  return {};
}

template <typename Action>
void for_each_command(const CommandText& command, Action&& action) {
  action(command);
  for (const CommandText& below : command.commands) for_each_command(below, action);
}

// ---- bash ----

std::string bash_script(const CommandText& root) {
  std::string commands, values;
  for_each_command(root, [&](const CommandText& command) {
    std::vector<std::string> words = names_of(command.commands);
    for (const std::string& choice : positional_choices(command)) words.push_back(choice);
    commands += fmt::format("    {})\n      words={}\n      flags={} ;;\n", quoted(command.path),
                            quoted(fmt::format("{}", fmt::join(words, " "))),
                            quoted(fmt::format("{}", fmt::join(flags_of(command), " "))));
    for (const OptionText& option : command.options) {
      if (option.is_positional || option.value.empty()) continue;
      for (const std::string& name : option.names)
        values +=
            fmt::format("    {}) values={} ;;\n", quoted(command.path + " " + name),
                        quoted(option.choices.empty() ? std::string("<file>")
                                                      : fmt::format("{}", fmt::join(option.choices, " "))));
    }
  });
  return fmt::format(R"(# Completion of {0} for bash.
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} path={0} words= flags= values= i
  _{0}_words() {{
    words= flags=
    case $1 in
{1}    esac
  }}
  _{0}_words "$path"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ " $words " == *" ${{COMP_WORDS[i]}} "* ]]; then
      path="$path ${{COMP_WORDS[i]}}"
      _{0}_words "$path"
    fi
  done
  case "$path ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{2}  esac
  COMPREPLY=()
  if [[ $values == "<file>" ]]; then
    compopt -o default
  elif [[ $values ]]; then
    # The last of a list, as in --methods a,b.
    local list=
    [[ $current == *,* ]] && list=${{current%,*}},
    COMPREPLY=($(compgen -P "$list" -W "$values" -- "${{current##*,}}"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    compopt -o default
  fi
}}
complete -F _{0} {0}
)",
                     root.path, commands, values);
}

// ---- zsh ----

/// "name:what it is" for _describe and specifications of _arguments.
std::string zsh_escaped(const std::string& text, const std::string& special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_function(const std::string& path) {
  std::string name = "_" + path;
  std::replace(name.begin(), name.end(), ' ', '_');
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string zsh_script(const CommandText& root) {
  std::string text = fmt::format("#compdef {0}\n# Completion of {0} for zsh.\n", root.path);
  for_each_command(root, [&](const CommandText& command) {
    text += fmt::format("\n{}() {{\n", zsh_function(command.path));
    std::string arguments;
    for (const OptionText& option : command.options) {
      const std::string action = option.choices.empty() ? "_files"
                                 : option.is_list
                                     ? fmt::format("_values -s , value {}", fmt::join(option.choices, " "))
                                     : fmt::format("({})", fmt::join(option.choices, " "));
      if (option.is_positional) {
        arguments += fmt::format(
            " \\\n    {}", quoted(fmt::format("*:{}:{}", zsh_escaped(brief(option.help), ":"), action)));
        continue;
      }
      for (const std::string& name : option.names) {
        const std::string value = option.value.empty() ? "" : fmt::format(":value:{}", action);
        arguments += fmt::format(
            " \\\n    {}",
            quoted(fmt::format("{}[{}]{}", name, zsh_escaped(brief(option.help), "[]:\\"), value)));
      }
    }
    if (command.commands.empty()) {
      text += fmt::format("  _arguments{}\n}}\n", arguments);
      return;
    }
    std::string described, cases;
    for (const CommandText& below : command.commands) {
      described += fmt::format(
          " \\\n      {}",
          quoted(fmt::format("{}:{}", below.name(), zsh_escaped(brief(below.description), ":\\"))));
      cases += fmt::format("      {}) {} ;;\n", below.name(), zsh_function(below.path));
    }
    text += fmt::format(
        "  local line state\n  _arguments -C{} \\\n    '1: :->command' '*::argument:->rest'\n"
        "  case $state in\n    command)\n      local -a commands=({})\n      _describe command commands ;;\n"
        "    rest)\n      case $line[1] in\n{}      esac ;;\n  esac\n}}\n",
        arguments, described, cases);
  });
  return text + fmt::format("\n{} \"$@\"\n", zsh_function(root.path));
}

// ---- fish ----

/// When a command of this path is being typed.
std::string fish_condition(const CommandText& root, const CommandText& command) {
  std::string text;
  std::string_view left =
      std::string_view(command.path).substr(std::min(root.path.size(), command.path.size()));
  while (!left.empty()) {
    left.remove_prefix(1);
    const std::string_view word = left.substr(0, std::min(left.find(' '), left.size()));
    text += fmt::format("{}__fish_seen_subcommand_from {}", text.empty() ? "" : "; and ", word);
    left.remove_prefix(word.size());
  }
  if (command.commands.empty()) return text;
  return fmt::format("{}{}not __fish_seen_subcommand_from {}", text, text.empty() ? "" : "; and ",
                     fmt::join(names_of(command.commands), " "));
}

std::string fish_script(const CommandText& root) {
  std::string text = fmt::format("# Completion of {} for fish.\n", root.path);
  for_each_command(root, [&](const CommandText& command) {
    const std::string head =
        fmt::format("complete -c {} -n {}", root.path, fish_quoted(fish_condition(root, command)));
    for (const CommandText& below : command.commands)
      text += fmt::format("{} -f -a {} -d {}\n", head, below.name(), fish_quoted(brief(below.description)));
    if (const auto choices = positional_choices(command); !choices.empty())
      text += fmt::format("{} -f -a {}\n", head, fish_quoted(fmt::format("{}", fmt::join(choices, " "))));
    for (const OptionText& option : command.options) {
      if (option.is_positional) continue;
      text += head;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                       : fmt::format(" -s {}", name.substr(1));
      const std::string choices = fmt::format("{}", fmt::join(option.choices, " "));
      if (!choices.empty())
        text += fmt::format(
            " -x -a {}",
            fish_quoted(option.is_list
                            ? fmt::format("(__fish_complete_list , 'string split \" \" \"{}\"')", choices)
                            : choices));
      else if (!option.value.empty())
        text += " -r";
      text += fmt::format(" -d {}\n", fish_quoted(brief(option.help)));
    }
  });
  return text;
}

}  // namespace

std::string completion_script(const CommandText& root, const std::string& shell) {
  if (shell == "bash") return bash_script(root);
  if (shell == "zsh") return zsh_script(root);
  if (shell == "fish") return fish_script(root);
  refuse_unknown("shell", shell, {"bash", "zsh", "fish"}, "must be bash, zsh or fish");
}

}  // namespace yosida::cli
