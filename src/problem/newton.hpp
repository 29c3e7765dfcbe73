#pragma once

#include "problem/data_term.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// min over a, the intercepts last, of  f(a) + ½ Σ c_j a_j² + linearᵀa  for a data term f.
struct InnerProblem {
  const DataTerm& data;
  const Vector& c;            // one per weight, 0 where unpenalised
  const Vector& linear;       // likewise
  double relative;            // tolerance relative to the problem's own size
  double tolerance;           // on the norm of the gradient
  double blur;                // or on its size beside c∘a, how fast it turns with λ
  bool exact;                 // tight enough to be worth factorisations
  std::int64_t max_count;     // gradients and Hessian products
  double flops_per_gradient;  // of the problem the work is counted for
  /// Curvatures of f along each weight, where columns are of different scales: these and c then are the units
  /// of gradients, and the preconditioner of conjugate gradients. Null where all columns are alike.
  const Vector* curvatures = nullptr;
  const StopToken* stop = nullptr;  // as InnerOptions::stop
};

/// uᵀ(w − v) + ρ/2 ‖w − v‖² = ρ/2 ‖w‖² + (u − ρv)ᵀw + a constant: adds ρ to c and u − ρv to `linear`, both at
/// the weights where `ones` is 1. Without a proximal term they stay as they are.
void add_proximal(const std::optional<ProximalTerm>& proximal, const Vector& ones, Vector& c, Vector& linear);

/// The norm of a gradient: plain, or in units that do not depend on the scales of the columns.
double gradient_norm(const Vector& gradient, const Vector& c, const Vector* curvatures);

/// H x = b for H = ∇²f + diag c: the Hessian of an InnerProblem at the margins its state was made from.
struct HessianSystem {
  const DataTerm& data;
  const Vector& c;
  const Vector& state;
  double flops_per_gradient;
  const Vector* curvatures = nullptr;  // as in InnerProblem
  const StopToken* stop = nullptr;     // where it says stop, matrices and solutions are not whole
  Matrix* kept = nullptr;              // H of an earlier solve of the same system, or empty and filled

  /// What forming and factoring H costs, in operations and in gradients.
  double factor_flops() const;
  double factor_work() const { return factor_flops() / flops_per_gradient; }
  /// How many products with H take as long.
  double factor_products() const;
  /// True where one factorisation takes a few milliseconds or as long as no more products with H than this.
  bool factors(double worth) const;
  /// H; where nothing determines a common shift of the outputs, with a multiple of 11ᵀ there, which leaves
  /// solves as they are.
  Matrix matrix() const;
  /// In place of B, X = H⁻¹B: by Cholesky of H or, where squaring the rows has lost what small penalties
  /// decide on and it costs little, by orthogonal factors of the rows themselves.
  void solve_factored(const Matrix& hessian, Eigen::MatrixXd& b) const;
  bool solve_by_rows(Eigen::MatrixXd& b) const;
  /// H X = B by one factorisation of H, which it leaves in `hessian`; tolerance relative to the largest
  /// column. Only where factors().
  LinearReport solve_many(const Matrix& b, double tolerance, Matrix& hessian, Matrix& x) const;
  /// By Cholesky where that is cheap, or where `exact` is asked for and the system is not large; elsewhere by
  /// conjugate gradients from the x given, preconditioned by the diagonal of H where penalties differ and by
  /// `curvatures` where columns do. Stops at ‖b − Hx‖ ≤ tolerance, in the norm of gradient_norm(). Where
  /// products have cost as much as a factorisation and have not got there, one is made after all.
  LinearReport solve(const Vector& b, double tolerance, std::int64_t max_count, bool exact, Vector& x) const;
  LinearReport solve_by_factor(const Vector& b, Vector& x) const;
  LinearReport solve_by_products(const Vector& b, double tolerance, std::int64_t max_count, Vector& x) const;
};

/// Damped Newton from the a given. The margins are kept, so an iteration costs one
/// gradient beside its linear solve (as HessianSystem solves it; exact where the tolerance is tight).
InnerReport newton(const InnerProblem& problem, Vector& a);

/// x = H⁻¹b at the weights w, as BilevelProblem::hessian_solve wants it.
LinearReport hessian_solve(const DataTerm& data, const Vector& c, const Vector& w, const Vector& b,
                           const LinearOptions& options, double flops_per_gradient, const Vector* curvatures,
                           Vector& x);

inline constexpr Index kMaxCholesky = 2500;
/// A factorisation of up to so many operations takes a few milliseconds: it is always made.
inline constexpr double kInstantFlops = 3e7;
/// One of so many takes a hundredth of a second: hundreds of them are made in a few seconds.
inline constexpr double kSoonFlops = 2e8;
/// A factorisation that costs no more than so many gradients is cheaper than conjugate gradients.
inline constexpr double kCheapFactor = 40.0;
/// A relative tolerance below this asks for exact solves, unless a blur is given.
inline constexpr double kExactTolerance = 1e-8;

}  // namespace yosida
