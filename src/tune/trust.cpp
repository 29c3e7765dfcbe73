#include "yosida/tune/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "problem/counted_problem.hpp"
#include "yosida/data/folds.hpp"
#include "yosida/error.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida {
namespace {

/// The ends of intervals are found to within this.
constexpr double kExact = 2e-3;
/// The first look beside λ, and how much further each next one is.
constexpr double kFirst = 0.1, kFurther = 1.6;
constexpr int kMostLooks = 40;
/// A picture shows the interval and this share of its width beside it, at least so much of λ, by so many
/// steps.
constexpr double kBeside = 0.3, kLeastBeside = 0.5;
constexpr int kSteps = 24;

double standard_error(const Vector& values, const Vector& weight) {
  const auto n = static_cast<double>(values.size());
  if (n < 2.0) return 0.0;
  const double mean = values.dot(weight) / n;
  return std::sqrt((weight.array() * (values.array() - mean)).square().sum() / (n * (n - 1.0)));
}

/// The criterion, row by row, as all λ move together.
class Shifts {
 public:
  Shifts(const TuneProblem& tuned, const BilevelProblem& problem, Vector lambda, Vector w,
         const StopToken& stop)
      : tuned_(tuned),
        problem_(problem, std::numeric_limits<std::int64_t>::max(), stop),
        lambda_(std::move(lambda)),
        w_(std::move(w)) {}

  const RowLosses& at(double shift) {
    if (const auto known = known_.find(shift); known != known_.end()) return known->second;
    const Vector moved = lambda_.array() + shift;
    problem_.inner_solve(moved, {}, w_);
    return known_.emplace(shift, tuned_.row_losses(problem_, w_, moved)).first->second;
  }

  /// What is known from one shift to another.
  std::vector<CriterionPoint> curve(double low, double high) const {
    std::vector<CriterionPoint> points;
    for (const auto& [shift, rows] : known_)
      if (shift >= low && shift <= high)
        points.push_back({.shift = shift, .value = rows.mean(), .standard_error = standard_error_of(rows)});
    return points;
  }

 private:
  const TuneProblem& tuned_;
  CountedProblem problem_;
  Vector lambda_, w_;
  std::map<double, RowLosses> known_;
};

/// How far one may go in a direction while `rise` ≤ 0; at most to `limit`.
std::pair<double, bool> end_of(double direction, double limit, FunctionRef<double(double)> rise) {
  double inside = 0.0, outside = 0.0;
  for (double step = kFirst;; step *= kFurther) {
    outside = std::min(inside + step, limit);
    if (rise(direction * outside) > 0.0) break;
    inside = outside;
    if (outside >= limit) return {direction * limit, true};
  }
  for (int look = 0; look < kMostLooks && outside - inside > kExact; ++look) {
    const double middle = 0.5 * (inside + outside);
    (rise(direction * middle) > 0.0 ? outside : inside) = middle;
  }
  return {direction * inside, false};
}

/// `low` and `high`: how far to look at the most.
ShiftInterval interval_of(double low, double high, FunctionRef<double(double)> rise) {
  ShiftInterval interval;
  std::tie(interval.low, interval.low_is_end) = end_of(-1.0, low, rise);
  std::tie(interval.high, interval.high_is_end) = end_of(1.0, high, rise);
  return interval;
}

/// The folds of an outer cross-validation.
std::vector<Split> outer_folds(const Rows& rows, const TuneOptions& options, Index folds, const char* flag) {
  if (rows.validation || !rows.parts.empty() || rows.train.fold.size() > 0)
    throw InputError(
        fmt::format("{}: draws its folds from all rows: does not go with validation rows or folds "
                    "that are given",
                    flag));
  const bool stratified = choose_model(rows.train, options).code.has_value();
  return fold_splits(rows.train, options.validation.grouped
                                     ? draw_grouped_folds(rows.train.id, folds, options.seed)
                                     : draw_folds(rows.train, folds, stratified, options.seed));
}

/// What a tuning without the fold loses on its rows.
struct Judged {
  Vector loss, weight, lambda;
};
Judged judge(Split fold, TuneOptions options) {
  options.trust.nested.reset();
  options.trust.report = false;
  options.oracle = options.keep_rows = false;
  options.validation.test_fraction = 0.0;
  options.observers.clear();
  options.trace_every = 0;
  const TuneProblem problem({.train = std::move(fold.train), .test = std::move(fold.validation)}, options);
  const Tuned tuned = tune(problem, options);
  if (!tuned.model) throw InputError("a tuning without some of the rows gave no model");
  const Index outputs = problem.data().loss->outputs();
  const Matrix& weights = tuned.model->weights;
  Vector w(weights.size() + (problem.has_intercept() ? outputs : 0));
  w.head(weights.size()) = Eigen::Map<const Vector>(weights.data(), weights.size());
  if (problem.has_intercept()) w.tail(outputs) = tuned.model->intercept;
  const Dataset& test = *problem.split().test;
  const Vector m = margins(test, problem.has_intercept(), w, outputs);
  Judged judged{.loss = Vector(test.rows()),
                .weight = test.weight.size() > 0 ? test.weight : Vector(Vector::Ones(test.rows())),
                .lambda = tuned.lambda()};
  problem.data().loss->values(as_span(m), as_span(test.y), as_span(judged.loss));
  return judged;
}

NestedScore score_of(const std::vector<Split>& folds, const TuneOptions& options) {
  RowLosses all;
  NestedScore score;
  score.folds = std::ssize(folds);
  std::vector<double> loss, weight;
  for (const Split& fold : folds) {
    const Judged judged = judge(fold, options);
    loss.insert(loss.end(), judged.loss.begin(), judged.loss.end());
    weight.insert(weight.end(), judged.weight.begin(), judged.weight.end());
    const bool first = score.lambda_low.size() == 0;
    score.lambda_low = first ? judged.lambda : Vector(score.lambda_low.cwiseMin(judged.lambda));
    score.lambda_high = first ? judged.lambda : Vector(score.lambda_high.cwiseMax(judged.lambda));
  }
  score.rows = std::ssize(loss);
  all.loss = Eigen::Map<const Vector>(loss.data(), score.rows);
  all.weight = Eigen::Map<const Vector>(weight.data(), score.rows);
  all.weight *= static_cast<double>(score.rows) / std::accumulate(weight.begin(), weight.end(), 0.0);
  score.loss = all.mean();
  score.standard_error = standard_error_of(all);
  return score;
}

}  // namespace

double standard_error_of(const RowLosses& rows) { return standard_error(rows.loss, rows.weight); }

double paired_standard_error(const RowLosses& a, const RowLosses& b) {
  return standard_error(a.loss - b.loss, a.weight);
}

Trust look_around(const TuneProblem& tuned, const BilevelProblem& problem, const Vector& lambda, Vector w,
                  const StopToken& stop) {
  Shifts shifts(tuned, problem, lambda, std::move(w), stop);
  const RowLosses least = shifts.at(0.0);
  Trust trust;
  trust.rows = least.loss.size();
  trust.criterion = tuned.criterion_in_words();
  trust.value = least.mean();
  trust.standard_error = standard_error_of(least);
  trust.minimum = lambda;
  Start start;
  start.lambda = lambda;
  const Start bounds = with_bounds(problem, start);
  // A method without bounds may have ended beyond these.
  const double low = std::max(0.0, (lambda - bounds.low).minCoeff());
  const double high = std::max(0.0, (bounds.high - lambda).minCoeff());
  trust.interval = interval_of(
      low, high, [&](double shift) { return shifts.at(shift).mean() - trust.value - trust.standard_error; });
  trust.paired = interval_of(low, high, [&](double shift) {
    const RowLosses& there = shifts.at(shift);
    return there.mean() - trust.value - paired_standard_error(there, least);
  });
  trust.one_standard_error = trust.interval.high;
  const double beside = std::max(kLeastBeside, kBeside * (trust.interval.high - trust.interval.low));
  const double from = std::max(-low, trust.interval.low - beside);
  const double to = std::min(high, trust.interval.high + beside);
  for (int step = 0; step <= kSteps; ++step) shifts.at(from + (to - from) * step / kSteps);
  trust.curve = shifts.curve(from, to);
  constexpr Index kRowsForEach = 10;
  if (lambda.size() > 1 && kRowsForEach * lambda.size() > trust.rows)
    trust.optimism = fmt::format("{} lambda tuned on {} rows: expect the test loss well above this",
                                 lambda.size(), trust.rows);
  return trust;
}

NestedScore nested_score(const Rows& rows, const TuneOptions& options) {
  return score_of(outer_folds(rows, options, options.trust.nested.value(), "--nested"), options);
}

double default_shrinkage(Index lambdas, Index judging_rows) {
  // Two or three groups are somebody's choice; rows in hundreds tell them apart.
  constexpr Index kMany = 5, kRowsForEach = 10, kFewRows = 1000;
  constexpr double kDefault = 0.01;
  return lambdas >= kMany && kRowsForEach * lambdas > judging_rows && judging_rows < kFewRows ? kDefault
                                                                                              : 0.0;
}

double choose_shrinkage(const Rows& rows, const TuneOptions& options) {
  constexpr Index kFolds = 5;
  const std::vector<Split> folds = outer_folds(rows, options, kFolds, "--shrinkage nested");
  double best = 0.0, least = std::numeric_limits<double>::infinity();
  for (const double candidate : {kOneForAll, 0.1, 0.03, 0.01, 0.003}) {
    TuneOptions with = options;
    with.trust.chooses_shrinkage = false;
    with.trust.shrinkage = candidate;
    // The simpler one stands unless another is lower.
    if (const double loss = score_of(folds, with).loss; loss < least) {
      least = loss;
      best = candidate;
    }
  }
  return best;
}

}  // namespace yosida
