#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/model/fitted_model.hpp"

namespace yosida {

/// What a column of the user's data adds to each margin: weight × (x − centre).
struct ModelTerm {
  std::string name;            // the column's; its index from 0 where it has none
  std::optional<double> fill;  // what stands for a missing value
  double centre = 0.0;
  Vector weight;  // one per output
};

/// A model without its pretreatment, in terms that lose no digits: columns stay centred, so that a column
/// far from 0 cancels nothing. The margins of an identity link are in the target's own units.
struct ModelTerms {
  bool has_names = false;
  std::vector<ModelTerm> columns;  // in the model's order
  Vector intercept;                // one per output

  Index outputs() const { return intercept.size(); }
};

/// Throws InputError where the parts of the model do not fit together.
ModelTerms terms_of(const FittedModel& model);

}  // namespace yosida
