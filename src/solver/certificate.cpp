#include "yosida/solver/certificate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "solver/stationarity.hpp"

namespace yosida {
namespace {

/// Inner and linear solves of a certificate: far below what it certifies, finer where that costs little.
constexpr double kInner = 1e-7;
constexpr double kExact = 1e-10;

double norm_at_zero(const BilevelProblem& problem, Vector& g) {
  const Vector unpenalised =
      Vector::Constant(problem.hyperparameters(), -std::numeric_limits<double>::infinity());
  Vector zero = Vector::Zero(problem.weights());
  problem.fit_intercept(zero);
  problem.train_gradient(zero, unpenalised, g);
  return g.norm();
}

void judge(Certificate& certificate, bool held, bool flat, double tolerance) {
  const double worst = certificate.hypergradient + certificate.hypergradient_error;
  certificate.verdict = Verdict::not_certified;
  if (!std::isfinite(worst) || !std::isfinite(certificate.inner_gradient)) {
    certificate.reason = "its gradients are not finite";
  } else if (flat) {
    certificate.reason =
        "the weights do not depend on lambda here (all are 0, or the penalty is): a slope of 0 says nothing";
  } else if (worst > tolerance) {
    certificate.reason =
        fmt::format("the validation loss has a slope here: scaled {:.2g} ± {:.1g}, at most {:.2g} is allowed",
                    certificate.hypergradient, certificate.hypergradient_error, tolerance);
  } else if (certificate.inner_gradient > tolerance) {
    certificate.reason = fmt::format(
        "the weights are not trained to their optimum: gradient {:.2g} of that at 0; lambda itself is "
        "stationary",
        certificate.inner_gradient);
  } else {
    certificate.verdict = held ? Verdict::at_bound : Verdict::certified;
    certificate.reason = fmt::format(
        "no small change of lambda{} helps: scaled slope {:.2g} ± {:.1g} of the validation loss",
        held ? " inside its bounds" : "", certificate.hypergradient, certificate.hypergradient_error);
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::certified:
      return "certified";
    case Verdict::at_bound:
      return "certified at a bound";
    case Verdict::not_certified:
      return "not certified";
  }
  return "unknown";
}

Certificate certify(const BilevelProblem& problem, const Solution& solution, const Start& start,
                    double tolerance) {
  const Vector& lambda = solution.lambda;
  Vector w = solution.point;
  Vector g(problem.weights());
  Certificate certificate;
  const double scale_of_gradients = norm_at_zero(problem, g);
  problem.train_gradient(w, lambda, g);
  certificate.inner_gradient = g.norm() / (scale_of_gradients > 0.0 ? scale_of_gradients : 1.0);

  const double tight = problem.factors_cheaply() ? kExact : kInner;
  // At w*(λ):  H q = ∇L_V,  ∇h = −Cᵀ q
  problem.inner_solve(lambda, {.proximal = {}, .tolerance = tight}, w);
  const double validation = problem.validation_gradient(w, g);
  Vector q = Vector::Zero(problem.weights());
  problem.hessian_solve(w, lambda, g, {.tolerance = tight}, q);
  Vector slope(problem.hyperparameters());
  problem.cross_product_transposed(w, lambda, q, slope);
  slope = -slope;
  // What the residual r of that solve hides:  −Cᵀ H⁻¹ r
  Vector residual(problem.weights());
  problem.hessian_product(w, lambda, q, residual);
  residual = g - residual;
  Vector correction = Vector::Zero(problem.weights());
  problem.hessian_solve(w, lambda, residual, {.tolerance = 0.1}, correction);
  Vector error(problem.hyperparameters());
  problem.cross_product_transposed(w, lambda, correction, error);

  Vector scale(problem.hyperparameters());
  problem.certificate_scale(w, lambda, scale);
  const double size = validation > 0.0 ? validation : 1.0;
  bool held = false;
  for (Index j = 0; j < lambda.size(); ++j) {
    const double factor = scale[j] / size;
    const bool is_here = is_held(start, lambda[j], slope[j], j);
    held |= is_here;
    if (!is_here)
      certificate.hypergradient = std::max(certificate.hypergradient, std::abs(slope[j]) * factor);
    certificate.hypergradient_error = std::max(certificate.hypergradient_error, std::abs(error[j]) * factor);
    if (std::isnan(slope[j])) certificate.hypergradient = slope[j];
  }
  // Denormal or zero throughout: not a small slope but none.
  const bool flat = validation > 0.0 && slope.cwiseAbs().maxCoeff() <= std::numeric_limits<double>::min();
  judge(certificate, held && !flat, flat, tolerance);
  return certificate;
}

}  // namespace yosida
