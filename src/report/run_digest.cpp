#include "report/run_digest.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace yosida::report {
namespace {

using json = nlohmann::ordered_json;

/// What stands in an object under a name; null where there is none, or no object.
const json& at(const json& object, const char* name) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

double number_at(const json& object, const char* name) {
  const json& value = at(object, name);
  return value.is_number() ? value.get<double>() : kMissing;
}

std::string text_at(const json& object, const char* name) {
  const json& value = at(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Measured measured(const json& solution) {
  Measured result;
  for (std::size_t i = 0; i < kMeasures.size(); ++i) {
    const json& parts = at(solution, kMeasures[i]);
    result.values[i] = {number_at(parts, "train"), number_at(parts, "validation"), number_at(parts, "test")};
  }
  result.gap = number_at(solution, "gap");
  result.lambda_gap = number_at(solution, "lambda_gap");
  return result;
}

double only_number(const json& array) {
  return array.is_array() && array.size() == 1 && array[0].is_number() ? array[0].get<double>() : kMissing;
}

/// A certificate at a bound holds; its sentence says that there is a bound.
std::string in_short(const std::string& verdict) {
  if (verdict.empty()) return "none";
  return verdict.starts_with("certified") ? "certified" : "not certified";
}

double only(const Vector& values) { return values.size() == 1 ? values[0] : kMissing; }

/// "sho:alpha=0.05" as method and settings, for specs that do not tell them apart.
void split_method(const std::string& text, json& row) {
  std::size_t begin = std::min(text.find(':'), text.size());
  row["method"] = text.substr(0, begin);
  row["settings"] = json::object();
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(':', begin + 1), text.size());
    const std::string setting = text.substr(begin + 1, end - begin - 1);
    const std::size_t equals = std::min(setting.find('='), setting.size());
    row["settings"][setting.substr(0, equals)] = equals < setting.size() ? setting.substr(equals + 1) : "";
    begin = end;
  }
}

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// Tells apart what a run was done on and how; gives the settings.
json add_spec(RunDigest& run, const study::RunSpec& spec, json row) {
  if (!row.is_object()) row = json::object();
  json problem = json::object();
  for (const char* name : {"problem", "data", "model"})
    if (row.contains(name)) {
      problem[name] = std::move(row[name]);
      row.erase(name);
    }
  row.erase("seed");
  if (!at(row, "settings").is_object() || !at(row, "method").is_string()) split_method(spec.method, row);
  run.problem = text_of(problem);
  run.row = text_of(row);
  return row["settings"];
}

void add_trace(RunDigest& run, const Trace& trace, bool has_exact_trials) {
  run.samples.reserve(trace.size());
  for (const TracePoint& point : trace) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const double work = point.work.gradient_equivalents();
    run.samples.push_back({.validation = point.loss.validation,
                           .work = static_cast<float>(work),
                           .seconds = static_cast<float>(point.seconds),
                           .iteration = static_cast<std::int32_t>(std::min(point.iteration, kMost)),
                           .lambda = static_cast<float>(only(point.lambda))});
    for (std::size_t i = 0; i < kGaps.size(); ++i)
      if (std::isnan(run.work_to[i]) &&
          point.loss.validation <= run.oracle_validation + kGaps[i] * std::abs(run.oracle_validation))
        run.work_to[i] = work;
    run.is_search |= point.tried.size() > 0;
    if (has_exact_trials && std::isfinite(only(point.tried)) && std::isfinite(point.tried_validation))
      run.trials.emplace_back(only(point.tried), point.tried_validation);
  }
}

}  // namespace

double RunDigest::scale() const {
  for (const Measured* each : {&final, &best}) {
    const double share = each->validation(kScaledLoss) / each->validation(kLoss);
    if (std::isfinite(share)) return share;
  }
  return kMissing;
}

RunDigest digest(const study::Record& record) {
  RunDigest run;
  const json settings = add_spec(run, record.spec, json::parse(record.spec.json));
  run.data_sha256 = record.data_sha256;
  run.seed = record.spec.seed;
  run.status = record.status;
  run.state = record.status == "failed"     ? State::failed
              : record.status == "diverged" ? State::diverged
                                            : State::ok;
  const json outcome = json::parse(record.outcome);
  run.final = measured(at(outcome, "final"));
  run.best = measured(at(outcome, "best"));
  run.lambda = only_number(at(at(outcome, "final"), "lambda"));
  run.seconds = record.seconds;
  run.gradients = number_at(at(outcome, "work"), "paper_count");
  run.work = number_at(at(outcome, "work"), "gradient_equivalents");
  run.iterations = number_at(outcome, "iterations");
  run.oracle_lambda = number_at(at(outcome, "oracle"), "lambda");
  run.oracle_validation = number_at(at(outcome, "oracle"), "validation");
  const json& certificate = at(outcome, "certificate");
  run.certificate = in_short(text_at(certificate, "verdict"));
  run.residual = number_at(certificate, "hypergradient");
  run.sentence = text_at(certificate, "reason");
  if (run.state == State::failed) run.sentence = text_at(outcome, "error");
  add_trace(run, record.trace, text_at(settings, "train_steps") == "exact");
  return run;
}

}  // namespace yosida::report
