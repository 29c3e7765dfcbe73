#include "problem/sparse_quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
/// Proximal steps of a group in a sweep.
constexpr int kBlockSteps = 4;
/// Newton's steps on a support whose groups are not 0, and the shortest of them.
constexpr int kMaxNewton = 30;
constexpr double kShortest = 1e-10;
/// Values are known to this share of themselves.
constexpr double kRounding = 1e-14;

class SparseDescent {
 public:
  SparseDescent(const SparseQuadratic& model, Vector& x)
      : m_(model), x_(x), group_of_(static_cast<std::size_t>(x.size()), kNoGroup) {
    for (std::size_t g = 0; g < m_.groups.size(); ++g) {
      // No eigenvalue is above the largest sum of a row.
      double curvature = 0.0;
      for (const Index j : m_.groups[g].members) {
        group_of_[static_cast<std::size_t>(j)] = g;
        double sum = 0.0;
        for (const Index k : m_.groups[g].members) sum += std::abs(m_.hessian(j, k));
        curvature = std::max(curvature, sum);
      }
      curvature_of_group_.push_back(curvature);
    }
    update_gradient();
  }

  SparseQuadraticReport run(double tolerance) {
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
    double norms = 0.0;
    for (const SparseQuadratic::Group& group : m_.groups) norms += group.threshold * norm(group, x);
    return 0.5 * (m_.q + r).dot(x - m_.x0) + m_.threshold.dot(x.cwiseAbs()) + norms;
  }

  static double norm(const SparseQuadratic::Group& group, const Vector& x) {
    double square = 0.0;
    for (const Index j : group.members) square += x[j] * x[j];
    return std::sqrt(square);
  }
  static double soft(double value, double threshold) {
    return std::copysign(std::max(std::abs(value) - threshold, 0.0), value);
  }

  double subgradient_norm() const {
    double square = 0.0;
    const auto add = [&](Index j, double r) {
      const double t = m_.threshold[j];
      const double s = x_[j] != 0.0 ? r + std::copysign(t, x_[j]) : std::max(std::abs(r) - t, 0.0);
      square += s * s;
    };
    for (Index j = 0; j < x_.size(); ++j)
      if (group_of_[static_cast<std::size_t>(j)] == kNoGroup) add(j, r_[j]);
    for (const SparseQuadratic::Group& group : m_.groups) {
      const double length = norm(group, x_);
      double beyond = 0.0;
      for (const Index j : group.members) {
        if (length > 0.0) {
          add(j, r_[j] + group.threshold * x_[j] / length);
        } else {
          beyond += std::pow(soft(r_[j], m_.threshold[j]), 2);
        }
      }
      if (length == 0.0) square += std::pow(std::max(std::sqrt(beyond) - group.threshold, 0.0), 2);
    }
    return std::sqrt(square);
  }

  /// Every coordinate to its own minimum in turn, and groups towards theirs.
  void sweep() {
    for (std::size_t g = 0; g < m_.groups.size(); ++g) sweep_group(g);
    for (Index j = 0; j < x_.size(); ++j) {
      const double curvature = m_.hessian(j, j);
      if (!(curvature > 0.0) || group_of_[static_cast<std::size_t>(j)] != kNoGroup) continue;
      const double wanted = curvature * x_[j] - r_[j];
      const double next =
          std::copysign(std::max(std::abs(wanted) - m_.threshold[j], 0.0), wanted) / curvature;
      move(j, next);
    }
  }

  void move(Index j, double next) {
    if (next == x_[j]) return;
    r_ += (next - x_[j]) * m_.hessian.row(j).transpose();
    x_[j] = next;
    flops_ += 2.0 * static_cast<double>(x_.size());
  }

  /// Sets the group to 0 where that is its minimum; else takes some proximal steps.
  void sweep_group(std::size_t g) {
    const auto& [members, threshold] = m_.groups[g];
    const double curvature = curvature_of_group_[g];
    if (!(curvature > 0.0)) return;
    block_.resize(std::ssize(members));
    double beyond = 0.0;
    for (const Index j : members) {
      double at_zero = r_[j];
      for (const Index k : members) at_zero -= m_.hessian(j, k) * x_[k];
      beyond += std::pow(soft(at_zero, m_.threshold[j]), 2);
    }
    if (std::sqrt(beyond) <= threshold) {
      for (const Index j : members) move(j, 0.0);
      return;
    }
    for (int i = 0; i < kBlockSteps; ++i) {
      for (std::size_t k = 0; k < members.size(); ++k) {
        const Index j = members[k];
        block_[static_cast<Index>(k)] = soft(x_[j] - r_[j] / curvature, m_.threshold[j] / curvature);
      }
      const double length = block_.norm();
      const double share = length > threshold / curvature ? 1.0 - threshold / curvature / length : 0.0;
      for (std::size_t k = 0; k < members.size(); ++k)
        move(members[k], share * block_[static_cast<Index>(k)]);
    }
  }

  /// To the minimum on the support with its signs held. A weight that would change its sign stays at 0 and
  /// leaves the support. Norms of groups are not quadratic: Newton's steps then go on while the value falls.
  void polish() {
    const int most = m_.groups.empty() ? kMaxCuts : kMaxCuts + kMaxNewton;
    for (int cut = 0; cut < most; ++cut) {
      choose_support();
      if (support_.empty()) return;
      const auto size = static_cast<double>(support_.size());
      Matrix h = m_.hessian(support_, support_);
      Eigen::MatrixXd p(support_.size(), 1);
      for (std::size_t i = 0; i < support_.size(); ++i) {
        const Index j = support_[i];
        const double sign = m_.threshold[j] == 0.0 ? 0.0 : std::copysign(1.0, x_[j]);
        p(static_cast<Index>(i), 0) = -(r_[j] + sign * m_.threshold[j]);
      }
      add_groups(h, p);
      flops_ += solve_semidefinite(h, p) * size * size * (size / 3.0 + 2.0);
      if (!p.allFinite() || step(p.col(0))) return;
    }
  }

  void choose_support() {
    support_.clear();
    std::vector<char> is_active(m_.groups.size());
    for (std::size_t g = 0; g < m_.groups.size(); ++g) is_active[g] = norm(m_.groups[g], x_) > 0.0;
    for (Index j = 0; j < x_.size(); ++j) {
      const std::size_t g = group_of_[static_cast<std::size_t>(j)];
      if (x_[j] != 0.0 || (m_.threshold[j] == 0.0 && (g == kNoGroup || is_active[g] != 0)))
        support_.push_back(j);
    }
  }

  /// Second and first derivatives of the norms of the groups on the support.
  void add_groups(Matrix& h, Eigen::MatrixXd& p) const {
    std::vector<std::vector<Index>> places(m_.groups.size());
    for (std::size_t i = 0; i < support_.size(); ++i)
      if (const std::size_t g = group_of_[static_cast<std::size_t>(support_[i])]; g != kNoGroup)
        places[g].push_back(static_cast<Index>(i));
    for (std::size_t g = 0; g < m_.groups.size(); ++g) {
      if (places[g].empty()) continue;
      const double length = norm(m_.groups[g], x_);
      const auto direction = [&](Index i) { return x_[support_[static_cast<std::size_t>(i)]] / length; };
      for (const Index i : places[g]) {
        p(i, 0) -= m_.groups[g].threshold * direction(i);
        h(i, i) += m_.groups[g].threshold / length;
        for (const Index k : places[g])
          h(i, k) -= m_.groups[g].threshold / length * direction(i) * direction(k);
      }
    }
  }

  /// Moves along p on the support. True where that is all there is to be gained: no weight has reached 0 on
  /// the way of a quadratic, or the value does not fall.
  bool step(const Vector& p) {
    double first = 1.0;  // crossing
    for (std::size_t i = 0; i < support_.size(); ++i)
      if (const double crossing = crossing_of(i, p); crossing < first) first = crossing;
    const double now = value(x_, r_);
    const bool is_quadratic = m_.groups.empty();
    for (double length = 1.0;; length = length > first ? std::max(0.1 * length, first) : 0.25 * length) {
      trial_ = x_;
      for (std::size_t i = 0; i < support_.size(); ++i) {
        const Index j = support_[i];
        trial_[j] = crossing_of(i, p) <= length ? 0.0 : x_[j] + length * p[static_cast<Index>(i)];
      }
      trial_r_ = m_.q;
      trial_r_.noalias() += m_.hessian * (trial_ - m_.x0);
      flops_ += 2.0 * static_cast<double>(m_.hessian.size());
      // The value has fallen at the first crossing: up to there it is the quadratic whose minimum is p.
      if (is_quadratic && length <= first) break;
      const double next = value(trial_, trial_r_);
      if (next < now) break;
      // The last of Newton's steps changes the value by less than rounding, but not the subgradient.
      if (!is_quadratic && length == 1.0 && first >= 1.0 && next <= now + kRounding * std::abs(now)) {
        x_.swap(trial_);
        r_.swap(trial_r_);
        return true;
      }
      if (!is_quadratic && length < kShortest) return true;
    }
    x_.swap(trial_);
    r_.swap(trial_r_);
    return is_quadratic && first >= 1.0;
  }

  /// How far along p the i-th weight of the support reaches 0.
  double crossing_of(std::size_t i, const Vector& p) const {
    const Index j = support_[i];
    const double move = p[static_cast<Index>(i)];
    if (m_.threshold[j] == 0.0 || !(x_[j] * move < 0.0)) return std::numeric_limits<double>::infinity();
    return -x_[j] / move;
  }

  static constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

  const SparseQuadratic& m_;
  Vector& x_;
  std::vector<std::size_t> group_of_;
  std::vector<double> curvature_of_group_;
  Vector r_, trial_, trial_r_, block_;
  std::vector<Index> support_;
  double flops_ = 0.0;
};

}  // namespace

SparseQuadraticReport minimise(const SparseQuadratic& model, double tolerance, Vector& x) {
  return SparseDescent(model, x).run(tolerance);
}

}  // namespace yosida
