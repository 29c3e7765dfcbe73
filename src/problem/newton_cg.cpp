#include "problem/newton_cg.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"

namespace yosida {
namespace {

constexpr int kMaxIterations = 500;
constexpr int kMaxStalled = 3;
/// What a step along negative curvature begins with, as a share of max(1, ‖w‖), and how often it is doubled.
constexpr double kFirstMove = 0.1;
constexpr int kMaxDoublings = 10;
/// An objective is known to this share of itself: a fall below it cannot be seen.
constexpr double kRounding = 1e-14;

class NewtonCg {
 public:
  NewtonCg(const BilevelProblem& problem, const Vector& lambda, const InnerOptions& options, Vector& w)
      : problem_(problem),
        lambda_(lambda),
        options_(options),
        w_(w),
        moved_(problem.weights() - problem.intercepts()),
        gradient_(problem.weights()) {}

  InnerReport run() {
    if (options_.max_count < 1) return report_;
    const double at_start = gradient_at_start();
    if (spent()) return report_;
    const double pull = options_.proximal ? proximal_pull() : 0.0;
    update_gradient();
    value_ = objective(w_);
    const double tolerance = options_.tolerance * std::max(at_start, pull);
    int stalled = 0;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      if (!std::isfinite(norm_) || !std::isfinite(value_)) break;
      if (norm_ <= std::max(tolerance, options_.blur * turn())) {
        report_.converged = true;
        break;
      }
      if (spent() || stop_requested(options_.stop)) break;
      const double last = norm_;
      const double fall = step(tolerance);
      // This is as near as rounding lets it come: neither the objective nor the gradient shows a step any
      // more.
      stalled = fall <= kRounding * std::abs(value_) && !(norm_ < 0.5 * last) ? stalled + 1 : 0;
      if (stalled == kMaxStalled) {
        report_.converged = promised_ <= kRounding * std::abs(value_);
        break;
      }
    }
    report_.gradient_norm = norm_;
    if (options_.blur > 0.0) report_.blur = norm_ / std::max(turn(), std::numeric_limits<double>::min());
    return report_;
  }

 private:
  bool spent() const { return report_.work.paper_count() >= options_.max_count; }

  double gradient_at_start() {
    problem_.train_gradient(starting_weights(problem_), without_penalties(problem_, lambda_), gradient_);
    ++report_.work.train_gradients;
    return gradient_.norm();
  }
  double proximal_pull() const {
    const auto& [u, v, rho] = *options_.proximal;
    return (u - rho * v).head(moved_).norm();
  }
  /// ‖∇²_wλ L_T 1‖: how fast the gradient turns as λ moves.
  double turn() const {
    if (options_.blur == 0.0) return 0.0;
    Vector out(w_.size());
    problem_.cross_product(w_, lambda_, Vector::Ones(lambda_.size()), out);
    return out.norm();
  }

  double objective(const Vector& w) {
    ++report_.work.loss_evaluations;
    double value = problem_.train_loss(w, lambda_);
    if (options_.proximal) {
      const auto& [u, v, rho] = *options_.proximal;
      const auto away = (w - v).head(moved_);
      value += u.head(moved_).dot(away) + 0.5 * rho * away.squaredNorm();
    }
    return value;
  }
  void update_gradient() {
    problem_.train_gradient(w_, lambda_, gradient_);
    ++report_.work.train_gradients;
    if (options_.proximal) {
      const auto& [u, v, rho] = *options_.proximal;
      gradient_.head(moved_) += (u + rho * (w_ - v)).head(moved_);
    }
    norm_ = gradient_.norm();
  }

  /// Moves w along a direction of descent; returns by how much the objective falls.
  double step(double tolerance) {
    if (first_norm_ == 0.0) first_norm_ = norm_;
    // Superlinear (Eisenstat and Walker): the nearer, the more exact.
    const double forcing = std::min(0.1, std::sqrt(norm_ / std::max(first_norm_, norm_)));
    const auto apply = [&](const Vector& p, Vector& out) {
      problem_.hessian_product(w_, lambda_, p, out);
      if (options_.proximal) out.head(moved_) += options_.proximal->rho * p.head(moved_);
    };
    Vector direction = Vector::Zero(w_.size());
    const std::int64_t left = options_.max_count - report_.work.paper_count() - 1;
    const CgReport cg =
        conjugate_gradients(apply, -gradient_, direction, std::max(forcing * norm_, 0.3 * tolerance),
                            std::min<std::int64_t>(left, 10 * w_.size()), {.stop = options_.stop});
    report_.work.hessian_products += cg.products;
    // Up to where the Hessian curves down conjugate gradients have made a direction of descent; where it does
    // along the gradient itself there is none yet, and no minimum of the model to go to.
    const bool is_steepest = direction.isZero(0.0);
    if (is_steepest) direction = -gradient_ * (kFirstMove * std::max(1.0, w_.norm()) / norm_);
    if (!direction.allFinite()) return 0.0;
    return descend(direction, is_steepest && cg.curvature <= 0.0);
  }

  double descend(const Vector& direction, bool may_grow) {
    const double slope = gradient_.dot(direction);
    promised_ = -slope;
    // A fall that the objective cannot show is taken on trust: the gradient is the judge then.
    const double slack = (-slope <= kRounding * std::abs(value_) ? 10.0 : 0.1) * kRounding * std::abs(value_);
    Vector trial;
    for (double length = 1.0; length > 1e-12; length *= 0.5) {
      trial = w_ + length * direction;
      double now = objective(trial);
      if (!(now <= value_ + 1e-4 * length * slope + slack)) continue;
      for (int doubling = 0; may_grow && length == 1.0 && doubling < kMaxDoublings; ++doubling) {
        const Vector further = w_ + std::exp2(doubling + 1) * direction;
        const double there = objective(further);
        if (!(there < now)) break;
        trial = further;
        now = there;
      }
      const double fall = value_ - now;
      const Vector before = w_;
      const Vector gradient = gradient_;
      w_.swap(trial);
      update_gradient();
      if (!std::isfinite(norm_)) {  // nothing that is not finite leaves
        w_ = before;
        gradient_ = gradient;
        continue;
      }
      value_ = now;
      return fall;
    }
    norm_ = gradient_.norm();
    return 0.0;
  }

  const BilevelProblem& problem_;
  const Vector& lambda_;
  const InnerOptions& options_;
  Vector& w_;
  Index moved_;  // weights that the proximal term holds: not the intercepts
  Vector gradient_;
  double norm_ = 0.0;
  double value_ = 0.0;
  double first_norm_ = 0.0;
  double promised_ = 0.0;  // by the slope along the last direction
  InnerReport report_;
};

}  // namespace

InnerReport newton_cg(const BilevelProblem& problem, const Vector& lambda, const InnerOptions& options,
                      Vector& w) {
  return NewtonCg(problem, lambda, options, w).run();
}

}  // namespace yosida
