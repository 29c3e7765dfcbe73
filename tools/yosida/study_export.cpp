#include "study_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "yosida/error.hpp"

namespace yosida::cli {
namespace {

using json = nlohmann::ordered_json;
using study::Record;
using study::Store;

// ---- traces ----

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

/// A quantity of a point; λ stands apart, since there may be several.
struct TraceColumn {
  const char* name;
  json (*value)(const TracePoint&);
};
constexpr const char* kSeconds = "seconds";
const std::array kTraceColumns = {
    TraceColumn{"train", [](const TracePoint& p) { return number(p.loss.train); }},
    TraceColumn{"validation", [](const TracePoint& p) { return number(p.loss.validation); }},
    TraceColumn{"test",
                [](const TracePoint& p) { return p.loss.test ? number(*p.loss.test) : json(nullptr); }},
    TraceColumn{"primal", [](const TracePoint& p) { return number(p.primal_residual); }},
    TraceColumn{"dual", [](const TracePoint& p) { return number(p.dual_residual); }},
    TraceColumn{"train_gradients", [](const TracePoint& p) { return json(p.work.train_gradients); }},
    TraceColumn{"validation_gradients",
                [](const TracePoint& p) { return json(p.work.validation_gradients); }},
    TraceColumn{"hessian_products", [](const TracePoint& p) { return json(p.work.hessian_products); }},
    TraceColumn{"loss_evaluations", [](const TracePoint& p) { return json(p.work.loss_evaluations); }},
    TraceColumn{"inner_solves", [](const TracePoint& p) { return json(p.work.inner_solves); }},
    TraceColumn{"paper_count", [](const TracePoint& p) { return json(p.work.paper_count()); }},
    TraceColumn{"gradient_equivalents",
                [](const TracePoint& p) { return number(p.work.gradient_equivalents()); }},
    TraceColumn{kSeconds, [](const TracePoint& p) { return number(p.seconds); }}};

bool is_wanted(const TraceColumn& column, bool without_times) {
  return !(without_times && column.name == std::string_view(kSeconds));
}

json trace_columns(const Trace& trace, bool without_times) {
  json columns = {{"iteration", json::array()}, {"lambda", json::array()}};
  for (const TracePoint& point : trace) {
    columns["iteration"].push_back(point.iteration);
    json lambda = json::array();
    for (const double value : point.lambda) lambda.push_back(number(value));
    columns["lambda"].push_back(lambda);
  }
  for (const TraceColumn& column : kTraceColumns) {
    if (!is_wanted(column, without_times)) continue;
    json& values = columns[column.name] = json::array();
    for (const TracePoint& point : trace) values.push_back(column.value(point));
  }
  return columns;
}

/// Of a run of records(false). One that was removed meanwhile has none.
Trace trace_of(const Store& store, const Record& record) {
  std::optional<Record> whole = store.record(record.spec.key());
  return whole ? std::move(whole->trace) : Trace();
}

Index most_lambdas(const Trace& trace) {
  Index most = 1;
  for (const TracePoint& point : trace) most = std::max(most, point.lambda.size());
  return most;
}

std::string trace_header(Index lambdas, bool without_times) {
  std::string text = "iteration";
  if (lambdas == 1) text += ",lambda";
  if (lambdas > 1)
    for (Index j = 0; j < lambdas; ++j) text += fmt::format(",lambda.{}", j);
  for (const TraceColumn& column : kTraceColumns)
    if (is_wanted(column, without_times)) text += fmt::format(",{}", column.name);
  return text + "\n";
}

/// As a field of a CSV file: what is not there is empty.
std::string csv_value(const json& value) {
  if (value.is_null()) return "";
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string trace_line(const TracePoint& point, Index lambdas, bool without_times) {
  std::string text = std::to_string(point.iteration);
  for (Index j = 0; j < lambdas; ++j)
    text += fmt::format(",{}", j < point.lambda.size() ? csv_value(number(point.lambda[j])) : "");
  for (const TraceColumn& column : kTraceColumns)
    if (is_wanted(column, without_times)) text += fmt::format(",{}", csv_value(column.value(point)));
  return text + "\n";
}

// ---- runs as flat rows ----

/// Parts of names between dots; numbers by their value, so that lambda.2 stands before lambda.10.
struct ByParts {
  bool operator()(const std::string& a, const std::string& b) const { return parts(a) < parts(b); }

 private:
  static std::vector<std::pair<std::size_t, std::string>> parts(const std::string& name) {
    std::vector<std::pair<std::size_t, std::string>> result;
    for (std::size_t begin = 0; begin <= name.size();) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      const bool is_index = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
      result.emplace_back(is_index ? part.size() : 0, part);
      begin = end + 1;
    }
    return result;
  }
};
using Row = std::map<std::string, std::string, ByParts>;

/// Nested names joined by dots; an array of one value is that value, a longer one has its places as names.
void flatten(const json& value, const std::string& name, Row& row) {
  const auto inner = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
  if (value.is_object()) {
    for (const auto& [key, each] : value.items()) flatten(each, inner(key), row);
  } else if (value.is_array() && value.size() == 1) {
    flatten(value[0], name, row);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) flatten(value[i], inner(std::to_string(i)), row);
  } else {
    row[name] = csv_value(value);
  }
}

/// The columns of every run, before and after those of its spec and outcome.
const std::vector<std::string> kFirst = {"key", "method", "seed", "status"};
const std::vector<std::string> kLast = {"program", "data_sha256"};
const std::vector<std::string> kTimes = {"seconds", "finished"};

std::string free_name(const std::string& name) {
  if (name.empty()) return "outcome";
  for (const auto* taken : {&kFirst, &kLast, &kTimes})
    if (std::find(taken->begin(), taken->end(), name) != taken->end()) return "outcome." + name;
  return name;
}

Row flat_row(const Record& record) {
  Row outcome, row;
  flatten(parse_field(record, "outcome", record.outcome), "", outcome);
  for (const auto& [name, value] : outcome) row[free_name(name)] = value;
  flatten(parse_field(record, "spec", record.spec.json), "spec", row);
  return row;
}

std::string first_fields(const Record& record) {
  return fmt::format("{},{},{}", record.spec.key(), csv_field(record.spec.method), record.spec.seed);
}

void export_rows(const std::vector<Record>& records, const ExportFlags& flags, OutputStream& out) {
  std::set<std::string, ByParts> columns;
  for (const Record& record : records)
    for (const auto& [name, value] : flat_row(record)) columns.insert(name);
  std::vector<std::string> header = kFirst;
  for (const std::string& name : columns) header.push_back(csv_field(name));
  header.insert(header.end(), kLast.begin(), kLast.end());
  if (!flags.without_times) header.insert(header.end(), kTimes.begin(), kTimes.end());
  out.write(fmt::format("{}\n", fmt::join(header, ",")));
  for (const Record& record : records) {
    Row row = flat_row(record);
    std::string line = fmt::format("{},{}", first_fields(record), csv_field(record.status));
    for (const std::string& name : columns) line += fmt::format(",{}", row[name]);
    line += fmt::format(",{},{}", csv_field(record.program), csv_field(record.data_sha256));
    if (!flags.without_times) line += fmt::format(",{},{}", record.seconds, csv_field(record.finished));
    out.write(line + "\n");
  }
}

void export_trace_rows(const Store& store, const std::vector<Record>& records, const ExportFlags& flags,
                       OutputStream& out) {
  // Each trace is read twice, so that no more than one is held.
  Index lambdas = 1;
  for (const Record& record : records) lambdas = std::max(lambdas, most_lambdas(trace_of(store, record)));
  out.write("key,method,seed," + trace_header(lambdas, flags.without_times));
  for (const Record& record : records)
    for (const TracePoint& point : trace_of(store, record))
      out.write(first_fields(record) + "," + trace_line(point, lambdas, flags.without_times));
}

// ---- runs as JSON ----

json to_json(const Record& record, const ExportFlags& flags) {
  json run = {{"key", record.spec.key()},
              {"method", record.spec.method},
              {"seed", record.spec.seed},
              {"status", record.status}};
  run["spec"] = parse_field(record, "spec", record.spec.json);
  run["outcome"] = parse_field(record, "outcome", record.outcome);
  run["program"] = record.program;
  run["data_sha256"] = record.data_sha256;
  if (!flags.without_times) {
    run["seconds"] = record.seconds;
    run["finished"] = record.finished;
  }
  return run;
}

void export_objects(const Store& store, const std::vector<Record>& records, const ExportFlags& flags,
                    OutputStream& out) {
  std::string before = "[\n";
  for (const Record& record : records) {
    json run = to_json(record, flags);
    if (flags.traces) run["trace"] = trace_columns(trace_of(store, record), flags.without_times);
    out.write(before + run.dump(-1, ' ', false, json::error_handler_t::replace));
    before = ",\n";
  }
  out.write(records.empty() ? "[]\n" : "\n]\n");
}

}  // namespace

json parse_field(const Record& record, const char* field, const std::string& text) try {
  return json::parse(text);
} catch (const json::exception&) {
  throw InputError(fmt::format("run {}: its {} is damaged: no JSON", record.spec.key(), field));
}

std::string trace_table(const Trace& trace) {
  const Index lambdas = most_lambdas(trace);
  std::string text = trace_header(lambdas, false);
  for (const TracePoint& point : trace) text += trace_line(point, lambdas, false);
  return text;
}

void export_runs(const Store& store, const ExportFlags& flags, OutputStream& out) {
  const std::vector<Record> records = store.records(false);
  if (flags.format == "json") {
    export_objects(store, records, flags, out);
  } else if (flags.traces) {
    export_trace_rows(store, records, flags, out);
  } else {
    export_rows(records, flags, out);
  }
}

}  // namespace yosida::cli
