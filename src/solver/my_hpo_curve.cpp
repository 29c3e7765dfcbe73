#include "solver/my_hpo_curve.hpp"

#include <algorithm>
#include <cmath>

#include "solver/direct_term.hpp"

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// Tolerance of solves that are to be exact: problems that factor their Hessian reach it at little cost.
constexpr double kExact = 1e-9;
/// Weights that overfit under an ℓ₁ penalty have nearly dependent columns, and exact solves of them take
/// long. A glance at such a λ asks for this precision of weights and slope at most, and ends after so many
/// sweeps.
constexpr double kGlance = 1e-7;
constexpr double kGlanceSlope = 1e-4;
constexpr std::int64_t kGlanceCount = 300;

Sample unresolved(double lambda) { return {lambda, BasinSearch::kUnresolved, {}, 0.0}; }

bool is_finite(const Sample& sample) {
  return std::isfinite(sample.value) && std::isfinite(sample.slope.value_or(0.0));
}

/// The cubic with the values and the slopes of two points.
Vector cubic_at(double lambda, const Tangent& a, const Tangent& b) {
  const double width = b.lambda - a.lambda;
  const double t = (lambda - a.lambda) / width, rest = 1.0 - t;
  return rest * rest * ((1.0 + 2.0 * t) * a.v + t * width * a.phi1) +
         t * t * ((1.0 + 2.0 * rest) * b.v - rest * width * b.phi1);
}

}  // namespace

std::vector<Sample> closed_forms(const BilevelProblem& problem, std::span<const double> lambdas) {
  std::vector<CurvePoint> points(lambdas.size());
  problem.closed_forms(lambdas, points);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < points.size(); ++i) {
    samples.push_back({lambdas[i], points[i].value, points[i].slope, 0.0});
    if (!is_finite(samples.back())) samples.back() = unresolved(lambdas[i]);
  }
  return samples;
}

Exactness Exactness::exact() { return {.tolerance = kExact}; }
Exactness Exactness::exact_value(std::int64_t most_gradients) {
  return {.tolerance = kExact, .with_slope = false, .most_gradients = most_gradients};
}
Exactness Exactness::glance() {
  return {.tolerance = kGlance, .is_glance = true, .most_gradients = kGlanceCount};
}

Curve::Curve(const BilevelProblem& problem, Vector w, std::shared_ptr<SolveMemory> memory)
    : problem_(problem), start_(std::move(w)), memory_(std::move(memory)), g_(problem.weights()) {}

Sample Curve::evaluate(double lambda, const Exactness& wanted) {
  if (problem_.traits().has_closed_form) return closed_forms(problem_, {&lambda, 1})[0];
  // v = argmin L_T(·, λ)
  Tangent point = guess(lambda);
  const Vector at = Vector::Constant(1, lambda);
  const InnerReport inner = problem_.inner_solve(at,
                                                 {.proximal = {},
                                                  .tolerance = wanted.tolerance,
                                                  .blur = wanted.tau,
                                                  .max_count = wanted.most_gradients,
                                                  .memory = memory_.get()},
                                                 point.v);
  if (!inner.converged) {
    const bool is_cut_short = wanted.most_gradients < Exactness{}.most_gradients;
    if (!is_cut_short) ++inexact_solves_;
    // Where a solve is to be exact and is not, it tells nothing: it may look better than any w*(λ).
    if (wanted.tau == 0.0 || !std::isfinite(inner.gradient_norm)) return unresolved(lambda);
  }
  Sample sample{lambda, 0.0, {}, std::max(wanted.tau, inner.blur)};
  if (wanted.with_slope) {
    add_slope(wanted, point, sample);
  } else {
    sample.value = problem_.validation_loss(point.v, at);
    point.phi1.resize(0);
  }
  if (!is_finite(sample)) return unresolved(lambda);
  visited_.insert_or_assign(lambda, std::move(point));
  return sample;
}

/// h(λ) = L_V(v);  Φ₁ = −H⁻¹ C;  h′(λ) = ∇L_V(v)ᵀ Φ₁ + ∂L_V/∂λ
void Curve::add_slope(const Exactness& wanted, Tangent& point, Sample& sample) {
  const Vector at = Vector::Constant(1, point.lambda);
  sample.value = problem_.validation_gradient(point.v, at, g_);
  const double tolerance = wanted.tau > 0.0   ? std::max(wanted.tau, kLeastTau)
                           : wanted.is_glance ? kGlanceSlope
                                              : kExact;
  if (!point.anchor(problem_, tolerance, memory_.get()).converged && !wanted.is_glance) ++inexact_solves_;
  sample.slope = g_.dot(point.phi1) + direct_slope(problem_, point.v, at);
}

/// Where the inner solve at λ starts: on the tangent of the nearest point. A scan has no tangents: there the
/// line through its last two points is taken. A problem that keeps a Hessian knows its gradient where it has
/// been, and takes the tangent from there itself.
Tangent Curve::guess(double lambda) const {
  Tangent point;
  point.lambda = lambda;
  const Tangent* near = nearest(lambda);
  if (near == nullptr) {
    point.v = start_;
    return point;
  }
  point.phi1 = near->phi1;
  if (memory_) {
    point.v = near->v;
    return point;
  }
  near->respond(lambda, point.v);
  if (near->phi1.size() == 0) {
    if (const Tangent* far = behind(*near, lambda))
      point.v += (lambda - near->lambda) / (near->lambda - far->lambda) * (near->v - far->v);
    return point;
  }
  const Tangent* far = across(lambda, *near);
  if (far == nullptr) far = behind(*near, lambda);
  const bool is_near = far != nullptr && far->phi1.size() > 0 &&
                       std::abs(lambda - near->lambda) <= std::abs(near->lambda - far->lambda);
  if (is_near) point.v = cubic_at(lambda, *near, *far);
  return point;
}

const Tangent* Curve::nearest(double lambda) const {
  const Tangent* near = nullptr;
  for (const auto& [at, each] : visited_)
    if (near == nullptr || std::abs(at - lambda) <= std::abs(near->lambda - lambda)) near = &each;
  return near;
}

/// The next point beyond `near`, seen from λ.
const Tangent* Curve::behind(const Tangent& near, double lambda) const {
  auto at = visited_.find(near.lambda);
  if (near.lambda > lambda) return ++at == visited_.end() ? nullptr : &at->second;
  return at == visited_.begin() ? nullptr : &(--at)->second;
}

/// The nearest point beyond λ, seen from `near`.
const Tangent* Curve::across(double lambda, const Tangent& near) const {
  const auto above = visited_.upper_bound(lambda);
  if (near.lambda < lambda) return above == visited_.end() ? nullptr : &above->second;
  const auto below = visited_.lower_bound(lambda);
  return below == visited_.begin() ? nullptr : &std::prev(below)->second;
}

bool Curve::weights(double lambda, Vector& w) const {
  if (const auto at = visited_.find(lambda); at != visited_.end()) {
    w = at->second.v;
    return true;
  }
  if (!problem_.traits().has_closed_form) return false;
  problem_.inner_solve(Vector::Constant(1, lambda), {}, w);
  return true;
}

}  // namespace yosida
