#include "lasso_path.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace yosida::bench {
namespace {

using Dense = Eigen::MatrixXd;
constexpr double kDeepest = 1e-11;  // of the c that the last column to enter may have: below, nothing changes
constexpr double kSlack = 1e-6;     // that a slope may be above its bound by rounding
constexpr int kMostEvents = 5000;
constexpr int kMostStanding = 20;

/// Columns divided by their size, so that scales of the data leave no trace: weights u = size × w, each with
/// a penalty of c / size.
struct Equilibrated {
  Equilibrated(const Split& split, bool intercept, double ridge) {
    Dense x = to_matrix(split.train.x);
    validation = to_matrix(split.validation.x);
    Vector y = split.train.y;
    validation_y = split.validation.y;
    const auto n = static_cast<double>(x.rows());
    if (intercept) {
      const Eigen::RowVectorXd mean = x.colwise().mean();
      x.rowwise() -= mean;
      validation.rowwise() -= mean;
      const double target = y.mean();
      y.array() -= target;
      validation_y.array() -= target;
    }
    // A column that is constant but for rounding has no size.
    const Dense raw = to_matrix(split.train.x);
    Vector size = (x.colwise().norm() / std::sqrt(n)).transpose();
    for (Index j = 0; j < size.size(); ++j)
      if (!(size[j] > 1e-13 * raw.col(j).cwiseAbs().maxCoeff())) size[j] = 0.0;
    const Vector inverse = size.unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
    x *= inverse.asDiagonal();
    validation *= inverse.asDiagonal();
    gram = x.transpose() * x / n;
    gram.diagonal() += 2.0 * ridge * inverse.cwiseAbs2();
    slope = x.transpose() * y / n;
    weight = inverse;
  }
  Dense gram, validation;
  Vector validation_y;
  Vector slope;   // Xᵀy / N
  Vector weight;  // of c; 0 where a column is nothing
};

}  // namespace

LassoPath::LassoPath(const Split& split, bool intercept, double ridge) {
  const Equilibrated data(split, intercept, ridge);
  const Index d = data.slope.size();
  const auto rows = static_cast<double>(data.validation_y.size());
  at_zero_ = 0.5 * data.validation_y.squaredNorm() / rows;
  Index first = -1;
  for (Index j = 0; j < d; ++j)
    if (data.weight[j] > 0.0 && std::abs(data.slope[j]) / data.weight[j] > largest_) {
      largest_ = std::abs(data.slope[j]) / data.weight[j];
      first = j;
    }
  if (first < 0) return;
  double lightest = std::numeric_limits<double>::infinity();
  double heaviest = 0.0;
  for (const double weight : data.weight)
    if (weight > 0.0) {
      lightest = std::min(lightest, weight);
      heaviest = std::max(heaviest, weight);
    }
  const double deepest = kDeepest * largest_ * (lightest / heaviest);

  std::vector<Index> active = {first};
  Vector sign = Vector::Zero(d);
  sign[first] = data.slope[first] > 0.0 ? 1.0 : -1.0;
  double c = largest_;
  Index just_left = -1;
  double left_side = 0.0;  // the sign it had
  int standing = 0;        // events one after the other that did not lower c
  for (int event = 0; event < kMostEvents; ++event) {
    // On this segment u_A = α − c β, and the slopes of the others are a + c e.
    const auto size = static_cast<Index>(active.size());
    Dense gram(size, size);
    Dense right(size, 2);
    for (Index i = 0; i < size; ++i) {
      const Index row = active[static_cast<std::size_t>(i)];
      for (Index k = 0; k < size; ++k) gram(i, k) = data.gram(row, active[static_cast<std::size_t>(k)]);
      right(i, 0) = data.slope[row];
      right(i, 1) = data.weight[row] * sign[row];
    }
    const Eigen::LLT<Dense> factor(gram);
    if (factor.info() != Eigen::Success) {
      is_broken_ = c > deepest;
      return;
    }
    Dense solved = factor.solve(right);
    solved += factor.solve(right - gram * solved);
    Vector a = data.slope;
    Vector e = Vector::Zero(d);
    Vector now = Vector::Zero(d);    // u at the begin of the segment
    Vector moves = Vector::Zero(d);  // per unit that c falls
    for (Index k = 0; k < size; ++k) {
      const Index j = active[static_cast<std::size_t>(k)];
      a -= solved(k, 0) * data.gram.col(j);
      e += solved(k, 1) * data.gram.col(j);
      now[j] = solved(k, 0) - c * solved(k, 1);
      moves[j] = solved(k, 1);
    }
    double next = deepest;
    Index who = -1;
    bool leaves = false;
    for (Index k = 0; k < size; ++k) {
      const Index j = active[static_cast<std::size_t>(k)];
      // A weight that has its sign still moves away from 0, or reaches it here.
      if (moves[j] * sign[j] >= 0.0) continue;
      const double root = c + now[j] / moves[j];
      if (root > next) {
        next = std::min(root, c);
        who = j;
        leaves = true;
      }
    }
    for (Index j = 0; j < d; ++j) {
      if (sign[j] != 0.0 || data.weight[j] == 0.0) continue;
      for (const double side : {1.0, -1.0}) {
        const double closing = data.weight[j] - side * e[j];
        if (side * (a[j] + c * e[j]) > (1.0 + kSlack) * c * data.weight[j]) is_broken_ = true;
        // A line meets its bound once: what has just left it does not meet it again on this segment.
        if (!(closing > 0.0) || (j == just_left && side == left_side)) continue;
        const double root = side * a[j] / closing;
        if (root > next && root <= c * (1.0 + kSlack)) {
          next = std::min(root, c);
          who = j;
          leaves = false;
        }
      }
    }
    standing = next < c * (1.0 - 1e-12) ? 0 : standing + 1;
    is_broken_ |= standing > kMostStanding;
    if (is_broken_) return;
    const Vector residual = data.validation_y - data.validation * now;
    const Vector change = data.validation * moves;
    segments_.push_back({.begin = c,
                         .end = next,
                         .a = 0.5 * residual.squaredNorm() / rows,
                         .b = -residual.dot(change) / rows,
                         .c = 0.5 * change.squaredNorm() / rows});
    if (who < 0) return;
    just_left = -1;
    if (leaves) {
      active.erase(std::find(active.begin(), active.end(), who));
      left_side = sign[who];
      sign[who] = 0.0;
      just_left = who;
      if (active.empty()) {
        is_broken_ = true;
        return;
      }
    } else {
      active.push_back(who);
      sign[who] = a[who] + next * e[who] > 0.0 ? 1.0 : -1.0;
    }
    c = next;
  }
  is_broken_ = true;
}

double LassoPath::validation(double c) const {
  if (segments_.empty() || c >= largest_) return at_zero_;
  const auto at = std::partition_point(segments_.begin(), segments_.end(),
                                       [c](const Segment& segment) { return segment.end > c; });
  if (at == segments_.end()) {
    if (is_broken_) return std::numeric_limits<double>::quiet_NaN();
    const Segment& last = segments_.back();
    const double t = last.begin - last.end;
    return last.a + t * (last.b + t * last.c);
  }
  const double t = at->begin - c;
  return at->a + t * (at->b + t * at->c);
}

std::vector<double> LassoPath::events() const {
  std::vector<double> all;
  for (const Segment& segment : segments_) all.push_back(segment.begin);
  return all;
}

}  // namespace yosida::bench
