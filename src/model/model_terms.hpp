#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/model/fitted_model.hpp"

namespace yosida {

/// What a column of the user's table adds to each margin: weight × (x − centre), or what its level has.
struct ModelTerm {
  TableColumn column;          // its name is its index from 0 where the table has no names
  std::optional<double> fill;  // what stands for a missing value; a missing level is the level ""
  double centre = 0.0;
  Vector weight;    // one per output
  Matrix of_level;  // of a category: a row per level, a column per output

  bool is_category() const { return column.kind == ColumnKind::category; }
  /// Text that is no number has the place of a missing value.
  bool ignores_text() const { return column.ignores_text && fill.has_value(); }
};

/// A model without its pretreatment, in terms that lose no digits: columns stay centred, so that a column
/// far from 0 cancels nothing. The margins of an identity link are in the target's own units. A level that
/// the model does not know adds nothing.
struct ModelTerms {
  bool has_names = false;
  bool has_text = false;           // some column is no number
  char decimal = '.';              // the decimal mark of numbers that are text
  std::vector<ModelTerm> columns;  // in the model's order
  Vector intercept;                // one per output

  Index outputs() const { return intercept.size(); }
};

/// Throws InputError where the parts of the model do not fit together.
ModelTerms terms_of(const FittedModel& model);

}  // namespace yosida
