#include "yosida/model/equivalents.hpp"

#include <cmath>

#include "yosida/model/metrics.hpp"

namespace yosida {

Equivalents equivalents(const Loss& loss, double lambda, const Dataset& train, bool intercept) {
  const double penalty = 2.0 * std::exp(lambda);
  const double n = static_cast<double>(train.rows());
  if (!loss.is_classification()) {
    const double s_y = intercept ? std::sqrt(variance(train.y)) : std::sqrt(train.y.squaredNorm() / n);
    return {{"sklearn_ridge_alpha", n * penalty}, {"glmnet_lambda", penalty * s_y}};
  }
  Equivalents all = {{"sklearn_logistic_C", 1.0 / (n * penalty)}, {"glmnet_lambda", penalty}};
  if (!intercept) all.emplace_back("liblinear_c", 1.0 / (n * penalty));
  return all;
}

}  // namespace yosida
