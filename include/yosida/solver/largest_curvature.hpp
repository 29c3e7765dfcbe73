#pragma once

#include "yosida/export.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// The largest eigenvalue of a Hessian, by power iterations that go on from where the last call ended: what
/// steps of 1/L need, when the Hessian changes little from one to the next. Seldom under half of the truth
/// even where eigenvalues are close, so that steps of its inverse do not blow up.
class CurvatureIteration {
 public:
  /// Products of the first call, and of every further one.
  static constexpr int kFirstProducts = 10;
  static constexpr int kFurtherProducts = 2;

  bool has_begun() const { return direction_.size() > 0; }
  /// Starts the iteration from a direction.
  void begin(const Vector& direction);
  /// 0 where there is no curvature along what was begun with.
  double of(FunctionRef<void(const Vector& p, Vector& out)> hessian_product);

 private:
  Vector direction_, product_;
  bool is_first_ = true;
};

/// The largest curvature of L_T(·, λ) at w = 0. A loss of margins is most curved there.
double train_curvature(const BilevelProblem& problem, const Vector& lambda, CurvatureIteration& curvature);

/// The largest curvatures that first-order methods take their step sizes from: of the smooth part of L_T and
/// of L_V, both at w = 0, where losses of margins are most curved.
class Curvatures {
 public:
  /// Measured again where some λ_j has moved by over ½ since: a penalty has grown by e^½ at most meanwhile,
  /// with which steps of 1/L do not blow up yet.
  double train(const BilevelProblem& problem, const Vector& lambda);
  /// Measured once.
  double validation(const BilevelProblem& problem, const Vector& lambda);

 private:
  CurvatureIteration train_iteration_, validation_iteration_;
  Vector lambda_;  // of `train_`
  double train_ = 0.0, validation_ = 0.0;
};

}  // namespace yosida
