#include "table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "yosida/utf8.hpp"

namespace yosida::cli {
namespace {

/// In the colour itself where the terminal says that it knows all of them, else in the nearest of the 216
/// that nearly every terminal has.
std::string coloured_dash(const std::string& colour) {
  std::array<int, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i] = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16);
  const char* colours = std::getenv("COLORTERM");
  const bool has_all = colours != nullptr &&
                       (std::string_view(colours) == "truecolor" || std::string_view(colours) == "24bit");
  const auto [red, green, blue] = parts;
  const auto step = [](int part) { return part < 48 ? 0 : part < 115 ? 1 : (part - 35) / 40; };
  return has_all ? fmt::format("\033[38;2;{};{};{}m━\033[0m ", red, green, blue)
                 : fmt::format("\033[38;5;{}m━\033[0m ", 16 + 36 * step(red) + 6 * step(green) + step(blue));
}

}  // namespace

Table::Table(const std::vector<Column>& columns) {
  std::vector<std::string> titles;
  for (const auto& [title, align] : columns) {
    titles.push_back(title);
    aligns_.push_back(align);
  }
  add(std::move(titles));
}

void Table::add(std::vector<std::string> cells) {
  const std::size_t size = cells.size();
  lines_.push_back({.cells = std::move(cells), .is_bold = std::vector<bool>(size, false)});
}

void Table::emphasise(std::size_t row, std::size_t column) {
  lines_[row + 1].is_bold[column] = true;
  has_emphasis_ = true;
}

void Table::mark(std::size_t row, const char* colour) {
  lines_[row + 1].mark = colour;
  has_marks_ = true;
}

bool Table::is_bright() { return ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

void Table::print(const std::string& indent) const {
  std::vector<std::size_t> widths(aligns_.size(), 0);
  for (const Line& line : lines_)
    for (std::size_t j = 0; j < line.cells.size(); ++j)
      widths[j] = std::max(widths[j], utf8::characters(line.cells[j]));
  for (const Line& line : lines_) fmt::print("{}{}\n", indent, text_of(line, widths));
}

std::string Table::text_of(const Line& line, const std::vector<std::size_t>& widths) const {
  std::string text;
  if (has_marks_ && is_bright()) text = line.mark.empty() ? "  " : coloured_dash(line.mark);
  for (std::size_t j = 0; j < line.cells.size(); ++j) {
    const std::string& cell = line.cells[j];
    const std::string padding(widths[j] - utf8::characters(cell), ' ');
    const bool is_left = aligns_[j] == Align::left;
    text += (is_left ? "" : padding) +
            (line.is_bold[j] && is_bright() ? "\033[1m" + cell + "\033[0m" : cell) + (is_left ? padding : "");
    // The mark has a place of its own, so that numbers stay below each other.
    if (has_emphasis_ && !is_bright()) text += line.is_bold[j] ? '*' : ' ';
    text += "  ";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace yosida::cli
