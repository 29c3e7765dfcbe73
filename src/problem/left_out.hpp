#pragma once

#include <memory>
#include <vector>

#include "problem/hat_matrix.hpp"
#include "yosida/problem/linear_problem.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// What each row loses by the weights that were trained without it: one Newton step away from w*(λ), which
/// is exact for least squares. Rows that this step moves by more than half a unit of their margin are, by a
/// weight that grows smoothly to 1 at one unit, trained without in earnest: so the sum stays smooth in λ.
/// With s the weights of the rows, a_i = s_i/N x̃_iᵀH⁻¹x̃_i and D_i = 1 − ℓ″_i a_i:
///   m̃_i = m_i + ℓ′_i a_i/D_i,   F = 1/N Σ s_i ℓ(m̃_i, y_i)
struct LeftOutRows {
  double value = 0.0;             // F
  Vector of_rows;                 // the loss of each row
  Vector margins;                 // of each row without itself, as many as outputs
  Vector gradient;                // ∂F/∂w at a fixed λ
  Vector gradient_lambda;         // ∂F/∂λ at fixed weights
  Index refits = 0;               // rows that were trained without
  double largest_leverage = 0.0;  // the largest ℓ″_i a_i
  double change_by_refits = 0.0;  // F less what it is without refits
};

/// The same with what its derivatives in λ need.
struct LeftOut : LeftOutRows {
  virtual ~LeftOut() = default;
  /// out = JᵀDJ, J the derivatives of the margins m̃ in λ and D the curvatures of the loss there.
  virtual void curvature(const Matrix& phi1, Eigen::MatrixXd& out) const = 0;
};

/// Leaves each row out at weights that are (about) w*(λ). `x`: the training rows of the problem. Throws
/// RunEnded where `stop` says so on the way.
std::unique_ptr<const LeftOut> left_out(const LinearProblem& problem, const Matrix& x, const Vector& w,
                                        const Vector& lambda, const StopToken* stop);

/// 2e^λ of every weight, 0 where it is not penalised.
Vector penalty_curvatures(const LinearProblem& problem, const Vector& lambda);
/// out_g = Σ_j∈g v_j over the weights of each λ.
Vector sums_by_lambda(const Penalty& penalty, const Vector& v);

}  // namespace yosida
