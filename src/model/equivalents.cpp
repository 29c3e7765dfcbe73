#include "yosida/model/equivalents.hpp"

#include <cmath>

#include "yosida/model/metrics.hpp"

namespace yosida {

Equivalents equivalents(const Loss& loss, double lambda, const Dataset& train, bool intercept) {
  const double penalty = 2.0 * std::exp(lambda);
  const double n = static_cast<double>(train.rows());
  const double c = 1.0 / (n * penalty);
  if (loss.name() == "ridge") {
    const double s_y = intercept ? std::sqrt(variance(train.y)) : std::sqrt(train.y.squaredNorm() / n);
    return {{"sklearn_ridge_alpha", n * penalty}, {"glmnet_lambda", penalty * s_y}};
  }
  if (loss.name() == "poisson") return {{"sklearn_poisson_alpha", penalty}, {"glmnet_lambda", penalty}};
  if (loss.name() == "softmax") return {{"sklearn_logistic_C", c}, {"glmnet_lambda", penalty}};
  Equivalents all;
  if (loss.name() == "logistic") all = {{"sklearn_logistic_C", c}, {"glmnet_lambda", penalty}};
  if ((loss.name() == "logistic" || loss.name() == "svm") && !intercept) all.emplace_back("liblinear_c", c);
  return all;
}

}  // namespace yosida
