#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "yosida/export.hpp"
#include "yosida/solver/solve.hpp"

namespace YOSIDA_EXPORT yosida {

/// What is proved of an answer.
enum class Verdict {
  /// hypergradient + error ≤ tolerance, inner_gradient ≤ tolerance, |L_V(w) − L_V(w*(λ))| ≤ 1e-4 L_V
  certified,
  at_bound,       ///< the same, with some λ_j held by its bound: beyond it may be a better one
  at_precision,   ///< for each λ_j above it, the first change of h by over 1e-6 of it is a rise, up and down
  at_end,         ///< the same, but h does not change below λ_j: as good as no penalty
  at_kink,        ///< h rises on both sides of a kink within 1e-5 of λ, along each λ_j; or as at_precision
  not_certified,  ///< none of these; `reason` says why
};
std::string_view to_string(Verdict verdict);

/// Proof of how good an answer is, computed from the problem alone, whichever solver gave it.
struct Certificate {
  /// ‖∇L_T(w, λ)‖ of the weights returned, relative to that of w = 0 without penalty: are they w*(λ)?
  double inner_gradient = 0.0;
  /// max_j of |∂h/∂λ_j| × BilevelProblem::certificate_scale, relative to L_V, at w*(λ); a component whose
  /// bound holds λ_j against it counts 0. Without the scale it would be small wherever h is flat: at both
  /// ends.
  double hypergradient = 0.0;
  /// How far the linear solve's residual may have it wrong, after the solve has been refined.
  double hypergradient_error = 0.0;
  /// How far the weights returned, and w*(λ), are above the oracle; empty where there is none.
  std::optional<double> gap, lambda_gap;
  Verdict verdict = Verdict::not_certified;
  std::string reason;  ///< the verdict in a sentence
};

inline constexpr double kCertified = 5e-3;

/// Certifies an answer inside the bounds of `start` (if it has some). Not counted as a solver's work: it
/// costs about one more inner solve and two linear ones. These are cheaper with the `memory` of the run that
/// gave the answer; it changes how many passes they take, not what they are held to. Where its own inner
/// solve is stricter than that of the answer and h is smooth, `trained` becomes the weights of that solve,
/// and inner_gradient is theirs.
Certificate certify(const BilevelProblem& problem, const Solution& solution, const Start& start,
                    double tolerance = kCertified, SolveMemory* memory = nullptr, Vector* trained = nullptr);

}  // namespace yosida
