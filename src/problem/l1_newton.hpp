#pragma once

#include <vector>

#include "problem/data_term.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// min over a, the intercept last, of  F(a) = f(a) + ½ Σ c_j a_j² + linearᵀa + threshold × Σ |a_j|  for a
/// data term f of one output; the intercept is in neither sum.
struct L1Problem {
  const DataTerm& data;
  const Vector& c;            // one per weight, 0 at the intercept
  const Vector& linear;       // likewise
  double threshold;           // e^λ
  double tolerance;           // on the norm of the smallest subgradient, in units of the columns
  std::int64_t max_count;     // gradients and Hessian products
  double flops_per_gradient;  // of the problem the work is counted for
  FunctionRef<const Matrix*()>
      hessian;            // ∇²f where it is known for any a, else null; asked where it is needed
  const Vector& units;    // of column_units()
  const StopToken* stop;  // as InnerOptions::stop
};

/// What components of a gradient are multiplied by before they are compared: 1/√curvature of each weight's
/// column, where columns are of different scales; ones where `curvatures` is null.
Vector column_units(const Vector* curvatures, Index weights);

/// The subgradient of F of the smallest norm, from the gradient g of its smooth part: 0 where and only where
/// a is the minimiser. In place.
void smallest_subgradient(const Vector& a, double threshold, Index penalisable, Vector& g);

/// Newton's method on a working set, from the a given: the weights that are not 0 and the worst violators of
/// the optimality conditions. The quadratic model on them is minimised by coordinate descent, which finds the
/// support, and by Cholesky on the support with its signs held, which makes it exact however correlated the
/// columns are; steps end where a weight reaches 0. From far away the threshold comes down in stages.
/// Supports too large to factor: proximal gradient steps find them, conjugate gradients solve on them. Of a
/// quadratic f with few rows, and with c > 0, they are found in the space of the rows (RowSpaceSystem).
InnerReport l1_newton(const L1Problem& problem, Vector& a);

}  // namespace yosida
