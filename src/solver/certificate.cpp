#include "yosida/solver/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "problem/checked_problem.hpp"
#include "solver/direct_term.hpp"
#include "solver/stationarity.hpp"
#include "yosida/number_text.hpp"

namespace yosida {
namespace {

/// Inner and linear solves of a certificate: far below what it certifies, finer where that costs little.
constexpr double kInner = 1e-7;
constexpr double kExact = 1e-10;
constexpr double kSlope = 1e-5;
constexpr int kMaxRefinements = 3;
/// Where the slope at λ_j is not small, the loss beside it may still show a minimum. At most so many λ_j are
/// looked at, first at this distance, then each time so many times further away.
constexpr std::size_t kMostLooks = 16;
constexpr double kNearest = 1e-4;
constexpr double kFurther = 4.0;
/// A penalty smaller by e^−25 is no penalty, and losses that differ by less than this share are equal.
constexpr double kWithout = 25.0;
constexpr double kSame = 1e-6;
/// The validation loss of the weights returned and that of λ may differ by this share.
constexpr double kSameWeights = 1e-4;
constexpr double kNoLoss = 1e-9;  // a share of L_V at w = 0 below which L_V counts as this share

/// ‖∇L_T(w, λ)‖ relative to that of w = 0 without penalty.
double relative_gradient(const BilevelProblem& problem, const Vector& lambda, const Vector& w) {
  Vector g(problem.weights());
  problem.train_gradient(starting_weights(problem), without_penalties(problem, lambda), g);
  const double at_zero = g.norm();
  problem.train_gradient(w, lambda, g);
  return g.norm() / (at_zero > 0.0 ? at_zero : 1.0);
}

/// h and its derivatives at a λ.
struct Slopes {
  double validation = 0.0;
  Vector slope, error;
  Vector scale;  // BilevelProblem::certificate_scale, relative to L_V
};

/// At w*(λ):  H q = ∇L_V,  ∇h = ∂L_V/∂λ − Cᵀ q. What the residual r of that solve hides, −Cᵀ H⁻¹ r, is its
/// error; it also refines q, as long as it is above what is allowed and falls.
Slopes slopes_at(const BilevelProblem& problem, const Vector& lambda, double allowed, SolveMemory* memory,
                 Vector& w) {
  const bool is_cheap = problem.traits().factors_cheaply;
  const double tight = is_cheap ? kExact : kInner;
  problem.inner_solve(lambda, {.proximal = {}, .tolerance = tight, .memory = memory}, w);
  const Index count = problem.hyperparameters();
  Slopes at{.validation = 0.0, .slope = Vector(count), .error = Vector(count), .scale = Vector(count)};
  Vector g(problem.weights());
  at.validation = problem.validation_gradient(w, lambda, g);
  problem.certificate_scale(w, lambda, at.scale);
  at.scale /= slope_unit(at.validation);
  Vector q = Vector::Zero(problem.weights());
  // Its error is measured and taken out below: where a solve is dear, it need not be small from the start.
  problem.hessian_solve(w, lambda, g, {.tolerance = is_cheap ? kExact : kSlope, .memory = memory}, q);
  Vector residual(problem.weights());
  Vector correction(problem.weights());
  double last = std::numeric_limits<double>::infinity();
  for (int refinement = 0;; ++refinement) {
    problem.hessian_product(w, lambda, q, residual);
    residual = g - residual;
    correction.setZero();
    problem.hessian_solve(w, lambda, residual, {.tolerance = 0.1, .memory = memory}, correction);
    problem.cross_product_transposed(w, lambda, correction, at.error);
    const double worst = at.error.cwiseAbs().cwiseProduct(at.scale).maxCoeff();
    if (!(worst > 0.1 * allowed) || !(worst < 0.5 * last) || refinement == kMaxRefinements) break;
    last = worst;
    q += correction;
  }
  problem.cross_product_transposed(w, lambda, q, at.slope);
  at.slope = -at.slope;
  add_direct_term(problem, w, lambda, at.slope);
  return at;
}

/// How near in λ a kink of h must be for its slopes on both sides to be those here: what a step of this
/// length gains or loses is under what losses are told apart by.
constexpr double kReach = 1e-5;

bool has_kinks(const BilevelProblem& problem) {
  return problem.traits().feature_width < ProblemTraits::kSmoothWidth;
}

/// h on both sides of a kink: what a smaller and a larger λ_j cost per unit, scaled as slopes are; ∞ where a
/// bound is in the way.
struct Sides {
  Vector smaller, larger;

  /// The λ_j that falls most on one side, and whether that is the larger one.
  struct Falling {
    Index j = 0;
    bool is_larger = false;
    double cost = std::numeric_limits<double>::infinity();
  };
  Falling most_falling() const {
    Falling most;
    for (Index j = 0; j < smaller.size(); ++j) {
      if (smaller[j] < most.cost) most = {j, false, smaller[j]};
      if (larger[j] < most.cost) most = {j, true, larger[j]};
    }
    return most;
  }
};

/// The slopes on both sides of the nearest kink; empty where no kink is near.
std::optional<Sides> sides_of_kink(const BilevelProblem& problem, const Vector& lambda, const Vector& w,
                                   const Vector& scale, const Start& start) {
  if (!has_kinks(problem)) return {};
  const Index count = lambda.size();
  Matrix directions(count, 2 * count);
  directions << -Matrix::Identity(count, count), Matrix::Identity(count, count);
  Vector slopes;
  if (!problem.one_sided_slopes(w, lambda, directions, kReach, slopes) || !slopes.allFinite()) return {};
  Sides sides{slopes.head(count).cwiseProduct(scale), slopes.tail(count).cwiseProduct(scale)};
  for (Index j = 0; j < count && start.is_bounded(); ++j) {
    if (lambda[j] <= start.low[j]) sides.smaller[j] = std::numeric_limits<double>::infinity();
    if (lambda[j] >= start.high[j]) sides.larger[j] = std::numeric_limits<double>::infinity();
  }
  return sides;
}

/// What a kink proves, in a sentence.
std::string reason_at_kink(const Sides& sides) {
  if (sides.smaller.size() > 1)
    return fmt::format(
        "no single lambda can be improved: h has a kink here, and on its best side it costs {} "
        "of the validation loss per unit",
        number_text(sides.most_falling().cost, 2));
  const auto cost = [](double value) {
    return std::isinf(value) ? std::string("is beyond its bound")
                             : fmt::format("costs {} of the validation loss per unit", number_text(value, 2));
  };
  return fmt::format("h has a kink here: a smaller lambda {}, a larger one {}", cost(sides.smaller[0]),
                     cost(sides.larger[0]));
}

/// Says how many λ hold all their weights at 0. h does not change as such a λ grows.
std::string held_at_zero(const BilevelProblem& problem, const Vector& lambda, const Vector& w) {
  if (!has_kinks(problem) || lambda.size() < 3) return "";
  Vector terms(lambda.size());
  problem.train_gradient_lambda(w, lambda, terms);
  const Index held = (terms.array() == 0.0).count();
  if (held == 0) return "";
  return fmt::format("; {} of {} lambda hold their weights at 0", held, lambda.size());
}

/// The weights are 0, or the penalty is.
bool ignores_lambda(const BilevelProblem& problem, const Vector& lambda, const Vector& w) {
  constexpr double kNothing = 1e-150;
  Vector turn(problem.weights());
  problem.cross_product(w, lambda, Vector::Ones(problem.hyperparameters()), turn);
  return turn.norm() <= kNothing || w.head(problem.weights() - problem.intercepts()).norm() <= kNothing;
}

/// What a change of the loss is compared with.
double size_of(const BilevelProblem& problem, const Vector& lambda, double validation) {
  return std::max(validation, kNoLoss * problem.validation_loss(starting_weights(problem), lambda));
}

/// What h does beside a λ_j whose slope is not small.
enum class Beside { falls, rises, is_flat_below };

/// The sign of the first change of h that can be seen as λ moves in a direction; 0 where there is none as far
/// as a penalty goes.
int first_change(const BilevelProblem& problem, const Vector& lambda, const Vector& direction, double here,
                 double size, Vector w) {
  for (double distance = kNearest;; distance = std::min(kFurther * distance, kWithout)) {
    const Vector moved = lambda + distance * direction;
    problem.inner_solve(moved, {}, w);
    const double change = problem.validation_loss(w, moved) - here;
    if (!(std::abs(change) <= kSame * size)) return change > 0.0 ? 1 : -1;
    if (distance == kWithout) return 0;
  }
}

/// Slopes cannot tell a minimum where rounding hides them, or at a kink. There the loss itself must be seen
/// to rise on both sides; or on the upper side alone, where it stays the same down to no penalty at all.
Beside look_beside(const BilevelProblem& problem, const Vector& lambda, Index j, double size, Vector w) {
  problem.inner_solve(lambda, {}, w);
  const double here = problem.validation_loss(w, lambda);
  const Vector up = Vector::Unit(lambda.size(), j);
  if (first_change(problem, lambda, up, here, size, w) <= 0) return Beside::falls;
  const int below = first_change(problem, lambda, -up, here, size, w);
  return below > 0 ? Beside::rises : below == 0 ? Beside::is_flat_below : Beside::falls;
}

/// λ has pressed the weights to 0: L_V is that of no weights, and all λ together can be moved up, or down, as
/// far as a penalty goes without a change of it. A small slope says nothing there.
bool is_collapsed(const BilevelProblem& problem, const Vector& lambda, double validation, const Vector& w) {
  if (validation == 0.0) return false;  // nothing is to be gained
  Vector zero = Vector::Zero(problem.weights());
  problem.fit_intercept(zero);
  const double of_zero = problem.validation_loss(zero, lambda);
  const double size = size_of(problem, lambda, validation);
  if (!(std::abs(validation - of_zero) <= kSame * size)) return false;
  const Vector up = Vector::Ones(lambda.size());
  return first_change(problem, lambda, up, validation, size, w) == 0 ||
         first_change(problem, lambda, -up, validation, size, w) == 0;
}

/// The verdict on components whose slopes are not small: the worst of what h does beside them.
Verdict verdict_beside(const BilevelProblem& problem, const Vector& lambda, const std::vector<Index>& steep,
                       double size, const Vector& w) {
  if (steep.size() > kMostLooks) return Verdict::not_certified;
  bool has_end = false;
  for (const Index j : steep) {
    const Beside beside = look_beside(problem, lambda, j, size, w);
    if (beside == Beside::falls) return Verdict::not_certified;
    has_end |= beside == Beside::is_flat_below;
  }
  return has_end ? Verdict::at_end : has_kinks(problem) ? Verdict::at_kink : Verdict::at_precision;
}

/// What h loses by a small change of a λ_j inside its bounds, where kinks let a slope hold for less than
/// that: a slope may be small, or held by a bound, up to the next kink alone. A share, per unit of λ; 0 where
/// it loses nothing, and where more λ would have to be looked at than a few.
double fall_beside(const BilevelProblem& problem, const Vector& lambda, double validation, const Start& start,
                   Vector w) {
  constexpr double kSmallChange = 0.05;
  if (!has_kinks(problem) || lambda.size() > static_cast<Index>(kMostLooks)) return 0.0;
  const double size = size_of(problem, lambda, validation);
  double most = 0.0;
  for (Index j = 0; j < lambda.size(); ++j)
    for (const double change : {-kSmallChange, kSmallChange}) {
      Vector moved = lambda;
      moved[j] += change;
      if (start.is_bounded()) moved[j] = std::clamp(moved[j], start.low[j], start.high[j]);
      if (moved[j] == lambda[j]) continue;
      problem.inner_solve(moved, {}, w);
      most = std::max(most, (validation - problem.validation_loss(w, moved)) / (size * kSmallChange));
    }
  return most;
}

/// What lies below the lower bounds that hold some of λ.
std::string without_penalty(const BilevelProblem& problem, const Vector& lambda, const Slopes& at,
                            const Start& start, Vector w) {
  Vector lower = lambda;
  for (Index j = 0; j < lambda.size(); ++j)
    if (lambda[j] <= start.low[j]) lower[j] -= kWithout;
  if (lower == lambda || !problem.traits().has_penalties) return "";
  problem.inner_solve(lower, {}, w);
  const double without = problem.validation_loss(w, lower);
  const double size = size_of(problem, lambda, at.validation);
  if (!std::isfinite(without)) return "";
  if (std::abs(without - at.validation) <= kSame * size)
    return "; no penalty is needed there: without it the loss is the same";
  return fmt::format("; without a penalty there the loss is {} by {}",
                     without < at.validation ? "lower" : "higher",
                     percent_text(std::abs(without / at.validation - 1.0)));
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::certified:
      return "certified";
    case Verdict::at_bound:
      return "certified at a bound";
    case Verdict::at_end:
      return "certified as no penalty";
    case Verdict::at_kink:
      return "certified at a kink";
    case Verdict::at_precision:
      return "certified at working precision";
    case Verdict::not_certified:
      return "not certified";
  }
  return "unknown";
}

namespace {

/// The slopes that the certificate judges: sizes of those that no bound holds, and which of them are not
/// small.
struct Judged {
  std::vector<Index> steep;
  bool is_held = false;  // some λ_j, by its bound
};
Judged judge_slopes(const Slopes& at, const Vector& lambda, const Start& start, double tolerance,
                    Certificate& certificate) {
  Judged judged;
  for (Index j = 0; j < lambda.size(); ++j) {
    const double slope = std::abs(at.slope[j]) * at.scale[j];
    const double error = std::abs(at.error[j]) * at.scale[j];
    if (is_held(start, lambda[j], at.slope[j], j, at.validation)) {
      judged.is_held = true;
    } else {
      certificate.hypergradient = std::max(certificate.hypergradient, slope);
      certificate.hypergradient_error = std::max(certificate.hypergradient_error, error);
      if (!(slope + error <= tolerance)) judged.steep.push_back(j);
    }
    if (std::isnan(at.slope[j])) certificate.hypergradient = at.slope[j];
  }
  return judged;
}

/// Slopes relative to a loss that is 0 but for rounding say nothing: they are judged once more, relative to
/// the loss at w = 0.
void judge_at_no_loss(const BilevelProblem& problem, const Vector& lambda, const Start& start,
                      double tolerance, Slopes& at, Judged& judged, Certificate& certificate) {
  if (judged.steep.empty() || problem.traits().validation_needs_optimum) return;
  const double of_zero = problem.validation_loss(starting_weights(problem), lambda);
  if (!is_rounding_of(at.validation, of_zero) || at.validation == 0.0) return;
  at.scale *= std::abs(at.validation) / of_zero;
  certificate.hypergradient = certificate.hypergradient_error = 0.0;
  judged = judge_slopes(at, lambda, start, tolerance, certificate);
}

/// An error that is larger than the slope leaves no slope to be printed.
std::string slope_in_words(const Certificate& certificate) {
  const double slope = certificate.hypergradient, error = certificate.hypergradient_error;
  if (error > slope && error > kSlope)
    return fmt::format("a scaled slope of up to {} of the validation loss", number_text(slope + error, 2));
  return fmt::format("scaled slope {} of the validation loss", number_text(slope, 2));
}

/// What a verdict on slopes that are not small rests on.
std::string reason_beside(const Certificate& certificate, const std::string& size, double tolerance) {
  switch (certificate.verdict) {
    case Verdict::at_end:
      return "the validation loss is the same down to no penalty at all, and rises with a larger one";
    case Verdict::at_kink:
      return fmt::format("the validation loss rises on both sides of lambda: {}", size);
    case Verdict::at_precision:
      return fmt::format(
          "the validation loss rises on both sides of lambda; less than {:g} of it is to be gained there",
          kSame);
    default:
      return fmt::format("the validation loss {}: {}, at most {} is allowed",
                         certificate.hypergradient_error > tolerance
                             ? "may have a slope here, which rounding hides"
                             : "has a slope here",
                         size, number_text(tolerance, 2));
  }
}

/// Why the weights returned are not those of λ; empty where they are. A small gradient proves little where
/// the penalty is small against the gradient at 0, or h steep: weights of another λ would pass. So the solve
/// at λ, which went on from them to its own strict tolerance, must not have moved their loss either.
std::string untrained_in_words(const BilevelProblem& problem, const Solution& solution, const Slopes& at,
                               double inner_gradient, double tolerance, bool is_small) {
  const char* const rest = is_small ? "; lambda itself is stationary" : "";
  if (inner_gradient > tolerance)
    return fmt::format("the weights are not trained to their optimum: gradient {} of that at 0{}",
                       number_text(inner_gradient, 2), rest);
  const double loss = problem.validation_loss(solution.point, solution.lambda);
  const double change = std::abs(loss - at.validation);
  if (change <= kSameWeights * std::abs(at.validation)) return "";
  const double size = size_of(problem, solution.lambda, at.validation);
  if (change <= kSameWeights * size) return "";
  return fmt::format(
      "the weights are not those of lambda: their validation loss is {} {} that of trained ones{}",
      percent_text(change / size), loss > at.validation ? "above" : "below", rest);
}

/// The verdict where slopes are small, or held by bounds.
void judge_small(const BilevelProblem& problem, const Vector& lambda, const Slopes& at, const Start& start,
                 double tolerance, bool is_held, const Vector& w, Certificate& certificate) {
  const std::string size = slope_in_words(certificate);
  const double fall = fall_beside(problem, lambda, at.validation, start, w);
  if (fall > tolerance) {
    certificate.reason =
        fmt::format("{} up to a kink alone: behind it h falls by {} of the validation loss per unit",
                    is_held ? "the bound holds lambda" : size, number_text(fall, 2));
  } else if (is_held) {
    certificate.verdict = Verdict::at_bound;
    certificate.reason = fmt::format("no small change of lambda inside its bounds helps: {}{}", size,
                                     without_penalty(problem, lambda, at, start, w));
  } else if (is_collapsed(problem, lambda, at.validation, w)) {
    certificate.reason =
        "the weights are pressed to 0: the validation loss is that of no weights, and lambda can move on "
        "without changing it; a small slope says nothing";
  } else {
    certificate.verdict = Verdict::certified;
    certificate.reason =
        fmt::format("no small change of lambda helps: {}{}", size, held_at_zero(problem, lambda, w));
  }
}

Certificate judge(const BilevelProblem& problem, const Solution& solution, const Start& start,
                  double tolerance, SolveMemory* memory, Vector* trained) {
  const Vector& lambda = solution.lambda;
  Vector w = solution.point;
  require_sizes(problem, w, lambda);
  if (start.low.size() != start.high.size() || (start.is_bounded() && start.low.size() != lambda.size()))
    throw InputError(fmt::format("bounds: {} lower and {} upper for {} hyperparameters", start.low.size(),
                                 start.high.size(), lambda.size()));
  Certificate certificate;
  certificate.inner_gradient = relative_gradient(problem, lambda, w);
  const bool needs_memory = memory == nullptr && !problem.traits().factors_cheaply;
  const std::unique_ptr<SolveMemory> own = needs_memory ? problem.solve_memory() : nullptr;
  Slopes at = slopes_at(problem, lambda, tolerance, memory == nullptr ? own.get() : memory, w);
  Judged judged = judge_slopes(at, lambda, start, tolerance, certificate);
  judge_at_no_loss(problem, lambda, start, tolerance, at, judged, certificate);
  const double worst = certificate.hypergradient + certificate.hypergradient_error;
  const bool is_small = std::isfinite(worst) && judged.steep.empty();
  const std::string size = slope_in_words(certificate);
  const std::optional<Sides> sides = sides_of_kink(problem, lambda, w, at.scale, start);
  const auto falling = sides ? sides->most_falling() : Sides::Falling{};
  const bool falls = falling.cost < -tolerance;
  const std::string untrained =
      untrained_in_words(problem, solution, at, certificate.inner_gradient, tolerance, is_small);
  if (trained != nullptr && certificate.inner_gradient > kInner && !has_kinks(problem)) {
    *trained = w;
    certificate.inner_gradient = relative_gradient(problem, lambda, w);
  }
  // Denormal or zero throughout, and no accident of a minimum: not a small slope but none.
  const bool flat = at.validation > 0.0 &&
                    at.slope.cwiseAbs().maxCoeff() <= std::numeric_limits<double>::min() &&
                    ignores_lambda(problem, lambda, w);
  if (!std::isfinite(worst) || !std::isfinite(certificate.inner_gradient)) {
    certificate.reason = "its gradients are not finite";
  } else if (flat) {
    certificate.reason =
        "the weights do not depend on lambda here (all are 0, or the penalty is): a slope of 0 says nothing";
  } else if (!untrained.empty()) {
    certificate.reason = untrained;
  } else if (!is_small && sides && !falls) {
    certificate.verdict = Verdict::at_kink;
    certificate.reason = reason_at_kink(*sides) + held_at_zero(problem, lambda, w);
  } else if (is_small && falls) {
    certificate.reason =
        fmt::format("h has a kink here and falls by {} of the validation loss per unit towards a {} lambda{}",
                    number_text(-falling.cost, 2), falling.is_larger ? "larger" : "smaller",
                    lambda.size() > 1 ? fmt::format(" ({} of {})", falling.j + 1, lambda.size()) : "");
  } else if (!is_small) {
    certificate.verdict =
        verdict_beside(problem, lambda, judged.steep, size_of(problem, lambda, at.validation), w);
    certificate.reason = reason_beside(certificate, size, tolerance);
  } else {
    judge_small(problem, lambda, at, start, tolerance, judged.is_held, w, certificate);
  }
  return certificate;
}

}  // namespace

Certificate certify(const BilevelProblem& problem, const Solution& solution, const Start& start,
                    double tolerance, SolveMemory* memory, Vector* trained) {
  return judge(CheckedProblem(problem), solution, start, tolerance, memory, trained);
}

}  // namespace yosida
