#pragma once

#include "yosida/export.hpp"
#include "yosida/problem/sparse_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// The sparse problem with one ℓ₁ penalty on all weights, and for the elastic net an ℓ₂ penalty as well:
///   L_T(w, λ) = 1/N_T Σ s_i ℓ(xᵀw + b, y) + e^λ₁ Σ |w_j| + e^λ₂ Σ w_j².
/// The lasso has λ₁ alone, the elastic net λ = (λ₁, λ₂).
class ElasticNetProblem final : public SparseProblem {
 public:
  /// An ℓ₁ penalty alone, or an ℓ₂ one beside it.
  enum class Kind { lasso, elastic_net };
  /// Throws InputError for what SparseProblem refuses.
  ElasticNetProblem(const Split& split, const SharedLoss& loss, bool intercept, Kind kind)
      : SparseProblem(split, loss, intercept,
                      kind == Kind::lasso
                          ? SparsePenalty::lasso(split.train.features() * loss->outputs())
                          : SparsePenalty::elastic_net(split.train.features() * loss->outputs())) {}
};

}  // namespace yosida
