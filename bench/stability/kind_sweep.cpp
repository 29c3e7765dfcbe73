#include "kind_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "judged.hpp"
#include "statistics.hpp"
#include "truth.hpp"

namespace yosida::bench {
namespace {

constexpr double kNoWorse = 1e-5;        // than the start: methods stop at such gains
constexpr double kNoWorseShared = 1e-4;  // than the best shared λ, which is found to a tolerance
constexpr double kTooMuch = 1e-3;        // what a certified λ may be improved by, near by

/// A change of one λ by up to 0.05 brings h down by more than 0.1 %.
bool has_better_neighbour(Truth& truth, const Vector& lambda, double value) {
  for (Index j = 0; j < lambda.size(); ++j)
    for (const double change : {-0.05, -0.02, 0.02, 0.05}) {
      Vector near = lambda;
      near[j] += change;
      if (truth.at(near) < (1.0 - kTooMuch) * value) return true;
    }
  return false;
}

/// The same case with features that differ by no more than the rounding of their last bits.
Case with_other_last_bits(Case drawn, std::uint64_t seed) {
  Random random(seed);
  for (Split& split : drawn.splits)
    for (Dataset* part : {&split.train, &split.validation}) {
      Matrix x = to_matrix(part->x);
      for (double& each : x.reshaped())
        each *= 1.0 + std::numeric_limits<double>::epsilon() * (2.0 * random.uniform() - 1.0);
      part->x = Design(x);
    }
  return drawn;
}

}  // namespace

bool is_undetermined(const Case& drawn, const Vector& lambda, double value, const Truth& truth,
                     double floor) {
  constexpr std::uint64_t kCopies = 3;
  for (std::uint64_t copy = 0; copy < kCopies; ++copy) {
    Truth other(with_other_last_bits(drawn, copy), floor);
    if (!(std::abs(value - other.at(lambda)) <= kTooMuch * truth.unit())) return true;
  }
  return false;
}

Judged judge(const Case& drawn, const std::string& method, double floor) {
  constexpr Index kFewLambdas = 6;  // more are not looked around
  Judged run;
  run.kind = drawn.kind;
  run.seed = drawn.seed;
  run.model = drawn.model->name;
  run.sharing = drawn.sharing;
  run.folds = drawn.folds;
  run.problem = drawn.text;
  run.answer = answer(drawn, method);
  const double begin = cpu_seconds();
  Truth truth(drawn, floor);
  run.best = truth.best();
  run.best_lambda = truth.best_lambda();
  run.null_loss = truth.null_loss();
  run.is_truth_incomplete = truth.is_incomplete();
  const Vector& lambda = run.answer.lambda;
  run.is_not_finite = run.answer.is_error || !lambda.allFinite() || !std::isfinite(run.answer.validation);
  run.gap = std::numeric_limits<double>::infinity();
  if (!run.is_not_finite) {
    run.value = truth.at(lambda);
    run.is_truth_incomplete |= std::isnan(run.value);
    // Where Newton's method of the truth does not end, the program's own loss is held against the truth's
    // best.
    if (std::isnan(run.value)) run.value = run.answer.validation;
    run.start_value = truth.at(run.answer.lambda0);
    run.gap = truth.gap(run.value);
    run.is_worse_than_start = run.gap > truth.gap(run.start_value) + kNoWorse;
    run.is_worse_than_shared = run.gap > kNoWorseShared;
    if (run.answer.is_certified() && lambda.size() <= kFewLambdas)
      run.is_false_certificate = has_better_neighbour(truth, lambda, run.value);
    if (run.gap > kTooMuch || run.is_worse_than_start || run.is_false_certificate)
      run.is_undetermined =
          is_undetermined(drawn, lambda, run.value, truth, floor) ||
          (run.has_one_lambda() &&
           is_undetermined(drawn, Vector::Constant(lambda.size(), run.best_lambda), run.best, truth, floor));
    if (run.is_undetermined)
      run.is_worse_than_start = run.is_worse_than_shared = run.is_false_certificate = false;
  }
  run.truth_seconds = cpu_seconds() - begin;
  return run;
}

void sweep_kinds(const KindSweep& flags) {
  const int runs = flags.seed ? 1 : flags.runs;
  const std::uint64_t first = flags.seed.value_or(flags.seed0);
  const auto kinds = static_cast<int>(flags.kinds.size());
  std::vector<Judged> judged(static_cast<std::size_t>(runs * kinds));
  const auto begin = std::chrono::steady_clock::now();
  std::string failure;  // nothing may leave the loop but by its end
#pragma omp parallel for schedule(dynamic, 1) num_threads(flags.jobs)
  for (int i = 0; i < runs * kinds; ++i) {
    const std::string& kind = flags.kinds[static_cast<std::size_t>(i % kinds)];
    const auto seed = first + static_cast<std::uint64_t>(i / kinds);
    Judged& run = judged[static_cast<std::size_t>(i)];
    try {
      run = judge(draw_case(kind, seed, flags.options), flags.method, flags.floor);
    } catch (const std::exception& error) {
#pragma omp critical
      failure = fmt::format("kind {}, seed {}: {}", kind, seed, error.what());
    }
    if (flags.verbose) {
#pragma omp critical
      print_words(run);
    }
  }
  if (!failure.empty()) throw std::runtime_error(failure);
  if (!flags.csv.empty()) write_csv(flags.csv, judged);
  if (flags.seed && flags.verbose) return;  // all is said
  print_table(judged);
  double truth_seconds = 0.0;
  for (const Judged& run : judged) truth_seconds += run.truth_seconds;
  fmt::print("seeds {} to {}; truth {:.0f} ms of a processor a run; {:.0f} s in all with {} jobs\n", first,
             first + static_cast<std::uint64_t>(runs) - 1,
             1e3 * truth_seconds / static_cast<double>(judged.size()), seconds_since(begin), flags.jobs);
  if (flags.worst > 0) print_worst(judged, static_cast<std::size_t>(flags.worst));
}

}  // namespace yosida::bench
