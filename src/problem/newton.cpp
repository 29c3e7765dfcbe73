#include "problem/newton.hpp"

#include <algorithm>
#include <cmath>

#include "yosida/linalg/factor.hpp"

namespace yosida {
namespace {

constexpr int kMaxIterations = 200;
/// A factorisation that costs no more than so many gradients is cheaper than conjugate gradients.
constexpr double kCheapFactor = 20.0;

class Newton {
 public:
  Newton(const InnerProblem& problem, Vector& a)
      : p_(problem), k_(problem.x.cols()), n_(static_cast<double>(problem.x.rows())), a_(a) {
    margins_.resize(p_.x.rows());
    move_.resize(p_.x.rows());
    slopes_.resize(p_.x.rows());
    curvatures_.resize(p_.x.rows());
    gradient_.resize(a.size());
  }

  InnerReport run() {
    if (p_.max_count < 1) return report_;
    p_.x.multiply(as_span(a_), as_span(margins_));
    if (p_.intercept) margins_.array() += a_[k_];
    update_gradient();
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      if (gradient_.norm() <= p_.tolerance) break;
      if (report_.work.paper_count() >= p_.max_count) break;
      const Vector direction = newton_direction();
      if (!(gradient_.dot(direction) < 0.0) || !descend(direction)) break;
      update_gradient();
    }
    report_.gradient_norm = gradient_.norm();
    report_.converged = report_.gradient_norm <= p_.tolerance;
    return report_;
  }

 private:
  double objective(const Vector& margins, const Vector& a) const {
    return p_.loss.sum(as_span(margins), as_span(p_.y)) / n_ + 0.5 * p_.c * a.head(k_).squaredNorm() +
           p_.linear.dot(a.head(k_));
  }

  void update_gradient() {
    p_.loss.slopes(as_span(margins_), as_span(p_.y), as_span(slopes_));
    slopes_ /= n_;
    gradient_.setZero();
    p_.x.add_transposed(as_span(slopes_), as_span(gradient_, k_));
    gradient_.head(k_) += p_.c * a_.head(k_) + p_.linear;
    if (p_.intercept) gradient_[k_] = slopes_.sum();
    ++report_.work.train_gradients;
  }

  Vector newton_direction() {
    p_.loss.curvatures(as_span(margins_), as_span(p_.y), as_span(curvatures_));
    curvatures_ /= n_;
    const HessianSystem hessian{p_.x, p_.intercept, p_.c, curvatures_, p_.flops_per_gradient};
    // Superlinear (Eisenstat and Walker): the nearer, the more exact.
    const double norm = gradient_.norm();
    // A quadratic is its own model.
    const double forcing =
        p_.loss.is_quadratic() ? 0.0 : std::min(0.1, std::sqrt(norm / std::max(first_norm_, norm)));
    if (first_norm_ == 0.0) first_norm_ = norm;
    Vector direction = Vector::Zero(a_.size());
    const std::int64_t left = p_.max_count - report_.work.paper_count() - 1;  // the next gradient is the last
    const LinearReport solved =
        hessian.solve(-gradient_, std::max(forcing * norm, 0.3 * p_.tolerance), left, p_.exact, direction);
    report_.work += solved.work;
    return direction.isZero(0.0) ? Vector(-gradient_) : direction;
  }

  /// Halves the step until the objective falls by 1e-4 of what the slope promises.
  bool descend(const Vector& direction) {
    p_.x.multiply(as_span(direction), as_span(move_));
    if (p_.intercept) move_.array() += direction[k_];
    const double now = objective(margins_, a_);
    const double slope = gradient_.dot(direction);
    const double slack = 1e-15 * std::abs(now);
    Vector trial;
    Vector trial_margins;
    for (double step = 1.0; step > 1e-12; step *= 0.5) {
      trial = a_ + step * direction;
      trial_margins = margins_ + step * move_;
      if (objective(trial_margins, trial) <= now + 1e-4 * step * slope + slack) {
        if (trial == a_) return false;
        a_.swap(trial);
        margins_.swap(trial_margins);
        return true;
      }
    }
    return false;
  }

  const InnerProblem& p_;
  Index k_;
  double n_;
  Vector& a_;
  Vector margins_, move_, slopes_, curvatures_, gradient_;
  double first_norm_ = 0.0;
  InnerReport report_;
};

/// Where rounding has made H indefinite, a small multiple of the identity keeps a Newton direction one of
/// descent; the line search and the next iterations do the rest.
bool factor_and_solve(const Matrix& hessian, const Vector& b, Vector& x) {
  const double scale = hessian.diagonal().maxCoeff();
  for (double jitter = 0.0; jitter < 1.0; jitter = std::max(1e-15, 100.0 * jitter)) {
    Matrix factor = hessian;
    factor.diagonal().array() += jitter * scale;
    x = b;
    if (cholesky_solve(factor, x)) return true;
  }
  x = b;
  return false;
}

}  // namespace

void HessianSystem::apply(const Vector& p, Vector& out) const {
  const Index k = x.cols();
  const double b = intercept ? p[k] : 0.0;
  out.setZero();
  const PassSums sums = x.fused_pass(
      as_span(p),
      [&](Index first, std::span<double> products) {
        for (std::size_t i = 0; i < products.size(); ++i)
          products[i] = (products[i] + b) * curvatures[first + static_cast<Index>(i)];
        return 0.0;
      },
      as_span(out, k));
  out.head(k) += c * p.head(k);
  if (intercept) out[k] = sums.weights;
}

double HessianSystem::factor_work() const {
  const double size = static_cast<double>(x.cols());
  return (0.5 * x.product_flops() * size + size * size * size / 3.0) / flops_per_gradient;
}

LinearReport HessianSystem::solve(const Vector& b, double tolerance, std::int64_t max_count, bool exact,
                                  Vector& x_) const {
  const Index k = x.cols();
  LinearReport report;
  const bool affordable = k <= kMaxCholesky;
  if (affordable && (exact || factor_work() <= kCheapFactor)) {
    Matrix hessian(b.size(), b.size());
    hessian.topLeftCorner(k, k) = x.weighted_gram(as_span(curvatures));
    hessian.diagonal().head(k).array() += c;
    if (intercept) {
      Vector border = Vector::Zero(k);
      x.add_transposed(as_span(curvatures), as_span(border));
      hessian.col(k).head(k) = border;
      hessian.row(k).head(k) = border.transpose();
      hessian(k, k) = curvatures.sum();
    }
    report.work.factorisations = factor_work();
    factor_and_solve(hessian, b, x_);
    report.residual_norm = (b - hessian * x_).norm();
  } else {
    const CgReport cg = conjugate_gradients([&](const Vector& p, Vector& out) { apply(p, out); }, b, x_,
                                            tolerance, std::min<std::int64_t>(max_count, 10 * b.size()));
    report.work.hessian_products = cg.products;
    report.residual_norm = cg.residual_norm;
  }
  report.converged = report.residual_norm <= tolerance;
  return report;
}

InnerReport newton(const InnerProblem& problem, Vector& a) { return Newton(problem, a).run(); }

}  // namespace yosida
