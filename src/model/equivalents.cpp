#include "yosida/model/equivalents.hpp"

#include <cmath>

#include "linalg/row_numbers.hpp"
#include "model/metrics.hpp"

namespace yosida {
namespace {

/// What glmnet divides y by.
double glmnet_scale(const Dataset& train, bool intercept) {
  return intercept ? std::sqrt(variance(train.x, train.y)) : std::sqrt(mean_of(train.x, train.y.cwiseAbs2()));
}

/// The penalty with its ½, of one λ.
double half_penalty(const TrainedPenalty& trained) { return 2.0 * std::exp(trained.lambda[0]); }

/// C of the programs that sum losses over rows.
double cost(const TrainedPenalty& trained) {
  return 1.0 / (static_cast<double>(trained.train.rows()) * half_penalty(trained));
}

bool is_weighted(const TrainedPenalty& trained) { return trained.train.weight.size() > 0; }

}  // namespace

Equivalents ridge_equivalents(const TrainedPenalty& trained) {
  const double penalty = half_penalty(trained);
  Equivalents all = {{"sklearn_ridge_alpha", static_cast<double>(trained.train.rows()) * penalty}};
  if (!is_weighted(trained))
    all.emplace_back("glmnet_lambda", penalty * glmnet_scale(trained.train, trained.intercept));
  return all;
}

Equivalents logistic_equivalents(const TrainedPenalty& trained) {
  Equivalents all = {{"sklearn_logistic_C", cost(trained)}, {"glmnet_lambda", half_penalty(trained)}};
  if (!trained.intercept && !is_weighted(trained)) all.emplace_back("liblinear_c", cost(trained));
  return all;
}

Equivalents softmax_equivalents(const TrainedPenalty& trained) {
  Equivalents all;
  if (trained.classes > 2) all.emplace_back("sklearn_logistic_C", cost(trained));
  all.emplace_back("glmnet_lambda", half_penalty(trained));
  return all;
}

Equivalents svm_equivalents(const TrainedPenalty& trained) {
  if (trained.intercept) return {};
  Equivalents all = {{"sklearn_linear_svc_C", cost(trained)}};
  if (!is_weighted(trained)) all.emplace_back("liblinear_c", cost(trained));
  return all;
}

Equivalents poisson_equivalents(const TrainedPenalty& trained) {
  return {{"sklearn_poisson_alpha", half_penalty(trained)}, {"glmnet_lambda", half_penalty(trained)}};
}

Equivalents l1_equivalents(const TrainedPenalty& trained) {
  const auto& [lambda, train, intercept, classes] = trained;
  const double l1 = std::exp(lambda[0]);
  const bool weighted = is_weighted(trained);
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

Equivalents sparse_equivalents(std::string_view model, const TrainedPenalty& trained) {
  const auto& [lambda, train, intercept, classes] = trained;
  const double l1 = std::exp(lambda[0]);
  const bool has_l2 = lambda.size() > 1;
  const double all_of_it = l1 + (has_l2 ? 2.0 * std::exp(lambda[1]) : 0.0);
  const double sum_of_losses = 1.0 / (static_cast<double>(train.rows()) * all_of_it);
  Equivalents all;
  if (model == "logistic" || model == "softmax") {
    all.emplace_back("sklearn_logistic_C", sum_of_losses);
    if (has_l2) all.emplace_back("sklearn_logistic_l1_ratio", l1 / all_of_it);
  } else if (model == "svm" && !has_l2 && !intercept) {
    all.emplace_back("sklearn_linear_svc_C", sum_of_losses);
  }
  if (model == "logistic" || model == "softmax" || model == "poisson") {
    all.emplace_back("glmnet_lambda", all_of_it);
    all.emplace_back("glmnet_alpha", l1 / all_of_it);
  }
  return all;
}

}  // namespace yosida
