#include "solver/my_hpo_lines.hpp"

namespace yosida {
namespace {

/// The ℓ₂ penalties of the lines of an elastic net, as shares of the way from the upper of their bounds to
/// the lower. They are denser near the upper one, where the two penalties compete.
constexpr double kShares[] = {0.04, 0.1, 0.16, 0.24, 0.35, 0.6, 1.0};
/// How much coarser scans are along lines that only show where to begin, and where a descent of many λ with
/// kinks begins below them, so that no more than a valley is wanted.
constexpr double kCoarser = 3.0;
constexpr double kForValley = 10.0;
/// Iterations of a scan that are one here: they are cheap beside one of a descent.
constexpr int kScansAStep = 16;

/// Bounds of the one λ shared by all: where every component is inside its own. False where there is no such.
bool bound_shared(Start& shared, const Start& each) {
  shared.low = Vector::Constant(1, each.low.maxCoeff());
  shared.high = Vector::Constant(1, each.high.minCoeff());
  if (!(shared.low[0] < shared.high[0])) return false;
  shared.clamp(shared.lambda);
  return true;
}

/// What is known of λ_j alone.
Start component(const Start& range, Index j) {
  Start own = range;
  own.lambda = range.lambda.segment(j, 1);
  if (!range.is_bounded()) return own;
  own.low = range.low.segment(j, 1);
  own.high = range.high.segment(j, 1);
  return own;
}

}  // namespace

Lines::Lines(const MyHpo::Settings& settings, double coarser, Start range)
    : settings_(settings), range_(std::move(range)) {
  settings_.spacing *= coarser;
}

std::optional<Lines> Lines::to_begin_with(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                          const Start& start) {
  const Index count = problem.hyperparameters();
  if (const std::optional<Bounds>& stated = problem.traits().bounds) {
    if (count != 2)
      return problem.traits().has_penalties ? along_all(problem, settings, start) : std::nullopt;
    Lines lines(settings, kCoarser, component(start, 0));
    for (const double share : kShares) {
      Vector origin(2);
      origin << 0.0, start.clamped(stated->high[1] - share * (stated->high[1] - stated->low[1]), 1);
      lines.left_.push_back(std::make_unique<AlongLine>(problem, origin, Vector::Unit(2, 0)));
    }
    return lines;
  }
  if (!problem.least_curvatures()) return {};
  return along_all(problem, settings, start);
}

/// One λ for all.
std::optional<Lines> Lines::along_all(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                      const Start& start) {
  const Index count = problem.hyperparameters();
  Start shared = start;
  shared.lambda = Vector::Constant(1, start.lambda.mean());
  if (start.is_bounded() && !bound_shared(shared, start)) return {};
  const bool only_scans = has_l1_kinks(problem) && count > 2;
  Lines lines(settings, only_scans ? kForValley : 1.0, std::move(shared));
  lines.only_scans_ = only_scans;
  lines.left_.push_back(std::make_unique<AlongLine>(problem, Vector::Zero(count), Vector::Ones(count)));
  return lines;
}

Lines Lines::through(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& range,
                     const Vector& lambda, Index j, double level) {
  Start along = component(range, j);
  along.lambda = lambda.segment(j, 1);
  Lines lines(settings, j == 0 ? 1.0 : kCoarser, std::move(along));
  Vector origin = lambda;
  origin[j] = 0.0;
  lines.left_.push_back(std::make_unique<AlongLine>(problem, origin, Vector::Unit(lambda.size(), j)));
  lines.level_ = level;
  return lines;
}

void Lines::begin_next() {
  const AlongLine& line = *left_.back();
  on_line_ = {};
  on_line_.lambda = range_.lambda;
  on_line_.w = starting_weights(line);
  search_ = std::make_unique<SearchForOne>(line, settings_, range_, on_line_.w, memory_of(line));
}

void Lines::step(Iterate& at) {
  if (!search_) begin_next();
  const std::int64_t inexact_before = on_line_.inexact_solves;
  for (int i = 0; i < kScansAStep; ++i) {
    const bool was_scanning = search_->is_scanning();
    search_->step(on_line_);
    if (!was_scanning || !search_->is_scanning()) break;
  }
  at.inexact_solves += on_line_.inexact_solves - inexact_before;
  at.memory = on_line_.memory;
  if (!search_->is_scanning() && search_->best_value() < level_) {
    level_ = search_->best_value();
    have_led_lower_ = true;
    at.lambda = left_.back()->at(on_line_.lambda[0]);
    at.w = on_line_.w;
  }
  const bool has_scanned = only_scans_ && !search_->is_scanning();
  if (on_line_.status == SolverStatus::running && !has_scanned) return;
  search_.reset();
  left_.pop_back();
  ++searched_;
}

double Lines::share_done() const {
  const double under_way = search_ ? search_->share_done() : 0.0;
  return (static_cast<double>(searched_) + under_way) / static_cast<double>(searched_ + left_.size());
}

}  // namespace yosida
