#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/problem/work.hpp"

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
};

/// How a linear solve has ended, and what it cost.
struct LinearReport {
  double residual_norm = 0.0;
  bool converged = false;
  Work work;
};

/// max(1, κ/c, c/κ) for a penalty c = e^λ against the curvature κ it works on; 1 where there is none (no
/// weights to penalise).
double certificate_scale_of(double kappa, double penalty);

/// A bi-level problem: λ* ∈ argmin_λ L_V(w*(λ)), w*(λ) = argmin_w L_T(w, λ).
///
/// The one interface between problems and solvers; a model of your own is one subclass. Weights
/// are a vector of length weights(), the unpenalised intercepts last where there are some. All
/// functions are const and do not allocate unless they say so.
class BilevelProblem {
 public:
  virtual ~BilevelProblem() = default;

  virtual Index weights() const = 0;
  virtual Index hyperparameters() const = 0;
  /// How many of the weights, the last ones, are intercepts: unpenalised, and no part of v̄, φ or u.
  virtual Index intercepts() const { return 0; }

  /// L_T(w, λ), penalty included.
  virtual double train_loss(const Vector& w, const Vector& lambda) const = 0;
  /// g = ∇_w L_T(w, λ)
  virtual void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const = 0;
  /// out = ∇²_ww L_T(w, λ) p
  virtual void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const = 0;
  /// out = ∇²_wλ L_T(w, λ) q, with q a vector of hyperparameters.
  virtual void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const = 0;
  /// out = (∇²_wλ L_T(w, λ))ᵀ p, with p a vector of weights.
  virtual void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                        Vector& out) const = 0;

  /// L_V(w)
  virtual double validation_loss(const Vector& w) const = 0;
  /// g = ∇L_V(w). Returns L_V(w), which the same pass over the data gives.
  virtual double validation_gradient(const Vector& w, Vector& g) const = 0;
  /// out = ∇²L_V(w) p
  virtual void validation_hessian_product(const Vector& w, const Vector& p, Vector& out) const = 0;

  /// w = argmin L_T(·, λ) + the proximal term, started from the w given. May allocate.
  virtual InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const = 0;
  /// x = H⁻¹ b with H = ∇²_ww L_T(w, λ), from the x given: what the tangent response and every implicit
  /// hypergradient need. By conjugate gradients unless a problem knows better. May allocate.
  virtual LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                     const LinearOptions& options, Vector& x) const;
  /// The same for several right-hand sides, the columns of b; a factorisation serves them all.
  virtual LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                          const LinearOptions& options, Matrix& x) const;
  /// out_j ≥ 1: what the j-th component of a hypergradient is multiplied by before it is called small. h is
  /// flat where λ_j is far too small or far too large; for a penalty e^λj this is max(1, κ_j/e^λj, e^λj/κ_j),
  /// κ_j the curvature of the unpenalised L_T along the weights of λ_j. May allocate.
  virtual void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const;
  /// Bounds on λ where e^λ is no penalty on squares, for which the data's scale gives them.
  virtual std::optional<Bounds> own_bounds() const { return {}; }
  /// True where inner and linear solves cost less than a gradient, and closed_form() gives h(λ) itself.
  virtual bool has_closed_form() const { return false; }
  /// h and its slope at a λ, without weights and without a pass over the data; of one hyperparameter and
  /// where has_closed_form() only (it throws std::logic_error elsewhere). May allocate.
  virtual CurvePoint closed_form(double lambda) const;
  /// True where inner and linear solves factor a small Hessian: exact ones then cost little more than coarse
  /// ones, and solvers ask for nothing else.
  virtual bool factors_cheaply() const { return false; }
  /// No feature of h in λ is narrower than about this: how near to each other a scan must look. Penalties on
  /// squares enter h by terms like 1/(s² + e^λ), a few units wide.
  static constexpr double kSmoothWidth = 1.9;
  virtual double feature_width() const { return kSmoothWidth; }
  /// The largest curvature of the unpenalised L_T at 0 with intercepts refitted, where it is known.
  virtual std::optional<double> largest_curvature() const { return {}; }
  /// For each λ_j, the least curvature that the unpenalised L_T at 0, intercepts refitted, has along a weight
  /// of its own; weights without any are left out. Penalties far below it change nothing. Where it is known.
  virtual std::optional<Vector> least_curvatures() const { return {}; }
  /// What one certificate_scale costs: a product with the Hessian unless a problem says otherwise.
  virtual Work certificate_work() const;
  /// Sets the intercepts to their exact minimiser of L_T for the other weights given.
  virtual void fit_intercept(Vector& w) const { static_cast<void>(w); }
  /// What one fit_intercept costs.
  virtual Work intercept_work() const { return {}; }
  /// What one cross product, of either kind, costs: nothing where it touches no data.
  virtual Work cross_work() const { return {}; }

  /// The vector of ones over the weights (0 at the intercepts), in the problem's own
  /// coordinates: the paper's φ₀ = v̄ 1 is ones (onesᵀ v) / (onesᵀ ones).
  virtual const Vector& ones() const = 0;
  /// From the problem's own coordinates to one weight per feature and the intercepts. May allocate.
  virtual Vector expand(const Vector& w) const { return w; }
  /// What building the problem cost (collapsing it, say), in gradient equivalents.
  virtual double setup_work() const { return 0.0; }

  /// The data terms of w on every split: for watching, never counted. May allocate.
  virtual Losses losses(const Vector& w) const = 0;
};

}  // namespace yosida
