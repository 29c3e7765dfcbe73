#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "yosida/data/labels.hpp"
#include "yosida/data/pretreatment.hpp"

namespace yosida {

/// Everything needed to predict: weights, pretreatment, and what the columns and labels are called.
struct FittedModel {
  std::string model;   // as loss_of_model names it
  std::string method;  // how λ was found
  std::vector<double> lambda;
  Vector weights;  // one per pretreated feature
  double intercept = 0.0;
  Pretreatment pretreatment;
  Index features = 0;                      // columns before pretreatment
  std::vector<std::string> feature_names;  // of these; empty where they have none
  std::string target_name;
  std::optional<Labels> labels;  // classification

  /// xᵀw + b of every row, in units of the training target for regression. `data` is used up.
  Vector predict(Dataset data) const;
};

/// The model as JSON with a schema version, and back. Loading throws InputError naming file and
/// field where the text is not such a model.
std::string to_json(const FittedModel& model);
FittedModel load_model(const std::filesystem::path& file);

/// 1 / (1 + e^{−m}): the probability of the positive label at margin m.
double probability(double margin);

}  // namespace yosida
