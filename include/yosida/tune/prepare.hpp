#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/data/labels.hpp"
#include "yosida/data/pretreatment.hpp"
#include "yosida/data/split.hpp"
#include "yosida/export.hpp"
#include "yosida/model/models.hpp"
#include "yosida/tune/options.hpp"

namespace YOSIDA_EXPORT yosida {

/// Training and validation rows that the caller has chosen, by their numbers among all. A row may be in
/// neither, and a training row may be named more than once.
struct RowParts {
  std::vector<Index> train, validation;
};

/// Rows as they come: all in one, or with validation and test rows that are given apart.
struct Rows {
  Dataset train;
  std::optional<Dataset> validation = {}, test = {};
  /// Where there are some, rows are cross-validated by these, whether or not each is a validation row once.
  std::vector<RowParts> parts = {};
};

/// The rows, split, labelled, weighted and pretreated, with all a saved model must remember of them.
struct Prepared {
  const Model* model = nullptr;
  PenaltyForm penalty = PenaltyForm::l2;
  SharedLoss loss = least_squares();  // that of the model
  /// With folds, both parts hold all rows, because the refit is trained on them.
  Split split;
  std::vector<Split> folds;  // each pretreated by its own training rows; empty without cross-validation
  Index fold_count = 0;      // of all repeats together
  std::string criterion;     // "holdout", "folds", "loo" or "gcv"
  Index repeats = 1;
  /// The places of each fold's validation rows among all rows.
  std::vector<std::vector<Index>> judged_rows;
  std::vector<double> validation_share;  // what each fold's validation rows weigh, of those of all folds
  double validation_weight = 1.0;        // what a validation row weighs on average, a training row being 1
  Pretreatment pretreatment;
  std::vector<double> fold_y_scale;  // that of the target in each fold, as pretreatment.y_scale is for all
  YStep y_step = YStep::raw;
  std::optional<Labels> labels;
  Index features = 0;                      // as given
  std::vector<std::string> feature_names;  // as given
  TableForm table;                         // how columns of text became these
  std::vector<std::string> notes;          // what a person should know of all this, a sentence each
};

/// The model that options.model names. Where it names none, the one that the target asks for: logistic where
/// it is text or a whole number of two values, or classes are asked for otherwise (class weights, a λ per
/// class); softmax where there are more of these classes: text, or 3 to 10 whole numbers that count from 0 or
/// 1 without a gap, each in 5 rows and in a fourth of an equal share of all rows; ridge for any other number.
/// Throws InputError where the name is unknown, or the target is text and the model wants a number.
const Model& choose_model(const Dataset& train, const TuneOptions& options);

/// The numbers of the rows are only read: parts are views of them, or copies where these pay. Rows of weight
/// 0 are left out. Throws InputError, naming option, value and rule, where options and rows do not fit each
/// other.
Prepared prepare(Rows rows, const TuneOptions& options);

}  // namespace yosida
