#include "report/problem_builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/grouping.hpp"
#include "yosida/study/experiments.hpp"

namespace yosida::report {
namespace {

/// Runs that differ by their seeds only, in the order of these.
struct Group {
  RowIdentity identity;
  Runs runs;
};

/// Of what the runs have as a finite number.
template <typename Value>
std::optional<Cell> cell_over(const Runs& runs, const Value& value) {
  std::vector<double> values;
  for (const RunDigest* run : runs)
    if (const double each = value(*run); std::isfinite(each)) values.push_back(each);
  return cell_of(std::move(values));
}

std::vector<PartCells> measures_over(const Runs& runs, const std::vector<std::size_t>& measures,
                                     Measured RunDigest::*which) {
  std::vector<PartCells> result;
  for (const std::size_t measure : measures) {
    const auto part = [&](std::size_t place) {
      return cell_over(runs, [&](const RunDigest& run) { return (run.*which).values[measure][place]; });
    };
    result.push_back({part(0), part(1), part(2)});
  }
  return result;
}

/// Those that some run has.
std::vector<std::size_t> measures_of(const Runs& runs) {
  std::vector<std::size_t> measures;
  for (std::size_t i = 0; i < kMeasures.size(); ++i)
    if (std::any_of(runs.begin(), runs.end(), [&](const RunDigest* run) {
          const auto& [train, validation, test] = run->final.values[i];
          return std::isfinite(train) || std::isfinite(validation) || std::isfinite(test);
        }))
      measures.push_back(i);
  return measures;
}

std::vector<WorkTo> work_to(const Runs& runs) {
  if (std::none_of(runs.begin(), runs.end(),
                   [](const RunDigest* run) { return std::isfinite(run->oracle_validation); }))
    return {};
  std::vector<WorkTo> result;
  for (std::size_t i = 0; i < kGaps.size(); ++i) {
    // Half of all runs must have reached it: those that have not count as infinite, and so do those that only
    // passed by.
    std::vector<double> work;
    for (const RunDigest* run : runs)
      if (run->state == State::ok && std::isfinite(run->work_to[i])) work.push_back(run->work_to[i]);
    const std::size_t reached = work.size();
    WorkTo next{.gap = kGaps[i],
                .reached = static_cast<std::int64_t>(reached),
                .of = static_cast<std::int64_t>(runs.size()),
                .median = {}};
    if (2 * reached > runs.size()) {
      std::sort(work.begin(), work.end());
      const std::size_t middle = runs.size() / 2;
      next.median = runs.size() % 2 == 1 ? work[middle] : 0.5 * (work[middle - 1] + work[middle]);
    }
    result.push_back(next);
  }
  return result;
}

MethodRow row_of(const Group& group, std::string label, const std::vector<std::size_t>& measures) {
  MethodRow row;
  row.label = std::move(label);
  row.method = group.identity.method;
  row.settings = group.identity.settings;
  row.budget = group.identity.budget;
  row.step = group.identity.step;
  Runs well;
  for (const RunDigest* run : group.runs) {
    ++row.runs;
    ++row.statuses[run->status];
    if (run->state == State::failed) ++row.failed;
    if (run->state == State::diverged) ++row.diverged;
    if (run->certificate == "certified") ++row.certified;
    if (run->state == State::ok) well.push_back(run);
  }
  row.final = measures_over(well, measures, &RunDigest::final);
  row.best = measures_over(well, measures, &RunDigest::best);
  row.gap = cell_over(well, [](const RunDigest& run) { return run.final.gap; });
  row.lambda_gap = cell_over(well, [](const RunDigest& run) { return run.final.lambda_gap; });
  row.best_gap = cell_over(well, [](const RunDigest& run) { return run.best.gap; });
  row.best_lambda_gap = cell_over(well, [](const RunDigest& run) { return run.best.lambda_gap; });
  row.gradients = cell_over(well, [](const RunDigest& run) { return run.gradients; });
  row.work = cell_over(well, [](const RunDigest& run) { return run.work; });
  row.seconds = cell_over(well, [](const RunDigest& run) { return run.seconds; });
  row.iterations = cell_over(well, [](const RunDigest& run) { return run.iterations; });
  row.work_to = work_to(group.runs);
  return row;
}

std::optional<OracleCells> oracle_of(const Runs& runs) {
  Runs of_seeds;  // all runs of a seed have the same oracle
  std::set<std::uint64_t> seeds;
  for (const RunDigest* run : runs)
    if (std::isfinite(run->oracle_validation) && seeds.insert(run->seed).second) of_seeds.push_back(run);
  if (of_seeds.empty()) return {};
  return OracleCells{.lambda = cell_over(of_seeds, [](const RunDigest& run) { return run.oracle_lambda; }),
                     .loss = cell_over(of_seeds, [](const RunDigest& run) { return run.oracle_validation; }),
                     .scaled_loss = cell_over(
                         of_seeds, [](const RunDigest& run) { return run.scale() * run.oracle_validation; })};
}

void add_results(ProblemContents& problem, const std::vector<Group>& groups, std::size_t measure) {
  for (std::size_t row = 0; row < groups.size(); ++row) {
    Stability stability{.row = row, .step = groups[row].identity.step.value_or(0.0), .outcomes = {}};
    for (const RunDigest* run : groups[row].runs) {
      const double validation = run->final.validation(measure);
      stability.outcomes.push_back({.seed = run->seed,
                                    .validation = run->state == State::ok ? validation : kMissing,
                                    .state = run->state});
      problem.results.push_back({.row = row,
                                 .seed = run->seed,
                                 .status = run->status,
                                 .lambda = run->lambda,
                                 .validation = validation,
                                 .certificate = run->certificate,
                                 .residual = run->residual,
                                 .sentence = run->sentence});
    }
    if (groups[row].identity.step) problem.stability.push_back(std::move(stability));
  }
}

void add_curves(ProblemContents& problem, const std::vector<Group>& groups, bool is_scaled,
                std::size_t limit) {
  for (std::size_t row = 0; row < groups.size(); ++row) {
    Curve curve = thinned(curve_of(groups[row].runs, is_scaled), limit);
    curve.row = row;
    if (curve.seeds > 0) problem.curves.push_back(std::move(curve));
  }
}

constexpr std::size_t kResponses = 3;  // seeds whose responses are shown

void add_responses(ProblemContents& problem, const std::vector<Group>& groups, bool is_scaled,
                   std::size_t limit) {
  std::map<std::uint64_t, std::pair<Runs, std::vector<std::size_t>>> by_seed;
  for (std::size_t row = 0; row < groups.size(); ++row)
    for (const RunDigest* run : groups[row].runs)
      if (std::any_of(run->samples.begin(), run->samples.end(),
                      [](const Sample& sample) { return std::isfinite(sample.lambda); })) {
        by_seed[run->seed].first.push_back(run);
        by_seed[run->seed].second.push_back(row);
      }
  for (const auto& [seed, runs_and_rows] : by_seed) {
    if (problem.responses.size() == kResponses) return;
    Response response = response_of(seed, runs_and_rows.first, runs_and_rows.second, is_scaled, limit);
    if (!response.paths.empty()) problem.responses.push_back(std::move(response));
  }
}

std::vector<Group> groups_of(const Runs& runs) {
  std::map<std::string, Runs> by_row;
  for (const RunDigest* run : runs) by_row[run->row].push_back(run);
  std::vector<Group> groups;
  for (auto& [text, of_row] : by_row) {
    std::stable_sort(of_row.begin(), of_row.end(),
                     [](const RunDigest* a, const RunDigest* b) { return a->seed < b->seed; });
    groups.push_back({row_identity(text), std::move(of_row)});
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return stands_before(a.identity, b.identity); });
  return groups;
}

ProblemContents problem_of(const std::string& text, const Runs& runs, const std::vector<Group>& groups,
                           const PointLimits& limits) {
  ProblemContents problem = described_problem(text, runs[0]->data_sha256);
  std::vector<std::size_t> measures = measures_of(runs);
  if (measures.empty()) measures.push_back(kLoss);
  for (const std::size_t measure : measures) problem.measures.emplace_back(kMeasures[measure]);
  const bool is_scaled = measures[0] == kScaledLoss;
  problem.curve_measure = kMeasures[is_scaled ? kScaledLoss : kLoss];
  problem.oracle = oracle_of(runs);
  std::vector<RowIdentity> identities(groups.size());
  std::transform(groups.begin(), groups.end(), identities.begin(),
                 [](const Group& group) { return group.identity; });
  const std::vector<std::string> texts = labels(identities);
  for (std::size_t row = 0; row < groups.size(); ++row)
    problem.rows.push_back(row_of(groups[row], texts[row], measures));
  add_curves(problem, groups, is_scaled, limits.curve);
  add_responses(problem, groups, is_scaled, limits.path);
  add_results(problem, groups, measures[0]);
  return problem;
}

}  // namespace

PointLimits limits_for(std::size_t rows) {
  // About 55 bytes a point of a curve and 20 of a path: 4 MB and 1 MB for a whole page.
  constexpr std::size_t kCurvePoints = 75'000, kPathPoints = 50'000;
  const std::size_t count = std::max<std::size_t>(rows, 1);
  return {.curve = std::clamp<std::size_t>(kCurvePoints / count, 8, 400),
          .path = std::clamp<std::size_t>(kPathPoints / (kResponses * count), 6, 150)};
}

std::vector<ProblemContents> problems_of(const Runs& runs) {
  std::map<std::string, Runs> by_problem;
  for (const RunDigest* run : runs) by_problem[run->problem].push_back(run);
  std::vector<std::vector<Group>> groups;
  std::size_t rows = 0;
  for (const auto& [text, of_problem] : by_problem) {
    groups.push_back(groups_of(of_problem));
    rows += groups.back().size();
  }
  std::vector<ProblemContents> problems;
  problems.reserve(by_problem.size());
  for (const auto& [text, of_problem] : by_problem)
    problems.push_back(problem_of(text, of_problem, groups[problems.size()], limits_for(rows)));
  // The paper's in its own order, then by name.
  const auto place = [](const ProblemContents& problem) {
    const study::Experiment* experiment = study::find_experiment(problem.name);
    const std::vector<study::Experiment>& all = study::experiments();
    return std::pair(experiment == nullptr ? all.size() : static_cast<std::size_t>(experiment - all.data()),
                     problem.name);
  };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const ProblemContents& a, const ProblemContents& b) { return place(a) < place(b); });
  std::vector<std::string> names(problems.size());
  std::transform(problems.begin(), problems.end(), names.begin(),
                 [](const ProblemContents& problem) { return problem.name; });
  make_unique(names);
  for (std::size_t i = 0; i < problems.size(); ++i) problems[i].name = names[i];
  return problems;
}

}  // namespace yosida::report
