#include "search/local_step.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

namespace yosida::search {
namespace {

/// A place and the value a parabola promises there.
struct Promise {
  Vector unit;
  double value = std::numeric_limits<double>::infinity();
};

Index finite_trials(const TrialHistory& history) {
  const auto& order = history.by_value();
  return std::partition_point(order.begin(), order.end(),
                              [&](Index trial) { return std::isfinite(history.value(trial)); }) -
         order.begin();
}

double value_at_rank(const TrialHistory& history, Index rank) {
  return history.value(history.by_value()[static_cast<std::size_t>(rank)]);
}

struct Point {
  double t, value;
};

/// The bottom of the parabola through three trials, the middle one the lowest.
Promise valley_bottom(const Point& left, const Point& middle, const Point& right) {
  const double left_slope = (middle.value - left.value) / (middle.t - left.t);
  const double right_slope = (right.value - middle.value) / (right.t - middle.t);
  const double curvature = (right_slope - left_slope) / (right.t - left.t);
  const double slope = left_slope + curvature * (middle.t - left.t);  // at the middle
  const double promised = middle.value - slope * slope / (4.0 * curvature);
  // Away from all three, so that every step narrows the bracket: towards the wider side from the middle.
  const double apart = 0.1 * std::min(middle.t - left.t, right.t - middle.t);
  constexpr double narrowest = 1e-5;
  if (!(apart >= narrowest) || !std::isfinite(promised)) return {};
  double t = middle.t - slope / (2.0 * curvature);
  if (std::abs(t - middle.t) < apart)
    t = right.t - middle.t > middle.t - left.t ? middle.t + apart : middle.t - apart;
  return {Vector::Constant(1, std::clamp(t, left.t + apart, right.t - apart)), promised};
}

Promise best_valley(const TrialHistory& history) {
  const auto point = [&](std::size_t place) {
    const Index trial = history.by_coordinate(0)[place];
    return Point{history.coordinate(0, trial), history.value(trial)};
  };
  Promise best;
  for (std::size_t k = 1; k + 1 < static_cast<std::size_t>(history.size()); ++k) {
    const Point left = point(k - 1), middle = point(k), right = point(k + 1);
    const bool is_floor = middle.value <= left.value && middle.value <= right.value;
    if (!is_floor || !std::isfinite(left.value) || !std::isfinite(right.value)) continue;
    if (Promise promise = valley_bottom(left, middle, right); promise.value < best.value)
      best = std::move(promise);
  }
  return best;
}

/// The `count` finite trials nearest to the best one, as rows of differences from it, the best one first.
struct Neighbours {
  Vector centre;
  double centre_value;
  Eigen::MatrixXd differences;
  Vector values;  // less the centre's
};
Neighbours neighbours_of_best(const TrialHistory& history, Index finite, Index count) {
  const Index dimensions = history.dimensions(), best = history.by_value().front();
  Eigen::MatrixXd differences(finite, dimensions);
  for (Index rank = 0; rank < finite; ++rank)
    for (Index j = 0; j < dimensions; ++j)
      differences(rank, j) = history.coordinate(j, history.by_value()[static_cast<std::size_t>(rank)]) -
                             history.coordinate(j, best);
  const Vector distances = differences.rowwise().squaredNorm();
  std::vector<Index> ranks(static_cast<std::size_t>(finite));
  for (Index rank = 0; rank < finite; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  std::partial_sort(ranks.begin(), ranks.begin() + count, ranks.end(), [&](Index a, Index b) {
    return distances[a] < distances[b] || (distances[a] == distances[b] && a < b);
  });
  Neighbours result{Vector(dimensions), history.value(best), Eigen::MatrixXd(count, dimensions),
                    Vector(count)};
  for (Index j = 0; j < dimensions; ++j) result.centre[j] = history.coordinate(j, best);
  for (Index row = 0; row < count; ++row) {
    const Index rank = ranks[static_cast<std::size_t>(row)];
    result.differences.row(row) = differences.row(rank);
    result.values[row] = value_at_rank(history, rank) - result.centre_value;
  }
  return result;
}

/// Coefficients (constant, b_1 …, a_1 …) in units of `scale`; the smallest where neighbours in a plane leave
/// some of them free.
Vector fit_parabolas(const Neighbours& near, double scale) {
  const Index dimensions = near.centre.size(), count = near.values.size();
  Eigen::MatrixXd design(count, 2 * dimensions + 1);
  const auto scaled = near.differences.array() / scale;
  design.col(0).setOnes();
  design.middleCols(1, dimensions) = scaled.matrix();
  design.rightCols(dimensions) = scaled.square().matrix();
  return design.completeOrthogonalDecomposition().solve(near.values);
}

Promise bottom_near_best(const TrialHistory& history, Index finite) {
  const Index dimensions = history.dimensions(), count = 2 * dimensions + 1;
  if (finite < count) return {};
  const Neighbours near = neighbours_of_best(history, finite, count);
  const double scale = near.differences.rowwise().norm().maxCoeff();
  if (!(scale > 0.0)) return {};
  const Vector coefficients = fit_parabolas(near, scale);
  Promise promise{near.centre, near.centre_value + coefficients[0]};
  for (Index j = 0; j < dimensions; ++j) {
    const double slope = coefficients[1 + j], curvature = coefficients[1 + dimensions + j];
    const double reach = 0.25 * near.differences.col(j).cwiseAbs().maxCoeff() / scale;
    const double wanted = curvature > 0.0 ? std::clamp(-slope / (2.0 * curvature), -reach, reach)
                                          : std::copysign(reach, -slope);
    promise.unit[j] = std::clamp(near.centre[j] + scale * wanted, 0.0, 1.0);
    const double step = (promise.unit[j] - near.centre[j]) / scale;
    promise.value += (slope + curvature * step) * step;
  }
  return promise;
}

bool is_apart(const TrialHistory& history, const Vector& unit) {
  constexpr double nearest = 1e-4;
  for (Index trial = 0; trial < history.size(); ++trial) {
    double distance = 0.0;
    for (Index j = 0; j < unit.size(); ++j)
      distance = std::max(distance, std::abs(history.coordinate(j, trial) - unit[j]));
    if (distance < nearest) return false;
  }
  return true;
}

}  // namespace

std::optional<Vector> local_step(const TrialHistory& history) {
  const Index finite = finite_trials(history);
  if (finite < 3) return std::nullopt;
  const bool is_line = history.dimensions() == 1;
  Promise promise = is_line ? best_valley(history) : bottom_near_best(history, finite);
  const double best = value_at_rank(history, 0);
  const double spread = value_at_rank(history, finite / 2) - best;
  // False where anything has overflown.
  if (!(promise.value < best - 1e-3 * spread) || !std::isfinite(promise.value)) return std::nullopt;
  if (!is_line && !is_apart(history, promise.unit)) return std::nullopt;
  return std::move(promise.unit);
}

}  // namespace yosida::search
