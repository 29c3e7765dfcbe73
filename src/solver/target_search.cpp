#include "solver/target_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "linalg/tasks.hpp"
#include "solver/basin_search.hpp"
#include "solver/stationarity.hpp"
#include "yosida/number_text.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// Points of the scan are this far from each other: with slopes, half of the width of a feature of h.
constexpr double kSpacing = 0.5 * ProblemTraits::kSmoothWidth;
/// The same values as in the search for one λ.
constexpr double kWorthwhile = 1e-6;
constexpr double kNearest = 1e-7;
constexpr double kFurther = 8.0;
constexpr int kMaxMoves = 5;
constexpr int kMaxRefinements = 60;
/// An answer is brought to where its slope is rounding, by steps of this length at least and so many at most.
constexpr double kPolished = 1e-12;
constexpr int kMaxPolish = 40;
/// A slope of so small a share of h is rounding.
constexpr double kSlopeLeft = 1e-13;
/// Targets of a block.
constexpr Index kBlock = 128;

/// The zero of a slope between two samples of opposite slopes, by secants that halve where they do not help.
class Polish {
 public:
  Polish(const BasinSearch& search, const Sample& best) : now_(best) {
    for (const Sample& each : search.samples()) {
      if (!each.slope || std::abs(each.x - best.x) > kSpacing) continue;
      if (*each.slope < 0.0 && each.x <= best.x && (!falling_ || each.x > falling_->x)) falling_ = each;
      if (*each.slope > 0.0 && each.x >= best.x && (!rising_ || each.x < rising_->x)) rising_ = each;
    }
  }
  /// Nothing where the slope is as small as it gets.
  std::optional<double> propose() {
    if (!falling_ || !rising_ || ++steps_ > kMaxPolish) return {};
    if (std::abs(*now_.slope) <= kSlopeLeft * std::abs(now_.value)) return {};
    const double width = rising_->x - falling_->x;
    if (!(width > kPolished)) return {};
    const double share = *falling_->slope / (*falling_->slope - *rising_->slope);
    // The secant through both ends; where one end has stood still, half of its slope.
    double at = share;
    if (stood_ >= 2)
      at = last_moved_falling_ ? share / (share + 0.5 * (1.0 - share))
                               : 0.5 * share / (0.5 * share + 1.0 - share);
    if (stood_ >= 5) at = 0.5;
    const double x = falling_->x + std::clamp(at, 1e-3, 1.0 - 1e-3) * width;
    if (x <= falling_->x || x >= rising_->x) return {};
    return x;
  }
  void add(const Sample& sample) {
    if (!sample.slope) {
      steps_ = kMaxPolish;
      return;
    }
    if (std::abs(*sample.slope) < std::abs(*now_.slope)) now_ = sample;
    const bool falls = *sample.slope < 0.0;
    stood_ = falls == last_moved_falling_ ? stood_ + 1 : 1;
    last_moved_falling_ = falls;
    (falls ? falling_ : rising_) = sample;
  }
  const Sample& best() const { return now_; }

 private:
  Sample now_;
  std::optional<Sample> falling_, rising_;
  bool last_moved_falling_ = false;
  int stood_ = 0, steps_ = 0;
};

/// One search in its steps: scan, basins, bounds that move, polish.
class TargetSearch {
 public:
  TargetSearch(const TargetRange& where)
      : range_(where.range),
        moves_(where.is_given ? kMaxMoves : 0),
        search_(range_.low, range_.high, kSpacing, range_.high) {}

  const BasinSearch& basins() const { return search_; }
  void add(const Sample& sample) {
    if (polish_) {
      polish_->add(sample);
    } else {
      search_.add(sample);
    }
  }
  /// The next λ; nothing where the search is over.
  std::optional<double> propose() {
    if (polish_) return polish_->propose();
    if (const auto next = search_.propose(kWorthwhile, kNearest);
        next && (next->scanning || refinements_++ < kMaxRefinements))
      return next->x;
    if (move_bound()) return search_.next_scanned();
    polish_.emplace(search_, search_.settled(kWorthwhile));
    return polish_->propose();
  }
  TargetAnswer answer() const {
    const Sample& best = polish_ ? polish_->best() : search_.best();
    return {best.x, best.value, best.slope.value_or(0.0), range_.low, range_.high};
  }

 private:
  /// Where the best λ is at a bound of the data's own and h has fallen since the last move.
  bool move_bound() {
    const Sample& best = search_.settled(kWorthwhile);
    const bool is_low = best.x <= range_.low + kNearest, is_high = best.x >= range_.high - kNearest;
    if (!(is_low || is_high) || moves_ >= kMaxMoves) return false;
    if (last_value_ && !(*last_value_ - best.value > kWorthwhile * std::abs(best.value))) return false;
    ++moves_;
    last_value_ = best.value;
    double& bound = is_low ? range_.low : range_.high;
    const double to = bound + (is_low ? -kFurther : kFurther);
    search_.extend(bound, to, kSpacing);
    bound = to;
    return true;
  }

  ManyTargets::Range range_;
  int moves_;
  int refinements_ = 0;
  BasinSearch search_;
  std::optional<double> last_value_;
  std::optional<Polish> polish_;
};

Sample sample_of(double x, double value, double slope) {
  if (!std::isfinite(value) || !std::isfinite(slope)) return {x, BasinSearch::kUnresolved, std::nullopt};
  return {x, value, slope};
}

void require_going_on(const StopToken& stop) {
  if (stop.stop_requested()) throw RunEnded(stop);
}

void search_block(const ManyTargets& targets, const TargetRange& where, std::span<const Index> block,
                  const StopToken& stop, std::span<TargetAnswer> answers) {
  std::vector<TargetSearch> searches(block.size(), TargetSearch(where));
  const std::span<const double> grid = searches[0].basins().left_to_scan();
  for (const double x : std::vector<double>(grid.begin(), grid.end())) {
    require_going_on(stop);
    const auto at = targets.at(block, Vector::Constant(static_cast<Index>(block.size()), x));
    for (std::size_t t = 0; t < block.size(); ++t)
      searches[t].add(sample_of(x, at.value[static_cast<Index>(t)], at.slope[static_cast<Index>(t)]));
  }
  while (true) {
    require_going_on(stop);
    std::vector<Index> asking;
    std::vector<std::size_t> who;
    std::vector<double> where_to;
    for (std::size_t t = 0; t < block.size(); ++t)
      if (const auto next = searches[t].propose()) {
        asking.push_back(block[t]);
        who.push_back(t);
        where_to.push_back(*next);
      }
    if (asking.empty()) break;
    const auto at =
        targets.at(asking, Eigen::Map<const Vector>(where_to.data(), static_cast<Index>(where_to.size())));
    for (std::size_t k = 0; k < who.size(); ++k)
      searches[who[k]].add(
          sample_of(where_to[k], at.value[static_cast<Index>(k)], at.slope[static_cast<Index>(k)]));
  }
  for (std::size_t t = 0; t < block.size(); ++t) answers[t] = searches[t].answer();
}

}  // namespace

std::vector<TargetAnswer> search_each_target(const ManyTargets& targets, const TargetRange& where,
                                             const StopToken& stop) {
  const Index count = targets.targets();
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<TargetAnswer> answers(all.size());
  const Index blocks = (count + kBlock - 1) / kBlock;
  constexpr Index kManyOperations = Index{1} << 40;
  linalg::run_tasks(blocks, kManyOperations, [&](Index b) {
    const auto begin = static_cast<std::size_t>(b * kBlock);
    const auto size = std::min<std::size_t>(static_cast<std::size_t>(kBlock), all.size() - begin);
    search_block(targets, where, std::span(all).subspan(begin, size), stop,
                 std::span(answers).subspan(begin, size));
  });
  return answers;
}

TargetAnswer search_shared_lambda(const ManyTargets& targets, const TargetRange& where, const Vector& share,
                                  const StopToken& stop) {
  std::vector<Index> all(static_cast<std::size_t>(targets.targets()));
  std::iota(all.begin(), all.end(), Index{0});
  TargetSearch search(where);
  while (const auto next = search.propose()) {
    double value = 0.0, slope = 0.0;
    for (std::size_t begin = 0; begin < all.size(); begin += static_cast<std::size_t>(kBlock)) {
      require_going_on(stop);
      const auto size = std::min<std::size_t>(static_cast<std::size_t>(kBlock), all.size() - begin);
      const auto at =
          targets.at(std::span(all).subspan(begin, size), Vector::Constant(static_cast<Index>(size), *next));
      const auto own = share.segment(static_cast<Index>(begin), static_cast<Index>(size));
      value += at.value.dot(own);
      slope += at.slope.dot(own);
    }
    search.add(sample_of(*next, value, slope));
  }
  return search.answer();
}

Certificate certify_target(const TargetAnswer& answer, double scale, double inner_gradient) {
  Certificate certificate;
  certificate.inner_gradient = inner_gradient;
  const double unit = scale / slope_unit(answer.value);
  Start range{.lambda = Vector::Constant(1, answer.lambda)};
  range.bound(answer.low, answer.high);
  const bool held = is_held(range, answer.lambda, answer.slope, 0, answer.value);
  certificate.hypergradient = held ? 0.0 : std::abs(answer.slope) * unit;
  // The closed form is exact to rounding, of the sums that h is made of.
  certificate.hypergradient_error = 1e3 * std::numeric_limits<double>::epsilon() * scale;
  const std::string size = number_text(certificate.hypergradient, 2);
  if (!(inner_gradient <= kCertified)) {
    certificate.reason = fmt::format("the weights are not those of lambda: relative gradient {}",
                                     number_text(inner_gradient, 2));
  } else if (held) {
    certificate.verdict = Verdict::at_bound;
    certificate.reason = fmt::format("lambda is at the {} bound of the search",
                                     answer.lambda <= answer.low ? "lower" : "upper");
  } else if (certificate.hypergradient + certificate.hypergradient_error <= kCertified) {
    certificate.verdict = Verdict::certified;
    certificate.reason = fmt::format("lambda is stationary: scaled slope {} of the validation loss", size);
  } else {
    certificate.reason = fmt::format("the validation loss has a slope here: scaled {}, at most {} is allowed",
                                     size, number_text(kCertified, 2));
  }
  return certificate;
}

}  // namespace yosida
