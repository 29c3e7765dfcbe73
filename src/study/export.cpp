#include "yosida/study/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "csv_field.hpp"
#include "problem/work_columns.hpp"
#include "yosida/error.hpp"

namespace yosida::study {
namespace {

using json = nlohmann::ordered_json;
using Writer = FunctionRef<void(std::string_view)>;

// ---- traces ----

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

/// A quantity of a point; λ stands apart, since there may be several.
struct TraceColumn {
  std::string name;
  std::function<json(const TracePoint&)> value;
};

const std::vector<TraceColumn>& trace_columns(bool without_times) {
  static const std::vector<TraceColumn> untimed = [] {
    std::vector<TraceColumn> columns = {
        {"train", [](const TracePoint& p) { return number(p.loss.train); }},
        {"validation", [](const TracePoint& p) { return number(p.loss.validation); }},
        {"test", [](const TracePoint& p) { return p.loss.test ? number(*p.loss.test) : json(nullptr); }},
        {"primal", [](const TracePoint& p) { return number(p.primal_residual); }},
        {"dual", [](const TracePoint& p) { return number(p.dual_residual); }}};
    for (const auto& [name, count] : kWorkCounts)
      columns.push_back({name, [count = count](const TracePoint& p) { return json(p.work.*count); }});
    columns.push_back({kPaperCount, [](const TracePoint& p) { return json(p.work.paper_count()); }});
    columns.push_back(
        {kGradientEquivalents, [](const TracePoint& p) { return number(p.work.gradient_equivalents()); }});
    return columns;
  }();
  static const std::vector<TraceColumn> all = [] {
    std::vector<TraceColumn> columns = untimed;
    columns.push_back({"seconds", [](const TracePoint& p) { return number(p.seconds); }});
    return columns;
  }();
  return without_times ? untimed : all;
}

json array_of(const Vector& values) {
  json array = json::array();
  for (const double value : values) array.push_back(number(value));
  return array;
}

/// What a table of traces has columns for.
struct TraceShape {
  Index lambdas = 1;
  bool has_trials = false;  // of a search
  double points = 0.0, values = 0.0;

  void hold(const Trace& trace) {
    for (const TracePoint& point : trace) {
      lambdas = std::max(lambdas, point.lambda.size());
      has_trials |= point.tried.size() > 0;
      values += static_cast<double>(point.lambda.size());
    }
    points += static_cast<double>(trace.size());
  }

  /// Throws InputError where nearly all of a huge table would be empty: one point of very many λ makes a
  /// column for each of them in the lines of all others.
  void require_filled() const {
    constexpr double kMany = 1e8, kShare = 0.1;
    const double fields = points * static_cast<double>(lambdas);
    if (fields > kMany && values < kShare * fields)
      throw InputError(fmt::format(
          "a table of {:.3g} lambdas would hold {:.3g} of them: their numbers differ from point to point; "
          "study export --format json has no empty fields",
          fields, values));
  }
};

json to_json(const Trace& trace, bool without_times) {
  TraceShape shape;
  shape.hold(trace);
  json columns = {{"iteration", json::array()}, {"lambda", json::array()}};
  for (const TracePoint& point : trace) {
    columns["iteration"].push_back(point.iteration);
    columns["lambda"].push_back(array_of(point.lambda));
    if (!shape.has_trials) continue;
    columns["tried"].push_back(array_of(point.tried));
    columns["tried_validation"].push_back(number(point.tried_validation));
  }
  for (const TraceColumn& column : trace_columns(without_times)) {
    json& values = columns[column.name] = json::array();
    for (const TracePoint& point : trace) values.push_back(column.value(point));
  }
  return columns;
}

/// The trace of a run that records(false) has given in the same snapshot.
Trace trace_of(const Store& store, const Record& record, const ExportOptions& options) {
  std::optional<Record> whole = store.record(record.spec.key());
  if (!whole)
    throw InputError(fmt::format("{}: run {} is damaged: the index of the study does not lead to it",
                                 options.study, record.spec.key()));
  return std::move(whole->trace);
}

std::string names_of(const char* name, Index count) {
  if (count == 1) return fmt::format(",{}", name);
  std::string text;
  for (Index j = 0; j < count; ++j) text += fmt::format(",{}.{}", name, j);
  return text;
}

std::string trace_header(const TraceShape& shape, bool without_times) {
  shape.require_filled();
  std::string text = "iteration" + names_of("lambda", shape.lambdas);
  for (const TraceColumn& column : trace_columns(without_times)) text += fmt::format(",{}", column.name);
  if (shape.has_trials) text += names_of("tried", shape.lambdas) + ",tried_validation";
  return text + "\n";
}

/// A value as a field of a CSV file; null is empty.
std::string csv_value(const json& value) {
  if (value.is_null()) return "";
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string values_of(const Vector& values, Index count) {
  std::string text;
  for (Index j = 0; j < count; ++j)
    text += fmt::format(",{}", j < values.size() ? csv_value(number(values[j])) : "");
  return text;
}

std::string trace_line(const TracePoint& point, const TraceShape& shape, bool without_times) {
  std::string text = std::to_string(point.iteration) + values_of(point.lambda, shape.lambdas);
  for (const TraceColumn& column : trace_columns(without_times))
    text += fmt::format(",{}", csv_value(column.value(point)));
  if (shape.has_trials)
    text += values_of(point.tried, shape.lambdas) + "," + csv_value(number(point.tried_validation));
  return text + "\n";
}

// ---- runs as flat rows ----

/// Calls `visit(name, value)` for every value inside: nested names joined by dots; an array of one value is
/// that value, a longer one has its places as names.
template <typename Visit>
void flatten(const json& value, const std::string& name, const Visit& visit) {
  const auto inner = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
  if (value.is_object()) {
    for (const auto& [key, each] : value.items()) flatten(each, inner(key), visit);
  } else if (value.is_array() && value.size() == 1) {
    flatten(value[0], name, visit);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) flatten(value[i], inner(std::to_string(i)), visit);
  } else {
    visit(name, value);
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

/// To sort by the parts of a name between dots; numbers by their value, so that lambda.2 stands before
/// lambda.10.
std::vector<std::pair<std::size_t, std::string>> parts_of(const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    const bool is_index = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    parts.emplace_back(is_index ? part.size() : 0, part);
    begin = end + 1;
  }
  return parts;
}

/// The outcomes and specs of runs, each parsed once. Columns have numbers in the order they come up in.
class FlatRows {
 public:
  explicit FlatRows(const std::vector<Record>& records) {
    rows_.reserve(records.size());
    for (const Record& record : records) {
      std::vector<Field>& row = rows_.emplace_back();
      flatten(json::parse(record.outcome), "",
              [&](const std::string& name, const json& value) { add(row, free_name(name), value); });
      flatten(json::parse(record.spec.json), "spec",
              [&](const std::string& name, const json& value) { add(row, name, value); });
    }
    sort_columns();
  }

  const std::vector<std::string>& names() const { return names_; }

  /// One text for each of the names; empty where the run has no such value.
  std::vector<std::string_view> row(std::size_t run) const {
    std::vector<std::string_view> texts(names_.size());
    for (const Field& field : rows_[run]) texts[places_[field.column]] = field.text;
    return texts;
  }

 private:
  struct Field {
    std::size_t column;
    std::string text;
  };

  void add(std::vector<Field>& row, const std::string& name, const json& value) {
    const std::size_t column = columns_.try_emplace(name, columns_.size()).first->second;
    row.push_back({column, csv_value(value)});
  }

  void sort_columns() {
    using Parts = decltype(parts_of(""));
    std::vector<std::tuple<Parts, std::string, std::size_t>> order;
    for (const auto& [name, column] : columns_) order.emplace_back(parts_of(name), name, column);
    std::sort(order.begin(), order.end());
    places_.resize(order.size());
    for (const auto& [parts, name, column] : order) {
      places_[column] = names_.size();
      names_.push_back(name);
    }
  }

  std::unordered_map<std::string, std::size_t> columns_;
  std::vector<std::size_t> places_;  // of a column among the names
  std::vector<std::string> names_;   // in their order
  std::vector<std::vector<Field>> rows_;
};

std::string first_fields(const Record& record) {
  return fmt::format("{},{},{}", record.spec.key(), csv_field(record.spec.method), record.spec.seed);
}

void export_rows(const std::vector<Record>& records, const ExportOptions& options, Writer write) {
  const FlatRows rows(records);
  std::vector<std::string> header = kFirst;
  for (const std::string& name : rows.names()) header.push_back(csv_field(name));
  header.insert(header.end(), kLast.begin(), kLast.end());
  if (!options.without_times) header.insert(header.end(), kTimes.begin(), kTimes.end());
  write(fmt::format("{}\n", fmt::join(header, ",")));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    std::string line = fmt::format("{},{}", first_fields(record), csv_field(record.status));
    for (const std::string_view text : rows.row(i)) line.append(1, ',').append(text);
    line += fmt::format(",{},{}", csv_field(record.program), csv_field(record.data_sha256));
    if (!options.without_times) line += fmt::format(",{},{}", record.seconds, csv_field(record.finished));
    write(line + "\n");
  }
}

void export_trace_rows(const Store& store, const std::vector<Record>& records, const ExportOptions& options,
                       Writer write) {
  // Each trace is read twice, so that no more than one is held.
  TraceShape shape;
  for (const Record& record : records) shape.hold(trace_of(store, record, options));
  write("key,method,seed," + trace_header(shape, options.without_times));
  for (const Record& record : records)
    for (const TracePoint& point : trace_of(store, record, options))
      write(first_fields(record) + "," + trace_line(point, shape, options.without_times));
}

// ---- runs as JSON ----

json to_json(const Record& record, const ExportOptions& options) {
  json run = {{"key", record.spec.key()},
              {"method", record.spec.method},
              {"seed", record.spec.seed},
              {"status", record.status}};
  run["spec"] = json::parse(record.spec.json);
  run["outcome"] = json::parse(record.outcome);
  run["program"] = record.program;
  run["data_sha256"] = record.data_sha256;
  if (!options.without_times) {
    run["seconds"] = record.seconds;
    run["finished"] = record.finished;
  }
  return run;
}

void export_objects(const Store& store, const std::vector<Record>& records, const ExportOptions& options,
                    Writer write) {
  std::string before = "[\n";
  for (const Record& record : records) {
    json run = to_json(record, options);
    if (options.traces) run["trace"] = to_json(trace_of(store, record, options), options.without_times);
    write(before + run.dump(-1, ' ', false, json::error_handler_t::replace));
    before = ",\n";
  }
  write(records.empty() ? "[]\n" : "\n]\n");
}

}  // namespace

std::string trace_table(const Trace& trace) {
  TraceShape shape;
  shape.hold(trace);
  std::string text = trace_header(shape, false);
  for (const TracePoint& point : trace) text += trace_line(point, shape, false);
  return text;
}

void export_runs(const Store& store, const ExportOptions& options, Writer write) {
  store.in_snapshot([&] {
    const std::vector<Record> records = store.records(false);
    if (options.as_json) {
      export_objects(store, records, options, write);
    } else if (options.traces) {
      export_trace_rows(store, records, options, write);
    } else {
      export_rows(records, options, write);
    }
  });
}

}  // namespace yosida::study
