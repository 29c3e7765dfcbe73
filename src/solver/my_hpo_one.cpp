#include "solver/my_hpo_one.hpp"

#include <algorithm>
#include <cmath>

#include "solver/direct_term.hpp"
#include "solver/stationarity.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

using State = MyHpo::State;
using Sample = BasinSearch::Sample;

/// Basins are refined while they promise to lower the best value by this share.
constexpr double kWorthwhile = 1e-6;
/// Samples nearer than this are one.
constexpr double kNearest = 1e-7;
constexpr int kMaxCloserLooks = 30;
constexpr int kSmoothLooks = 4;  // so many of them suppose that h is smooth
/// Slopes of opposite signs so near to each other hold a minimum between them that no λ is nearer to.
constexpr double kAtKink = 5e-6;

/// The scan's points are nearer to each other where h costs little, in shares of feature_width().
constexpr double kClosedFormSpacing = 0.25;
constexpr double kFactoredSpacing = 0.35;
constexpr double kKinkedSpacing = 0.5;  // of an ℓ₁ penalty, whose features are narrow already
constexpr double kExact = 1e-9;         // inner solves that factor
/// Overfitted supports of an ℓ₁ penalty are nearly dependent: a scan asks for no more there, and ends after
/// so many λ in a row that are not resolved.
constexpr double kGlance = 1e-7;
constexpr double kGlanceSlope = 1e-4;
constexpr std::int64_t kGlanceCount = 300;
constexpr std::int64_t kAnyCount = std::numeric_limits<std::int64_t>::max();
constexpr int kGivenUp = 6;
constexpr int kPointsAStep = 16;  // of a scan whose inner problems factor

/// Inner solves that do not factor end at ‖∇L_T‖ ≤ τ ‖C‖: C is how fast the gradient turns with λ, so the
/// weights found are about those of a λ within τ. The τ of the scan, of the first refinement, how much
/// smaller each next one is, and that of the answer.
constexpr double kScanTau = 0.1;
constexpr double kFirstTau = 0.03;
constexpr double kShrink = 0.3;
constexpr double kLeastTau = 1e-5;
constexpr double kFinalTau = 3e-4;
constexpr double kLargeScale = 100.0;
/// A sample so many times more blurred than the next would be is looked at again before others beside it.
constexpr double kSharper = 20.0;
/// In the scan, where the last value is this far above the best, the solves are coarse: overfitted.
constexpr double kUninteresting = 1.1;
constexpr double kFine = 0.1;  // elsewhere they are by so much finer
/// A solve whose weights may be those of a λ further away than this has not told h.
constexpr double kResolved = 0.3;
/// So many values that rise one after the other, to so far above the best, end such a scan.
constexpr int kRises = 2;
constexpr double kOverfitted = 1.1;
constexpr double kFarOverfitted = 4.0;
constexpr double kFarAbove = 1.5;  // a start seen coarsely is not looked at again
/// The least curvature of columns of one scale, as a share of the largest of all directions.
constexpr double kOneScale = 1e-11;

/// Where valleys may be narrow: intervals wider than this share of feature_width(), both of whose ends are so
/// near to the best value, are looked into.
constexpr double kLookSpacing = 0.06;
constexpr double kNearlyBest = 0.03;
constexpr int kMaxLooksBetween = 80;

/// How far the data's own bounds are moved at a time, and to where at most.
constexpr double kFurther = 8.0;
constexpr double kFarthest = 600.0;
constexpr int kMaxExtensions = 5;  // one where inner problems do not factor: it is dear
/// Values and slopes that differ by more than this share of their sizes are rounding.
constexpr double kContradiction = 0.5;
/// By what share of itself L_V may be wrong for each unit of blur, as measured on MNIST and GTSRB.
constexpr double kBlurOfValue = 0.03;
/// L_V of so small a share of that at w = 0 is none.
constexpr double kNoLoss = 1e-9;

bool is_exact(const BilevelProblem& problem) {
  return problem.traits().has_closed_form || problem.traits().factors_cheaply;
}

double spacing_of(const BilevelProblem& problem, const MyHpo::Settings& settings) {
  const ProblemTraits& traits = problem.traits();
  const double width = settings.spacing * traits.feature_width;
  if (traits.has_closed_form) return kClosedFormSpacing * width;
  if (!traits.factors_cheaply) return width;
  return (traits.bounds ? kKinkedSpacing : kFactoredSpacing) * width;
}

/// The visited point nearest to λ: where an inner solve starts.
const Tangent* nearest(const std::map<double, Tangent>& visited, double lambda) {
  const Tangent* near = nullptr;
  for (const auto& [at, each] : visited)
    if (near == nullptr || std::abs(at - lambda) <= std::abs(near->lambda - lambda)) near = &each;
  return near;
}

/// The visited point on the other side of `near`, seen from λ.
const Tangent* nearest_behind(const std::map<double, Tangent>& visited, const Tangent& near, double lambda) {
  auto at = visited.find(near.lambda);
  if (near.lambda > lambda) return ++at == visited.end() ? nullptr : &at->second;
  return at == visited.begin() ? nullptr : &(--at)->second;
}

struct Exactness {
  double tau;        // InnerOptions::blur
  double tolerance;  // InnerOptions::tolerance
  bool with_slope;
  /// A point of a scan between kinks, where no λ must be resolved: a rough slope, and not at any price.
  bool is_glance = false;
};

/// h(λ) and, where asked for, its slope, by an inner solve.
Sample evaluate(const BilevelProblem& problem, State& state, double lambda, const Exactness& wanted) {
  if (problem.traits().has_closed_form) {
    const CurvePoint point = problem.closed_form(lambda);
    if (!std::isfinite(point.value) || !std::isfinite(point.slope))
      return {lambda, BasinSearch::kUnresolved, {}, 0.0};
    return {lambda, point.value, point.slope, 0.0};
  }
  // v = argmin L_T(·, λ), from the tangent of the nearest point
  Tangent point;
  point.lambda = lambda;
  if (const Tangent* near = nearest(state.visited, lambda)) {
    point.phi1 = near->phi1;
    // A problem that keeps a Hessian knows all there is at a point it has been to, and takes the tangent
    // itself.
    if (state.memory) {
      point.v = near->v;
    } else {
      near->respond(lambda, point.v);
    }
    // A scan has no tangents: the line through its last two points instead.
    if (!state.memory && near->phi1.size() == 0)
      if (const Tangent* behind = nearest_behind(state.visited, *near, lambda))
        point.v += (lambda - near->lambda) / (near->lambda - behind->lambda) * (near->v - behind->v);
  } else {
    point.v = state.w;
  }
  const Vector at = Vector::Constant(1, lambda);
  const InnerReport inner = problem.inner_solve(at,
                                                {.proximal = {},
                                                 .tolerance = wanted.tolerance,
                                                 .blur = wanted.tau,
                                                 .max_count = wanted.is_glance ? kGlanceCount : kAnyCount,
                                                 .memory = state.memory.get()},
                                                point.v);
  if (!inner.converged) {
    if (!wanted.is_glance) ++state.inexact_solves;
    if (!std::isfinite(inner.gradient_norm)) return {lambda, BasinSearch::kUnresolved, {}, 0.0};
    // Where solves are to be exact, one that is not tells nothing: it may look better than any w*(λ).
    if (wanted.tau == 0.0) return {lambda, BasinSearch::kUnresolved, {}, 0.0};
  }
  Sample sample{lambda, 0.0, {}, std::max(wanted.tau, inner.blur)};
  if (wanted.with_slope) {
    // Φ₁ = −H⁻¹ C;  h′(λ) = ∇L_V(v)ᵀ Φ₁ + ∂L_V/∂λ
    sample.value = problem.validation_gradient(point.v, at, state.g);
    const double tolerance = wanted.tau > 0.0   ? std::max(wanted.tau, kLeastTau)
                             : wanted.is_glance ? kGlanceSlope
                                                : kExact;
    if (!point.anchor(problem, tolerance, state.memory.get()).converged && !wanted.is_glance)
      ++state.inexact_solves;
    sample.slope = state.g.dot(point.phi1) + direct_slope(problem, point.v, at);
  } else {
    sample.value = problem.validation_loss(point.v, at);
    point.phi1.resize(0);
  }
  if (!std::isfinite(sample.value) || !std::isfinite(sample.slope.value_or(0.0)))
    return {lambda, BasinSearch::kUnresolved, {}, 0.0};
  state.visited.insert_or_assign(lambda, std::move(point));
  return sample;
}

/// The scan's next point.
void scan(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state) {
  BasinSearch& search = *state.search;
  const double lambda = search.propose(kWorthwhile, kNearest, kBlurOfValue)->x;
  if (is_exact(problem)) {
    const bool has_kinks = problem.traits().bounds.has_value();
    const Sample sample = evaluate(
        problem, state, lambda,
        {.tau = 0.0, .tolerance = has_kinks ? kGlance : kExact, .with_slope = true, .is_glance = has_kinks});
    search.add(sample);
    state.unresolved = std::isfinite(sample.value) ? 0 : state.unresolved + 1;
    if (has_kinks && state.unresolved >= kGivenUp) search.end_scan();
    return;
  }
  // A coarse solve is enough where it tells h: its weights may be those of a λ far away.
  const double last = state.last_scanned;
  const bool coarse = search.samples().empty() || last > kUninteresting * search.best_value();
  Sample sample{lambda, 0.0, {}, std::numeric_limits<double>::infinity()};
  if (!state.is_coarse_useless)
    sample = evaluate(problem, state, lambda,
                      {.tau = kScanTau,
                       .tolerance = (coarse ? 1.0 : kFine) * settings.scan_tolerance,
                       .with_slope = false});
  if (sample.blur > kResolved) {
    state.is_coarse_useless = true;
    sample = evaluate(problem, state, lambda, {.tau = kResolved, .tolerance = 0.0, .with_slope = false});
  }
  if (std::isfinite(sample.value)) state.last_scanned = sample.value;
  search.add(sample);
  // Heuristic: where h rises and rises below its best, only overfitting is left. Columns of different scales
  // may have a valley each, and are given more time.
  state.rises = sample.value > last ? state.rises + 1 : 0;
  const bool alike = state.has_one_scale;
  if (state.rises >= (alike ? kRises : 2 * kRises) &&
      sample.value > (alike ? kOverfitted : kFarOverfitted) * search.best_value())
    search.end_scan();
}

/// τ of the next refinement.
double next_tau(const State& state) {
  return std::max(kFirstTau * std::pow(kShrink, state.refinements), kLeastTau);
}

/// τ of the answer: finer where its slope is multiplied by much before it is called small, and where a kept
/// Hessian makes that a pass or two.
double final_tau(const BilevelProblem& problem, const State& state) {
  if (state.memory) return kLeastTau;
  Vector scale(1);
  problem.certificate_scale(state.w, state.lambda, scale);
  return scale[0] > kLargeScale ? kLeastTau : kFinalTau;
}

/// A point of a basin, or one to be seen more exactly.
void refine(const BilevelProblem& problem, State& state) {
  BasinSearch& search = *state.search;
  double tau = next_tau(state);
  double lambda = search.best().x;
  if (state.wanted) {
    lambda = *state.wanted;
    if (state.is_confirming) tau = std::min(tau, final_tau(problem, state));
    state.wanted.reset();
  } else if (const auto proposal = search.propose(kWorthwhile, kNearest, kBlurOfValue)) {
    lambda = proposal->x;
  }
  state.is_confirming = false;
  // A valley of an ℓ₁ penalty ends in a kink: inexact slopes do not tell on which side of it they are.
  const bool exact = is_exact(problem) || problem.traits().bounds;
  const bool is_glance = state.is_looking_between && problem.traits().bounds;
  state.is_looking_between = false;
  search.add(evaluate(problem, state, lambda,
                      {.tau = exact ? 0.0 : tau,
                       .tolerance = is_glance ? kGlance
                                    : exact   ? kExact
                                              : 0.0,
                       .with_slope = true,
                       .is_glance = is_glance}));
  ++state.refinements;
}

/// Where h may have valleys narrower than the scan could see and costs little: the middle of an interval
/// whose ends are nearly as low as the best.
std::optional<double> closer_look(const BilevelProblem& problem, const State& state) {
  if (!problem.traits().factors_cheaply || problem.traits().feature_width >= ProblemTraits::kSmoothWidth ||
      state.looks_between >= kMaxLooksBetween)
    return {};
  const auto& samples = state.search->samples();
  const double level = (1.0 + kNearlyBest) * state.search->best_value();
  double widest = kLookSpacing * problem.traits().feature_width;
  std::optional<double> middle;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    const Sample &a = samples[i], &b = samples[i + 1];
    if (b.x - a.x <= widest || a.value > level || b.value > level) continue;
    if (!a.slope || !b.slope) continue;                // nothing is known of h there
    if (*a.slope == 0.0 && *b.slope == 0.0) continue;  // nothing depends on λ there
    widest = b.x - a.x;
    middle = 0.5 * (a.x + b.x);
  }
  return middle;
}

/// Where h is flat from the best sample to an end of the range and still falls towards it, rounding alone
/// decides which of them is lowest: the end is the answer.
const Sample& settled(const BasinSearch& search) {
  const auto& samples = search.samples();
  const Sample& best = search.best();
  if (!best.slope) return best;
  const double level = best.value + kWorthwhile * std::abs(best.value);
  const auto is_flat = [&](bool down) {
    return std::all_of(samples.begin(), samples.end(), [&](const Sample& each) {
      return (down ? each.x >= best.x : each.x <= best.x) || (each.slope && each.value <= level);
    });
  };
  const double none = kWorthwhile * std::abs(best.value);
  if (*best.slope > -none && is_flat(true)) return samples.front();
  if (*best.slope < none && is_flat(false)) return samples.back();
  return best;
}

void take(const BilevelProblem& problem, State& state, const Sample& best) {
  if (const auto at = state.visited.find(best.x); at != state.visited.end()) {
    state.w = at->second.v;
  } else if (problem.traits().has_closed_form) {
    problem.inner_solve(Vector::Constant(1, best.x), {}, state.w);
  } else {
    return;
  }
  state.lambda[0] = best.x;
}

/// |h′| scaled, relative to h; 0 where a bound holds λ against its slope.
double certificate_of(const BilevelProblem& problem, const State& state, const Sample& best) {
  if (!best.slope) return std::numeric_limits<double>::infinity();
  if (is_held(state.range, best.x, *best.slope, 0, best.value)) return 0.0;
  return scaled_hypergradient(problem, state.range, state.w, Vector::Constant(1, best.x),
                              Vector::Constant(1, *best.slope), best.value);
}

/// The neighbour of the best sample on the side its slope falls to.
const Sample* downhill_neighbour(const BasinSearch& search) {
  const auto& samples = search.samples();
  const Sample& best = search.best();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].x != best.x) continue;
    if (best.slope.value_or(0.0) < 0.0 && i + 1 < samples.size()) return &samples[i + 1];
    if (best.slope.value_or(0.0) > 0.0 && i > 0) return &samples[i - 1];
  }
  return nullptr;
}

/// There is a minimum between the best sample and the neighbour that its slope falls to.
bool brackets(const Sample& best, const Sample* neighbour) {
  return neighbour != nullptr && neighbour->slope && *best.slope * *neighbour->slope <= 0.0;
}

/// ... and nothing fits between them: a kink, or as near to the minimum as λ can be told.
bool is_at_kink(const Sample& best, const Sample* neighbour) {
  return brackets(best, neighbour) && std::abs(neighbour->x - best.x) <= kAtKink;
}

/// Moves one of the data's own bounds further away where h is lowest there and still falls: no penalty is
/// said to be needed, or no weight, only where a smaller or a larger one has been seen to change nothing.
bool reaches_further(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state,
                     const Sample& best) {
  double& low = state.range.low[0];
  double& high = state.range.high[0];
  const bool is_low = best.x <= low + kNearest;
  // Where a problem states its bounds no weight is left above them.
  const bool has_stated = problem.traits().bounds.has_value();
  if (!state.has_own_bounds || (!is_low && (has_stated || best.x < high - kNearest))) return false;
  double& last = is_low ? state.value_at_low_end : state.value_at_high_end;
  if (!(last - best.value > kWorthwhile * std::abs(best.value)) ||
      best.value <= kNoLoss * state.value_of_zero)
    return false;
  if (state.extensions >= (is_exact(problem) ? kMaxExtensions : 1)) return false;
  ++state.extensions;
  last = best.value;
  double& end = is_low ? low : high;
  const double from = end;
  end = std::clamp(end + (is_low ? -kFurther : kFurther), -kFarthest, kFarthest);
  if (end == from) return false;
  if (is_low && problem.traits().factors_cheaply) state.moved_from = from;
  state.search->extend(from, end, is_exact(problem) ? spacing_of(problem, settings) : kFurther);
  return true;
}

/// Where the lower bound has been moved, h may be rounding: below the first λ at which values and slopes
/// contradict each other nothing is known, and the bound is there.
void forget_rounding(State& state, double moved_from) {
  const auto& samples = state.search->samples();
  for (std::size_t i = samples.size(); i-- > 1;) {
    const Sample &upper = samples[i], &lower = samples[i - 1];
    if (upper.x > moved_from || !upper.slope) continue;
    const double fall = upper.value - lower.value;
    const double half = 0.5 * (upper.x - lower.x);
    const double by_upper = half * *upper.slope, by_lower = half * lower.slope.value_or(0.0);
    const double size = std::abs(fall) + std::abs(by_upper) + std::abs(by_lower);
    const double allowed = kContradiction * size + kWorthwhile * std::abs(upper.value);
    if (lower.slope && std::abs(fall - by_upper - by_lower) <= allowed) continue;
    state.range.low[0] = upper.x;
    state.extensions = kMaxExtensions;
    state.search->forget_below(upper.x);
    return;
  }
}

/// True where the start has been seen coarsely only, and not far above the best: never worse than the start.
bool wants_start(const State& state, const Sample& best) {
  const auto& samples = state.search->samples();
  const auto start = std::find_if(samples.begin(), samples.end(),
                                  [&](const Sample& each) { return each.x == state.range.lambda[0]; });
  if (start == samples.end() || !std::isfinite(start->value)) return true;
  // A unit of blur is some hundredths of a value.
  return !start->slope && start->value <= std::min(kFarAbove, 1.0 + start->blur) * best.value;
}

void begin(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state) {
  state.has_own_bounds = !state.range.is_bounded();
  state.range = with_bounds(problem, state.range);
  state.search.emplace(state.range.low[0], state.range.high[0], spacing_of(problem, settings),
                       state.range.lambda[0]);
  state.memory = problem.solve_memory();
  state.value_of_zero = problem.validation_loss(state.w, state.lambda);  // that of the start
  const auto least = problem.least_curvatures();
  state.has_one_scale =
      state.has_own_bounds && least && std::log((*least)[0] / kOneScale) > state.range.high[0];
}

}  // namespace

void step_one(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state) {
  if (!state.search) begin(problem, settings, state);
  BasinSearch& search = *state.search;
  if (search.scanning()) {
    // Points that cost little are one iteration, or a few.
    int points = 0;
    do {
      scan(problem, settings, state);
    } while (search.scanning() && (problem.traits().has_closed_form ||
                                   (problem.traits().factors_cheaply && ++points < kPointsAStep)));
    if (state.moved_from && !search.scanning()) forget_rounding(state, *state.moved_from);
    if (!search.scanning()) state.moved_from.reset();
  } else {
    refine(problem, state);
  }
  take(problem, state, search.best());
  if (search.scanning() || search.propose(kWorthwhile, kNearest, kBlurOfValue)) return;

  if (!state.start_seen && !is_exact(problem)) {
    state.start_seen = true;
    if (wants_start(state, search.best())) {
      state.wanted = state.range.lambda[0];
      return;
    }
  }
  if (const auto middle = closer_look(problem, state)) {
    ++state.looks_between;
    state.is_looking_between = true;
    state.wanted = middle;
    return;
  }
  const Sample& best = settled(search);
  take(problem, state, best);
  state.low = state.range.low;
  state.high = state.range.high;
  if (reaches_further(problem, settings, state, best)) return;
  // No basin promises more: stop on the certificate, or look closer, as long as rounding lets it.
  const Sample* neighbour = downhill_neighbour(search);
  const bool has_kinks = problem.traits().feature_width < ProblemTraits::kSmoothWidth;
  const double certificate = certificate_of(problem, state, best);
  if (certificate <= settings.tolerance || (has_kinks && is_at_kink(best, neighbour))) {
    if (best.blur > kLeastTau && best.blur > final_tau(problem, state)) {
      // A coarse solve may have looked better than it is: the answer is confirmed by a fine one.
      state.wanted = best.x;
      state.is_confirming = true;
    } else {
      state.converged = true;
    }
  } else if (++state.closer_looks > kMaxCloserLooks) {
    state.stalled = true;
  } else if (best.blur > kSharper * next_tau(state)) {
    state.wanted = best.x;  // it may be the best by the luck of a coarse solve alone
  } else if (brackets(best, neighbour) && state.closer_looks > kSmoothLooks) {
    state.wanted = 0.5 * (best.x + neighbour->x);  // a kink: no line or cubic through the slopes leads there
  } else if (const auto next = search.propose(0.0, kNearest)) {
    state.wanted = next->x;
  } else if (neighbour == nullptr || std::abs(neighbour->x - best.x) < kNearest) {
    state.stalled = true;
  } else {
    state.wanted = neighbour->x;
  }
}

}  // namespace yosida
