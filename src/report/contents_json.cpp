#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "yosida/model/measures.hpp"
#include "yosida/report/contents.hpp"
#include "yosida/report/palette.hpp"
#include "yosida/report/paper.hpp"
#include "yosida/report/rows.hpp"

namespace yosida::report {
namespace {

using json = nlohmann::ordered_json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

/// Six digits, and none for what is whole: curves are most of a page.
json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  constexpr double kWhole = 1e6;
  if (std::abs(value) < kWhole && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

json short_numbers(const std::vector<double>& values) {
  json array = json::array();
  for (const double value : values) array.push_back(short_number(value));
  return array;
}

/// The cell of a single run is written as its number: cells are most of a page of very many methods.
json to_json(const std::optional<Cell>& cell) {
  if (!cell) return nullptr;
  if (cell->count == 1) return number(cell->mean);
  return {{"mean", number(cell->mean)},
          {"deviation", number(cell->deviation)},
          {"median", number(cell->median)},
          {"count", cell->count}};
}

/// A list of one object for each entry.
template <typename Entry, typename Function>
json list(const std::vector<Entry>& entries, const Function& function) {
  json array = json::array();
  for (const Entry& entry : entries) array.push_back(function(entry));
  return array;
}

json pairs(const std::vector<std::pair<std::string, std::string>>& texts) {
  return list(texts, [](const auto& each) { return json::array({each.first, each.second}); });
}

const char* name_of(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::diverged:
      return "diverged";
    case State::failed:
      return "failed";
  }
  return "";
}

/// The table of measures, so that the page needs none of its own.
json measures_json() {
  json table = json::array();
  for (const Measure& measure : measures())
    table.push_back(
        {{"name", measure.name}, {"title", measure.title}, {"larger_is_better", measure.larger_is_better}});
  return table;
}

json to_json(const PaperCell& cell) { return {cell.mean, cell.deviation}; }

/// What the paper has of a row.
json paper_of(const ProblemContents& problem, const MethodRow& row) {
  return list(paper_results(problem.name, row.method, row.settings), [](const PaperResult& result) {
    return json{{"table", result.table},
                {"train", to_json(result.train)},
                {"validation", to_json(result.validation)},
                {"test", to_json(result.test)},
                {"gradients", result.gradients > 0 ? json(result.gradients) : json(nullptr)},
                {"note", result.gradients > 0 ? "" : "the paper does not state the scale"}};
  });
}

json to_json(const std::vector<std::string>& measures, const std::vector<PartCells>& cells) {
  json result = json::object();
  for (std::size_t i = 0; i < measures.size(); ++i)
    result[measures[i]] = {{"train", to_json(cells[i].train)},
                           {"validation", to_json(cells[i].validation)},
                           {"test", to_json(cells[i].test)}};
  return result;
}

json to_json(const ProblemContents& problem, const MethodRow& row) {
  json settings = json::object();
  for (const auto& [name, value] : row.settings) settings[name] = value;
  json statuses = json::object();
  for (const auto& [name, count] : row.statuses) statuses[name] = count;
  return {{"label", row.label},
          {"method", row.method},
          {"colour", colour_of(row.method).place},
          {"turn", colour_of(row.method).turn},
          {"settings", settings},
          {"budget", number(row.budget)},
          {"runs", row.runs},
          {"diverged", row.diverged},
          {"failed", row.failed},
          {"certified", row.certified},
          {"final", to_json(problem.measures, row.final)},
          {"best", to_json(problem.measures, row.best)},
          {"gap", to_json(row.gap)},
          {"lambda_gap", to_json(row.lambda_gap)},
          {"best_gap", to_json(row.best_gap)},
          {"best_lambda_gap", to_json(row.best_lambda_gap)},
          {"lambda", to_json(row.lambda)},
          {"best_lambda", to_json(row.best_lambda)},
          {"gradients", to_json(row.gradients)},
          {"work", to_json(row.work)},
          {"seconds", to_json(row.seconds)},
          {"iterations", to_json(row.iterations)},
          {"work_to", list(row.work_to,
                           [](const WorkTo& each) {
                             return json{{"gap", each.gap},
                                         {"reached", each.reached},
                                         {"of", each.of},
                                         {"median", number(each.median)}};
                           })},
          {"paper", paper_of(problem, row)},
          {"statuses", statuses},
          {"step", number(row.step)}};
}

json to_json(const Curve& curve) {
  return {{"row", curve.row},
          {"seeds", curve.seeds},
          {"iterations", short_numbers(curve.iterations)},
          {"work", short_numbers(curve.work)},
          {"seconds", short_numbers(curve.seconds)},
          {"median", short_numbers(curve.median)},
          {"low", short_numbers(curve.low)},
          {"high", short_numbers(curve.high)},
          {"gap", short_numbers(curve.gap)},
          {"gap_low", short_numbers(curve.gap_low)},
          {"gap_high", short_numbers(curve.gap_high)},
          {"running", curve.running}};
}

json to_json(const ResponsePoint& point) {
  return json::array({short_number(point.first), short_number(point.second)});
}

json to_json(const std::vector<ResponsePoint>& points) {
  return list(points, [](const ResponsePoint& point) { return to_json(point); });
}

json to_json(const std::optional<TrustBand>& band) {
  if (!band) return nullptr;
  return {{"row", band->row},
          {"curve", list(band->curve,
                         [](const TrustBand::Point& point) {
                           return json::array({short_number(point.lambda), short_number(point.loss),
                                               short_number(point.standard_error)});
                         })},
          {"minimum", number(band->minimum)},
          {"one_standard_error", number(band->one_standard_error)},
          {"interval", to_json(band->interval)},
          {"paired", to_json(band->paired)}};
}

json to_json(const Response& response) {
  return {{"seed", response.seed},
          {"curve", to_json(response.curve)},
          {"oracle", response.oracle ? to_json(*response.oracle) : json(nullptr)},
          {"bounds", response.bounds ? to_json(*response.bounds) : json(nullptr)},
          {"trust", to_json(response.trust)},
          {"paths", list(response.paths, [](const ResponsePath& path) {
             return json{{"row", path.row}, {"search", path.is_search}, {"points", to_json(path.points)}};
           })}};
}

json to_json(const Stability& stability) {
  return {{"row", stability.row},
          {"step", number(stability.step)},
          {"outcomes", list(stability.outcomes, [](const SeedOutcome& each) {
             return json::array({each.seed, number(each.validation), name_of(each.state)});
           })}};
}

json to_json(const RunResult& run) {
  return json::array({run.row, run.seed, run.status, number(run.lambda), number(run.validation),
                      run.certificate, number(run.residual), run.sentence});
}

json to_json(const std::optional<Planned>& planned) {
  if (!planned) return nullptr;
  return {
      {"done", planned->done}, {"total", planned->total}, {"seconds_left", number(planned->seconds_left)}};
}

json to_json(const ProblemContents& problem) {
  json oracle = nullptr;
  if (problem.oracle)
    oracle = {
        {"lambda", to_json(problem.oracle->lambda)},
        {"validation",
         {{"loss", to_json(problem.oracle->loss)}, {"scaled_loss", to_json(problem.oracle->scaled_loss)}}}};
  return {{"name", problem.name},
          {"title", problem.title},
          {"about", pairs(problem.about)},
          {"files", pairs(problem.files)},
          {"measures", problem.measures},
          {"curve_measure", problem.curve_measure},
          {"factor", shown_factor(problem)},
          {"paper_tables", problem.paper_tables},
          {"paper_figure", problem.paper_figure ? json(*problem.paper_figure) : json(nullptr)},
          {"oracle", oracle},
          {"seeds", {{"common", problem.seeds.count}, {"is_all", problem.seeds.is_all}}},
          {"rows", list(problem.rows, [&](const MethodRow& row) { return to_json(problem, row); })},
          {"curves", list(problem.curves, [](const Curve& curve) { return to_json(curve); })},
          {"responses", list(problem.responses, [](const Response& response) { return to_json(response); })},
          {"stability", list(problem.stability, [](const Stability& each) { return to_json(each); })},
          {"results", list(problem.results, [](const RunResult& run) { return to_json(run); })}};
}

}  // namespace

std::string to_json(const StudyContents& contents) {
  json builds = json::array();
  for (const auto& [build, runs] : contents.builds) builds.push_back(json::array({build, runs}));
  const json root = {
      {"title", contents.title},
      {"generated", contents.generated},
      {"program", contents.program},
      {"runs", contents.runs},
      {"failed", contents.failed},
      {"diverged", contents.diverged},
      {"sessions", list(contents.sessions,
                        [](const study::Session& session) {
                          return json{{"started", session.started},
                                      {"command", session.command},
                                      {"program", session.program},
                                      {"machine", session.machine}};
                        })},
      {"builds", builds},
      {"planned", to_json(contents.planned)},
      {"measures", measures_json()},
      {"problems", list(contents.problems, [](const ProblemContents& problem) { return to_json(problem); })}};
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string fault_json(const std::string& fault) {
  return json{{"error", fault}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace yosida::report
