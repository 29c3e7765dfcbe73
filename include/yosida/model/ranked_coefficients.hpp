#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/model/fitted_model.hpp"

namespace YOSIDA_EXPORT yosida {

/// The weights of a model by name, the most important first.
struct RankedCoefficients {
  /// A column that is used, and what it weighs.
  struct Row {
    std::string name;
    Vector weight;   ///< in the column's own units, one per output
    Vector trained;  ///< as it was trained: of the pretreated column; empty where differences mix columns
    double size;     ///< the largest of these, or of `weight`, over the outputs
  };
  std::vector<std::string> outputs;  ///< what each output is called; one of no name where there is one
  std::vector<Row> rows;             ///< of those that are not 0, the largest size first
  std::vector<std::string> zeros;    ///< the names of the others, in the order of the columns
  Vector intercept;                  ///< one per output, in own units
  /// What `trained` and the order belong to: "standardised columns", or what else was done to them.
  std::string scale;
};

/// Throws InputError where the parts of the model do not fit together.
RankedCoefficients ranked_coefficients(const FittedModel& model);

/// All of them as the text of a CSV file: name, weight, and the weight as trained; with several outputs both
/// for each. The intercept comes first.
std::string coefficients_csv(const FittedModel& model);

}  // namespace yosida
