#include "yosida/problem/cleaning_problem.hpp"

#include <algorithm>
#include <cmath>

#include "problem/batches_of.hpp"
#include "problem/newton.hpp"
#include "yosida/error.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida {
namespace {

/// σ(1 − σ), without cancellation in either tail.
double sigmoid_slope(double lambda) {
  const double e = std::exp(-std::abs(lambda));
  return e / ((1.0 + e) * (1.0 + e));
}

double row_weight(const Dataset& data, Index i) { return data.weight.size() > 0 ? data.weight[i] : 1.0; }

constexpr double kMaxCertificateScale = 1e6;

}  // namespace

CleaningProblem::CleaningProblem(Split split, SharedLoss loss, bool intercept, double c)
    : split_(std::move(split)),
      shared_loss_(std::move(loss)),
      intercept_(intercept),
      c_(c),
      lambdas_(split_.train.rows()) {
  check_split(split_, loss_);
  if (!(c > 0.0) || !std::isfinite(c)) throw InputError("c = " + std::to_string(c) + ": must be > 0");
  traits_.has_train_gradient_lambda = true;
  traits_.cross_work.train_gradients = 1;  // either reads the rows once, with two products each
  Vector g(weights());
  train_gradient(Vector::Zero(weights()), Vector::Zero(hyperparameters()), g);
  gradient_at_zero_ = g.norm();
}

void CleaningProblem::trust(const Vector& lambda, Vector& values) const {
  values.resize(split_.train.rows());
  for (Index i = 0; i < values.size(); ++i)
    values[i] = probability(lambda[first_ + i]) * row_weight(split_.train, i);
}

DataTerm CleaningProblem::term(const Dataset& data, const Vector& row_weights) const {
  return {data.x, data.y, row_weights, loss_, intercept_};
}

double CleaningProblem::gradient_flops() const {
  return 2.0 * split_.train.x.product_flops() * static_cast<double>(loss_.outputs());
}

double CleaningProblem::train_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  thread_local Vector row_weights;
  trust(lambda, row_weights);
  return term(split_.train, row_weights).value(w) + c_ * w.squaredNorm();
}

void CleaningProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  require_sizes(*this, w, lambda);
  g.resize(weights());
  thread_local Vector row_weights;
  trust(lambda, row_weights);
  term(split_.train, row_weights).gradient(w, g);
  g += 2.0 * c_ * w;
}

void CleaningProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                      Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(weights());
  thread_local Vector row_weights;
  trust(lambda, row_weights);
  term(split_.train, row_weights).hessian_product(w, p, out);
  out += 2.0 * c_ * p;
}

void CleaningProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                    Vector& out) const {
  require_sizes(*this, w, lambda);
  require_lambda(*this, q);
  out.resize(weights());
  // Linear in the rows' weights: the gradient with those of the direction.
  thread_local Vector direction;
  direction.resize(split_.train.rows());
  for (Index i = 0; i < direction.size(); ++i)
    direction[i] = sigmoid_slope(lambda[first_ + i]) * row_weight(split_.train, i) * q[first_ + i];
  term(split_.train, direction).gradient(w, out);
}

void CleaningProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                               Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  Vector of_rows(split_.train.rows());
  term(split_.train, split_.train.weight).row_derivatives(w, p, of_rows);
  out.setZero(hyperparameters());
  for (Index i = 0; i < of_rows.size(); ++i) out[first_ + i] = of_rows[i] * sigmoid_slope(lambda[first_ + i]);
}

void CleaningProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  // σ′(λ_i) s_i ℓ_i / N
  const DataTerm data = term(split_.train, split_.train.weight);
  Vector m, losses(split_.train.rows());
  data.margins(w, m);
  loss_.values(as_span(m), as_span(split_.train.y), as_span(losses));
  out.setZero(hyperparameters());
  for (Index i = 0; i < losses.size(); ++i)
    out[first_ + i] = losses[i] * sigmoid_slope(lambda[first_ + i]) * row_weight(split_.train, i) /
                      static_cast<double>(losses.size());
}

double CleaningProblem::validation_loss(const Vector& w, const Vector&) const {
  require_weights(*this, w);
  return term(split_.validation, split_.validation.weight).value(w);
}

double CleaningProblem::validation_gradient(const Vector& w, const Vector&, Vector& g) const {
  require_weights(*this, w);
  g.resize(weights());
  return term(split_.validation, split_.validation.weight).gradient(w, g);
}

void CleaningProblem::validation_hessian_product(const Vector& w, const Vector&, const Vector& p,
                                                 Vector& out) const {
  require_weights(*this, w);
  require_weights(*this, p);
  out.resize(weights());
  term(split_.validation, split_.validation.weight).hessian_product(w, p, out);
}

InnerReport CleaningProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  require_sizes(*this, w, lambda);
  Vector row_weights;
  trust(lambda, row_weights);
  Vector c = Vector::Constant(weights(), 2.0 * c_);
  Vector linear = Vector::Zero(weights());
  add_proximal(options.proximal, Vector::Ones(weights()), c, linear);
  const double tolerance = options.tolerance * std::max(gradient_at_zero_, linear.norm());
  InnerReport report = newton({.data = term(split_.train, row_weights),
                               .c = c,
                               .linear = linear,
                               .relative = options.tolerance,
                               .tolerance = tolerance,
                               .blur = 0.0,  // no penalty that moves with λ to measure it by
                               .exact = options.tolerance <= kExactTolerance,
                               .max_count = options.max_count,
                               .flops_per_gradient = gradient_flops(),
                               .stop = options.stop},
                              w);
  report.setup = 1.0;  // the gradient at 0
  return report;
}

LinearReport CleaningProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                            const LinearOptions& options, Vector& x) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, b);
  require_weights(*this, x);
  Vector row_weights;
  trust(lambda, row_weights);
  return yosida::hessian_solve(term(split_.train, row_weights), Vector::Constant(weights(), 2.0 * c_), w, b,
                               options, gradient_flops(), nullptr, x);
}

void CleaningProblem::certificate_scale(const Vector&, const Vector& lambda, Vector& out) const {
  out.resize(hyperparameters());
  for (Index i = 0; i < lambda.size(); ++i)
    out[i] =
        static_cast<double>(lambda.size()) * std::min(kMaxCertificateScale, 0.25 / sigmoid_slope(lambda[i]));
}

Losses CleaningProblem::losses(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  Losses result{.train = term(split_.train, split_.train.weight).value(w),
                .validation = validation_loss(w, lambda),
                .test = {}};
  if (split_.test) result.test = term(*split_.test, split_.test->weight).value(w);
  return result;
}

Batches CleaningProblem::batches(Index rows) const {
  return batches_of(split_, rows, [&](Split own, Index first_row) {
    auto batch = std::make_shared<CleaningProblem>(std::move(own), shared_loss_, intercept_, c_);
    batch->lambdas_ = lambdas_;
    batch->first_ = first_row;
    return batch;
  });
}

}  // namespace yosida
