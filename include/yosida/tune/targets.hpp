#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/tune/part_report.hpp"
#include "yosida/tune/prepare.hpp"

namespace YOSIDA_EXPORT yosida {

/// Several targets of the same rows: a row for each row, a column for each target.
struct Targets {
  std::vector<std::string> names;
  Matrix train;
  Matrix validation = {}, test = {};  ///< of the rows that are given apart; empty where there are none

  Index count() const { return train.cols(); }
};

/// What was found for one target.
struct TunedTarget {
  std::string name;
  Vector lambda;           ///< one; with groups one for each of these
  double criterion = 0.0;  ///< what it was judged by, of the pretreated target
  std::optional<Certificate> certificate = {};
  Report report;  ///< with folds, means over them
  std::optional<Report> refit = {};
};

/// Everything there is to say of a finished tuning of several targets.
struct TunedTargets {
  std::vector<TunedTarget> targets;
  std::vector<std::string> lambda_names;  ///< of each target: "all", or the names of the groups
  /// One λ for all of them; the certificate is then of the sum of their criteria.
  bool is_shared = false;
  std::string criterion;  ///< "holdout", "folds", "loo" or "gcv"
  Report mean;            ///< over the targets
  std::optional<Report> mean_refit = {};
  std::vector<std::string> notes, warnings;
  /// To predict with, an output for each target: the refit where there is one. Its λ are those of one target
  /// after the other.
  FittedModel model;
  Index rows = 0, validation_rows = 0, test_rows = 0, folds = 0;
  double seconds = 0.0;
};

/// Finds the penalties of ridge regression for several targets of the same rows. PenaltyOptions::lambda_per
/// says which of them share a λ: "target" (one each, the default), "shared" (one for all), or "group" (with
/// groups: one for each group of columns and target). Where a λ is one for all weights, one factorisation of
/// the rows serves all targets. The targets in `rows` are not looked at. Throws InputError, naming option,
/// value and rule, where rows, targets and options do not fit each other, and RunEnded where it is stopped.
TunedTargets tune_targets(Rows rows, Targets targets, const TuneOptions& options = {});

/// The columns of these names, or indices from 0 among all columns of the file, taken out of the features of
/// rows that were read with the first of them as their target. Throws InputError where one is not there, is
/// there twice, is text, or holds a missing value.
Targets take_targets(Rows& rows, const std::vector<std::string>& names);
/// The names in "a,b,c"; a name that holds a comma stands in double quotes.
std::vector<std::string> split_targets(const std::string& text);

}  // namespace yosida
