#pragma once

#include <vector>

#include "problem/kept_hessian.hpp"
#include "problem/newton.hpp"

namespace yosida {

/// What inner and linear solves of a LinearProblem keep from one λ to the next, and the solves that use it.
///
/// Inner problems are solved by limited-memory quasi-Newton steps that start from a kept Hessian plus the
/// penalties of today. A change of λ needs no pass over the data: the data term's gradient at the last
/// weights is kept, and so are the pairs of the limited memory, to which a penalty adds a known share.
class QuasiNewton final : public SolveMemory {
 public:
  /// Whether a search of many λ is predicted to take less time with a kept Hessian than without.
  static bool pays(const DataTerm& data);

  /// As newton(), for tolerances that are not tight. Not converged where it makes no more progress.
  InnerReport minimise(const InnerProblem& problem, Vector& a);
  /// As yosida::hessian_solve(), by preconditioned conjugate gradients.
  LinearReport solve(const DataTerm& data, const Vector& c, const Vector& w, const Vector& b,
                     const LinearOptions& options, double flops_per_gradient, const Vector* curvatures,
                     Vector& x);

 private:
  /// The data term at weights.
  struct Point {
    Vector w, margins, gradient;
    double value = 0.0;
  };
  /// A step and how the data term's gradient has changed by it.
  struct Pair {
    Vector step, change;
  };
  class Minimiser;

  void move_to(const DataTerm& data, const Vector& w);
  /// Takes the Hessian anew where passes that it would have saved since the last time have taken longer than
  /// that will. Returns its operations.
  double refresh(const DataTerm& data, const StopToken* stop);
  /// So many passes may be wasted before another Hessian is taken.
  double passes_worth_a_hessian(const DataTerm& data) const;

  Point point_;
  std::vector<Pair> pairs_;
  KeptHessian hessian_;
  double hessians_ = 0.0;       // taken so far
  double wasted_passes_ = 0.0;  // since the last was taken
};

}  // namespace yosida
