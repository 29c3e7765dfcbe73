#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/problem/exact_curve.hpp"
#include "yosida/problem/work.hpp"
#include "yosida/stop.hpp"

namespace YOSIDA_EXPORT yosida {

/// Data terms (no penalty) of one set of weights, as results report them.
struct Losses {
  double train = std::numeric_limits<double>::quiet_NaN();
  double validation = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> test;
};

/// The proximal term uᵀ(w − v) + ρ/2 ‖w − v‖² of the paper's Step 2. The intercept takes no part.
struct ProximalTerm {
  const Vector& u;
  const Vector& v;
  double rho;
};

/// What a problem keeps from one solve to the next in one run, a factored Hessian say: later solves then take
/// less time. They end at other weights than without it, within the same tolerances. It is made by
/// BilevelProblem::solve_memory, given back to that problem alone, and used by one thread at a time.
class SolveMemory {
 public:
  virtual ~SolveMemory() = default;

 protected:
  SolveMemory() = default;
  /// \cond
  SolveMemory(const SolveMemory&) = default;
  SolveMemory(SolveMemory&&) = default;
  SolveMemory& operator=(const SolveMemory&) = default;
  SolveMemory& operator=(SolveMemory&&) = default;
  /// \endcond
};

/// How exactly an inner problem is to be solved, and its proximal term.
struct InnerOptions {
  std::optional<ProximalTerm> proximal;
  /// Stop when ‖gradient‖ ≤ tolerance × max(‖∇L_T at w = 0, unpenalised‖, ‖u − ρv‖ of a proximal term).
  double tolerance = 1e-11;
  /// Or when the weights are about those of a λ no further away than this: ‖gradient‖ ≤ blur × ‖∇²_wλ L_T 1‖,
  /// how fast the gradient turns as λ moves. For solves that need not be tight.
  double blur = 0.0;
  /// At most so many gradients and Hessian products.
  std::int64_t max_count = std::numeric_limits<std::int64_t>::max();
  /// Asked between passes over the data: where it says stop, the weights so far are returned, not converged.
  const StopToken* stop = nullptr;
  /// What earlier solves of the run have kept; null where nothing is to be kept.
  SolveMemory* memory = nullptr;
};

/// How an inner solve has ended, and what it cost.
struct InnerReport {
  double gradient_norm = 0.0;
  bool converged = false;
  /// How far away in λ the weights may be, as InnerOptions::blur measures it; 0 where they are exact or
  /// nothing is known.
  double blur = 0.0;
  /// What the solve needed that is computed once and kept, in gradient equivalents: a run pays for it once.
  double setup = 0.0;
  Work work;
};

/// Bounds, one value per hyperparameter.
struct Bounds {
  Vector low, high;
};

/// A point of the curve h(λ) = L_V(w*(λ)), and what it cost in gradient equivalents.
struct CurvePoint {
  double value = 0.0;
  double slope = 0.0;
  double work = 0.0;
};

/// How exactly a linear system is to be solved.
struct LinearOptions {
  /// Stop when ‖b − H x‖ ≤ tolerance × ‖b‖.
  double tolerance = 1e-11;
  /// At most so many Hessian products.
  std::int64_t max_count = std::numeric_limits<std::int64_t>::max();
  /// See InnerOptions::stop.
  const StopToken* stop = nullptr;
  /// See InnerOptions::memory.
  SolveMemory* memory = nullptr;
};

/// How a linear solve has ended, and what it cost.
struct LinearReport {
  double residual_norm = 0.0;
  bool converged = false;
  /// What was added to the diagonal of an H that is not positive definite; `converged` is false then, and the
  /// residual is that of the H given.
  double damping = 0.0;
  Work work;
};

/// max(1, κ/c, c/κ) for a penalty c = e^λ against the curvature κ it works on; 1 where there is none (no
/// weights to penalise).
double certificate_scale_of(double kappa, double penalty);

class BilevelProblem;

/// A problem cut by its rows, for methods that look at a few of them at a time. Each batch is a problem of
/// the same weights and λ, whose means are over its own rows: its training functions are meaningful for the
/// first train_shares.size() batches, its validation functions for the first validation_shares.size().
struct Batches {
  std::vector<std::shared_ptr<const BilevelProblem>> problems = {};
  /// What part of all training rows each batch holds, and of all validation rows.
  std::vector<double> train_shares = {}, validation_shares = {};
};

/// What a problem says of itself: facts that solvers go by, never its type. The defaults are right, if not
/// the best there is, for any problem.
struct ProblemTraits {
  /// No feature of h in λ is narrower than about this where λ are penalties on squares: these enter h by
  /// terms like 1/(s² + e^λ), a few units wide.
  static constexpr double kSmoothWidth = 1.9;

  /// True where λ are logarithms of penalties: at λ = −∞ L_T is defined and has none. Solvers then find
  /// bounds on λ from the scale of the data.
  bool has_penalties = false;
  /// Bounds on λ where the data's scale does not give them. Without these and without penalties: 10 to either
  /// side of the start.
  std::optional<Bounds> bounds = {};
  /// Where solvers start; empty: w = 0. A network must break its symmetry.
  Vector start = {};
  /// The vector of ones over the weights (0 at the intercepts), in the problem's own coordinates: the paper's
  /// φ₀ = v̄ 1 is ones (onesᵀ v) / (onesᵀ ones). Empty: ones where no intercept is.
  Vector ones = {};

  /// L_V depends on λ itself, not only through w: ∂L_V/∂λ joins the hypergradient.
  bool validation_depends_on_lambda = false;
  /// L_V is meaningful at w*(λ) alone (a leave-one-out criterion, say): methods that evaluate it elsewhere
  /// refuse the problem.
  bool validation_needs_optimum = false;
  /// train_gradient_lambda costs about a gradient: Cᵀp then comes from its differences.
  bool has_train_gradient_lambda = false;

  /// Inner and linear solves cost less than a gradient, and closed_form() gives h(λ) itself.
  bool has_closed_form = false;
  /// Inner and linear solves factor a small Hessian: exact ones then cost little more than coarse ones, and
  /// solvers ask for nothing else.
  bool factors_cheaply = false;
  /// No feature of h in λ is narrower than about this: how near to each other a scan must look.
  double feature_width = kSmoothWidth;
  /// The largest curvature of the unpenalised L_T at 0 with intercepts refitted, where it is known.
  std::optional<double> largest_curvature = {};

  /// How many training rows L_T is a mean over; 0 where it is none. Some papers have sums in its place.
  Index train_rows = 0;

  /// What one certificate_scale, one fit_intercept and one cross product of either kind cost.
  Work certificate_work = {}, intercept_work = {}, cross_work = {};
  /// What building the problem cost (collapsing it, say), in gradient equivalents.
  double setup_work = 0.0;
};

/// A bi-level problem: λ* ∈ argmin_λ L_V(w*(λ), λ), w*(λ) = argmin_w L_T(w, λ).
///
/// The one interface between problems and solvers; a model of your own is one subclass that has sizes, losses
/// and gradients. All else has a default: derivatives by differences, an inner solver, a linear one. What
/// overrides a default is faster, more exact, or both. Weights are a vector of length weights(), the
/// unpenalised intercepts last where there are some. Outputs have their size when a function is called;
/// functions do not allocate unless they say so (defaults do).
///
/// Threads: all functions are const. Those of the library's problems may be called on one object from several
/// threads at once (not those of a CountedProblem, which counts for one run). A problem of your own needs
/// that only where runs share it, as those of a study do; one run calls its problem from one thread.
class BilevelProblem {
 public:
  virtual ~BilevelProblem() = default;

  virtual Index weights() const = 0;
  virtual Index hyperparameters() const = 0;
  /// How many of the weights, the last ones, are intercepts: unpenalised, and no part of v̄, φ or u.
  virtual Index intercepts() const { return 0; }
  const ProblemTraits& traits() const { return traits_; }

  /// L_T(w, λ), penalty included.
  virtual double train_loss(const Vector& w, const Vector& lambda) const = 0;
  /// g = ∇_w L_T(w, λ)
  virtual void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const = 0;
  /// L_V(w, λ)
  virtual double validation_loss(const Vector& w, const Vector& lambda) const = 0;
  /// g = ∇_w L_V(w, λ). Returns L_V, which the same pass over the data gives.
  virtual double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const = 0;

  // Derivatives that default to central differences of those above, with steps of ε^{1/3} ≈ 6e-6 of the size
  // of what is moved, max(1, ‖w‖) or max(1, ‖λ‖). Their error is about 4e-11 of the third derivative, and
  // rounding about 2e-11 of the gradient: nine digits where a problem is of a scale near 1.

  /// out = ∂L_T/∂λ(w, λ). By default two losses for each λ.
  virtual void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const;
  /// out = ∂L_V/∂λ(w, λ) at a fixed w. By default 0, or two losses for each λ where the traits say that L_V
  /// depends on it.
  virtual void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const;
  /// out = ∇²_ww L_T(w, λ) p. By default two gradients.
  virtual void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const;
  /// out = ∇²_wλ L_T(w, λ) q, with q a vector of hyperparameters. By default two gradients.
  virtual void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const;
  /// out = (∇²_wλ L_T(w, λ))ᵀ p, with p a vector of weights. By default two train_gradient_lambda where the
  /// traits say that there is one, else two gradients for each λ: with many λ, offer it.
  virtual void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                        Vector& out) const;
  /// out = ∇²_ww L_V(w, λ) p. By default two gradients.
  virtual void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                          Vector& out) const;
  /// out = the second derivative of L_V along the tangent, d²/dt² L_V(w + Φ₁t, λ + t): Φ₁ᵀ∇²L_VΦ₁ where L_V
  /// does not depend on λ, one product for each column of Φ₁. A criterion may give a positive approximation.
  virtual void validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                                    Eigen::MatrixXd& out) const;

  // L_T as a smooth function and one with kinks (norms that set weights to 0), for proximal gradient steps.

  /// g = ∇_w of the smooth part of L_T; all of L_T by default.
  virtual void smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
    train_gradient(w, lambda, g);
  }
  /// out = ∇²_ww of the smooth part of L_T, times p; of all of L_T by default.
  virtual void smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                      Vector& out) const {
    hessian_product(w, lambda, p, out);
  }
  /// w = argmin_u ½‖u − w‖² + step × the part of L_T with kinks; w as it is where there is none.
  virtual void proximal_step(double step, const Vector& lambda, Vector& w) const {
    static_cast<void>(step), static_cast<void>(lambda), static_cast<void>(w);
  }
  /// The problem in batches of at most so many consecutive rows. By default there are no batches: the whole
  /// problem counts as one. May allocate.
  virtual Batches batches(Index rows) const {
    static_cast<void>(rows);
    return {};
  }

  /// A new memory for the solves of one run; null where the problem keeps nothing. May allocate.
  virtual std::unique_ptr<SolveMemory> solve_memory() const { return nullptr; }
  /// w = argmin L_T(·, λ) + the proximal term, started from the w given. By default Newton's method by
  /// truncated conjugate gradients, for convex problems and others: it descends along directions of negative
  /// curvature and ends where the gradient is small. May allocate.
  virtual InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const;
  /// x = H⁻¹ b with H = ∇²_ww L_T(w, λ), from the x given: what the tangent response and every implicit
  /// hypergradient need. By conjugate gradients unless a problem knows better; where H is not positive
  /// definite, with the damping that LinearReport tells. May allocate.
  virtual LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                     const LinearOptions& options, Vector& x) const;
  /// The same for several right-hand sides, the columns of b; a factorisation serves them all.
  virtual LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                          const LinearOptions& options, Matrix& x) const;
  /// out_j ≥ 1: what the j-th component of a hypergradient is multiplied by before it is called small. h is
  /// flat where λ_j is far too small or far too large; for a penalty e^λj this is max(1, κ_j/e^λj, e^λj/κ_j),
  /// κ_j the curvature of the unpenalised L_T along the weights of λ_j. 1 by default. May allocate.
  virtual void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const;
  /// slopes_i = h'(λ; δ_i), the one-sided derivative of h at w = w*(λ) for each direction δ_i, a column of
  /// `directions`. True where h has a kink no further away than about `reach`: slopes are then those of the
  /// kink, which solvers come near to but never meet. By default there are no kinks. May allocate.
  virtual bool one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions, double reach,
                                Vector& slopes) const;
  /// h and its slope at each λ, without weights and without a pass over the data; of one hyperparameter and
  /// where the traits say that there is a closed form only (it throws std::logic_error elsewhere). Many λ at
  /// once cost less than one after the other. May allocate.
  virtual void closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const;
  /// h and its slope at one λ.
  CurvePoint closed_form(double lambda) const;
  /// h along λ_j, the other λ held, where a problem knows it for all λ_j at once; else null, as it is where
  /// `stop` says so on the way. It may be known down to λ_j = `least` only. It may cost as much as a search,
  /// but not twice for the same λ. May allocate.
  virtual std::shared_ptr<const ExactCurve> exact_curve(const Vector& lambda, Index j, const StopToken* stop,
                                                        double least = ExactCurve::kAll) const;
  /// For each λ_j, the least curvature that the unpenalised L_T at 0, intercepts refitted, has along a weight
  /// of its own; weights without any are left out. Penalties far below it change nothing. Where it is known.
  virtual std::optional<Vector> least_curvatures() const { return {}; }
  /// ProblemTraits::largest_curvature where a memory of solve_memory() makes it cheap to find, with what that
  /// has cost added to `work`; nothing elsewhere. May allocate.
  virtual std::optional<double> largest_curvature(SolveMemory& memory, Work& work) const;
  /// Sets the intercepts to their exact minimiser of L_T for the other weights given.
  virtual void fit_intercept(Vector& w) const { static_cast<void>(w); }
  /// From the problem's own coordinates to one weight per feature and the intercepts. May allocate.
  virtual Vector expand(const Vector& w) const { return w; }
  /// The data terms of w on every split: for watching, never counted. By default L_T as it is, penalty
  /// included, and L_V. May allocate.
  virtual Losses losses(const Vector& w, const Vector& lambda) const;

 protected:
  BilevelProblem() = default;
  /// \cond
  BilevelProblem(const BilevelProblem&) = default;
  BilevelProblem(BilevelProblem&&) = default;
  BilevelProblem& operator=(const BilevelProblem&) = default;
  BilevelProblem& operator=(BilevelProblem&&) = default;
  /// \endcond
  /// Constructors of subclasses fill this in.
  ProblemTraits traits_;
};

/// Where solvers start: ProblemTraits::start or 0, intercepts fitted.
Vector starting_weights(const BilevelProblem& problem);

/// λ at which L_T has no penalty, −∞, where the problem has penalties; else the λ given.
Vector without_penalties(const BilevelProblem& problem, const Vector& lambda);

/// Throws InputError unless w has as many numbers as the problem has weights.
void require_weights(const BilevelProblem& problem, const Vector& w);
/// Throws InputError unless there is one λ for each hyperparameter of the problem.
void require_lambda(const BilevelProblem& problem, const Vector& lambda);
/// Throws InputError unless both sizes are those of the problem.
void require_sizes(const BilevelProblem& problem, const Vector& w, const Vector& lambda);

}  // namespace yosida
