#include "yosida/model/equivalents.hpp"

#include <cmath>

#include "yosida/model/metrics.hpp"

namespace yosida {
namespace {

/// What glmnet divides y by.
double glmnet_scale(const Dataset& train, bool intercept) {
  return intercept ? std::sqrt(variance(train.y))
                   : std::sqrt(train.y.squaredNorm() / static_cast<double>(train.rows()));
}

}  // namespace

Equivalents equivalents(const Loss& loss, double lambda, const Dataset& train, bool intercept) {
  const double penalty = 2.0 * std::exp(lambda);
  const double n = static_cast<double>(train.rows());
  const double c = 1.0 / (n * penalty);
  const bool weighted = train.weight.size() > 0;
  Equivalents all;
  if (loss.name() == "ridge") {
    all = {{"sklearn_ridge_alpha", n * penalty}};
    if (!weighted) all.emplace_back("glmnet_lambda", penalty * glmnet_scale(train, intercept));
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

Equivalents l1_equivalents(const Vector& lambda, const Dataset& train, bool intercept) {
  const double l1 = std::exp(lambda[0]);
  const bool weighted = train.weight.size() > 0;
  Equivalents all;
  if (lambda.size() == 1) {
    all = {{"sklearn_lasso_alpha", l1}};
    if (!weighted) all.emplace_back("glmnet_lambda", l1);
    return all;
  }
  const double l2 = 2.0 * std::exp(lambda[1]);
  all = {{"sklearn_elastic_net_alpha", l1 + l2}, {"sklearn_elastic_net_l1_ratio", l1 / (l1 + l2)}};
  if (!weighted) {
    const double of_glmnet = l1 + l2 * glmnet_scale(train, intercept);
    all.emplace_back("glmnet_lambda", of_glmnet);
    all.emplace_back("glmnet_alpha", l1 / of_glmnet);
  }
  return all;
}

}  // namespace yosida
