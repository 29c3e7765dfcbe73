#include "yosida/solver/my_hpo.hpp"

#include <algorithm>
#include <cmath>

#include "solver/my_hpo_many.hpp"
#include "solver/stationarity.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida {
namespace {

/// Basins are refined while they promise to lower the best value by this share.
constexpr double kWorthwhile = 1e-6;
/// Inner solves end at ‖∇L_T‖ ≤ τ ‖C‖: C is how fast the gradient turns with λ, so the weights found are
/// about those of a λ within τ. The τ of the scan, of the first refinement, and how much smaller each next
/// one is.
constexpr double kScanTau = 0.1;
constexpr double kFirstTau = 0.03;
constexpr double kShrink = 0.3;
constexpr double kLeastTau = 1e-5;
constexpr double kFinalTau = 3e-4;  // of the weights returned
/// In the scan, where the last value is this far above the best, the solves are coarse: overfitted.
constexpr double kUninteresting = 1.1;
constexpr double kFine = 0.1;    // elsewhere they are by so much finer
constexpr double kExact = 1e-9;  // where that costs little
/// Samples nearer than this are one.
constexpr double kNearest = 1e-7;
constexpr int kMaxCloserLooks = 20;
constexpr double kFarAbove = 1.5;

/// The visited point nearest to λ: where an inner solve starts.
const Tangent* nearest(const std::map<double, Tangent>& visited, double lambda) {
  const Tangent* near = nullptr;
  for (const auto& [at, each] : visited)
    if (near == nullptr || std::abs(at - lambda) <= std::abs(near->lambda - lambda)) near = &each;
  return near;
}

/// h(λ) and, where asked for, its slope, by an inner solve to the tolerance given.
BasinSearch::Sample evaluate(const BilevelProblem& problem, MyHpo::State& state, double lambda,
                             bool with_slope, double tau, double tolerance) {
  // v = argmin L_T(·, λ), from the tangent of the nearest point
  Tangent point;
  point.lambda = lambda;
  if (const Tangent* near = nearest(state.visited, lambda)) {
    near->respond(lambda, point.v);
    point.phi1 = near->phi1;
  } else {
    point.v = state.w;
  }
  const Vector at = Vector::Constant(1, lambda);
  problem.cross_product(point.v, at, Vector::Ones(1), state.g);
  const double turn = state.g.norm();  // ‖C‖
  const InnerReport inner =
      problem.inner_solve(at, {.proximal = {}, .tolerance = tolerance, .absolute = tau * turn}, point.v);
  if (!inner.converged) ++state.inexact_solves;
  BasinSearch::Sample sample{lambda, 0.0, {}, problem.has_closed_form() ? 0.0 : tau};
  if (with_slope) {
    // Φ₁ = −H⁻¹ C;  h′(λ) = ∇L_V(v)ᵀ Φ₁
    sample.value = problem.validation_gradient(point.v, state.g);
    if (!point.anchor(problem, std::max(tau, kLeastTau)).converged) ++state.inexact_solves;
    sample.slope = state.g.dot(point.phi1);
  } else {
    sample.value = problem.validation_loss(point.v);
    point.phi1.resize(0);
    // A gradient already under the tolerance: these are still the weights of the last λ (unless all are 0,
    // where no λ moves them).
    state.last_scanned = sample.value;
    if (inner.work.paper_count() == 1 && !state.visited.empty() && turn > 0.0)
      sample.value = BasinSearch::kUnresolved;
  }
  if (!std::isfinite(sample.value) || !std::isfinite(sample.slope.value_or(0.0))) {
    sample = {lambda, BasinSearch::kUnresolved, {}, 0.0};
  } else {
    state.visited.insert_or_assign(lambda, std::move(point));
  }
  return sample;
}

/// The weights returned are those of λ, not of one nearby.
void polish(const BilevelProblem& problem, MyHpo::State& state) {
  problem.cross_product(state.w, state.lambda, Vector::Ones(1), state.g);
  problem.inner_solve(state.lambda,
                      {.proximal = {}, .tolerance = 0.0, .absolute = kFinalTau * state.g.norm()}, state.w);
}

/// |h′| scaled, relative to h; 0 where a bound holds λ against its slope.
double certificate_of(const BilevelProblem& problem, const MyHpo::State& state,
                      const BasinSearch::Sample& best) {
  if (!best.slope) return std::numeric_limits<double>::infinity();
  if (is_held(state.range, best.x, *best.slope, 0)) return 0.0;
  return scaled_hypergradient(problem, state.range, state.visited.at(best.x).v, Vector::Constant(1, best.x),
                              Vector::Constant(1, *best.slope), best.value);
}

/// The neighbour of the best sample on the side its slope falls to.
std::optional<double> downhill_neighbour(const BasinSearch& search) {
  const auto& samples = search.samples();
  const BasinSearch::Sample& best = search.best();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].x != best.x) continue;
    if (best.slope.value_or(0.0) < 0.0 && i + 1 < samples.size()) return samples[i + 1].x;
    if (best.slope.value_or(0.0) > 0.0 && i > 0) return samples[i - 1].x;
  }
  return {};
}

}  // namespace

const std::vector<Setting<MyHpo::Settings>>& MyHpo::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("tolerance", &Settings::tolerance, Bound::positive(),
                     "stop when the scaled hypergradient is under it, relative to L_V", "ours"),
      settings::real("scan_tolerance", &Settings::scan_tolerance, Bound::positive(),
                     "inner solves of the scan end at this share of the gradient at w = 0",
                     "ours: the coarsest at which basins keep their order"),
      settings::real("spacing", &Settings::spacing, Bound::positive(),
                     "distance of the scan's points, in widths of the narrowest feature of h(λ)",
                     "ours: 1.9 units of λ for penalties on squares, 0.1 for the lasso"),
      settings::real("epsilon", &Settings::epsilon, Bound::non_negative(),
                     "share of ‖λ' − λ‖² in the proximal term, for several hyperparameters",
                     "ours: without it a weight near 0 leaves its step unlimited"),
  };
  return rows;
}

MyHpo::State MyHpo::init(const BilevelProblem& problem, const Start& start) const {
  State state;
  state.range = start;
  state.final_is_best = true;
  state.lambda = start.lambda;
  state.w = state.g = Vector::Zero(problem.weights());
  problem.fit_intercept(state.w);
  return state;
}

void MyHpo::step(const BilevelProblem& problem, State& state) const {
  if (!state.range.is_bounded()) state.range = with_bounds(problem, state.range);
  if (problem.hyperparameters() > 1) return step_many(problem, settings, state);
  if (!state.search) {
    state.search.emplace(state.range.low[0], state.range.high[0], settings.spacing * problem.feature_width(),
                         state.range.lambda[0]);
  }
  BasinSearch& search = *state.search;
  const bool closed_form = problem.has_closed_form();
  const double tau = std::max(kFirstTau * std::pow(kShrink, state.refinements), kLeastTau);

  // The point to look at: the scan's next, the most promising of a basin, or one to be seen more exactly.
  double lambda = 0.0;
  const bool scanning = search.scanning();
  if (state.wanted) {
    lambda = *state.wanted;
    state.wanted.reset();
  } else {
    const auto proposal = search.propose(kWorthwhile, kNearest);
    lambda = proposal ? proposal->x : search.best().x;
  }
  const bool exact = problem.factors_cheaply();
  if (scanning) {
    const bool coarse = !exact && state.last_scanned > kUninteresting * search.best_value();
    const bool first = search.samples().empty();
    const auto sample = evaluate(problem, state, lambda, closed_form, exact ? 0.0 : kScanTau,
                                 exact ? kExact : (coarse || first ? 1.0 : kFine) * settings.scan_tolerance);
    search.add(sample);
  } else {
    search.add(evaluate(problem, state, lambda, true, exact ? 0.0 : tau, exact ? kExact : 0.0));
    ++state.refinements;
  }

  const BasinSearch::Sample& best = search.best();
  if (const auto at = state.visited.find(best.x); at != state.visited.end()) {
    state.lambda[0] = best.x;
    state.w = at->second.v;
  }
  if (search.scanning() || search.propose(kWorthwhile, kNearest)) return;
  // Never worse than the start: where the scan has seen it coarsely only, and not far above, it is looked at
  // again.
  if (!state.start_seen && !closed_form && !exact) {
    state.start_seen = true;
    const auto start = std::find_if(search.samples().begin(), search.samples().end(),
                                    [&](const auto& each) { return each.x == state.range.lambda[0]; });
    const bool unseen = start == search.samples().end() || !std::isfinite(start->value);
    if (unseen || (!start->slope && start->value <= kFarAbove * best.value)) {
      state.wanted = state.range.lambda[0];
      return;
    }
  }
  // No basin promises more: stop on the certificate, or look closer, as long as rounding lets it.
  if (certificate_of(problem, state, best) <= settings.tolerance) {
    state.converged = true;
    if (best.blur > kFinalTau) polish(problem, state);
  } else if (++state.closer_looks > kMaxCloserLooks) {
    state.converged = state.at_precision = true;
  } else if (const auto next = search.propose(0.0, kNearest)) {
    state.wanted = next->x;
  } else {
    state.wanted = downhill_neighbour(search);
    if (!state.wanted || std::abs(*state.wanted - best.x) < kNearest)
      state.converged = state.at_precision = true;
  }
}

}  // namespace yosida
