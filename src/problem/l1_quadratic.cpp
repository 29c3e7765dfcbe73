#include "problem/l1_quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/factor.hpp"

namespace yosida {
namespace {

constexpr int kMaxRounds = 1000;
constexpr int kSweeps = 2;
/// Weights leave the support one group a factorisation: so often before coordinate descent has another look.
constexpr int kMaxCuts = 30;
/// Rounds without a lower value or subgradient before rounding is said to have the last word.
constexpr int kPatience = 4;

class L1Descent {
 public:
  L1Descent(const L1Quadratic& model, Vector& x) : m_(model), x_(x) { update_gradient(); }

  L1QuadraticReport run(double tolerance) {
    double least = subgradient_norm();
    double lowest = value(x_, r_);
    int idle = 0;
    for (int round = 0; round < kMaxRounds && least > tolerance && idle < kPatience; ++round) {
      if (stop_requested(m_.stop)) break;
      for (int i = 0; i < kSweeps; ++i) sweep();
      if (subgradient_norm() > tolerance) polish();
      update_gradient();
      const double norm = subgradient_norm();
      const double now = value(x_, r_);
      idle = norm < 0.9 * least || now < lowest - 1e-14 * std::abs(lowest) ? 0 : idle + 1;
      least = std::min(least, norm);
      lowest = std::min(lowest, now);
    }
    return {subgradient_norm(), flops_};
  }

 private:
  /// r = the gradient of the smooth part at x.
  void update_gradient() {
    r_ = m_.q;
    r_.noalias() += m_.hessian * (x_ - m_.x0);
    flops_ += 2.0 * static_cast<double>(m_.hessian.size());
  }

  double value(const Vector& x, const Vector& r) const {
    return 0.5 * (m_.q + r).dot(x - m_.x0) + m_.threshold.dot(x.cwiseAbs());
  }

  double subgradient_norm() const {
    double square = 0.0;
    for (Index j = 0; j < x_.size(); ++j) {
      const double t = m_.threshold[j];
      const double s = x_[j] != 0.0 ? r_[j] + std::copysign(t, x_[j]) : std::max(std::abs(r_[j]) - t, 0.0);
      square += s * s;
    }
    return std::sqrt(square);
  }

  /// Every coordinate to its own minimum in turn.
  void sweep() {
    for (Index j = 0; j < x_.size(); ++j) {
      const double curvature = m_.hessian(j, j);
      if (!(curvature > 0.0)) continue;
      const double wanted = curvature * x_[j] - r_[j];
      const double next =
          std::copysign(std::max(std::abs(wanted) - m_.threshold[j], 0.0), wanted) / curvature;
      if (next == x_[j]) continue;
      r_ += (next - x_[j]) * m_.hessian.row(j).transpose();
      x_[j] = next;
      flops_ += 2.0 * static_cast<double>(x_.size());
    }
  }

  /// To the minimum on the support with its signs held. A weight that would change its sign stays at 0 and
  /// leaves the support.
  void polish() {
    for (int cut = 0; cut < kMaxCuts; ++cut) {
      support_.clear();
      for (Index j = 0; j < x_.size(); ++j)
        if (x_[j] != 0.0 || m_.threshold[j] == 0.0) support_.push_back(j);
      if (support_.empty()) return;
      const auto size = static_cast<double>(support_.size());
      const Matrix h = m_.hessian(support_, support_);
      Eigen::MatrixXd p(support_.size(), 1);
      for (std::size_t i = 0; i < support_.size(); ++i) {
        const Index j = support_[i];
        const double sign = m_.threshold[j] == 0.0 ? 0.0 : std::copysign(1.0, x_[j]);
        p(static_cast<Index>(i), 0) = -(r_[j] + sign * m_.threshold[j]);
      }
      flops_ += solve_semidefinite(h, p) * size * size * (size / 3.0 + 2.0);
      if (!p.allFinite() || step(p.col(0))) return;
    }
  }

  /// Moves along p on the support. True where no weight reached 0 on the way.
  bool step(const Vector& p) {
    double first = 1.0;  // crossing
    for (std::size_t i = 0; i < support_.size(); ++i)
      if (const double crossing = crossing_of(i, p); crossing < first) first = crossing;
    const double now = value(x_, r_);
    for (double length = 1.0;; length = std::max(0.1 * length, first)) {
      trial_ = x_;
      for (std::size_t i = 0; i < support_.size(); ++i) {
        const Index j = support_[i];
        trial_[j] = crossing_of(i, p) <= length ? 0.0 : x_[j] + length * p[static_cast<Index>(i)];
      }
      trial_r_ = m_.q;
      trial_r_.noalias() += m_.hessian * (trial_ - m_.x0);
      flops_ += 2.0 * static_cast<double>(m_.hessian.size());
      // At the first crossing the value has fallen: up to there it is the one that p is the minimum of.
      if (length <= first || value(trial_, trial_r_) < now) break;
    }
    x_.swap(trial_);
    r_.swap(trial_r_);
    return first >= 1.0;
  }

  /// How far along p the i-th weight of the support reaches 0.
  double crossing_of(std::size_t i, const Vector& p) const {
    const Index j = support_[i];
    const double move = p[static_cast<Index>(i)];
    if (m_.threshold[j] == 0.0 || !(x_[j] * move < 0.0)) return std::numeric_limits<double>::infinity();
    return -x_[j] / move;
  }

  const L1Quadratic& m_;
  Vector& x_;
  Vector r_, trial_, trial_r_;
  std::vector<Index> support_;
  double flops_ = 0.0;
};

}  // namespace

L1QuadraticReport minimise(const L1Quadratic& model, double tolerance, Vector& x) {
  return L1Descent(model, x).run(tolerance);
}

}  // namespace yosida
