#include "yosida/model/equivalents.hpp"

#include <cmath>

#include "yosida/model/metrics.hpp"

namespace yosida {

Equivalents equivalents(const Loss& loss, double lambda, const Dataset& train, bool intercept) {
  const double penalty = 2.0 * std::exp(lambda);
  const double n = static_cast<double>(train.rows());
  const double c = 1.0 / (n * penalty);
  const bool weighted = train.weight.size() > 0;
  Equivalents all;
  if (loss.name() == "ridge") {
    all = {{"sklearn_ridge_alpha", n * penalty}};
    const double s_y = intercept ? std::sqrt(variance(train.y)) : std::sqrt(train.y.squaredNorm() / n);
    if (!weighted) all.emplace_back("glmnet_lambda", penalty * s_y);
  } else if (loss.name() == "logistic") {
    all = {{"sklearn_logistic_C", c}, {"glmnet_lambda", penalty}};
    if (!intercept) all.emplace_back("liblinear_c", c);
  } else if (loss.name() == "softmax") {
    if (loss.outputs() > 2) all.emplace_back("sklearn_logistic_C", c);
    all.emplace_back("glmnet_lambda", penalty);
  } else if (loss.name() == "svm" && !intercept) {
    all = {{"sklearn_linear_svc_C", c}, {"liblinear_c", c}};
  } else if (loss.name() == "poisson") {
    all = {{"sklearn_poisson_alpha", penalty}, {"glmnet_lambda", penalty}};
  }
  if (weighted) std::erase_if(all, [](const auto& each) { return each.first == "liblinear_c"; });
  return all;
}

}  // namespace yosida
