#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "command_text.hpp"

namespace yosida::cli {
namespace {

/// Text for roff: nothing of it is a command, and a minus is one that can be copied.
std::string roff(const std::string& text) {
  std::string escaped;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    begins = c == '\n';
  }
  return escaped;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string option_entry(const OptionText& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  if (!option.value.empty() && !option.is_positional) names += fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format(".TP\n{}\n{}\n", names, roff(option.help));
}

std::string sections(const CommandText& command, bool is_top) {
  std::string text;
  const std::string head = is_top ? ".SH" : ".SS";
  if (!is_top) text += fmt::format(".SH {}\n{}\n", roff(upper(command.path)), roff(command.description));
  std::vector<std::string> groups;
  for (const OptionText& option : command.options)
    if (!option.group.empty() && std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  for (const std::string& group : groups) {
    text += fmt::format("{} {}\n", head, roff(is_top ? upper(group) : group));
    for (const OptionText& option : command.options)
      if (option.group == group) text += option_entry(option);
  }
  if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
  for (const CommandText& below : command.commands) text += sections(below, false);
  return text;
}

}  // namespace

std::string man_page(const CommandText& command, const std::string& version) {
  std::string title = command.path;
  std::replace(title.begin(), title.end(), ' ', '-');
  std::string text = fmt::format(".TH {} 1 \"\" \"yosida {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                                 roff(upper(title)), roff(version), roff(title), roff(command.description));
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [\\fIOPTIONS\\fR]\n", roff(command.path));
  return text + sections(command, true);
}

}  // namespace yosida::cli
