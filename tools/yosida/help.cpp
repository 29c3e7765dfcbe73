#include "help.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "command_text.hpp"
#include "commands.hpp"
#include "folding.hpp"
#include "output.hpp"
#include "yosida/data/catalog.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"
#include "yosida/study/experiments.hpp"
#include "yosida/tune/method_text.hpp"
#include "yosida/tune/tune.hpp"
#include "yosida/version.hpp"

namespace yosida::cli {
namespace {

template <typename Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

/// Values that shells offer.
std::vector<std::string> choices_of(const std::string& option) {
  static const std::map<std::string, std::vector<std::string>> known = {
      {"--method", names_of(methods())},
      {"--methods", names_of(methods())},
      {"--help-method", names_of(methods())},
      {"--model", names_of(models())},
      {"--measure", names_of(measures())},
      {"--problem", names_of(study::experiments())},
      {"--x", {"raw", "center", "standardize", "minmax", "difference"}},
      {"--y", {"raw", "center", "standardize"}},
      {"--missing", {"refuse", "mean", "drop"}},
      {"--lambda-per", {"shared", "feature", "class", "group", "target", "row"}},
      {"--show", {"final", "best"}},
      {"--class-weights", {"balanced"}},
      {"--export", {"python", "c", "sql", "onnx"}},
      {"method", names_of(methods())},
      {"shell", {"bash", "zsh", "fish"}},
  };
  const auto found = known.find(option);
  return found == known.end() ? std::vector<std::string>() : found->second;
}

std::size_t help_width() {
  constexpr std::size_t kInPipes = 80, kWidest = 100;
  const std::size_t width = columns_of(STDOUT_FILENO);
  return width == kUnlimited ? kInPipes : std::min(width, kWidest);
}

std::string help_of(const CLI::App& app) {
  std::string above;
  for (const CLI::App* parent = app.get_parent(); parent != nullptr; parent = parent->get_parent())
    above = parent->get_name() + (above.empty() ? "" : " ") + above;
  return help_text(describe(app, choices_of, above), help_width());
}

/// As they lie below a share/ folder.
void write_help(const CLI::App& app, const std::filesystem::path& folder) {
  const CommandText root = describe(app, choices_of);
  const auto write = [&](const std::filesystem::path& file, const std::string& text) {
    std::error_code error;
    std::filesystem::create_directories((folder / file).parent_path(), error);
    write_file((folder / file).string(), text);
  };
  write("bash-completion/completions/yosida", completion_script(root, "bash"));
  write("zsh/site-functions/_yosida", completion_script(root, "zsh"));
  write("fish/vendor_completions.d/yosida.fish", completion_script(root, "fish"));
  CommandText alone = root;
  for (const CommandText& command : root.commands)
    write(fmt::format("man/man1/yosida-{}.1", command.name()), man_page(command, version()));
  for (CommandText& command : alone.commands) {
    command.options.clear();
    command.commands.clear();
    command.footer = fmt::format("See yosida-{}(1).", command.name());
  }
  write("man/man1/yosida.1", man_page(alone, version()));
}

}  // namespace

void require_known_command(const CLI::App& app, std::span<const std::string> words) {
  const auto commands = app.get_subcommands({});
  if (commands.empty() || words.empty() || words[0].starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::App* command : commands) {
    if (command->get_name() == words[0]) return require_known_command(*command, words.subspan(1));
    names.push_back(command->get_name());
  }
  const std::string near = nearest(words[0], names);
  throw InputError(fmt::format("there is no command \"{}\"{}; the commands are {}", words[0],
                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                               fmt::join(names, ", ")));
}

std::string refused_in_words(const CLI::App& app, const std::string& what) {
  std::string name;
  for (const CLI::App* command = &app; !command->get_subcommands().empty();) {
    command = command->get_subcommands()[0];
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  return name.empty() ? fmt::format("{}; see: yosida --help", what)
                      : fmt::format("{0}: {1}; see: yosida help {0}", name, what);
}

std::string unexpected_in_words(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands()[0];
  std::vector<std::string> flags;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  const std::string& word = words.at(0);
  const std::string flag = word.substr(0, word.find('='));
  const std::string near = word.starts_with('-') ? nearest(flag, flags) : "";
  return refused_in_words(app, fmt::format("{} is not expected here{}", flag,
                                           near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
}

void add_help(CLI::App& app, int& exit_code) {
  app.formatter_fn(
      [](const CLI::App* command, const std::string&, CLI::AppFormatMode) { return help_of(*command); });
  for (CLI::App* command : app.get_subcommands({})) {
    command->formatter(app.get_formatter());
    for (CLI::App* below : command->get_subcommands({})) below->formatter(app.get_formatter());
  }
  auto* help = app.add_subcommand("help", "the help of a command, as its --help shows it");
  auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *words, "which: tune, or study list");
  help->callback([words, &app] {
    require_known_command(app, *words);
    const CLI::App* command = &app;
    for (const std::string& word : *words) {
      if (command->get_subcommands({}).empty())
        throw InputError(fmt::format("{} has no command \"{}\"", command->get_name(), word));
      command = command->get_subcommand(word);
    }
    fmt::print("{}", help_of(*command));
  });
  auto* shown = app.add_subcommand("version", "the version of this program");
  shown->callback([] { fmt::print("{}\n", version()); });
  auto* completion =
      app.add_subcommand("completion", "a script that completes commands, flags and values, for a shell");
  auto shell = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  auto* name = completion->add_option("shell", *shell, "bash, zsh or fish");
  completion
      ->add_option("--all", *folder,
                   "write those of all shells, and man pages, into a folder like /usr/share")
      ->excludes(name);
  completion->footer(
      "Examples:\n"
      "  source <(yosida completion bash)\n"
      "  yosida completion fish > ~/.config/fish/completions/yosida.fish");
  completion->callback([shell, folder, &app, &exit_code] {
    exit_code = kOk;
    if (!folder->empty()) return write_help(app, *folder);
    write_file("-", completion_script(describe(app, choices_of), *shell));
  });
}

}  // namespace yosida::cli
