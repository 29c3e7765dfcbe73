#include "report/problem_builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "report/grouping.hpp"
#include "report/summary_row.hpp"
#include "yosida/study/experiments.hpp"
#include "yosida/study/problem_name.hpp"

namespace yosida::report {
namespace {

/// Runs that differ by their seeds only, in the order of these.
struct Group {
  RowIdentity identity;
  Runs runs;
};

/// The places of the measures that some run has; those that lead come first.
std::vector<std::size_t> measures_of(const Runs& runs) {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < measures().size(); ++i)
    if (std::any_of(runs.begin(), runs.end(), [&](const RunDigest* run) {
          const auto& [train, validation, test] = run->final.values[i];
          return std::isfinite(train) || std::isfinite(validation) || std::isfinite(test);
        }))
      there.push_back(i);
  std::stable_partition(there.begin(), there.end(), [](std::size_t i) { return measures()[i].leads; });
  return there;
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
                                 .lambda = run->final.lambda,
                                 .validation = validation,
                                 .certificate = run->certificate,
                                 .residual = run->residual,
                                 .sentence = run->sentence});
    }
    if (groups[row].identity.step) problem.stability.push_back(std::move(stability));
  }
}

void add_curves(ProblemContents& problem, const std::vector<Runs>& rows, bool is_scaled, std::size_t limit) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Curve curve = thinned(curve_of(rows[row], is_scaled), limit);
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

std::vector<Group> groups_of(const Runs& runs, bool tells_builds) {
  std::map<std::pair<std::string, std::string>, Runs> by_row;
  for (const RunDigest* run : runs)
    by_row[{run->spec->row, tells_builds ? run->spec->spec.build : ""}].push_back(run);
  std::vector<Group> groups;
  for (auto& [row, of_row] : by_row) {
    std::stable_sort(of_row.begin(), of_row.end(),
                     [](const RunDigest* a, const RunDigest* b) { return a->seed < b->seed; });
    groups.push_back({row_identity(*of_row[0]->spec, tells_builds), std::move(of_row)});
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return stands_before(a.identity, b.identity); });
  return groups;
}

/// Files may be renamed: they are called as the last run found them.
const RunDigest& last_named(const Runs& runs) {
  const auto finished = [](const RunDigest* run) {
    return std::tuple(!run->file_names.empty(), run->finished);
  };
  return **std::max_element(runs.begin(), runs.end(), [&](const RunDigest* a, const RunDigest* b) {
    return finished(a) < finished(b);
  });
}

ProblemContents problem_of(const std::string& name, const Runs& runs, const std::vector<Group>& groups,
                           const PointLimits& limits) {
  ProblemContents problem = described_problem(last_named(runs), name);
  std::vector<std::size_t> shown = measures_of(runs);
  if (shown.empty()) shown.push_back(find_measure(kLoss).value());
  for (const std::size_t measure : shown) problem.measures.emplace_back(measures()[measure].name);
  const bool is_scaled = problem.measures[0] == kScaledLoss;
  problem.curve_measure = is_scaled ? kScaledLoss : kLoss;
  problem.oracle = oracle_of(runs);
  std::vector<RowIdentity> identities(groups.size());
  std::transform(groups.begin(), groups.end(), identities.begin(),
                 [](const Group& group) { return group.identity; });
  const std::vector<std::string> texts = labels(identities);
  std::vector<Runs> rows(groups.size());
  std::transform(groups.begin(), groups.end(), rows.begin(), [](const Group& group) { return group.runs; });
  const Compared compared(rows);
  problem.seeds = compared.seeds;
  for (std::size_t row = 0; row < groups.size(); ++row) {
    MethodRow next = summary_of(rows[row], compared.rows[row], shown);
    const RowIdentity& identity = groups[row].identity;
    next.label = texts[row];
    next.method = identity.method;
    next.settings = identity.settings;
    next.budget = identity.budget;
    next.step = identity.step;
    problem.rows.push_back(std::move(next));
  }
  add_curves(problem, compared.rows, is_scaled, limits.curve);
  add_responses(problem, groups, is_scaled, limits.path);
  add_results(problem, groups, shown[0]);
  return problem;
}

}  // namespace

PointLimits limits_for(std::size_t rows) {
  // About 85 bytes a point of a curve and 20 of a path: 4 MB and 1 MB for a whole page.
  constexpr std::size_t kCurvePoints = 50'000, kPathPoints = 50'000;
  const std::size_t count = std::max<std::size_t>(rows, 1);
  return {.curve = std::clamp<std::size_t>(kCurvePoints / count, 8, 400),
          .path = std::clamp<std::size_t>(kPathPoints / (kResponses * count), 6, 150)};
}

std::vector<ProblemContents> problems_of(const Runs& runs, bool tells_builds) {
  std::map<std::string, Runs> by_problem;
  for (const RunDigest* run : runs) by_problem[run->spec->problem].push_back(run);
  std::vector<std::vector<Group>> groups;
  std::vector<study::ProblemName> files;
  std::size_t rows = 0;
  for (const auto& [text, of_problem] : by_problem) {
    groups.push_back(groups_of(of_problem, tells_builds));
    const RunDigest& last = last_named(of_problem);
    files.push_back(problem_name(*last.spec, last.file_names, last.data_sha256));
    rows += groups.back().size();
  }
  const std::vector<std::string> of_files = told_apart(files);
  std::vector<ProblemContents> problems;
  problems.reserve(by_problem.size());
  for (const auto& [text, of_problem] : by_problem) {
    const std::size_t i = problems.size();
    problems.push_back(problem_of(of_files[i], of_problem, groups[i], limits_for(rows)));
  }
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
  // Problems on the same data are told apart by their models.
  std::map<std::string, int> count_of_name;
  for (const ProblemContents& problem : problems) ++count_of_name[problem.name];
  std::transform(problems.begin(), problems.end(), names.begin(), [&](const ProblemContents& problem) {
    return count_of_name[problem.name] > 1 ? problem.title : problem.name;
  });
  make_unique(names);
  for (std::size_t i = 0; i < problems.size(); ++i) problems[i].name = names[i];
  return problems;
}

}  // namespace yosida::report
