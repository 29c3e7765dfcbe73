#include "problem/counted_problem.hpp"

#include <algorithm>

#include "problem/shared_curve.hpp"
#include "problem/stoppable_memory.hpp"

namespace yosida {

CountedProblem::CountedProblem(const BilevelProblem& problem, std::int64_t limit, StopToken stop)
    : CheckedProblem(problem), limit_(limit), stop_(std::move(stop)) {
  work_.factorisations = traits().setup_work;
}

void CountedProblem::require_going_on() const {
  if (stop_.stop_requested()) throw RunEnded(stop_);
}

void CountedProblem::charge(std::int64_t Work::*kind) const {
  require_going_on();
  if (kind != &Work::loss_evaluations && work_.paper_count() >= limit_)
    throw RunEnded(RunEnded::Reason::work_limit);
  ++(work_.*kind);
}

void CountedProblem::charge_share(std::int64_t Work::*kind, double& sum, double share) const {
  constexpr double kWhole = 1.0 - 1e-9;  // shares of an epoch add up to one but for rounding
  require_going_on();
  if (work_.paper_count() >= limit_) throw RunEnded(RunEnded::Reason::work_limit);
  sum += share;
  if (sum < kWhole) return;
  sum = std::max(sum - 1.0, 0.0);
  ++(work_.*kind);
}

/// A batch whose work is counted with that of the problem.
class CountedProblem::CountedBatch final : public CheckedProblem {
 public:
  CountedBatch(const CountedProblem& whole, std::shared_ptr<const BilevelProblem> batch, double train_share,
               double validation_share)
      : CheckedProblem(*batch),
        whole_(whole),
        batch_(std::move(batch)),
        train_share_(train_share),
        validation_share_(validation_share) {}

  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    whole_.charge_share(&Work::train_gradients, whole_.train_share_, train_share_);
    CheckedProblem::train_gradient(w, lambda, g);
  }
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override {
    whole_.charge_share(&Work::hessian_products, whole_.hessian_share_, train_share_);
    CheckedProblem::hessian_product(w, lambda, p, out);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    whole_.charge_share(&Work::validation_gradients, whole_.validation_share_, validation_share_);
    return CheckedProblem::validation_gradient(w, lambda, g);
  }

 private:
  const CountedProblem& whole_;
  std::shared_ptr<const BilevelProblem> batch_;
  double train_share_, validation_share_;
};

Batches CountedProblem::batches(Index rows) const {
  Batches own = problem_.batches(rows);
  const auto share = [](const std::vector<double>& shares, std::size_t i) {
    return i < shares.size() ? shares[i] : 0.0;
  };
  for (std::size_t i = 0; i < own.problems.size(); ++i)
    own.problems[i] = std::make_shared<CountedBatch>(*this, own.problems[i], share(own.train_shares, i),
                                                     share(own.validation_shares, i));
  return own;
}

double CountedProblem::train_loss(const Vector& w, const Vector& lambda) const {
  charge(&Work::loss_evaluations);
  return problem_.train_loss(w, lambda);
}

void CountedProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  charge(&Work::train_gradients);
  CheckedProblem::train_gradient(w, lambda, g);
}

void CountedProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                     Vector& out) const {
  charge(&Work::hessian_products);
  CheckedProblem::hessian_product(w, lambda, p, out);
}

void CountedProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                   Vector& out) const {
  require_going_on();
  work_ += traits().cross_work;
  CheckedProblem::cross_product(w, lambda, q, out);
}

void CountedProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                              Vector& out) const {
  require_going_on();
  work_ += traits().cross_work;
  CheckedProblem::cross_product_transposed(w, lambda, p, out);
}

void CountedProblem::smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  charge(&Work::train_gradients);
  CheckedProblem::smooth_gradient(w, lambda, g);
}

void CountedProblem::smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                            Vector& out) const {
  charge(&Work::hessian_products);
  CheckedProblem::smooth_hessian_product(w, lambda, p, out);
}

double CountedProblem::validation_loss(const Vector& w, const Vector& lambda) const {
  charge(&Work::loss_evaluations);
  return kept_validation(w, lambda, problem_.validation_loss(w, lambda));
}

double CountedProblem::validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  charge(&Work::validation_gradients);
  return kept_validation(w, lambda, CheckedProblem::validation_gradient(w, lambda, g));
}

double CountedProblem::kept_validation(const Vector& w, const Vector& lambda, double value) const {
  validation_w_ = w;
  validation_lambda_ = lambda;
  return validation_ = value;
}

double CountedProblem::watched_validation(const Vector& w, const Vector& lambda) const {
  if (validation_w_.size() == w.size() && validation_w_ == w && validation_lambda_ == lambda)
    return validation_;
  return kept_validation(w, lambda, problem_.validation_loss(w, lambda));
}

void CountedProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  charge(&Work::loss_evaluations);
  CheckedProblem::train_gradient_lambda(w, lambda, out);
}

void CountedProblem::validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  if (traits().validation_depends_on_lambda) charge(&Work::loss_evaluations);
  CheckedProblem::validation_gradient_lambda(w, lambda, out);
}

void CountedProblem::validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                                Vector& out) const {
  charge(&Work::hessian_products);
  CheckedProblem::validation_hessian_product(w, lambda, p, out);
}

void CountedProblem::validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                                          Eigen::MatrixXd& out) const {
  for (Index j = 0; j < phi1.cols(); ++j) charge(&Work::hessian_products);
  problem_.validation_curvature(w, lambda, phi1, out);
}

InnerReport CountedProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  InnerOptions limited = options;
  limited.max_count = std::min(options.max_count, limit_ - work_.paper_count());
  limited.stop = &stop_;
  require_going_on();
  if (limited.max_count < 1) throw RunEnded(RunEnded::Reason::work_limit);
  const InnerReport report = CheckedProblem::inner_solve(lambda, limited, w);
  if (report.setup > setup_paid_) {
    work_.factorisations += report.setup - setup_paid_;
    setup_paid_ = report.setup;
  }
  work_ += report.work;
  ++work_.inner_solves;
  if (report.converged) return report;
  require_going_on();
  if (work_.paper_count() >= limit_) throw RunEnded(RunEnded::Reason::work_limit);
  return report;
}

LinearReport CountedProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                           const LinearOptions& options, Vector& x) const {
  return within_limit(options, [&](const LinearOptions& limited) {
    return CheckedProblem::hessian_solve(w, lambda, b, limited, x);
  });
}

LinearReport CountedProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                                const LinearOptions& options, Matrix& x) const {
  return within_limit(options, [&](const LinearOptions& limited) {
    return problem_.hessian_solve_many(w, lambda, b, limited, x);
  });
}

LinearReport CountedProblem::within_limit(const LinearOptions& options,
                                          FunctionRef<LinearReport(const LinearOptions&)> solve) const {
  LinearOptions limited = options;
  limited.max_count = std::min(options.max_count, limit_ - work_.paper_count());
  limited.stop = &stop_;
  require_going_on();
  if (limited.max_count < 1) throw RunEnded(RunEnded::Reason::work_limit);
  const LinearReport report = solve(limited);
  work_ += report.work;
  if (report.converged) return report;
  require_going_on();
  if (work_.paper_count() >= limit_) throw RunEnded(RunEnded::Reason::work_limit);
  return report;
}

void CountedProblem::closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const {
  require_going_on();
  problem_.closed_forms(lambdas, points);
  for (const CurvePoint& point : points) work_.factorisations += point.work;
}

/// Two gradients, and a Hessian on the support, which serves all directions: counted as one product.
bool CountedProblem::one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions,
                                      double reach, Vector& slopes) const {
  charge(&Work::train_gradients);
  charge(&Work::validation_gradients);
  charge(&Work::hessian_products);
  return problem_.one_sided_slopes(w, lambda, directions, reach, slopes);
}

std::shared_ptr<const ExactCurve> CountedProblem::exact_curve(const Vector& lambda, Index j, const StopToken*,
                                                              double least) const {
  require_going_on();
  Vector others = lambda;
  if (j == kAllTogether)
    others.setZero();
  else
    others[j] = 0.0;
  if (curve_ && j == curve_along_ && others == curve_lambda_ && curve_least_ <= least) return curve_;
  auto curve = problem_.exact_curve(lambda, j, &stop_, least);
  require_going_on();
  if (!curve) return nullptr;
  work_.factorisations += curve->work();
  curve_ = curve;
  curve_lambda_ = others;
  curve_along_ = j;
  curve_least_ = least;
  return curve;
}

std::optional<double> CountedProblem::largest_curvature(SolveMemory& memory, Work& work) const {
  require_going_on();
  Work own;
  auto* const stoppable = dynamic_cast<StoppableMemory*>(&memory);
  if (stoppable != nullptr) stoppable->stop_by(&stop_);
  const auto largest = problem_.largest_curvature(memory, own);
  if (stoppable != nullptr) stoppable->stop_by(nullptr);
  require_going_on();
  work_ += own;
  work += own;
  return largest;
}

void CountedProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  const Work& work = traits().certificate_work;
  require_going_on();
  if (work.paper_count() > 0 && work_.paper_count() + work.paper_count() > limit_)
    throw RunEnded(RunEnded::Reason::work_limit);
  work_ += work;
  CheckedProblem::certificate_scale(w, lambda, out);
}

void CountedProblem::fit_intercept(Vector& w) const {
  require_going_on();
  work_ += traits().intercept_work;
  problem_.fit_intercept(w);
}

}  // namespace yosida
