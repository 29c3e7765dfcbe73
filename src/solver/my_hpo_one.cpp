#include "solver/my_hpo_one.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/exact_minimum.hpp"
#include "solver/stationarity.hpp"
#include "yosida/stop.hpp"

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// Basins are refined while they promise to lower the best value by this share.
constexpr double kWorthwhile = 1e-6;
/// Samples nearer than this are one.
constexpr double kNearest = 1e-7;
/// By what share of itself L_V may be wrong for each unit of blur, as measured on MNIST and GTSRB.
constexpr double kBlurOfValue = 0.03;
/// The least curvature of columns of one scale, as a share of the largest of all directions.
constexpr double kOneScale = 1e-11;

/// How much of a search its scan is, and what a refinement leaves of the rest, as they mostly are.
constexpr double kShareOfScan = 0.6;
constexpr double kLeftByRefinement = 0.75;

/// Columns of one scale and an h that is level for so far above the lower bound: nothing is left below it.
constexpr double kLevelFor = 4.0;
/// How often the answer is confirmed by a fine solve: rounding may not allow one as fine as is asked for.
constexpr int kMaxConfirmations = 2;

/// Inner solves that do not factor end at ‖∇L_T‖ ≤ τ ‖C‖. C is how fast the gradient turns with λ, so the
/// weights found are about those of a λ within τ. Each refinement is finer than the one before, by a factor,
/// because it looks at a smaller neighbourhood.
constexpr double kFirstTau = 0.03;
constexpr double kShrink = 0.3;
/// The same where the problem keeps a Hessian: finer solves cost a pass or two there, and slopes that agree
/// with each other save points.
constexpr double kFirstKeptTau = 2e-3;
constexpr double kKeptShrink = 0.1;
/// τ of the answer. Where its slope is multiplied by more than kLargeScale before it is called small, or
/// where the problem keeps a Hessian, it is kLeastTau instead.
constexpr double kFinalTau = 3e-4;
constexpr double kLargeScale = 100.0;
/// A best sample so many times as blurred as the next would be is looked at again before its neighbours: it
/// may be the best by the luck of a coarse solve.
constexpr double kSharper = 20.0;
/// A start that was seen coarsely, with a value so many times the best, is not looked at again; less where it
/// was seen better.
constexpr double kFarAbove = 1.5;

/// How often a run may look closer where nothing promises more and the certificate is not met. So many of
/// these looks suppose that h is smooth; then a kink is bisected.
constexpr int kMaxCloserLooks = 30;
constexpr int kSmoothLooks = 8;
/// Slopes of opposite signs so near to each other hold a minimum between them that no λ is nearer to.
constexpr double kAtKink = 5e-6;

/// Where h is known to rounding, an answer is brought to its minimum by so many secant steps at most, each of
/// so much of λ at most: two ways to the same problem then end at the same λ. A step that is shorter than
/// this changes nothing.
constexpr int kMaxPolish = 6;
constexpr double kPolishReach = 0.5;
constexpr double kPolished = 1e-11;
constexpr double kBeside = 0.1;
/// Where a slope larger than this share of h is left then, h has kinks: an interval between samples of
/// opposite slopes is halved.
constexpr double kSlopeLeft = 1e-11;

/// Below this share of the largest h that was seen, h is nearly 0, and its slopes are small against it where
/// λ and the weights are known to nearly all digits: only exact solves tell such an answer.
constexpr double kNearlyNoLoss = 1e-9;

/// Where valleys may be narrower than the scan sees, intervals wider than this share of feature_width whose
/// ends are both so near to the best value are looked into, so many times.
constexpr double kLookSpacing = 0.06;
constexpr double kNearlyBest = 0.03;
constexpr int kMaxLooksBetween = 80;

bool has_narrow_valleys(const BilevelProblem& problem) {
  return problem.traits().feature_width < ProblemTraits::kSmoothWidth;
}

bool has_one_scale(const BilevelProblem& problem, const MovableBounds& bounds) {
  const auto least = problem.least_curvatures();
  return bounds.are_own() && least && std::log((*least)[0] / kOneScale) > bounds.high();
}

/// The neighbour of the best sample on the side that its slope falls to.
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

/// The mean of h″ between two samples.
double bend_between(const Sample& a, const Sample& b) { return (*a.slope - *b.slope) / (a.x - b.x); }

/// There is, and nothing fits between them: a kink, or as near to the minimum as λ can be told.
bool is_at_kink(const Sample& best, const Sample* neighbour) {
  return brackets(best, neighbour) && std::abs(neighbour->x - best.x) <= kAtKink;
}

}  // namespace

SearchForOne::SearchForOne(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& start,
                           const Vector& w, std::shared_ptr<SolveMemory> memory, Scan::Depth depth)
    : problem_(problem),
      settings_(settings),
      memory_(std::move(memory)),
      bounds_(problem, start, w, memory_.get()),
      search_(bounds_.low(), bounds_.high(), Scan::spacing(problem, settings, depth), start.lambda[0],
              Scan::plain_below(problem)),
      has_one_scale_(has_one_scale(problem, bounds_)),
      polishes_(depth == Scan::Depth::to_level || (is_exact(problem) && !has_l1_kinks(problem))),
      scan_(problem, settings, depth, has_one_scale_),
      curve_(problem, w, memory_) {
  scan_.begin(search_, start.lambda[0]);
}

void SearchForOne::step(Iterate& at) {
  if (!has_begun_) {
    has_begun_ = true;
    at.memory = memory_;
    if (take_exact_minimum(problem_, bounds_, search_, at)) return;
  }
  if (search_.scanning()) {
    scan();
  } else {
    refine(at);
  }
  at.inexact_solves = curve_.inexact_solves();
  at.share_done = share_done();
  take(search_.best(), at);
  if (search_.scanning() || promises_more()) return;

  // No basin promises more. What could still be overlooked?
  wanted_ = look_at_start();
  if (!wanted_) wanted_ = look_between();
  if (wanted_) return;

  const Sample& best = search_.settled(kWorthwhile);
  take(best, at);
  at.low = bounds_.range().low;
  at.high = bounds_.range().high;
  if (is_level_below(best) || !bounds_.move(best, Scan::spacing(problem_, settings_), search_))
    conclude(best, at);
}

double SearchForOne::share_done() const {
  // Nobody knows how many refinements there will be: each is a share of what is left.
  const double refined = search_.scanning() ? 0.0 : 1.0 - std::pow(kLeftByRefinement, refinements_);
  return kShareOfScan * search_.share_scanned() + (1.0 - kShareOfScan) * refined;
}

/// Whether the best sample is at the lower bound and no smaller penalty can change h.
bool SearchForOne::is_level_below(const Sample& best) const {
  if (!has_one_scale_ || is_exact(problem_) || best.x > bounds_.low() + kNearest) return false;
  for (const Sample& each : search_.samples()) {
    if (!(each.value - best.value <= kWorthwhile * std::abs(best.value))) return false;
    if (each.x >= best.x + kLevelFor) return true;
  }
  return false;
}

void SearchForOne::scan() {
  scan_.advance(curve_, search_);
  if (!search_.scanning()) bounds_.scan_has_ended(search_);
}

bool SearchForOne::promises_more() const {
  return search_.propose(kWorthwhile, kNearest, kBlurOfValue).has_value();
}

/// The next point of a basin, or the one that is wanted.
void SearchForOne::refine(const Iterate& at) {
  double tau = next_tau();
  double lambda = search_.best().x;
  bool is_glance = false;
  if (wanted_) {
    lambda = wanted_->lambda;
    if (wanted_->purpose == Look::Purpose::confirming) tau = std::min(tau, final_tau(at));
    is_glance = wanted_->purpose == Look::Purpose::between && has_l1_kinks(problem_);
    wanted_.reset();
  } else if (const auto proposal = search_.propose(kWorthwhile, kNearest, kBlurOfValue)) {
    lambda = proposal->x;
  }
  // A valley of an ℓ₁ penalty ends in a kink: inexact slopes do not tell on which side of it they are.
  const bool exact = is_exact(problem_) || has_l1_kinks(problem_);
  search_.add(curve_.evaluate(lambda, is_glance ? Exactness::glance()
                                      : exact   ? Exactness::exact()
                                                : Exactness::blurred(tau)));
  ++refinements_;
}

double SearchForOne::next_tau() const {
  const double tau = curve_.has_memory() ? kFirstKeptTau * std::pow(kKeptShrink, refinements_)
                                         : kFirstTau * std::pow(kShrink, refinements_);
  return std::max(tau, kLeastTau);
}

double SearchForOne::final_tau(const Iterate& at) const {
  if (curve_.has_memory()) return kLeastTau;
  Vector scale(1);
  problem_.certificate_scale(at.w, at.lambda, scale);
  return scale[0] > kLargeScale ? kLeastTau : kFinalTau;
}

/// An answer is never worse than the start: once, where the start has been seen coarsely only and not far
/// above the best, it is looked at again.
std::optional<SearchForOne::Look> SearchForOne::look_at_start() {
  if (start_seen_ || is_exact(problem_)) return {};
  start_seen_ = true;
  const double lambda = bounds_.range().lambda[0];
  const auto& samples = search_.samples();
  const auto start =
      std::find_if(samples.begin(), samples.end(), [&](const Sample& each) { return each.x == lambda; });
  if (start == samples.end() || !std::isfinite(start->value)) return Look{lambda};
  // A unit of blur is some hundredths of a value; that many times over is enough.
  const double far_above = std::min(kFarAbove, 1.0 + 10.0 * kBlurOfValue * start->blur);
  if (start->slope || !(start->value <= far_above * search_.best_value())) return {};
  return Look{lambda};
}

/// Where h costs little and may have valleys narrower than the scan could see: the middle of the widest
/// interval whose ends are nearly as low as the best.
std::optional<SearchForOne::Look> SearchForOne::look_between() {
  if (!problem_.traits().factors_cheaply || !has_narrow_valleys(problem_) ||
      looks_between_ >= kMaxLooksBetween)
    return {};
  const auto& samples = search_.samples();
  const double level = (1.0 + kNearlyBest) * search_.best_value();
  double widest = kLookSpacing * problem_.traits().feature_width;
  std::optional<Look> look;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    const Sample &a = samples[i], &b = samples[i + 1];
    if (b.x - a.x <= widest || a.value > level || b.value > level) continue;
    if (!a.slope || !b.slope) continue;                // nothing is known of h there
    if (*a.slope == 0.0 && *b.slope == 0.0) continue;  // nothing depends on λ there
    widest = b.x - a.x;
    look = Look{0.5 * (a.x + b.x), Look::Purpose::between};
  }
  if (look) ++looks_between_;
  return look;
}

/// Stops on the certificate, or looks closer.
void SearchForOne::conclude(const Sample& best, Iterate& at) {
  const Sample* neighbour = downhill_neighbour(search_);
  if (certificate(best, at) <= settings_.tolerance ||
      (has_narrow_valleys(problem_) && is_at_kink(best, neighbour))) {
    // A coarse solve may have looked better than it is: the answer is confirmed by a fine one.
    if (best.blur > kLeastTau && best.blur > final_tau(at) && confirmations_++ < kMaxConfirmations) {
      wanted_ = Look{best.x, Look::Purpose::confirming};
    } else {
      try {
        if (polishes_ || is_nearly_no_loss(best)) polish(best, at);
      } catch (const RunEnded&) {
        // The answer has converged; what is left of the run does not allow for more digits.
      }
      at.status = SolverStatus::converged;
    }
    return;
  }
  wanted_ = look_closer(best, neighbour);
  if (wanted_) return;
  const bool has_met_it = is_nearly_no_loss(best) && certificate(polish(best, at), at) <= settings_.tolerance;
  at.status = has_met_it ? SolverStatus::converged : SolverStatus::stalled;
}

/// The largest h that was seen.
double SearchForOne::largest_loss() const {
  double largest = 0.0;
  for (const Sample& each : search_.samples())
    if (std::isfinite(each.value)) largest = std::max(largest, std::abs(each.value));
  return largest;
}

bool SearchForOne::is_nearly_no_loss(const Sample& best) const {
  return best.blur > 0.0 && std::abs(best.value) <= kNearlyNoLoss * largest_loss();
}

/// The nearest sample to the best one such that h curves up between them; nearer than their blur slopes tell
/// no curvature. Where solves were inexact and none is known, one a little further down the slope.
std::optional<Sample> SearchForOne::sample_beside(const Sample& best) {
  std::optional<Sample> nearest;
  for (const Sample& each : search_.samples())
    if (each.slope && std::abs(each.x - best.x) > best.blur + each.blur && bend_between(best, each) > 0.0 &&
        (!nearest || std::abs(each.x - best.x) < std::abs(nearest->x - best.x)))
      nearest = each;
  if (nearest || best.blur == 0.0) return nearest;
  const double x = best.x - std::copysign(kBeside, *best.slope);
  if (x <= bounds_.low() || x >= bounds_.high()) return {};
  const Sample made = curve_.evaluate(x, Exactness::exact());
  return made.slope ? std::optional(made) : std::nullopt;
}

/// λ⁺ = λ − h′ (λ − λ₋)/(h′ − h′₋), from the best sample and the nearest one such that h curves up between
/// them, until |h′| no longer falls. At a kink h′ jumps over 0 and secants lead nowhere: there by halves.
/// Returns the sample that the iterate then is.
Sample SearchForOne::polish(const Sample& best, Iterate& at) {
  if (!best.slope) return best;
  const std::optional<Sample> beside = sample_beside(best);
  if (!beside) return best;
  Sample last = *beside;
  Sample now = best.blur > 0.0 ? curve_.evaluate(best.x, Exactness::exact()) : best;
  if (!now.slope) return best;
  std::optional<Sample> falling, rising;  // the nearest samples on both sides of the minimum
  const auto narrow = [&](const Sample& each) {
    if (!each.slope) return;
    if (*each.slope < 0.0 && each.x <= best.x + kPolishReach && (!falling || each.x > falling->x))
      falling = each;
    if (*each.slope > 0.0 && each.x >= best.x - kPolishReach && (!rising || each.x < rising->x))
      rising = each;
  };
  narrow(now);
  if (const Sample* neighbour = downhill_neighbour(search_)) narrow(*neighbour);
  for (int i = 0; i < kMaxPolish; ++i) {
    const double bend = bend_between(now, last);
    double move = -*now.slope / bend;
    if (best.blur > 0.0) move = std::clamp(move, -kPolishReach, kPolishReach);
    const double x = now.x + move;
    if (!(bend > 0.0) || !(std::abs(move) <= kPolishReach) || std::abs(move) <= kPolished) break;
    if (x <= bounds_.low() || x >= bounds_.high()) break;
    const Sample next = curve_.evaluate(x, Exactness::exact());
    if (!next.slope) break;
    narrow(next);
    if (std::abs(*next.slope) < std::abs(*now.slope)) {
      last = std::exchange(now, next);
    } else if (std::abs(move) > kNearest) {
      last = next;  // too far: the line through this one is nearer to the slope
    } else {
      break;  // rounding
    }
  }
  while (falling && rising && std::abs(*now.slope) > kSlopeLeft * std::abs(now.value)) {
    const double width = rising->x - falling->x;
    if (!(width > kPolished) || width > kPolishReach) break;
    const Sample middle = curve_.evaluate(falling->x + 0.5 * width, Exactness::exact());
    if (!middle.slope) break;
    narrow(middle);
    if (middle.value <= now.value) now = middle;
    if (rising->x - falling->x == width) break;
  }
  take(now, at);
  return now;
}

/// |h′| scaled, relative to h, or to the largest h that was seen where h is no more than rounding of that; 0
/// where a bound holds λ against its slope.
double SearchForOne::certificate(const Sample& best, const Iterate& at) const {
  if (!best.slope) return std::numeric_limits<double>::infinity();
  if (is_held(bounds_.range(), best.x, *best.slope, 0, best.value)) return 0.0;
  const double unit = is_rounding_of(best.value, largest_loss()) ? largest_loss() : best.value;
  return scaled_hypergradient(problem_, bounds_.range(), at.w, Vector::Constant(1, best.x),
                              Vector::Constant(1, *best.slope), unit);
}

/// A λ that may bring the certificate down; none where rounding, or patience, is at its end.
std::optional<SearchForOne::Look> SearchForOne::look_closer(const Sample& best, const Sample* neighbour) {
  if (++closer_looks_ > kMaxCloserLooks) return {};
  if (best.blur > kSharper * next_tau()) return Look{best.x};
  // At a kink no line or cubic through the slopes leads to the minimum.
  if (brackets(best, neighbour) && closer_looks_ > kSmoothLooks) return Look{0.5 * (best.x + neighbour->x)};
  if (const auto next = search_.propose(0.0, kNearest)) return Look{next->x};
  if (neighbour == nullptr || std::abs(neighbour->x - best.x) < kNearest) return {};
  return Look{neighbour->x};
}

/// The sample becomes the iterate, where its weights are known.
void SearchForOne::take(const Sample& best, Iterate& at) const {
  if (curve_.weights(best.x, at.w)) at.lambda[0] = best.x;
}

}  // namespace yosida
