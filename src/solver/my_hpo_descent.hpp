#pragma once

#include <memory>
#include <optional>

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/my_hpo.hpp"

namespace yosida {

/// No component of λ moves further than this in one step: e^λ by a factor of 50.
inline constexpr double kMaxMove = 4.0;
/// A step is given up after this many trials, each shorter than the last.
inline constexpr int kMaxRejections = 12;
/// No inner or linear solve is asked for more.
inline constexpr double kLeastTolerance = 1e-12;
/// Where a small Hessian is factored, exact solves cost little more than others.
inline constexpr double kFactoredTolerance = 1e-10;

/// A descent of h(λ) = L_V(w*(λ)) in several hyperparameters: steps along what is known of h at λ, each taken
/// only where h falls, under inner tolerances that follow the certificate. Its two kinds differ in what they
/// know of h and in how they step.
class Descent {
 public:
  Descent(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& range,
          double first_tolerance, std::shared_ptr<SolveMemory> memory);
  virtual ~Descent() = default;

  /// Begins at the λ and w given or, where h is lower there, at `rival`.
  void begin(Iterate& at, const std::optional<Vector>& rival);
  /// One iteration. It ends as converged where the certificate is met, as stalled where h cannot be lowered.
  void step(Iterate& at);
  /// L_V of the iterate.
  double validation() const { return validation_; }
  /// How much of the way from the first certificate to the one that is wanted is done, on a scale of powers.
  double share_done() const;

 protected:
  /// Inner solve at λ from the w given: L_V, with ∇L_V in g_.
  double evaluate(const Vector& lambda, Vector& w, Iterate& at);
  /// The λ and w evaluated become the iterate.
  void take(const Vector& lambda, const Vector& w, double validation, Iterate& at);
  /// Takes λ where L_V does not rise by more than inner solves leave open.
  bool take_if_not_higher(const Vector& lambda, Iterate& at);
  bool is_held(const Iterate& at, Index j) const;
  /// λ_j has a slope that the certificate does not allow; `scale` is that of the certificate.
  bool creeps(Index j, const Vector& scale) const;
  /// The bound that h falls to along λ_j.
  double bound_downhill(Index j) const { return hypergradient_[j] > 0.0 ? range_.low[j] : range_.high[j]; }

  const BilevelProblem& problem_;
  MyHpo::Settings settings_;
  Start range_;
  Vector g_;              // ∇L_V
  Vector hypergradient_;  // ∇h
  double validation_ = 0.0;
  double tolerance_;                     // of inner solves
  std::shared_ptr<SolveMemory> memory_;  // what the problem keeps between these; null where it keeps nothing
  bool fell_little_ = false;             // the last step lowered h by less than matters, or there was none

 private:
  /// Finds ∇h at the iterate from g_, with what else the next step needs.
  virtual void respond(Iterate& at) = 0;
  /// Moves to a lower h; false where no step has been found.
  virtual bool move(Iterate& at) = 0;
  /// Moves the λ_j that creep to the bounds that they creep to, where L_V does not rise.
  virtual bool move_to_bounds(const Vector& scale, Iterate& at) = 0;
  /// Sets tolerances for the next step: `wanted` follows the certificate and never grows.
  virtual void tighten(double wanted, bool has_moved) = 0;
  bool is_stuck(double certificate, bool has_moved);
  bool reaches_bounds(Iterate& at);
  bool sharpens(Iterate& at);

  double first_certificate_ = 0.0;
  double certificate_ = std::numeric_limits<double>::infinity();  // the least so far
  int unimproved_ = 0;                                            // iterations that did not lower it
  bool is_blurred_ = false;                                       // the weights are about those of λ
  int bounds_tried_ = 0;                                          // times that creeping λ were moved
};

}  // namespace yosida
