#include "solver/box_quadratic.hpp"

#include <Eigen/Cholesky>
#include <vector>

namespace yosida {

Vector minimise_in_box(const Vector& g, const Eigen::MatrixXd& b, const Vector& low, const Vector& high) {
  const auto value = [&](const Vector& x) { return g.dot(x) + 0.5 * x.dot(b * x); };
  Vector x = Vector::Zero(g.size()).cwiseMax(low).cwiseMin(high);
  double now = value(x);
  std::vector<Index> free;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const Vector slope = g + b * x;
    free.clear();
    for (Index j = 0; j < x.size(); ++j)
      if (!(x[j] <= low[j] && slope[j] >= 0.0) && !(x[j] >= high[j] && slope[j] <= 0.0)) free.push_back(j);
    if (free.empty()) break;
    const Eigen::MatrixXd part = b(free, free);
    const Vector right = -slope(free);
    const Vector newton = part.ldlt().solve(right);
    if (!newton.allFinite()) break;
    bool moved = false;
    Vector trial = x;
    for (double t = 1.0; t > 1e-10; t *= 0.5) {
      trial(free) = x(free) + t * newton;
      trial = trial.cwiseMax(low).cwiseMin(high);
      if (const double then = value(trial); then < now) {
        moved = true;
        now = then;
        break;
      }
    }
    if (!moved) break;
    x.swap(trial);
  }
  return x;
}

}  // namespace yosida
