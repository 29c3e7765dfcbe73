#include "certificate_sweep.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>
#include <stdexcept>

#include "answer.hpp"
#include "judged.hpp"
#include "statistics.hpp"
#include "truth.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida::bench {
namespace {

/// How an answer was made. λ* is the best λ of the truth, and weights are w*(λ) unless it says otherwise.
enum class Sort { right, near, wrong, at_bound, overfitted, collapsed, untrained };
constexpr const char* kSortNames[] = {"right",      "near",      "wrong",    "at a bound",
                                      "overfitted", "collapsed", "untrained"};
constexpr int kSorts = 7;

/// A verdict and what the truth says of it.
struct Verdicted {
  Sort sort = Sort::right;
  std::string model;
  bool is_left_out = false;  ///< h is not determined by the data, or the truth could not be computed
  bool is_certified = false;
  bool is_false = false;  ///< certified, though a small change of λ inside the bounds lowers h by over 0.1 %
  bool is_alarm = false;  ///< not certified, though λ is the best and the weights are trained
  bool has_wrong_weights = false;  ///< certified, though L_V of the weights is over 0.1 % above h(λ)
  std::string text;
};

constexpr double kTooMuch = 1e-3;

/// A change of λ by up to 0.05, inside the bounds, brings h down by more than 0.1 %.
bool has_better_neighbour(Truth& truth, double lambda, double value, const Start& start) {
  for (const double change : {-0.05, -0.02, 0.02, 0.05}) {
    const double near = lambda + change;
    if (start.is_bounded() && (near < start.low[0] || near > start.high[0])) continue;
    if (truth.at(Vector::Constant(1, near)) < (1.0 - kTooMuch) * value) return true;
  }
  return false;
}

/// Drawn for one problem, in order: the seed decides all of them.
Verdicted judge_one(const Case& drawn, const BilevelProblem& problem, Truth& truth, Sort sort, double floor,
                    Random& random) {
  Verdicted result;
  result.sort = sort;
  result.model = std::string(drawn.model->name);
  const double best = truth.best_lambda();
  const double side = random.uniform() < 0.5 ? -1.0 : 1.0;
  const double size = random.uniform();
  double lambda = best, trained = best;
  Start start;
  switch (sort) {
    case Sort::right:
      break;
    case Sort::near:
      lambda = best + side * std::pow(10.0, -4.0 + 2.7 * size);
      break;
    case Sort::wrong:
      lambda = best + side * (0.2 + 6.0 * size);
      break;
    case Sort::at_bound:
      lambda = best + side * (0.2 + 3.0 * size);
      break;
    case Sort::overfitted:
      lambda = best - 8.0 - 12.0 * size;
      break;
    case Sort::collapsed:
      lambda = best + 8.0 + 20.0 * size;
      break;
    case Sort::untrained:
      break;
  }
  trained = sort == Sort::untrained ? lambda + side * (0.1 + 3.0 * size) : lambda;
  start.lambda = Vector::Constant(1, lambda);
  if (sort == Sort::at_bound)
    start.bound(side > 0 ? lambda : lambda - 20.0, side > 0 ? lambda + 20.0 : lambda);
  Solution solution;
  solution.lambda = start.lambda;
  solution.point = Vector::Zero(problem.weights());
  problem.inner_solve(Vector::Constant(1, trained), {}, solution.point);
  solution.w = problem.expand(solution.point);
  solution.loss.validation = problem.validation_loss(solution.point, solution.lambda);
  const Certificate certificate = certify(problem, solution, start);
  result.is_certified = certificate.verdict != Verdict::not_certified;
  const double value = truth.at(solution.lambda);
  result.is_false = result.is_certified && has_better_neighbour(truth, lambda, value, start);
  result.has_wrong_weights =
      result.is_certified && solution.loss.validation > value + kTooMuch * std::max(value, truth.unit());
  result.is_alarm = !result.is_certified && sort == Sort::right;
  if (result.is_false || result.is_alarm || result.has_wrong_weights) {
    result.is_left_out =
        !std::isfinite(value) || is_undetermined(drawn, solution.lambda, value, truth, floor);
    result.text =
        fmt::format("{}, {}: {} ({}) at lambda {:.6g}, best {:.6g}; {} --seed {}; {}", drawn.model->name,
                    kSortNames[static_cast<int>(sort)], to_string(certificate.verdict), certificate.reason,
                    lambda, best, drawn.kind, drawn.seed, drawn.text);
  }
  return result;
}

std::vector<Verdicted> judge_all(const Case& drawn, double floor) {
  std::vector<Verdicted> results;
  Truth truth(drawn, floor);
  if (truth.is_incomplete() || !std::isfinite(truth.best())) return results;
  const auto problem = problem_of(drawn);
  if (problem->hyperparameters() != 1) return results;
  Random random(drawn.seed);
  for (int sort = 0; sort < kSorts; ++sort)
    results.push_back(judge_one(drawn, *problem, truth, static_cast<Sort>(sort), floor, random));
  return results;
}

struct Counts {
  int all = 0, certified = 0, falsely = 0, alarms = 0, weights = 0, left_out = 0;
  void add(const Verdicted& each) {
    ++all;
    certified += each.is_certified;
    left_out += each.is_left_out;
    if (each.is_left_out) return;
    falsely += each.is_false;
    alarms += each.is_alarm;
    weights += each.has_wrong_weights;
  }
  void print(const std::string& a, const std::string& b) const {
    fmt::print("{:<12} {:<12} {:>8} {:>10} {:>15} {:>13} {:>12} {:>9}\n", a, b, all, certified, falsely,
               weights, alarms, left_out);
  }
};

}  // namespace

void sweep_certificates(const CertificateSweep& flags) {
  const int runs = flags.seed ? 1 : flags.runs;
  const std::uint64_t first = flags.seed.value_or(flags.seed0);
  const auto kinds = static_cast<int>(flags.kinds.size());
  std::vector<std::vector<Verdicted>> all(static_cast<std::size_t>(runs * kinds));
  const auto begin = std::chrono::steady_clock::now();
  std::string failure;  // nothing may leave the loop but by its end
#pragma omp parallel for schedule(dynamic, 1) num_threads(flags.jobs)
  for (int i = 0; i < runs * kinds; ++i) {
    const std::string& kind = flags.kinds[static_cast<std::size_t>(i % kinds)];
    const auto seed = first + static_cast<std::uint64_t>(i / kinds);
    try {
      all[static_cast<std::size_t>(i)] = judge_all(draw_case(kind, seed, flags.options), flags.floor);
    } catch (const std::exception& error) {
#pragma omp critical
      failure = fmt::format("kind {}, seed {}: {}", kind, seed, error.what());
    }
  }
  if (!failure.empty()) throw std::runtime_error(failure);
  std::map<std::string, Counts> of_model;
  std::map<int, Counts> of_sort;
  Counts total;
  int problems = 0, printed = 0;
  for (const auto& results : all) {
    problems += !results.empty();
    for (const Verdicted& each : results) {
      of_model[each.model].add(each);
      of_sort[static_cast<int>(each.sort)].add(each);
      total.add(each);
      if (!each.is_left_out && !each.text.empty() && printed++ < flags.worst) fmt::print("{}\n", each.text);
    }
  }
  fmt::print("{:<12} {:<12} {:>8} {:>10} {:>15} {:>13} {:>12} {:>9}\n", "", "", "answers", "certified",
             "false certified", "wrong weights", "false alarms", "left out");
  for (const auto& [sort, counts] : of_sort) counts.print(kSortNames[sort], "");
  for (const auto& [model, counts] : of_model) counts.print("", model);
  total.print("all", "");
  fmt::print("{} problems, seeds {} to {}, {:.0f} s with {} jobs\n", problems, first,
             first + static_cast<std::uint64_t>(runs) - 1, seconds_since(begin), flags.jobs);
}

}  // namespace yosida::bench
