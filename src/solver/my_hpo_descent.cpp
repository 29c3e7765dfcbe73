#include "solver/my_hpo_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/my_hpo_scan.hpp"
#include "solver/stationarity.hpp"

namespace yosida {
namespace {

/// Inner solves end at this share of the certificate reached.
constexpr double kForcing = 0.03;
/// Weights are those of a λ no further away than this: where small penalties alone hold them (separable
/// classes), a gradient that is small beside that at 0 says nothing.
constexpr double kMostBlur = 0.03;
/// The certificate has improved where it is lower by this factor.
constexpr double kImproved = 0.9;
/// Iterations that rounding may keep from improving the certificate.
constexpr int kMaxUnimproved = 4;
/// After so many, steps may follow what blurred weights say of h: exact ones tell.
constexpr int kLongUnimproved = 20;
/// Times that creeping λ are moved to their bounds. Beside kinks slopes that are not small are usual, and say
/// little of what is far away.
constexpr int kMaxBoundsTried = 4;
constexpr int kMaxBoundsTriedAtKinks = 1;
/// A step that lowers h by so small a share brings it no nearer where the certificate does not improve,
/// either.
constexpr double kLittle = 1e-8;
/// A rise of L_V by so small a share is none: inner solves leave more.
constexpr double kUnseen = 1e-11;

/// Solves are exact where a factorisation makes them cheap, and beside the kinks of two λ, as an elastic net
/// has them. Inexact solves do not tell on which side of a kink they are, and the certificate, which
/// tolerances follow, does not fall there. Exact solves are held up by kinks on the way, too. A search of two
/// λ then looks along lines and descends once more. A search of more λ does not, so coarse solves must lead
/// it past these kinks first.
bool is_solved_exactly(const BilevelProblem& problem) {
  return problem.traits().factors_cheaply || (has_l1_kinks(problem) && problem.hyperparameters() == 2);
}

}  // namespace

Descent::Descent(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& range,
                 double first_tolerance, std::shared_ptr<SolveMemory> memory)
    : problem_(problem),
      settings_(settings),
      range_(range),
      g_(problem.weights()),
      hypergradient_(Vector::Zero(problem.hyperparameters())),
      tolerance_(is_solved_exactly(problem) ? kFactoredTolerance : first_tolerance),
      memory_(std::move(memory)) {}

void Descent::begin(Iterate& at, const std::optional<Vector>& rival) {
  validation_ = evaluate(at.lambda, at.w, at);
  if (rival && *rival != at.lambda) {
    Vector w = at.w;
    const double validation = evaluate(*rival, w, at);
    if (validation < validation_) take(*rival, w, validation, at);
    problem_.validation_gradient(at.w, at.lambda, g_);
  }
  at.low = range_.low;
  at.high = range_.high;
  respond(at);
}

void Descent::step(Iterate& at) {
  const double before = validation_;
  const bool has_moved = move(at);
  fell_little_ = before - validation_ <= kLittle * std::abs(before);
  const double certificate =
      scaled_hypergradient(problem_, range_, at.w, at.lambda, hypergradient_, validation_);
  if (certificate <= settings_.tolerance) {
    at.status = SolverStatus::converged;
    return;
  }
  if (is_stuck(certificate, has_moved)) {
    if (!reaches_bounds(at) && !sharpens(at)) at.status = SolverStatus::stalled;
    return;
  }
  if (unimproved_ >= kLongUnimproved && is_blurred_ && sharpens(at)) return;
  tighten(std::clamp(kForcing * certificate, kLeastTolerance, tolerance_), has_moved);
  if (has_moved) return;
  // No step is left at the old tolerance. A finer look may show one.
  validation_ = evaluate(at.lambda, at.w, at);
  respond(at);
}

/// Steps no longer bring the certificate down.
bool Descent::is_stuck(double certificate, bool has_moved) {
  if (first_certificate_ == 0.0 && std::isfinite(certificate)) first_certificate_ = certificate;
  unimproved_ = certificate < kImproved * certificate_ ? 0 : unimproved_ + 1;
  certificate_ = std::min(certificate, certificate_);
  const bool is_at_finest = !has_moved && tolerance_ <= kLeastTolerance;
  return is_at_finest || (fell_little_ && unimproved_ >= kMaxUnimproved);
}

/// h may fall towards a bound too slowly for steps to be seen: λ goes there.
bool Descent::reaches_bounds(Iterate& at) {
  if (bounds_tried_++ >= (has_l1_kinks(problem_) ? kMaxBoundsTriedAtKinks : kMaxBoundsTried)) return false;
  unimproved_ = 0;
  Vector scale(at.lambda.size());
  problem_.certificate_scale(at.w, at.lambda, scale);
  const bool has_moved = move_to_bounds(scale, at);
  problem_.validation_gradient(at.w, at.lambda, g_);
  respond(at);
  return has_moved;
}

/// Weights that are not quite those of λ may be what the steps ended on: it goes on with exact ones.
bool Descent::sharpens(Iterate& at) {
  if (tolerance_ <= kLeastTolerance) return false;
  tolerance_ = kLeastTolerance;
  unimproved_ = 0;
  certificate_ = std::numeric_limits<double>::infinity();
  validation_ = evaluate(at.lambda, at.w, at);
  respond(at);
  return true;
}

double Descent::share_done() const {
  const double whole = std::log(first_certificate_ / settings_.tolerance);
  return whole > 0.0 ? std::clamp(1.0 - std::log(certificate_ / settings_.tolerance) / whole, 0.0, 1.0) : 0.0;
}

double Descent::evaluate(const Vector& lambda, Vector& w, Iterate& at) {
  InnerOptions options{.proximal = {}, .tolerance = tolerance_, .memory = memory_.get()};
  InnerReport report = problem_.inner_solve(lambda, options, w);
  options.blur = std::min(kMostBlur, tolerance_);
  if (report.blur > options.blur && tolerance_ > kLeastTolerance) {
    options.tolerance = kLeastTolerance;
    report = problem_.inner_solve(lambda, options, w);
  }
  is_blurred_ = report.blur > 0.0;
  if (!report.converged) ++at.inexact_solves;
  return problem_.validation_gradient(w, lambda, g_);
}

void Descent::take(const Vector& lambda, const Vector& w, double validation, Iterate& at) {
  at.lambda = lambda;
  at.w = w;
  validation_ = validation;
}

bool Descent::take_if_not_higher(const Vector& lambda, Iterate& at) {
  Vector w = at.w;
  const double validation = evaluate(lambda, w, at);
  if (!(validation <= validation_ * (1.0 + kUnseen))) return false;
  take(lambda, w, validation, at);
  return true;
}

bool Descent::is_held(const Iterate& at, Index j) const {
  return yosida::is_held(range_, at.lambda[j], hypergradient_[j], j, validation_);
}

bool Descent::creeps(Index j, const Vector& scale) const {
  return !(std::abs(hypergradient_[j]) * scale[j] <= settings_.tolerance * std::abs(validation_));
}

}  // namespace yosida
