#include "yosida/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "yosida/error.hpp"

namespace yosida::report {
namespace {

using nlohmann::json;

/// The number at this place of an outcome, where there is one.
std::optional<double> number_at(const json& outcome, const std::string& pointer) {
  const json::json_pointer place(pointer);
  if (!outcome.contains(place) || !outcome.at(place).is_number()) return {};
  return outcome.at(place).get<double>();
}

std::string of_work(const char* count) { return fmt::format("/{}/{}", "work", count); }

/// What is collected of the runs of one method before it is averaged.
struct Collected {
  Row row;
  std::map<std::string, std::vector<double>> values;  // by the place in the outcome
  std::vector<double> seconds;
};

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

bool larger_is_better(const std::string& measure) { return measure != "loss" && measure != "scaled_loss"; }

std::vector<Row> summarise(const std::vector<study::Record>& records, const std::string& measure,
                           Which which) {
  const std::string of = which == Which::final ? "/final" : "/best";
  const std::string losses = fmt::format("{}/{}", of, measure);
  const std::string train = losses + "/train", validation = losses + "/validation", test = losses + "/test",
                    gap = of + "/lambda_gap", gradients = of_work("paper_count"),
                    work = of_work("gradient_equivalents");
  std::vector<Collected> all;
  bool has_measure = records.empty();
  for (const study::Record& record : records) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Collected& each) { return each.row.method == record.spec.method; });
    if (found == all.end()) {
      all.emplace_back();
      found = all.end() - 1;
      found->row.method = record.spec.method;
    }
    ++found->row.runs;
    const json outcome = json::parse(record.outcome, nullptr, /*allow_exceptions=*/false);
    if (!outcome.is_object())
      throw InputError(fmt::format("the outcome of {} seed {} is no JSON object: the study is damaged",
                                   record.spec.method, record.spec.seed));
    has_measure |= record.status == "failed" || outcome.contains(json::json_pointer(losses));
    if (record.status == "failed") {
      ++found->row.failed;
      continue;
    }
    if (record.status == "diverged") {
      ++found->row.diverged;
      continue;
    }
    for (const std::string& place : {train, validation, test, gap, gradients, work})
      if (const auto value = number_at(outcome, place)) found->values[place].push_back(*value);
    found->seconds.push_back(record.seconds);
  }
  if (!has_measure)
    throw InputError(
        fmt::format("measure = {}: no run has it; must be one that the model has, such as loss", measure));
  std::vector<Row> rows;
  for (Collected& each : all) {
    Row& row = each.row;
    row.train = cell_of(each.values[train]);
    row.validation = cell_of(each.values[validation]);
    row.test = cell_of(each.values[test]);
    row.lambda_gap = cell_of(each.values[gap]);
    row.gradients = cell_of(each.values[gradients]);
    row.work = cell_of(each.values[work]);
    row.seconds = cell_of(each.seconds);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace yosida::report
