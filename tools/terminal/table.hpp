#pragma once

#include <string>
#include <vector>

namespace yosida::cli {

/// Lines of cells on standard output; columns grow with what they hold. On a terminal that is too narrow,
/// columns are left out by their rank, with a word about it; where that is not enough, each line is stacked.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align;
    int rank = 0;  ///< the highest is left out first, those of 0 never
  };
  explicit Table(std::vector<Column> columns);
  /// Whether what is emphasised is bold.
  static bool is_bright();

  void add(std::vector<std::string> cells);
  /// In bold on a terminal, with * after it elsewhere. Rows count from 0.
  void emphasise(std::size_t row, std::size_t column);
  /// A dash of this colour ("#0a62ad") before a row, on a terminal that shows colours.
  void mark(std::size_t row, const char* colour);
  void print(const std::string& indent = "") const;
  /// The same as text for a width.
  std::string text(const std::string& indent, std::size_t width) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    std::vector<bool> is_bold;
    std::string mark = {};
  };
  bool shows_marks() const { return has_marks_ && is_bright(); }
  std::string cell_of(const Line& line, std::size_t column) const;
  std::string text_of(const Line& line, const std::vector<std::size_t>& shown) const;
  std::string stacked(const std::string& indent, const std::vector<std::size_t>& shown) const;
  std::size_t width_of(const std::vector<std::size_t>& shown) const;

  std::vector<Column> columns_;
  std::vector<Line> lines_;          // the titles first
  std::vector<std::size_t> widths_;  // of each column
  bool has_emphasis_ = false, has_marks_ = false;
};

inline constexpr auto kLeft = Table::Align::left, kRight = Table::Align::right;

}  // namespace yosida::cli
