#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "truth.hpp"
#include "yosida/error.hpp"

namespace yosida::bench {
namespace {

using Dense = Eigen::MatrixXd;

/// Value, slope and curvature of one row's loss at one margin, as the documentation states the losses.
struct Point {
  double value, slope, curvature;
};
using PointLoss = Point (*)(double margin, double y);

Point logistic_point(double margin, double y) {
  const double z = y * margin;
  const double e = std::exp(-std::abs(z));
  const double miss = z > 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
  return {std::log1p(e) + std::max(-z, 0.0), -y * miss, e / ((1.0 + e) * (1.0 + e))};
}
Point hinge_point(double margin, double y) {
  const double gap = std::max(0.0, 1.0 - y * margin);
  return {gap * gap, -2.0 * y * gap, gap > 0.0 ? 2.0 : 0.0};
}
Point huber_point(double margin, double y) {
  constexpr double kDelta = 1.345;
  const double r = margin - y;
  if (std::abs(r) <= kDelta) return {0.5 * r * r, r, 1.0};
  return {kDelta * (std::abs(r) - 0.5 * kDelta), r > 0.0 ? kDelta : -kDelta, 0.0};
}
Point poisson_point(double margin, double y) {
  const double mean = std::exp(margin);
  const double value = y == 0.0 ? mean : mean - y * margin - (y - y * std::log(y));
  return {std::isinf(mean) ? mean : std::max(value, 0.0), mean - y, mean};
}

PointLoss point_loss(const std::string& model) {
  if (model == "logistic") return logistic_point;
  if (model == "svm") return hinge_point;
  if (model == "huber") return huber_point;
  if (model == "poisson") return poisson_point;
  throw InputError("model = " + model + ": has no truth");
}

/// Damped Newton steps in rotated coordinates, from large λ to small. Weights are a matrix of columns × K.
class NewtonTruth final : public FoldTruth {
 public:
  NewtonTruth(const Split& split, const std::string& model, Index classes, bool intercept,
              const Vector& column_scale)
      : rotated_(split, intercept, column_scale),
        y_(split.train.y),
        validation_y_(split.validation.y),
        outputs_(classes > 1 ? classes : 1),
        point_(classes > 1 ? nullptr : point_loss(model)) {
    constexpr double kNothing = 1e-10;
    const Vector curvature = rotated_.penalty.cwiseInverse();
    const bool is_empty = curvature.size() == 0;
    low = is_empty ? -1.0 : std::log(kNothing * curvature.minCoeff());
    high = is_empty ? 1.0 : std::log(curvature.maxCoeff()) + 14.0;
    // Rows enter and leave the quadratic part of these losses: h has kinks.
    step = model == "svm" || model == "huber" ? 0.15 : 0.3;
  }

  double at(double lambda) override { return at_classes(Vector::Constant(outputs_, lambda)); }

  double at_classes(const Vector& lambda) override {
    constexpr double kStride = 1.0;
    constexpr double kBeyond = 30.0;
    const Vector asked = lambda.cwiseMin(high + kBeyond).cwiseMax(low - kBeyond);
    // From the solution of the nearest larger penalty, in strides.
    const double reach = asked.minCoeff();
    const Known* from = nullptr;
    for (const Known& each : known_)
      if (each.lambda.minCoeff() >= reach &&
          (from == nullptr || each.lambda.minCoeff() <= from->lambda.minCoeff()))
        from = &each;
    Dense u = from != nullptr ? from->u : Dense::Zero(rotated_.train.cols(), outputs_);
    const double begin = from != nullptr ? from->lambda.minCoeff() : std::max(high, reach);
    for (double above = begin - kStride; above > reach; above -= kStride) solve(asked.cwiseMax(above), u);
    extrapolate(asked, u);
    if (!solve(asked, u)) return std::numeric_limits<double>::quiet_NaN();
    known_.push_back({asked, u});
    return mean_loss(rotated_.validation * u, validation_y_);
  }

 private:
  struct Known {
    Vector lambda;
    Dense u;
  };
  double row_loss(const Dense& margins, const Vector& y, Index i) const {
    if (point_ != nullptr) return point_(margins(i, 0), y[i]).value;
    Index largest = 0;
    const double top = margins.row(i).maxCoeff(&largest);
    double others = 0.0;
    for (Index k = 0; k < outputs_; ++k)
      if (k != largest) others += std::exp(margins(i, k) - top);
    return std::log1p(others) + (top - margins(i, static_cast<Index>(y[i])));
  }
  double mean_loss(const Dense& margins, const Vector& y) const {
    double sum = 0.0;
    for (Index i = 0; i < y.size(); ++i) sum += row_loss(margins, y, i);
    const double mean = sum / static_cast<double>(y.size());
    return std::isfinite(mean) ? mean : std::numeric_limits<double>::infinity();
  }
  double objective(const Dense& u, const Dense& penalty) const {
    return mean_loss(rotated_.train * u, y_) + penalty.cwiseProduct(u.cwiseAbs2()).sum();
  }

  /// Σ over classes of penalty × u is 0 at the minimum of a softmax, whose loss does not see a common shift.
  /// Its square, added, holds the shift without moving the minimum; intercepts have no penalty, and any shift
  /// of theirs will do.
  Dense shift_weights(const Dense& penalty) const {
    Dense weights = Dense::Ones(penalty.rows(), outputs_);
    for (Index j = 0; j < penalty.rows(); ++j) {
      const double largest = penalty.row(j).maxCoeff();
      if (largest > 0.0) weights.row(j) = penalty.row(j) / largest;
    }
    return weights;
  }

  void differentiate(const Dense& u, const Dense& penalty, Dense& gradient, Dense& hessian) const {
    const Index columns = u.rows();
    const double n = static_cast<double>(y_.size());
    const Dense margins = rotated_.train * u;
    const Dense& z = rotated_.train;
    hessian = Dense::Zero(columns * outputs_, columns * outputs_);
    if (point_ != nullptr) {
      Vector slope(y_.size());
      Vector root(y_.size());
      for (Index i = 0; i < y_.size(); ++i) {
        const Point point = point_(margins(i, 0), y_[i]);
        slope[i] = point.slope / n;
        root[i] = std::sqrt(point.curvature / n);
      }
      gradient = z.transpose() * slope;
      const Dense weighted = root.asDiagonal() * z;
      hessian.selfadjointView<Eigen::Lower>().rankUpdate(weighted.transpose());
    } else {
      Dense p(y_.size(), outputs_);
      for (Index i = 0; i < y_.size(); ++i) {
        p.row(i) = (margins.row(i).array() - margins.row(i).maxCoeff()).exp();
        p.row(i) /= p.row(i).sum();
      }
      Dense slope = p;
      for (Index i = 0; i < y_.size(); ++i) {  // p − 1 as −Σ of the others: no cancellation
        const auto label = static_cast<Index>(y_[i]);
        slope(i, label) = 0.0;
        slope(i, label) = -slope.row(i).sum();
      }
      gradient = z.transpose() * slope / n;
      for (Index k = 0; k < outputs_; ++k)
        for (Index l = 0; l <= k; ++l) {
          const Vector weight = curvatures(p, k, l) / n;
          hessian.block(k * columns, l * columns, columns, columns).noalias() =
              z.transpose() * (weight.asDiagonal() * z);
        }
      const Dense shift = shift_weights(penalty);
      for (Index j = 0; j < columns; ++j)
        for (Index k = 0; k < outputs_; ++k)
          for (Index l = 0; l <= k; ++l)
            hessian(k * columns + j, l * columns + j) += shift(j, k) * shift(j, l);
      gradient.array() +=
          shift.array() * (shift.cwiseProduct(u).rowwise().sum().replicate(1, outputs_)).array();
    }
    gradient += 2.0 * penalty.cwiseProduct(u);
    for (Index k = 0; k < outputs_; ++k)
      hessian.diagonal().segment(k * columns, columns) += 2.0 * penalty.col(k);
  }
  /// p_k (1 − p_k), with 1 − p_k as the sum of the others, or −p_k p_l.
  Vector curvatures(const Dense& p, Index k, Index l) const {
    if (k != l) return -p.col(k).cwiseProduct(p.col(l));
    Vector others = Vector::Zero(p.rows());
    for (Index m = 0; m < outputs_; ++m)
      if (m != k) others += p.col(m);
    return p.col(k).cwiseProduct(others);
  }

  double shift_term(const Dense& u, const Dense& penalty) const {
    if (point_ != nullptr) return 0.0;
    return 0.5 * shift_weights(penalty).cwiseProduct(u).rowwise().sum().squaredNorm();
  }

  Dense penalties(const Vector& lambda) const {
    const Index rank = rotated_.penalty.size();
    Dense penalty = Dense::Zero(rotated_.train.cols(), outputs_);
    for (Index k = 0; k < outputs_; ++k) penalty.col(k).head(rank) = std::exp(lambda[k]) * rotated_.penalty;
    return penalty;
  }

  /// On with the line through the last two solutions, where that is a better start.
  void extrapolate(const Vector& lambda, Dense& u) const {
    if (known_.size() < 2) return;
    const Known& last = known_.back();
    const Known& before = known_[known_.size() - 2];
    const double between = (last.lambda - before.lambda).norm();
    const double ahead = (lambda - last.lambda).norm();
    if (!(between > 0.0) || ahead > 2.0 * between) return;
    const Dense penalty = penalties(lambda);
    const Dense start = last.u + ahead / between * (last.u - before.u);
    if (objective(start, penalty) + shift_term(start, penalty) <
        objective(u, penalty) + shift_term(u, penalty))
      u = start;
  }

  bool solve(const Vector& lambda, Dense& u) const {
    constexpr int kMost = 100;
    constexpr double kTight = 1e-12;  // Newton's decrement beside the objective; the step after it is taken
    constexpr double kLoose = 1e-9;   // accepted where rounding allows no more
    const Dense penalty = penalties(lambda);
    double current = objective(u, penalty) + shift_term(u, penalty);
    Dense gradient, hessian;
    for (int iteration = 0; iteration < kMost; ++iteration) {
      differentiate(u, penalty, gradient, hessian);
      const Eigen::Map<const Vector> flat(gradient.data(), gradient.size());
      double damping = 0.0;
      Vector direction;
      double decrement = -1.0;
      for (int attempt = 0; attempt < 12; ++attempt) {
        if (damping > 0.0) hessian.diagonal().array() += damping;
        const Eigen::LLT<Dense, Eigen::Lower> factor(hessian);
        if (factor.info() == Eigen::Success) {
          direction = -factor.solve(flat);
          decrement = -direction.dot(flat);
          if (direction.allFinite() && decrement >= 0.0) break;
        }
        decrement = -1.0;
        damping = damping > 0.0 ? 10.0 * damping : 1e-14 * hessian.diagonal().maxCoeff();
      }
      if (decrement < 0.0) return false;
      const Dense move = Eigen::Map<const Dense>(direction.data(), u.rows(), outputs_);
      if (decrement <= kTight * current || decrement == 0.0) {
        const Dense next = u + move;
        if (objective(next, penalty) + shift_term(next, penalty) <= current) u = next;
        return true;
      }
      double t = 1.0;
      bool is_lower = false;
      for (int halving = 0; halving < 50 && !is_lower; ++halving, t *= 0.5) {
        const Dense next = u + t * move;
        const double value = objective(next, penalty) + shift_term(next, penalty);
        if (value <= current - 1e-4 * t * decrement) {
          u = next;
          current = value;
          is_lower = true;
        }
      }
      if (!is_lower) return decrement <= kLoose * current;
    }
    return false;
  }

  Rotated rotated_;
  Vector y_;
  Vector validation_y_;
  Index outputs_;
  PointLoss point_;
  std::vector<Known> known_;
};

}  // namespace

std::unique_ptr<FoldTruth> newton_truth(const Split& split, const std::string& model, Index classes,
                                        bool intercept, const Vector& column_scale) {
  return std::make_unique<NewtonTruth>(split, model, classes, intercept, column_scale);
}

}  // namespace yosida::bench
