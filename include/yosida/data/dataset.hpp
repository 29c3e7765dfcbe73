#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/design.hpp"

namespace YOSIDA_EXPORT yosida {

/// What the fields of a column of a table are read as.
enum class ColumnKind : unsigned char {
  number,
  boolean,   ///< true and false, as 1 and 0
  date,      ///< days since 1970-01-01, with a time of day as a part of a day, with a zone in UTC
  category,  ///< text: a feature for each level, 1 in the rows that have it and 0 in all others
};

/// In which order a date has day, month and year.
enum class DateOrder : unsigned char { year_month_day, day_month_year, month_day_year };

/// A column of a table that features were made of.
struct TableColumn {
  std::string name;  // its index from 0 where the source names none
  ColumnKind kind = ColumnKind::number;
  std::vector<std::string> levels = {};  // of a category; "" is a missing field
  DateOrder order = DateOrder::year_month_day;
  bool ignores_text = false;  // of a column of numbers: other text is a missing value
};

/// How a file became features: another one of the same columns is read likewise.
struct TableForm {
  std::vector<TableColumn> columns = {};  // in the order of their features; empty where all are numbers
  bool drop_first = false;                // the first level of each category has no feature
  std::vector<std::string> classes = {};  // of a target that is text: y holds their places, from 0
  char decimal = '.';                     // the decimal mark
  bool from_zero = false;                 // the indices of a sparse file count from 0

  /// True where every field is a number as programs write it.
  bool is_plain() const { return columns.empty() && classes.empty() && decimal == '.' && !from_zero; }
};

/// Observations with their targets, and what messages call them. May be read from several threads.
struct Dataset {
  Design x;
  Vector y;                                // empty where the data has no target (prediction)
  std::vector<std::string> feature_names;  // empty where the source names none
  std::string target_name;                 // empty where the source names none
  std::string source;                      // the file or generator, for messages
  Vector weight = {};                      // of each row, their mean 1; empty where all are
  std::string weight_name = {};            // of their column; empty where the source names none
  Vector fold = {};                     // the fold of each row as the source has it; empty where it has none
  TableForm table = {};                 // how a table of text became numbers
  std::vector<Index> row_number = {};   // of each row in its source, from 0; empty: 0, 1, 2, …
  std::vector<std::string> id = {};     // the field of each row that names it, where one was asked for
  std::string id_name = {};             // of their column
  std::vector<std::string> notes = {};  // what a person should know of how it was read, a sentence each

  Index rows() const { return x.rows(); }
  Index features() const { return x.cols(); }
};

/// Throws InputError unless targets, weights and folds are either absent or one per row, and names either
/// absent or one per feature.
void require_whole(const Dataset& data);
/// What messages call a feature: column "price", or feature 3 (counted from 1) where there are no names.
std::string feature_in_words(const Dataset& data, Index feature);

}  // namespace yosida
