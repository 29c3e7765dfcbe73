#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "yosida/data/labels.hpp"
#include "yosida/data/pretreatment.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/export.hpp"
#include "yosida/model/loss.hpp"

namespace YOSIDA_EXPORT yosida {

/// Weights in the units of the data as it was given: what a row xᵀw + b of it predicts. For a classification
/// and for poisson, which has a log link, that is the margin, else the target in its own units.
struct Coefficients {
  std::vector<std::string> names;  // of each feature; its index from 0 where it has none
  Matrix weights;                  // a row per feature, a column per output
  Vector intercept;                // one per output
};

/// Everything needed to predict: weights, pretreatment, and what the columns and labels are called. Several
/// threads may predict by one model.
struct FittedModel {
  std::string model;   // as yosida::model names it
  std::string method;  // how λ was found
  std::vector<double> lambda;
  Matrix weights;    // a row per pretreated feature, a column per output
  Vector intercept;  // one per output
  Pretreatment pretreatment;
  Index features = 0;                      // columns before pretreatment
  std::vector<std::string> feature_names;  // of these; empty where they have none
  std::string target_name;
  std::optional<Labels> labels;  // classification
  TableForm table = {};          // how columns of text became features
  /// The names of several targets, each of which is an output; empty where there is one. Weights are in the
  /// units of these.
  std::vector<std::string> target_names = {};

  /// How to read a file of rows that it is to predict: its columns by name, its levels, and missing values as
  /// it was trained with them.
  ReadOptions reading() const;
  /// What its margins say of the target.
  Link link() const;
  /// One row per row of `data` (which is used up), one column per output: the margins xᵀw + b of a
  /// classification, else the target as expected by the model, in its own units. Throws InputError where the
  /// columns are not those of the model, the parts of the model do not fit together, or
  /// a prediction is not finite.
  Matrix predict(Dataset data) const;
  /// One row per row of `data`, one column per label: the probability of each. Throws as predict does, and
  /// where the model has no probabilities (svm, and where the target is a number).
  Matrix predict_proba(Dataset data) const;
  /// The model without its pretreatment: shifts, scales and differences are folded into the weights. Throws
  /// InputError where the parts of the model do not fit together.
  Coefficients coefficients() const;
};

/// The model as JSON with a schema version, and back (files of earlier versions too). Loading throws
/// InputError naming file and field where the text is not such a model, and both do where a number of it is
/// not finite.
std::string to_json(const FittedModel& model);
/// Writes the whole file or nothing. Throws OutputError, and InputError as to_json does.
void save_model(const FittedModel& model, const std::filesystem::path& file);
/// A model as save_model wrote it. Throws InputError where the file is none.
FittedModel load_model(const std::filesystem::path& file);
/// Reads a model from the text of to_json; `source` is its name in messages.
FittedModel read_model(std::istream& in, const std::string& source);

/// What a model predicts as the text of a CSV file, one line per row: `values` are those of predict(). For
/// classes a line has the label of the largest margin, and its probability or, where there is none, the
/// margin.
std::string predictions_csv(const FittedModel& model, const Matrix& values);
/// The same behind the number of each row in its file (the first is 1) and its id, where `rows` has them.
std::string predictions_csv(const FittedModel& model, const Matrix& values, const Dataset& rows);

/// 1 / (1 + e^{−m}): the probability of the positive label at margin m.
double probability(double margin);
/// e^{m_k} / Σ e^m: the probability of each class at its margins.
Vector probabilities(const Vector& margins);

}  // namespace yosida
