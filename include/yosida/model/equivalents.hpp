#pragma once

#include <string>
#include <utility>
#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/export.hpp"
#include "yosida/model/loss.hpp"

namespace YOSIDA_EXPORT yosida {

/// Names and values, in the order they are shown.
using Equivalents = std::vector<std::pair<std::string, double>>;

/// λ in the terms of the programs people know, for the same (pretreated) training rows and row weights, one λ
/// on every weight. e^λ‖w‖² has no ½, so with N rows: Ridge(alpha = 2N e^λ), LogisticRegression(C = 1/(2N
/// e^λ)), liblinear -c and LinearSVC (squared hinge) the same C (only without an intercept, which they would
/// penalise), glmnet (alpha = 0, standardize = FALSE) lambda = 2e^λ for binomial and multinomial and 2e^λ s_y
/// for gaussian, which rescales y by its population standard deviation (root mean square without an
/// intercept). PoissonRegressor(alpha = 2e^λ), glmnet lambda = 2e^λ for poisson. A softmax of two classes has
/// twice the weights of LogisticRegression, so no C. None where no program has the same objective (huber).
Equivalents equivalents(const Loss& loss, double lambda, const Dataset& train, bool intercept);

/// The same for least squares under e^λ₁‖w‖₁, or e^λ₁‖w‖₁ + e^λ₂‖w‖² where λ has two values: scikit-learn
/// Lasso(alpha = e^λ₁), ElasticNet(alpha = e^λ₁ + 2e^λ₂, l1_ratio = e^λ₁/alpha); glmnet (standardize = FALSE)
/// lambda = e^λ₁ + 2e^λ₂ s_y, alpha = e^λ₁/lambda, with s_y as above, which it leaves out of its ℓ₁ term.
Equivalents l1_equivalents(const Vector& lambda, const Dataset& train, bool intercept);

}  // namespace yosida
