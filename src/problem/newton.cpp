#include "problem/newton.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"

namespace yosida {
namespace {

constexpr int kMaxIterations = 200;
constexpr int kMaxStalled = 5;
constexpr double kBesidePenalty = 1e-6;
/// An objective is known to this share of itself: what a Newton step gains below it cannot be seen.
constexpr double kRounding = 1e-12;
/// A Hessian that costs so many gradients or more is used again (a chord) while the decrement falls to this
/// share.
constexpr double kDearHessian = 4.0;
constexpr double kChord = 1e-2;
/// What a step by an earlier Hessian leaves is known from how fast the decrement falls: to this share of what
/// is asked for, since such a step does not square the error as Newton's does.
constexpr double kLeftByChord = 1e-8;

class Newton {
 public:
  Newton(const InnerProblem& problem, Vector& a) : p_(problem), a_(a) {}

  InnerReport run() {
    if (p_.max_count < 1) return report_;
    p_.data.margins(a_, margins_);
    value_ = objective(margins_, a_);
    update_gradient();
    int stalled = 0;
    double last_decrement = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      if (!p_.exact && norm() <= tolerance()) break;
      if (report_.work.paper_count() >= p_.max_count || stop_requested(p_.stop)) break;
      const Vector direction = step_direction(last_decrement);
      const double decrement = -gradient_.dot(direction);
      if (stop_requested(p_.stop)) break;  // it may not be whole
      // −gᵀd = gᵀH⁻¹g is twice what is left to gain, whatever the scales of columns and penalty: an exact
      // solve ends where it is small beside the objective itself, or as small as rounding lets it be.
      if (factored_ && p_.exact) {
        const double size = std::abs(value_);
        const bool at_rounding = decrement <= kRounding * size && decrement > 0.25 * last_decrement;
        const double left = is_chord_ ? decrement * decrement / last_decrement / kLeftByChord : decrement;
        if (left <= p_.relative * p_.relative * size || at_rounding) {
          report_.converged = true;
          if (decrement > 0.0) descend(direction);
          break;
        }
        last_decrement = decrement;
      } else if (p_.exact && norm() <= tolerance()) {
        break;
      }
      const double before = std::abs(value_);
      if (!(decrement > 0.0) || !descend(direction)) break;
      const bool at_rounding = decrement <= 1e-16 * before;
      const double last_norm = norm();
      update_gradient();
      // Neither the objective nor the gradient can see a step any more.
      stalled = at_rounding && norm() > 0.5 * last_norm ? stalled + 1 : 0;
      if (stalled == kMaxStalled) break;
    }
    p_.data.centre_free_weights(p_.c, a_);
    report_.gradient_norm = gradient_.norm();
    report_.converged = report_.converged || norm() <= tolerance();
    if (!p_.exact) report_.blur = norm() / std::max(pull(), std::numeric_limits<double>::min());
    return report_;
  }

 private:
  double norm() const { return gradient_norm(gradient_, p_.c, p_.curvatures); }

  /// Where only a small penalty holds the weights (separable classes), a gradient that is small beside the
  /// one at 0 says nothing: in an exact solve it must also be small beside the pull of the penalty.
  double tolerance() const {
    if (!p_.exact) return std::max(p_.tolerance, p_.blur * pull());
    return pull() > 0.0 ? std::min(p_.tolerance, kBesidePenalty * pull()) : p_.tolerance;
  }

  /// ‖c∘a‖: how fast the gradient turns as λ moves.
  double pull() const { return gradient_norm(p_.c.cwiseProduct(a_), p_.c, p_.curvatures); }

  double objective(const Vector& margins, const Vector& a) const {
    return p_.data.value_at(margins) + 0.5 * p_.c.dot(a.cwiseAbs2()) + p_.linear.dot(a);
  }

  void update_gradient() {
    p_.data.slopes_at(margins_, slopes_);
    p_.data.gather(slopes_, gradient_);
    gradient_ += p_.c.cwiseProduct(a_) + p_.linear;
    ++report_.work.train_gradients;
  }

  /// The step is taken by the Hessian of an earlier iteration as long as that brings the decrement down, else
  /// by a new one.
  Vector step_direction(double last_decrement) {
    Vector direction = newton_direction();
    if (!is_chord_ || -gradient_.dot(direction) <= kChord * last_decrement) return direction;
    kept_.resize(0, 0);
    return newton_direction();
  }

  Vector newton_direction() {
    p_.data.state_at(margins_, state_);
    HessianSystem hessian{p_.data, p_.c, state_, p_.flops_per_gradient, p_.curvatures, p_.stop};
    // The Hessian of a quadratic is the same everywhere.
    const bool keeps = p_.data.loss().is_quadratic() || (p_.exact && hessian.factor_work() >= kDearHessian);
    if (keeps) hessian.kept = &kept_;
    is_chord_ = kept_.size() > 0 && !p_.data.loss().is_quadratic();
    // Superlinear (Eisenstat and Walker): the nearer, the more exact.
    const double size = norm();
    // A quadratic is its own model.
    const double forcing =
        p_.data.loss().is_quadratic() ? 0.0 : std::min(0.1, std::sqrt(size / std::max(first_norm_, size)));
    if (first_norm_ == 0.0) first_norm_ = size;
    Vector direction = Vector::Zero(a_.size());
    const std::int64_t left = p_.max_count - report_.work.paper_count() - 1;  // the next gradient is the last
    const LinearReport solved =
        hessian.solve(-gradient_, std::max(forcing * size, 0.3 * tolerance()), left, p_.exact, direction);
    report_.work += solved.work;
    factored_ = solved.work.hessian_products == 0 || solved.work.factorisations >= hessian.factor_work();
    return direction.isZero(0.0) ? Vector(-gradient_) : direction;
  }

  /// Halves the step until the objective falls by 1e-4 of what the slope promises.
  bool descend(const Vector& direction) {
    p_.data.margins(direction, move_);
    const double now = value_;
    const double slope = gradient_.dot(direction);
    // A fall that the objective cannot show is taken on trust: the gradient is the judge then.
    const double slack = (-slope <= 1e-14 * std::abs(now) ? 1e-13 : 1e-15) * std::abs(now);
    Vector trial;
    Vector trial_margins;
    for (double step = 1.0; step > 1e-12; step *= 0.5) {
      trial = a_ + step * direction;
      trial_margins = margins_ + step * move_;
      const double value = objective(trial_margins, trial);
      if (value <= now + 1e-4 * step * slope + slack) {
        if (trial == a_) return false;
        value_ = value;
        a_.swap(trial);
        margins_.swap(trial_margins);
        return true;
      }
    }
    return false;
  }

  const InnerProblem& p_;
  Vector& a_;
  Vector margins_, move_, slopes_, state_, gradient_;
  Matrix kept_;            // the Hessian of an earlier iteration
  bool is_chord_ = false;  // the last direction came from it, and it is another now
  double first_norm_ = 0.0;
  bool factored_ = false;  // the last direction came from a factorisation
  double value_ = 0.0;     // the objective at a
  InnerReport report_;
};

/// True where a residual is what rounding leaves of Hx: no solve by these numbers does better.
bool is_rounding(double residual, const Matrix& hessian, double size_of_x) {
  constexpr double kBackwardError = 1e-14;
  return residual <= kBackwardError * hessian.norm() * size_of_x;
}

}  // namespace

void add_proximal(const std::optional<ProximalTerm>& proximal, const Vector& ones, Vector& c,
                  Vector& linear) {
  if (!proximal) return;
  c += proximal->rho * ones;
  linear += (proximal->u - proximal->rho * proximal->v).cwiseProduct(ones);
}

double gradient_norm(const Vector& gradient, const Vector& c, const Vector* curvatures) {
  if (curvatures == nullptr) return gradient.norm();
  double square = 0.0;
  for (Index i = 0; i < gradient.size(); ++i) {
    const double size = (*curvatures)[i] + c[i];
    if (size > 0.0) square += gradient[i] * gradient[i] / size;
  }
  return std::sqrt(square);
}

double HessianSystem::factor_flops() const {
  const double size = static_cast<double>(data.penalisable());
  // The upper half of XᵀDX, of each pair of outputs.
  const double forming = 0.25 * (static_cast<double>(data.outputs()) + 1.0);
  return forming * data.design().product_flops() * size + size * size * size / 3.0;
}

/// With several outputs H is made of large products of matrices, whose operations take a quarter of the time
/// of those of a product with H, or less.
double HessianSystem::factor_products() const {
  constexpr double kFaster = 4.0;
  return data.outputs() > 1 ? factor_work() / kFaster : factor_work();
}

bool HessianSystem::factors(double worth) const {
  if (data.penalisable() > kMaxCholesky) return false;
  return factor_flops() <= kInstantFlops || factor_products() <= worth;
}

Matrix HessianSystem::matrix() const {
  const bool has_outputs = data.outputs() > 1;
  Matrix hessian = has_outputs ? data.hessian_of_outputs_at(state, stop) : data.hessian_at(state, stop);
  hessian.diagonal() += c;
  if (data.loss().ignores_shifts()) hold_shifts(data.outputs(), c, hessian);
  return hessian;
}

void HessianSystem::solve_factored(const Matrix& hessian, Eigen::MatrixXd& b) const {
  constexpr double kLostDigits = 1e-9;  // the share of a curvature that the other columns leave
  Matrix factor = hessian;
  Eigen::MatrixXd x = b;
  const bool solved = cholesky_solve(factor, x);
  const auto left = factor.diagonal().array().square() / hessian.diagonal().array();
  if ((!solved || !(left.minCoeff() > kLostDigits)) && solve_by_rows(b)) return;
  if (solved) {
    b = x;
  } else {
    solve_semidefinite(hessian, b);
  }
}

bool HessianSystem::solve_by_rows(Eigen::MatrixXd& b) const {
  const Design& design = data.design();
  const Index n = design.rows(), d = design.cols(), size = c.size();
  const auto columns = static_cast<double>(size);
  if (data.outputs() > 1 || 2.0 * static_cast<double>(n + size) * columns * columns > kInstantFlops)
    return false;
  Vector h;
  data.row_curvatures(state, h);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(n + size, size);  // RᵀR = H
  rows.topLeftCorner(n, d) = to_matrix(design);
  if (data.has_intercept()) rows.col(d).head(n).setOnes();
  rows.topRows(n) = h.cwiseSqrt().asDiagonal() * rows.topRows(n);
  rows.bottomRows(size).diagonal() = c.cwiseSqrt();
  const Vector units = rows.colwise().norm().cwiseInverse();
  if (!units.allFinite()) return false;
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(rows * units.asDiagonal());
  const auto r = factors.matrixQR().topRows(size).triangularView<Eigen::Upper>();
  Eigen::MatrixXd x = units.asDiagonal() * b;
  r.transpose().solveInPlace(x);
  r.solveInPlace(x);
  x = units.asDiagonal() * x;
  if (!x.allFinite()) return false;
  b = x;
  return true;
}

LinearReport HessianSystem::solve(const Vector& b, double tolerance, std::int64_t max_count, bool exact,
                                  Vector& x) const {
  LinearReport report;
  // With several outputs products are tried first: how many a solve takes is known only then.
  const double cheap = data.outputs() > 1 ? 0.0 : kCheapFactor;
  const double worth = exact ? std::numeric_limits<double>::infinity() : cheap;
  const bool has_kept = kept != nullptr && kept->size() > 0;
  if (has_kept || factors(worth)) {
    report = solve_by_factor(b, x);
  } else {
    // Where products have cost as much as a factorisation and have not got there, a factorisation follows.
    const bool may_factor =
        data.penalisable() <= kMaxCholesky && 2.0 * factor_work() < static_cast<double>(max_count);
    const std::int64_t products =
        may_factor ? static_cast<std::int64_t>(std::ceil(factor_products())) : max_count;
    report = solve_by_products(b, tolerance, std::min<std::int64_t>(products, 10 * b.size()), x);
    if (may_factor && !(report.residual_norm <= tolerance) && !stop_requested(stop)) {
      const Work before = report.work;
      report = solve_by_factor(b, x);
      report.work += before;
    }
  }
  data.centre_free_weights(c, x);
  report.converged |= report.residual_norm <= tolerance;
  return report;
}

LinearReport HessianSystem::solve_by_factor(const Vector& b, Vector& x) const {
  LinearReport report;
  Matrix own;
  Matrix& hessian = kept != nullptr ? *kept : own;
  const bool forms = hessian.size() == 0;
  if (forms) hessian = matrix();
  if (stop_requested(stop)) return report;  // it may not be whole
  Eigen::MatrixXd solution = b;
  solve_factored(hessian, solution);
  x = solution;
  const auto size = static_cast<double>(b.size());
  report.work.factorisations = forms ? factor_work() : size * size * size / 3.0 / flops_per_gradient;
  const Vector rest = b - hessian * x;
  report.residual_norm = gradient_norm(rest, c, curvatures);
  report.converged = is_rounding(rest.norm(), hessian, x.norm());
  return report;
}

LinearReport HessianSystem::solve_by_products(const Vector& b, double tolerance, std::int64_t max_count,
                                              Vector& x) const {
  LinearReport report;
  // The diagonal of H helps where penalties differ; under one penalty the features' own scales are nearly
  // equal.
  Vector diagonal;
  const auto penalties = c.head(data.penalisable());
  const bool differ = data.outputs() > 1 || penalties.minCoeff() != penalties.maxCoeff();
  if (differ) {
    data.hessian_diagonal_at(state, diagonal);
    report.work.factorisations = 0.5;  // it reads the data once, as a product does
  } else if (curvatures != nullptr) {
    diagonal = *curvatures;
  }
  const bool precondition = diagonal.size() > 0;
  if (precondition) diagonal += c;
  const auto apply = [&](const Vector& p, Vector& out) {
    data.hessian_product_at(state, p, out);
    out += c.cwiseProduct(p);
  };
  const CgReport cg = conjugate_gradients(
      apply, b, x, tolerance, max_count,
      {.diagonal = precondition ? &diagonal : nullptr, .in_its_units = curvatures != nullptr, .stop = stop});
  report.work.hessian_products = cg.products;
  report.residual_norm = cg.residual_norm;
  return report;
}

LinearReport HessianSystem::solve_many(const Matrix& b, double tolerance, Matrix& hessian, Matrix& x) const {
  hessian = matrix();
  Eigen::MatrixXd solution = b;
  LinearReport report;
  if (stop_requested(stop)) return report;
  solve_factored(hessian, solution);
  x = solution;
  report.work.factorisations = factor_work();
  const Matrix rest = b - hessian * x;
  report.residual_norm = rest.colwise().norm().maxCoeff();
  report.converged = report.residual_norm <= tolerance * b.colwise().norm().maxCoeff() ||
                     is_rounding(report.residual_norm, hessian, x.colwise().norm().maxCoeff());
  return report;
}

LinearReport hessian_solve(const DataTerm& data, const Vector& c, const Vector& w, const Vector& b,
                           const LinearOptions& options, double flops_per_gradient, const Vector* curvatures,
                           Vector& x) {
  Vector margins;
  Vector state;
  data.margins(w, margins);
  data.state_at(margins, state);
  const HessianSystem hessian{data, c, state, flops_per_gradient, curvatures, options.stop};
  LinearReport report = hessian.solve(b, options.tolerance * gradient_norm(b, c, curvatures),
                                      options.max_count, options.tolerance <= kExactTolerance, x);
  report.work.factorisations += 0.5;  // the margins: a product with the design
  return report;
}

InnerReport newton(const InnerProblem& problem, Vector& a) { return Newton(problem, a).run(); }

}  // namespace yosida
