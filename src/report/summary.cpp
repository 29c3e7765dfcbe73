#include "yosida/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "report/summary_row.hpp"

namespace yosida::report {
namespace {

std::vector<PartCells> measures_over(const Runs& runs, const std::vector<std::size_t>& shown,
                                     Measured RunDigest::*which) {
  std::vector<PartCells> result;
  for (const std::size_t measure : shown) {
    const auto part = [&](std::size_t place) {
      return cell_over(runs, [&](const RunDigest& run) { return (run.*which).values[measure][place]; });
    };
    result.push_back({part(0), part(1), part(2)});
  }
  return result;
}

std::vector<WorkTo> work_to(const Runs& runs) {
  if (std::none_of(runs.begin(), runs.end(),
                   [](const RunDigest* run) { return std::isfinite(run->oracle_validation); }))
    return {};
  std::vector<WorkTo> result;
  for (std::size_t i = 0; i < kGaps.size(); ++i) {
    // It is a median, so half of all runs must have reached it: those that have not count as infinite, and so
    // do those that have left it again.
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

}  // namespace

std::optional<Cell> cell_of(std::vector<double> values) {
  if (values.empty()) return {};
  Cell cell;
  const auto n = static_cast<double>(values.size());
  cell.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - cell.mean) * (value - cell.mean);
  if (values.size() > 1) cell.deviation = std::sqrt(squares / (n - 1.0));
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  cell.median = values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
  cell.count = static_cast<std::int64_t>(values.size());
  return cell;
}

std::string in_words(const CommonSeeds& seeds) {
  if (seeds.count == 0)
    return "over the seeds of each row, which have none in common: nothing is called best";
  return fmt::format("over {} {}seed{}{}", seeds.count, seeds.is_all ? "" : "common ",
                     seeds.count == 1 ? "" : "s", seeds.is_all ? "" : " so far");
}

Compared::Compared(const std::vector<Runs>& rows_) : rows(rows_) {
  std::map<std::uint64_t, std::size_t> rows_with;  // so many rows have a run of a seed
  for (const Runs& row : rows) {
    std::set<std::uint64_t> of_row;
    for (const RunDigest* run : row)
      if (of_row.insert(run->seed).second) ++rows_with[run->seed];
  }
  const auto is_common = [&](std::uint64_t seed) { return rows_with.at(seed) == rows.size(); };
  for (const auto& [seed, count] : rows_with) {
    if (is_common(seed)) ++seeds.count;
    seeds.is_all &= is_common(seed);
  }
  if (seeds.count == 0) return;
  for (Runs& row : rows) std::erase_if(row, [&](const RunDigest* run) { return !is_common(run->seed); });
}

MethodRow summary_of(const Runs& runs, const Runs& compared, const std::vector<std::size_t>& shown) {
  MethodRow row;
  for (const RunDigest* run : runs) {
    ++row.runs;
    ++row.statuses[run->status];
    if (run->state == State::failed) ++row.failed;
    if (run->state == State::diverged) ++row.diverged;
    if (run->certificate == "certified") ++row.certified;
  }
  Runs well;
  std::copy_if(compared.begin(), compared.end(), std::back_inserter(well),
               [](const RunDigest* run) { return run->state == State::ok; });
  row.final = measures_over(well, shown, &RunDigest::final);
  row.best = measures_over(well, shown, &RunDigest::best);
  row.gap = cell_over(well, [](const RunDigest& run) { return run.final.gap; });
  row.lambda_gap = cell_over(well, [](const RunDigest& run) { return run.final.lambda_gap; });
  row.best_gap = cell_over(well, [](const RunDigest& run) { return run.best.gap; });
  row.best_lambda_gap = cell_over(well, [](const RunDigest& run) { return run.best.lambda_gap; });
  row.lambda = cell_over(well, [](const RunDigest& run) { return run.final.lambda; });
  row.best_lambda = cell_over(well, [](const RunDigest& run) { return run.best.lambda; });
  row.gradients = cell_over(well, [](const RunDigest& run) { return run.gradients; });
  row.work = cell_over(well, [](const RunDigest& run) { return run.work; });
  row.seconds = cell_over(well, [](const RunDigest& run) { return run.seconds; });
  row.iterations = cell_over(well, [](const RunDigest& run) { return run.iterations; });
  row.work_to = work_to(compared);
  return row;
}

Summary summarise(const std::vector<study::Record>& records) {
  std::vector<RunDigest> digests;
  digests.reserve(records.size());
  std::vector<std::pair<std::string, Runs>> groups;
  for (const study::Record& record : records) {
    digests.push_back(digest(record));
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& each) { return each.first == record.spec.method; });
    if (group == groups.end()) group = groups.insert(groups.end(), {record.spec.method, {}});
    group->second.push_back(&digests.back());
  }
  std::vector<std::size_t> all(measures().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Runs> runs(groups.size());
  std::transform(groups.begin(), groups.end(), runs.begin(), [](const auto& group) { return group.second; });
  const Compared compared(runs);
  Summary summary{.rows = {}, .seeds = compared.seeds};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    summary.rows.push_back(summary_of(runs[i], compared.rows[i], all));
    summary.rows.back().label = groups[i].first;
    summary.rows.back().method = runs[i][0]->spec->spec.options.method;
  }
  return summary;
}

}  // namespace yosida::report
