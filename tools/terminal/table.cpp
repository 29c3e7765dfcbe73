#include "table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "folding.hpp"
#include "terminal.hpp"
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

constexpr std::size_t kDash = 2;  // its columns

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)), widths_(columns_.size(), 0) {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  add(std::move(titles));
}

void Table::add(std::vector<std::string> cells) {
  for (std::size_t j = 0; j < cells.size(); ++j)
    widths_[j] = std::max(widths_[j], utf8::characters(cells[j]));
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

bool Table::is_bright() { return is_terminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr; }

void Table::print(const std::string& indent) const {
  fmt::print("{}", text(indent, columns_of(STDOUT_FILENO)));
}

std::string Table::text(const std::string& indent, std::size_t width) const {
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::string left_out;
  const auto is_narrow = [&] { return width == kUnlimited || indent.size() + width_of(shown) <= width; };
  while (!is_narrow()) {
    const auto last = std::max_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
      return columns_[a].rank <= columns_[b].rank;
    });
    if (columns_[*last].rank == 0) break;
    if (widths_[*last] > 0) left_out.insert(0, columns_[*last].title + (left_out.empty() ? "" : ", "));
    shown.erase(last);
  }
  std::string text;
  if (is_narrow())
    for (const Line& line : lines_) text += indent + text_of(line, shown) + "\n";
  else
    text = stacked(indent, shown);
  if (!left_out.empty()) text += fmt::format("{}(too narrow here for: {})\n", indent, left_out);
  return text;
}

std::size_t Table::width_of(const std::vector<std::size_t>& shown) const {
  std::size_t width = shows_marks() ? kDash : 0;
  for (const std::size_t j : shown) width += widths_[j] + (has_emphasis_ && !is_bright() ? 1 : 0) + 2;
  return width - 2;
}

std::string Table::cell_of(const Line& line, std::size_t column) const {
  return line.is_bold[column] && is_bright() ? "\033[1m" + line.cells[column] + "\033[0m"
                                             : line.cells[column];
}

std::string Table::text_of(const Line& line, const std::vector<std::size_t>& shown) const {
  std::string text;
  if (shows_marks()) text = line.mark.empty() ? std::string(kDash, ' ') : coloured_dash(line.mark);
  for (const std::size_t j : shown) {
    const std::string padding(widths_[j] - utf8::characters(line.cells[j]), ' ');
    const bool is_left = columns_[j].align == Align::left;
    text += (is_left ? "" : padding) + cell_of(line, j) + (is_left ? padding : "");
    // The mark has a place of its own, so that numbers stay below each other.
    if (has_emphasis_ && !is_bright()) text += line.is_bold[j] ? '*' : ' ';
    text += "  ";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The first cell, and below it the others with their titles.
std::string Table::stacked(const std::string& indent, const std::vector<std::size_t>& shown) const {
  std::size_t widest = 0;
  for (const std::size_t j : shown) widest = std::max(widest, utf8::characters(columns_[j].title));
  std::string text;
  for (std::size_t i = 1; i < lines_.size(); ++i) {
    const std::string mark = shows_marks() && !lines_[i].mark.empty() ? coloured_dash(lines_[i].mark) : "";
    text += indent + mark + cell_of(lines_[i], shown[0]) + "\n";
    for (const std::size_t j : std::vector(shown.begin() + 1, shown.end())) {
      if (lines_[i].cells[j].empty()) continue;
      const std::string padding(widest - utf8::characters(columns_[j].title), ' ');
      text += fmt::format("{}  {}{}  {}{}\n", indent, columns_[j].title, padding, cell_of(lines_[i], j),
                          lines_[i].is_bold[j] && !is_bright() ? "*" : "");
    }
  }
  return text;
}

}  // namespace yosida::cli
