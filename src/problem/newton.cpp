#include "problem/newton.hpp"

#include <algorithm>
#include <cmath>

#include "yosida/linalg/factor.hpp"

namespace yosida {
namespace {

constexpr int kMaxIterations = 200;

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
    return k_ <= kMaxCholesky ? by_cholesky() : by_conjugate_gradients();
  }

  Vector by_cholesky() {
    const double size = static_cast<double>(k_);
    Matrix hessian(a_.size(), a_.size());
    hessian.topLeftCorner(k_, k_) = p_.x.weighted_gram(as_span(curvatures_));
    hessian.diagonal().head(k_).array() += p_.c;
    if (p_.intercept) {
      Vector border = Vector::Zero(k_);
      p_.x.add_transposed(as_span(curvatures_), as_span(border));
      hessian.col(k_).head(k_) = border;
      hessian.row(k_).head(k_) = border.transpose();
      hessian(k_, k_) = curvatures_.sum();
    }
    report_.work.factorisations +=
        (0.5 * p_.x.product_flops() * size + size * size * size / 3.0) / p_.flops_per_gradient;
    // Where rounding has made the Hessian indefinite, a small multiple of the identity keeps the
    // direction one of descent; the line search and the next iterations do the rest.
    const double scale = hessian.diagonal().maxCoeff();
    for (double jitter = 0.0; jitter < 1.0; jitter = std::max(1e-15, 100.0 * jitter)) {
      Matrix factor = hessian;
      factor.diagonal().array() += jitter * scale;
      Vector direction = -gradient_;
      if (cholesky_solve(factor, direction)) return direction;
    }
    return -gradient_;
  }

  Vector by_conjugate_gradients() {
    const auto apply = [&](const Vector& v, Vector& out) {
      const double b = p_.intercept ? v[k_] : 0.0;
      out.setZero();
      const PassSums sums = p_.x.fused_pass(
          as_span(v),
          [&](Index first, std::span<double> products) {
            for (std::size_t i = 0; i < products.size(); ++i)
              products[i] = (products[i] + b) * curvatures_[first + static_cast<Index>(i)];
            return 0.0;
          },
          as_span(out, k_));
      out.head(k_) += p_.c * v.head(k_);
      if (p_.intercept) out[k_] = sums.weights;
    };
    // Superlinear (Eisenstat and Walker): the nearer, the more exact.
    const double norm = gradient_.norm();
    const double forcing = std::min(0.1, std::sqrt(norm / std::max(first_norm_, norm)));
    if (first_norm_ == 0.0) first_norm_ = norm;
    Vector direction = Vector::Zero(a_.size());
    const std::int64_t left = p_.max_count - report_.work.paper_count() - 1;  // the next gradient is the last
    const CgReport cg =
        conjugate_gradients(apply, -gradient_, direction, std::max(forcing * norm, 0.1 * p_.tolerance),
                            std::min<std::int64_t>(left, 10 * a_.size()));
    report_.work.hessian_products += cg.products;
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

}  // namespace

InnerReport newton(const InnerProblem& problem, Vector& a) { return Newton(problem, a).run(); }

}  // namespace yosida
