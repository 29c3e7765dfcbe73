#pragma once

#include <string>
#include <vector>

namespace yosida::cli {

/// Lines of cells on standard output; columns grow with what they hold.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align;
  };
  explicit Table(const std::vector<Column>& columns);
  /// Whether what is emphasised is bold.
  static bool is_bright();

  void add(std::vector<std::string> cells);
  /// In bold on a terminal, with * after it elsewhere. Rows count from 0.
  void emphasise(std::size_t row, std::size_t column);
  /// A dash of this colour ("#0a62ad") before a row, on a terminal that shows colours.
  void mark(std::size_t row, const char* colour);
  void print(const std::string& indent = "") const;

 private:
  struct Line {
    std::vector<std::string> cells;
    std::vector<bool> is_bold;
    std::string mark = {};
  };
  std::string text_of(const Line& line, const std::vector<std::size_t>& widths) const;

  std::vector<Align> aligns_;
  std::vector<Line> lines_;  // the titles first
  bool has_emphasis_ = false, has_marks_ = false;
};

}  // namespace yosida::cli
