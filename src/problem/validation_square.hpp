#pragma once

#include "yosida/linalg/design.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// S(p) = ‖X p − z‖² of validation rows, where p may hold an intercept behind the weights. From the rows, or,
/// where they are more than the columns, from the products of these: whichever is the smaller matrix.
class ValidationSquare {
 public:
  ValidationSquare() = default;
  /// Where `stop` says so on the way, sums miss some rows.
  ValidationSquare(Design x, Vector z, bool intercept, const StopToken* stop = nullptr);

  /// S(p), and g = Xᵀ(X p − z).
  double gradient(const Vector& p, Vector& g) const;
  /// out = XᵀX p
  void multiply(const Vector& p, Vector& out) const;
  /// The even columns of a are weights p without intercepts, and each has a direction behind it. The result
  /// has S(p) in its first row and (X p − z)·(X direction) in the second.
  Matrix along(const Eigen::MatrixXd& a) const;
  /// Operations of one column of along().
  double flops() const;

 private:
  bool has_products() const { return gram_.size() > 0; }

  Design x_;
  Vector z_;
  // Pᵀ gram P − 2 right·p + square
  Matrix gram_;
  Vector right_;
  double square_ = 0.0;
};

}  // namespace yosida
