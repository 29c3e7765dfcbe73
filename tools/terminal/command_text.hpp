#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace yosida::cli {

/// Flags of this group are not shown with the others. (Of one that CLI11 hides, messages do not tell the
/// name.)
inline constexpr const char* kHiddenGroup = "hidden";

/// An option of a command, as help, man pages and completions know it.
struct OptionText {
  std::vector<std::string> names;  ///< "--train"; of a positional one its name
  std::string value;               ///< what stands for its value; empty: it takes none
  std::string help;
  std::string group;
  bool is_positional = false;
  bool is_list = false;              ///< takes several values with commas between them
  std::vector<std::string> choices;  ///< the values that there are; empty: any
};

/// A command with its options and the commands below it.
struct CommandText {
  std::string path;  ///< "yosida study list"
  std::string description;
  std::string footer;
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  /// The last word of the path.
  std::string name() const;
};

/// The values that an option of this name has, for completions; empty where they are open.
using Choices = std::function<std::vector<std::string>(const std::string& option)>;

/// All of a parser's tree. Options without a group are left out of help, but not of completions.
CommandText describe(const CLI::App& app, const Choices& choices, const std::string& above = "");

/// What --help prints. The first group of options stands first.
std::string help_text(const CommandText& command, std::size_t width);
/// A page for man, of a command and all below it.
std::string man_page(const CommandText& command, const std::string& version);
/// A script that completes commands, options and values: for "bash", "zsh" or "fish". Throws InputError for
/// any other.
std::string completion_script(const CommandText& root, const std::string& shell);

}  // namespace yosida::cli
