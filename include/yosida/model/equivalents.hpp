#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// Names and values, in the order they are shown.
using Equivalents = std::vector<std::pair<std::string, double>>;

/// What was trained: λ, on (pretreated) rows with their weights, with or without an intercept.
struct TrainedPenalty {
  const Vector& lambda;
  const Dataset& train;
  bool intercept;
  Index classes;  // 0 where the target is a number
};

// λ in the terms of the programs people know, for the same training rows and row weights: a function for each
// model that another program has, as the table of models names them. One λ stands on every weight. e^λ‖w‖²
// has no ½, so with N rows:

/// Ridge(alpha = 2N e^λ); glmnet (alpha = 0, standardize = FALSE) lambda = 2e^λ s_y, since it rescales y by
/// its population standard deviation (root mean square without an intercept).
Equivalents ridge_equivalents(const TrainedPenalty& trained);
/// LogisticRegression(C = 1/(2N e^λ)), glmnet lambda = 2e^λ, and liblinear -c the same C, only without an
/// intercept, which it would penalise.
Equivalents logistic_equivalents(const TrainedPenalty& trained);
/// The same; of two classes it has twice the weights of LogisticRegression, so no C.
Equivalents softmax_equivalents(const TrainedPenalty& trained);
/// LinearSVC (squared hinge) and liblinear, C = 1/(2N e^λ), only without an intercept.
Equivalents svm_equivalents(const TrainedPenalty& trained);
/// PoissonRegressor(alpha = 2e^λ), glmnet lambda = 2e^λ.
Equivalents poisson_equivalents(const TrainedPenalty& trained);
/// Least squares under e^λ₁‖w‖₁, or e^λ₁‖w‖₁ + e^λ₂‖w‖² where λ has two values: scikit-learn Lasso(alpha =
/// e^λ₁), ElasticNet(alpha = e^λ₁ + 2e^λ₂, l1_ratio = e^λ₁/alpha); glmnet (standardize = FALSE) lambda = e^λ₁
/// + 2e^λ₂ s_y, alpha = e^λ₁/lambda, with s_y as above, which it leaves out of its ℓ₁ term.
Equivalents l1_equivalents(const TrainedPenalty& trained);
/// The same of other losses, by the name of the model: LogisticRegression with C = 1/(N (e^λ₁ + 2e^λ₂)) and
/// l1_ratio = e^λ₁/(e^λ₁ + 2e^λ₂); LinearSVC(penalty = "l1", C = 1/(N e^λ₁)) without an intercept; glmnet
/// lambda = e^λ₁ + 2e^λ₂ and alpha = e^λ₁/lambda. Nothing for other models.
Equivalents sparse_equivalents(std::string_view model, const TrainedPenalty& trained);

}  // namespace yosida
