#include "solver/my_hpo_several.hpp"

#include <limits>

#include "solver/my_hpo_few.hpp"
#include "solver/my_hpo_many.hpp"
#include "solver/my_hpo_scan.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

/// With at most so many hyperparameters the response Φ₁ is a matrix, one linear solve a column; with more
/// where one small factorisation serves all of these and h is smooth. Beside kinks a step is short whatever
/// it knows of curvatures.
constexpr Index kMaxFew = 64;
constexpr Index kMaxFewFactored = 300;
/// How often the answer of an elastic net is looked at along one of its penalties, by turns, and the share of
/// L_V that a better one must gain.
constexpr int kMaxLooks = 4;
/// How much of a search its first lines are, as it mostly is.
constexpr double kShareOfLines = 0.5;
constexpr double kWorthwhile = 1e-6;
/// How far below the best λ for all a descent begins where λ have kinks.
constexpr double kBelow = 1.0;

std::unique_ptr<Descent> descent_of(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                    const Start& range, std::shared_ptr<SolveMemory> memory) {
  const bool is_cheap = problem.traits().factors_cheaply && !has_l1_kinks(problem);
  const Index most = is_cheap ? kMaxFewFactored : kMaxFew;
  if (problem.hyperparameters() <= most)
    return std::make_unique<DescentOfFew>(problem, settings, range, std::move(memory));
  return std::make_unique<DescentOfMany>(problem, settings, range, std::move(memory));
}

}  // namespace

SearchForSeveral::SearchForSeveral(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                   const Start& start)
    : problem_(problem),
      settings_(settings),
      range_(start),
      exact_(ExactLines::of(problem, start)),
      knows_curves_(exact_ != nullptr),
      rival_(start.lambda) {
  if (!knows_curves_) lines_ = Lines::to_begin_with(problem, settings, start);
}

void SearchForSeveral::step(Iterate& at) {
  advance(at);
  // Lines lead to a valley, a descent goes down in it; looks through its answer come last.
  const double begun = lines_ && !descent_   ? kShareOfLines * lines_->share_done()
                       : exact_ && !descent_ ? kShareOfLines * exact_->share_done()
                       : descent_            ? kShareOfLines + (1.0 - kShareOfLines) * descent_->share_done()
                                             : 0.0;
  at.share_done = begun;
}

void SearchForSeveral::advance(Iterate& at) {
  if (exact_) {
    if (!exact_->step(problem_, at)) return;
    exact_.reset();
    if (at.status != SolverStatus::running) return;
  }
  if (lines_ && !step_lines(at)) return;
  if (at.status == SolverStatus::running) {
    if (!descent_) begin_descent(at);
    descent_->step(at);
    if (at.status == SolverStatus::running) return;
  }
  // A descent has ended. Is there anything lower?
  if (is_above_shared(at)) {
    begin_descent(at);
  } else if (looks_along_line(at)) {
    at.status = SolverStatus::running;
  } else if (problem_.traits().bounds && !knows_curves_ && at.lambda.size() == 2) {
    compare_descents(at);
  }
}

/// One iteration along lines; false while there are more. Then a descent begins where they have led, or the
/// answer of the last one stands.
bool SearchForSeveral::step_lines(Iterate& at) {
  lines_->step(at);
  if (!lines_->are_done()) return false;
  if (lines_->have_led_lower()) {
    descent_.reset();
  } else if (descent_) {
    at.status = ended_;
  }
  lines_.reset();
  return true;
}

void SearchForSeveral::begin_descent(Iterate& at) {
  if (!range_.is_bounded()) {
    range_ = with_bounds(problem_, range_);
    // The lines may have moved their bounds: these hold what was found there.
    range_.low = range_.low.cwiseMin(at.lambda);
    range_.high = range_.high.cwiseMax(at.lambda);
  }
  range_.clamp(at.lambda);
  begin_below(at);
  if (!at.memory && !problem_.traits().factors_cheaply) at.memory = problem_.solve_memory();
  descent_ = descent_of(problem_, settings_, range_, at.memory);
  descent_->begin(at, rival_);
  rival_.reset();
}

/// The λ of weights that are 0 have no slope, so a descent never brings them in. At the best λ for all most
/// weights are 0, and what is near is what it finds. A little below it more of them take part, h is higher,
/// and the descent sorts them out.
void SearchForSeveral::begin_below(Iterate& at) {
  if (shared_ || at.lambda.size() <= 2 || !has_l1_kinks(problem_)) return;
  shared_ = Answer{.validation = problem_.validation_loss(at.w, at.lambda),
                   .lambda = at.lambda,
                   .w = at.w,
                   .status = at.status};
  at.lambda.array() -= kBelow;
  range_.clamp(at.lambda);
}

/// Where the descent from below ends above the λ that it began below, another one begins at that.
bool SearchForSeveral::is_above_shared(Iterate& at) {
  if (!shared_ || !(descent_->validation() > shared_->validation)) return false;
  at.lambda = shared_->lambda;
  at.w = shared_->w;
  at.status = SolverStatus::running;
  shared_->validation = std::numeric_limits<double>::infinity();  // once
  return true;
}

/// Begins a search along a penalty of an elastic net, through the answer.
bool SearchForSeveral::looks_along_line(const Iterate& at) {
  if (!problem_.traits().bounds || at.lambda.size() != 2 || looks_ >= kMaxLooks) return false;
  const Index j = looks_++ % 2;
  lines_ =
      Lines::through(problem_, settings_, range_, at.lambda, j, descent_->validation() * (1.0 - kWorthwhile));
  ended_ = at.status;
  return true;
}

/// Two descents: the first has begun at the lines, the second begins at the start given. The lower one is the
/// answer.
void SearchForSeveral::compare_descents(Iterate& at) {
  if (!first_) {
    first_ =
        Answer{.validation = descent_->validation(), .lambda = at.lambda, .w = at.w, .status = at.status};
    at.lambda = range_.lambda;
    at.status = SolverStatus::running;
    begin_descent(at);
  } else if (first_->validation <= descent_->validation()) {
    at.lambda = first_->lambda;
    at.w = first_->w;
    at.status = first_->status;
  }
}

}  // namespace yosida
