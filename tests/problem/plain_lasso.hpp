#pragma once

#include <algorithm>
#include <cmath>

#include "support/plain_problem.hpp"

namespace yosida::test {

/// The elastic net by coordinate descent in plain dense expressions: what the library is compared with. For
/// other losses than least squares, coordinate descent on the second-order model, over and over.
struct PlainElasticNet {
  PlainProblem plain;

  PlainElasticNet(const Split& split, const Loss& loss, bool intercept) : plain(split, loss, intercept) {}

  Vector smooth_gradient(const Vector& w, double l2) const {
    return plain.data_gradient(plain.x_train, plain.y_train, w) + 2.0 * l2 * w.cwiseProduct(plain.penalised);
  }
  /// The largest violation of the optimality conditions.
  double violation(const Vector& w, double l1, double l2) const {
    const Vector g = smooth_gradient(w, l2);
    double worst = 0.0;
    for (Index j = 0; j < w.size(); ++j) {
      const double t = l1 * plain.penalised[j];
      const double each = w[j] > 0.0   ? std::abs(g[j] + t)
                          : w[j] < 0.0 ? std::abs(g[j] - t)
                                       : std::max(0.0, std::abs(g[j]) - t);
      worst = std::max(worst, each);
    }
    return worst;
  }
  Vector solve(double l1, double l2, double tolerance) const {
    Vector w = Vector::Zero(plain.x_train.cols());
    for (int model = 0; model < 100 && violation(w, l1, l2) > tolerance; ++model) {
      Eigen::MatrixXd h = plain.data_hessian(plain.x_train, plain.y_train, w);
      h.diagonal() += 2.0 * l2 * plain.penalised;
      const Vector start = w;
      const Vector g = smooth_gradient(w, l2);
      Vector r = g;
      for (int sweep = 0; sweep < 100000; ++sweep) {
        double moved = 0.0;
        for (Index j = 0; j < w.size(); ++j) {
          if (!(h(j, j) > 0.0)) continue;  // a column of zeros
          const double t = l1 * plain.penalised[j];
          const double z = h(j, j) * w[j] - r[j];
          const double next = (z > t ? z - t : z < -t ? z + t : 0.0) / h(j, j);
          if (next == w[j]) continue;
          moved = std::max(moved, h(j, j) * std::abs(next - w[j]));
          r += (next - w[j]) * h.col(j);
          w[j] = next;
        }
        if (moved <= 0.01 * tolerance) break;
      }
    }
    return w;
  }
};

}  // namespace yosida::test
