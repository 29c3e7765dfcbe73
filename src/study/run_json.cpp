// The JSON of runs: no other file knows its names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "data/sha256.hpp"
#include "problem/work_columns.hpp"
#include "yosida/study/run_outcome.hpp"
#include "yosida/study/run_spec.hpp"
#include "yosida/tune/method_text.hpp"
#include "yosida/version.hpp"

namespace yosida::study {
namespace {

using json = nlohmann::ordered_json;
using SortedJson = nlohmann::json;  // names in order: the same spec is the same text

template <typename Json>
std::string dumped(const Json& value, int indent = -1) {
  // A path or a message may hold bytes that are no UTF-8: they are shown as such, and lose no result.
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// ---- reading what may be anything ----

/// What stands in an object under a name; null where there is none, or no object.
const json& at(const json& object, const char* name) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

std::optional<double> number_at(const json& object, const char* name) {
  const json& value = at(object, name);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<std::int64_t> count_at(const json& object, const char* name) {
  const json& value = at(object, name);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::string text_at(const json& object, const char* name) {
  const json& value = at(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_true_at(const json& object, const char* name) { return at(object, name) == true; }

std::vector<double> numbers_at(const json& object, const char* name) {
  std::vector<double> values;
  if (const json& array = at(object, name); array.is_array())
    for (const json& each : array) values.push_back(each.is_number() ? each.get<double>() : std::nan(""));
  return values;
}

std::vector<std::string> texts_at(const json& object, const char* name) {
  std::vector<std::string> texts;
  if (const json& array = at(object, name); array.is_array())
    for (const json& each : array)
      if (each.is_string()) texts.push_back(each.get<std::string>());
  return texts;
}

std::map<std::string, std::string> text_map_at(const json& object, const char* name) {
  std::map<std::string, std::string> texts;
  if (const json& inner = at(object, name); inner.is_object())
    for (const auto& [key, value] : inner.items())
      if (value.is_string()) texts.emplace(key, value.get<std::string>());
  return texts;
}

/// A value as a person would write it.
std::string written(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return dumped(value);
  std::string text;
  for (const json& each : value) text += (text.empty() ? "" : " / ") + written(each);
  return text;
}

// ---- specs ----

constexpr const char* kBuild = "build";
constexpr const char* kProblem = "problem";
constexpr const char* kData = "data";
constexpr const char* kModel = "model";
constexpr const char* kRun = "run";
constexpr const char* kFiles = "files";
constexpr const char* kMethod = "method";
constexpr const char* kSettings = "settings";
constexpr const char* kSeed = "seed";

template <typename T>
SortedJson or_null(const std::optional<T>& value) {
  return value ? SortedJson(*value) : SortedJson(nullptr);
}

/// Classes are drawn in equal numbers, all rows as one of them where none is named.
Index classes_drawn(const Partition& partition) {
  return static_cast<Index>(std::max<std::size_t>(1, partition.classes.size()));
}

SortedJson data_json(const RunSpec& spec) {
  if (!spec.experiment.empty()) {
    const Index drawn = classes_drawn(spec.partition);
    const auto& [train, validation, test, classes] = spec.partition;
    return {{kFiles, spec.files},
            {"rows", {drawn * train, drawn * validation, drawn * test}},
            {"classes", classes}};
  }
  const DataFiles& columns = spec.columns;
  const auto& [fraction, test_fraction, folds, criterion, repeats, grouped] = spec.options.validation;
  SortedJson data = {{kFiles, spec.files},
                     {"target", columns.target},
                     {"ignore", columns.ignore},
                     {"valid_fraction", or_null(fraction)},
                     {"test_fraction", test_fraction},
                     {"folds", or_null(folds)},
                     {"fold_column", columns.fold_column},
                     {"weights", columns.weights},
                     {"class_weights", spec.options.class_weights},
                     {"missing", to_string(columns.missing)},
                     {"dense", columns.dense}};
  // Runs without these keep the keys they had.
  if (!criterion.empty()) data["criterion"] = criterion;
  if (repeats != 1) data["repeats"] = repeats;
  if (grouped) data["group_rows"] = columns.group_rows;
  if (columns.singles) data["float"] = true;
  if (!columns.categorical.empty()) data["categorical"] = columns.categorical;
  if (!columns.numeric.empty()) data["numeric"] = columns.numeric;
  if (columns.decimal != '\0') data["decimal"] = std::string(1, columns.decimal);
  if (columns.drop_first) data["drop_first"] = true;
  return data;
}

SortedJson spec_json(const RunSpec& spec) {
  const TuneOptions& options = spec.options;
  SortedJson model = {
      {"name", options.model}, {"x", options.x}, {"y", or_null(options.y)}, {"intercept", options.intercept}};
  SortedJson run = {{"budget_gradients", or_null(options.limits.gradients)},
                    {"max_iterations", or_null(options.limits.iterations)},
                    {"trace_every", options.trace_every},
                    {"oracle", options.oracle}};
  SortedJson root = {{kData, data_json(spec)},
                     {kMethod, options.method},
                     {kSettings, options.settings},
                     {kSeed, options.seed}};
  if (!spec.build.empty()) root[kBuild] = spec.build;
  if (!spec.experiment.empty()) {
    root[kProblem] = spec.experiment;
    if (!options.penalty.lambda_per.empty()) model["lambda_per"] = options.penalty.lambda_per;
    if (!options.penalty.groups.empty()) model["groups"] = options.penalty.groups;
    if (options.lambda0) run["lambda0"] = *options.lambda0;
  } else {
    model.update({{"lambda_per", options.penalty.lambda_per},
                  {"groups", options.penalty.groups},
                  {"unpenalised", options.penalty.unpenalised}});
    if (!options.penalty.group_scale.empty()) model["group_scale"] = options.penalty.group_scale;
    run["time_limit"] = or_null(options.limits.seconds);
    run["lambda0"] = or_null(options.lambda0);
    run["bounds"] = nullptr;
    if (options.trust.report) run["trust"] = true;
  }
  // Runs without these keep the keys they had.
  if (!options.penalty.kind.empty()) model["penalty"] = options.penalty.kind;
  if (options.penalty.fixed) model["fixed_penalty"] = *options.penalty.fixed;
  if (options.bounds) run["bounds"] = {options.bounds->low, options.bounds->high};
  root[kModel] = std::move(model);
  root[kRun] = std::move(run);
  return root;
}

Partition partition_from(const json& data) {
  Partition partition{.train = 0, .validation = 0, .test = 0, .classes = numbers_at(data, "classes")};
  const json& rows = at(data, "rows");
  if (!rows.is_array() || rows.size() != 3) return partition;
  const Index drawn = classes_drawn(partition);
  const auto part = [&](std::size_t i) {
    return rows[i].is_number_integer() ? rows[i].get<Index>() / drawn : Index{0};
  };
  partition.train = part(0);
  partition.validation = part(1);
  partition.test = part(2);
  return partition;
}

RunSpec spec_from(const json& root) {
  RunSpec spec;
  const json &data = at(root, kData), &model = at(root, kModel), &run = at(root, kRun);
  spec.build = text_at(root, kBuild);
  if (const json& problem = at(root, kProblem); !problem.is_null()) spec.experiment = written(problem);
  spec.files = text_map_at(data, kFiles);
  spec.partition = partition_from(data);
  DataFiles& columns = spec.columns;
  columns.target = text_at(data, "target");
  columns.ignore = texts_at(data, "ignore");
  columns.fold_column = text_at(data, "fold_column");
  columns.weights = text_at(data, "weights");
  columns.dense = is_true_at(data, "dense");
  columns.singles = is_true_at(data, "float");
  columns.categorical = texts_at(data, "categorical");
  columns.numeric = texts_at(data, "numeric");
  if (const std::string decimal = text_at(data, "decimal"); decimal.size() == 1) columns.decimal = decimal[0];
  columns.drop_first = is_true_at(data, "drop_first");
  for (const Missing missing : {Missing::refuse, Missing::mean, Missing::drop})
    if (text_at(data, "missing") == to_string(missing)) columns.missing = missing;
  TuneOptions& options = spec.options;
  options.fill_missing = columns.missing == Missing::mean;
  options.class_weights = text_at(data, "class_weights");
  options.validation = {.fraction = number_at(data, "valid_fraction"),
                        .test_fraction = number_at(data, "test_fraction").value_or(0.0),
                        .folds = count_at(data, "folds"),
                        .criterion = text_at(data, "criterion"),
                        .repeats = count_at(data, "repeats").value_or(1),
                        .grouped = !text_at(data, "group_rows").empty()};
  columns.group_rows = text_at(data, "group_rows");
  options.model = text_at(model, "name");
  options.x = text_at(model, "x");
  if (const json& y = at(model, "y"); y.is_string()) options.y = y.get<std::string>();
  options.intercept = is_true_at(model, "intercept");
  options.penalty = {.kind = text_at(model, "penalty"),
                     .lambda_per = text_at(model, "lambda_per"),
                     .fixed = number_at(model, "fixed_penalty"),
                     .groups_file = {},
                     .groups = texts_at(model, "groups"),
                     .unpenalised = texts_at(model, "unpenalised"),
                     .group_scale = text_at(model, "group_scale")};
  options.method = text_at(root, kMethod);
  options.settings = text_map_at(root, kSettings);
  if (const json& seed = at(root, kSeed); seed.is_number_integer()) options.seed = seed.get<std::uint64_t>();
  options.limits = {.gradients = count_at(run, "budget_gradients"),
                    .iterations = count_at(run, "max_iterations"),
                    .seconds = number_at(run, "time_limit")};
  options.lambda0 = number_at(run, "lambda0");
  if (const std::vector<double> bounds = numbers_at(run, "bounds"); bounds.size() == 2)
    options.bounds = Interval{.low = bounds[0], .high = bounds[1]};
  options.trace_every = count_at(run, "trace_every").value_or(0);
  options.oracle = is_true_at(run, "oracle");
  options.trust.report = is_true_at(run, "trust");
  return spec;
}

/// "sho:alpha=0.05" as method and settings, for specs that do not tell them apart.
void split_method(const std::string& text, json& row) {
  std::size_t begin = std::min(text.find(':'), text.size());
  row[kMethod] = text.substr(0, begin);
  row[kSettings] = json::object();
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(':', begin + 1), text.size());
    const std::string setting = text.substr(begin + 1, end - begin - 1);
    const std::size_t equals = std::min(setting.find('='), setting.size());
    row[kSettings][setting.substr(0, equals)] = equals < setting.size() ? setting.substr(equals + 1) : "";
    begin = end;
  }
}

/// What was not given, or switched off.
bool is_blank(const json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

/// Every value inside what has a name, by the names joined with dots.
void flatten(const json& value, const std::string& name, SettingValues& into) {
  if (!value.is_object()) {
    if (!is_blank(value)) into[name] = written(value);
    return;
  }
  for (const auto& [key, each] : value.items()) flatten(each, fmt::format("{}.{}", name, key), into);
}

/// What it is in words, what matters most first. A share of 0 is as good as not given.
void add_about(TextPairs& about, const json& values) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kWords = {
      {{"name", "model"}, {"rows", "rows"}, {"x", "features"}, {"y", "target scaling"}}};
  if (!values.is_object()) return;
  std::set<std::string> left_out = {kFiles};
  const auto add = [&](const std::string& key, std::string name) {
    const json& value = values[key];
    if (!left_out.insert(key).second || is_blank(value) || value == 0.0) return;
    std::replace(name.begin(), name.end(), '_', ' ');
    about.emplace_back(std::move(name), written(value));
  };
  for (const auto& [key, word] : kWords)
    if (values.contains(key)) add(key, word);
  for (const auto& [key, value] : values.items()) add(key, key);
}

std::optional<double> number_of(const std::string& text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return {};
  return value;
}

// ---- outcomes ----

constexpr int kSchemaOfResult = 1;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

void add_report(json& target, const Report& report) {
  for (std::size_t i = 0; i < measures().size(); ++i) {
    if (!report.train.values[i] && !(report.validation && report.validation->values[i])) continue;
    const auto of = [i](const std::optional<PartReport>& part) {
      return part ? number(part->values[i]) : json(nullptr);
    };
    target[std::string(measures()[i].name)] = {
        {"train", of(report.train)}, {"validation", of(report.validation)}, {"test", of(report.test)}};
  }
  if (const auto count = report.nonzero_weights)
    target["nonzero_weights"] =
        *count == std::floor(*count) ? json(static_cast<std::int64_t>(*count)) : json(*count);
}

Report report_from(const json& solution) {
  Report report{.train = {}, .validation = PartReport{}, .test = PartReport{}};
  for (std::size_t i = 0; i < measures().size(); ++i) {
    const json& parts = at(solution, std::string(measures()[i].name).c_str());
    report.train.values[i] = number_at(parts, "train");
    report.validation->values[i] = number_at(parts, "validation");
    report.test->values[i] = number_at(parts, "test");
  }
  report.nonzero_weights = number_at(solution, "nonzero_weights");
  return report;
}

json solution_json(const SolutionOutcome& solution) {
  json result = {{"lambda", solution.lambda}, {"iteration", solution.iteration}};
  add_report(result, solution.report);
  if (solution.gap) result["gap"] = number(solution.gap);
  if (solution.lambda_gap) result["lambda_gap"] = number(solution.lambda_gap);
  return result;
}

SolutionOutcome solution_from(const json& solution) {
  return {.lambda = numbers_at(solution, "lambda"),
          .iteration = count_at(solution, "iteration").value_or(0),
          .report = report_from(solution),
          .gap = number_at(solution, "gap"),
          .lambda_gap = number_at(solution, "lambda_gap")};
}

json work_json(const Work& work) {
  json result = json::object();
  for (const auto& [name, count] : kWorkCounts) result[name] = work.*count;
  result[kPaperCount] = work.paper_count();
  result[kGradientEquivalents] = number(work.gradient_equivalents());
  return result;
}

void add_residuals(json& root, const std::optional<double>& primal, const std::optional<double>& dual) {
  root["residuals"] = {{"primal", number(primal)}, {"dual", number(dual)}};
}

/// How the answer was judged: against the oracle, and by its certificate.
void add_judgement(json& root, const RunOutcome& outcome) {
  if (outcome.oracle)
    root["oracle"] = {{"lambda", outcome.oracle->oracle.lambda},
                      {"validation", number(outcome.oracle->oracle.validation)},
                      {"gap", number(outcome.oracle->gap)},
                      {"lambda_gap", number(outcome.oracle->lambda_gap)},
                      {"bounds", {outcome.oracle->oracle.low, outcome.oracle->oracle.high}}};
  if (!outcome.certificate) return;
  const RunOutcome::Judgement& certificate = *outcome.certificate;
  root["certificate"] = {{"inner_gradient", number(certificate.inner_gradient)},
                         {"hypergradient", number(certificate.hypergradient)},
                         {"hypergradient_error", number(certificate.hypergradient_error)},
                         {"gap", number(certificate.gap)},
                         {"lambda_gap", number(certificate.lambda_gap)},
                         {"verdict", certificate.verdict},
                         {"reason", certificate.reason}};
}

json interval_json(const ShiftInterval& interval) {
  return {{"low", number(interval.low)},
          {"high", number(interval.high)},
          {"low_is_bound", interval.low_is_end},
          {"high_is_bound", interval.high_is_end}};
}

json trust_json(const Trust& trust) {
  json curve = json::array();
  for (const CriterionPoint& point : trust.curve)
    curve.push_back({number(point.shift), number(point.value), number(point.standard_error)});
  return {{"criterion", trust.criterion},
          {"rows", trust.rows},
          {"value", number(trust.value)},
          {"standard_error", number(trust.standard_error)},
          {"minimum", std::vector<double>(trust.minimum.begin(), trust.minimum.end())},
          {"shift_within_one_se", interval_json(trust.interval)},
          {"shift_paired", interval_json(trust.paired)},
          {"shift_one_se_rule", number(trust.one_standard_error)},
          {"curve", std::move(curve)},
          {"optimism", trust.optimism}};
}

ShiftInterval interval_from(const json& interval) {
  return {.low = number_at(interval, "low").value_or(std::nan("")),
          .high = number_at(interval, "high").value_or(std::nan("")),
          .low_is_end = is_true_at(interval, "low_is_bound"),
          .high_is_end = is_true_at(interval, "high_is_bound")};
}

std::optional<Trust> trust_from(const json& root) {
  if (!root.is_object()) return {};
  const auto value = [&](const char* name) { return number_at(root, name).value_or(std::nan("")); };
  const std::vector<double> minimum = numbers_at(root, "minimum");
  Trust trust;
  trust.rows = count_at(root, "rows").value_or(0);
  trust.criterion = text_at(root, "criterion");
  trust.value = value("value");
  trust.standard_error = value("standard_error");
  trust.minimum = Eigen::Map<const Vector>(minimum.data(), std::ssize(minimum));
  trust.interval = interval_from(at(root, "shift_within_one_se"));
  trust.paired = interval_from(at(root, "shift_paired"));
  trust.one_standard_error = value("shift_one_se_rule");
  trust.optimism = text_at(root, "optimism");
  if (const json& curve = at(root, "curve"); curve.is_array())
    for (const json& each : curve) {
      const auto part = [&](std::size_t i) {
        return each.is_array() && i < each.size() && each[i].is_number() ? each[i].get<double>()
                                                                         : std::nan("");
      };
      trust.curve.push_back({.shift = part(0), .value = part(1), .standard_error = part(2)});
    }
  return trust;
}

}  // namespace

std::string SpecText::key() const { return sha256_of_text(json); }

SpecText text_of(const RunSpec& spec) {
  const TuneOptions& options = spec.options;
  return {.method = name_with_settings(method(options.method), options.settings),
          .seed = options.seed,
          .json = dumped(spec_json(spec))};
}

RunSpec spec_of(const SpecText& text) { return spec_from(json::parse(text.json)); }

std::string text_without_build(const SpecText& text) {
  json root = json::parse(text.json);
  if (root.is_object()) root.erase(kBuild);
  return dumped(root);
}

SpecInWords in_words(const SpecText& text) {
  json row = json::parse(text.json);
  if (!row.is_object()) row = json::object();
  SpecInWords words;
  words.spec = spec_from(row);
  json problem = json::object();
  for (const char* name : {kProblem, kData, kModel})
    if (row.contains(name)) {
      problem[name] = std::move(row[name]);
      row.erase(name);
    }
  row.erase(kSeed);
  if (at(row, kBuild).is_string()) row.erase(kBuild);
  if (!at(row, kSettings).is_object() || !at(row, kMethod).is_string()) split_method(text.method, row);
  words.spec.options.method = text_at(row, kMethod);
  for (const auto& [name, value] : row[kSettings].items()) words.settings[name] = written(value);
  for (const auto& [name, value] : row.items())
    if (name != kMethod && name != kSettings) flatten(value, name, words.others);
  if (const auto found = words.others.find(kBudgetOfRow); found != words.others.end())
    words.budget = number_of(found->second);
  add_about(words.about, at(problem, kModel));
  add_about(words.about, at(problem, kData));
  if (const json& files = at(at(problem, kData), kFiles); files.is_object())
    for (const auto& [name, value] : files.items()) words.files.emplace_back(name, written(value));
  words.problem = dumped(problem);
  words.row = dumped(row);
  return words;
}

RunOutcome outcome_of(const Tuned& tuned, const std::optional<OracleGap>& final) {
  const Outcome& outcome = tuned.outcome;
  const auto solution = [](const Solution& found, const Report& report, const std::optional<OracleGap>& gap) {
    SolutionOutcome result{.lambda = {found.lambda.begin(), found.lambda.end()},
                           .iteration = found.iteration,
                           .report = report,
                           .gap = {},
                           .lambda_gap = {}};
    if (gap) result.gap = gap->gap;
    if (gap) result.lambda_gap = gap->lambda_gap;
    return result;
  };
  RunOutcome run;
  run.message = outcome.message;
  run.lambda_names = tuned.lambda_names;
  run.best = solution(outcome.best, tuned.best, tuned.oracle);
  run.final = solution(outcome.final, tuned.final, final);
  run.iterations = static_cast<double>(outcome.iterations);
  run.work = outcome.work;
  run.paper_count = static_cast<double>(outcome.work.paper_count());
  run.gradient_equivalents = outcome.work.gradient_equivalents();
  run.primal_residual = outcome.primal_residual;
  run.dual_residual = outcome.dual_residual;
  run.skipped_steps = outcome.skipped_steps;
  run.inexact_solves = outcome.inexact_solves;
  run.failed_trials = outcome.failed_trials;
  run.oracle = tuned.oracle;
  run.trust = tuned.trust;
  if (const auto& certificate = tuned.certificate)
    run.certificate = RunOutcome::Judgement{.inner_gradient = certificate->inner_gradient,
                                            .hypergradient = certificate->hypergradient,
                                            .hypergradient_error = certificate->hypergradient_error,
                                            .gap = certificate->gap,
                                            .lambda_gap = certificate->lambda_gap,
                                            .verdict = std::string(to_string(certificate->verdict)),
                                            .reason = certificate->reason};
  return run;
}

std::string to_json(const RunOutcome& outcome) {
  json root = json::object();
  if (!outcome.error.empty()) {
    root["error"] = outcome.error;
  } else {
    root = {{"message", outcome.message},
            {"lambda_names", outcome.lambda_names},
            {"best", solution_json(outcome.best)},
            {"final", solution_json(outcome.final)},
            {"iterations", static_cast<std::int64_t>(outcome.iterations.value_or(0.0))},
            {"work", work_json(outcome.work)}};
    add_residuals(root, outcome.primal_residual, outcome.dual_residual);
    root["skipped_steps"] = outcome.skipped_steps;
    root["inexact_solves"] = outcome.inexact_solves;
    root["failed_trials"] = outcome.failed_trials;
    add_judgement(root, outcome);
    if (outcome.trust) root["trust"] = trust_json(*outcome.trust);
  }
  if (!outcome.file_names.empty()) root["file_names"] = outcome.file_names;
  return dumped(root);
}

RunOutcome outcome_from_json(const std::string& text) {
  const json root = json::parse(text);
  RunOutcome outcome;
  outcome.error = text_at(root, "error");
  outcome.message = text_at(root, "message");
  outcome.lambda_names = texts_at(root, "lambda_names");
  outcome.best = solution_from(at(root, "best"));
  outcome.final = solution_from(at(root, "final"));
  outcome.iterations = number_at(root, "iterations");
  const json& work = at(root, "work");
  for (const auto& [name, count] : kWorkCounts) outcome.work.*count = count_at(work, name).value_or(0);
  outcome.paper_count = number_at(work, kPaperCount);
  outcome.gradient_equivalents = number_at(work, kGradientEquivalents);
  // The sum is kept, and its parts are but for one: so that is the rest.
  outcome.work.factorisations =
      outcome.gradient_equivalents.value_or(0.0) - outcome.work.gradient_equivalents();
  outcome.primal_residual = number_at(at(root, "residuals"), "primal");
  outcome.dual_residual = number_at(at(root, "residuals"), "dual");
  outcome.skipped_steps = count_at(root, "skipped_steps").value_or(0);
  outcome.inexact_solves = count_at(root, "inexact_solves").value_or(0);
  outcome.failed_trials = count_at(root, "failed_trials").value_or(0);
  if (const json& oracle = at(root, "oracle"); oracle.is_object()) {
    const std::vector<double> bounds = numbers_at(oracle, "bounds");
    const auto value = [&](const char* name) { return number_at(oracle, name).value_or(std::nan("")); };
    outcome.oracle = OracleGap{.oracle = {.lambda = value("lambda"),
                                          .validation = value("validation"),
                                          .low = bounds.size() == 2 ? bounds[0] : std::nan(""),
                                          .high = bounds.size() == 2 ? bounds[1] : std::nan("")},
                               .gap = value("gap"),
                               .lambda_gap = value("lambda_gap")};
  }
  if (const json& certificate = at(root, "certificate"); certificate.is_object())
    outcome.certificate =
        RunOutcome::Judgement{.inner_gradient = number_at(certificate, "inner_gradient"),
                              .hypergradient = number_at(certificate, "hypergradient"),
                              .hypergradient_error = number_at(certificate, "hypergradient_error"),
                              .gap = number_at(certificate, "gap"),
                              .lambda_gap = number_at(certificate, "lambda_gap"),
                              .verdict = text_at(certificate, "verdict"),
                              .reason = text_at(certificate, "reason")};
  outcome.trust = trust_from(at(root, "trust"));
  outcome.file_names = text_map_at(root, "file_names");
  return outcome;
}

namespace {

json nested_json(const NestedScore& nested) {
  return {{"folds", nested.folds},
          {"rows", nested.rows},
          {"loss", number(nested.loss)},
          {"standard_error", number(nested.standard_error)},
          {"lambda_low", std::vector<double>(nested.lambda_low.begin(), nested.lambda_low.end())},
          {"lambda_high", std::vector<double>(nested.lambda_high.begin(), nested.lambda_high.end())}};
}

}  // namespace

namespace {

json certificate_json(const Certificate& certificate) {
  return {{"inner_gradient", number(certificate.inner_gradient)},
          {"hypergradient", number(certificate.hypergradient)},
          {"hypergradient_error", number(certificate.hypergradient_error)},
          {"verdict", to_string(certificate.verdict)},
          {"reason", certificate.reason}};
}

}  // namespace

std::string result_json(const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned) {
  const Prepared& data = problem.data();
  const Split& split = problem.split();
  const Outcome& outcome = tuned.outcome;
  const auto equivalents = [](const Equivalents& values) {
    json result = json::object();
    for (const auto& [name, value] : values) result[name] = number(value);
    return result;
  };
  const RunOutcome run = outcome_of(tuned, {});
  json root = {{"schema", kSchemaOfResult},
               {"yosida", version()},
               {kMethod, options.method},
               {kModel, data.model->name},
               {"status", to_string(outcome.status)},
               {"message", run.message},
               {"lambda", run.best.lambda},
               {"lambda_names", run.lambda_names},
               {"equivalents", equivalents(tuned.equivalents)}};
  add_report(root, run.best.report);
  root["work"] = work_json(run.work);
  add_residuals(root, run.primal_residual, run.dual_residual);
  root["iterations"] = outcome.iterations;
  root["best_iteration"] = run.best.iteration;
  root["skipped_steps"] = run.skipped_steps;
  root["inexact_solves"] = run.inexact_solves;
  root["failed_trials"] = run.failed_trials;
  root["seconds"] = outcome.seconds;
  root["wall_seconds"] = tuned.seconds;
  root["final"] = solution_json(run.final);
  if (tuned.refit) {
    root["refit"] = {{"equivalents", equivalents(tuned.refit_equivalents)}};
    add_report(root["refit"], *tuned.refit);
  }
  add_judgement(root, run);
  if (tuned.trust) root["trust"] = trust_json(*tuned.trust);
  if (tuned.nested) root["nested"] = nested_json(*tuned.nested);
  if (tuned.shrinkage > 0.0) root["shrinkage"] = tuned.shrinkage;
  if (data.criterion == "loo" || data.criterion == "gcv") root["criterion"] = data.criterion;
  root[kData] = {{"source", split.train.source},
                 {"train_rows", split.train.rows()},
                 {"validation_rows", split.validation.rows()},
                 {"folds", data.fold_count},
                 {"test_rows", split.test ? split.test->rows() : 0},
                 {"features", split.train.features()},
                 {"x", options.x},
                 {"y", data.labels ? "labels" : to_string(data.y_step)},
                 {"intercept", options.intercept},
                 {kSeed, options.seed}};
  return dumped(root, 2) + "\n";
}

std::string result_json(const TuneOptions& options, const TunedTargets& tuned) {
  json root = {{"schema", kSchemaOfResult},
               {"yosida", version()},
               {kMethod, options.method},
               {kModel, tuned.model.model},
               {"criterion", tuned.criterion},
               {"lambda_shared", tuned.is_shared},
               {"lambda_names", tuned.lambda_names},
               {"wall_seconds", tuned.seconds}};
  add_report(root["mean"], tuned.mean);
  if (tuned.mean_refit) add_report(root["mean_refit"], *tuned.mean_refit);
  root["targets"] = json::array();
  for (const TunedTarget& target : tuned.targets) {
    json one = {{"name", target.name},
                {"lambda", std::vector<double>(target.lambda.begin(), target.lambda.end())}};
    add_report(one, target.report);
    if (target.refit) add_report(one["refit"], *target.refit);
    if (target.certificate) one["certificate"] = certificate_json(*target.certificate);
    root["targets"].push_back(std::move(one));
  }
  root[kData] = {
      {"train_rows", tuned.rows},          {"validation_rows", tuned.validation_rows}, {"folds", tuned.folds},
      {"test_rows", tuned.test_rows},      {"features", tuned.model.features},         {"x", options.x},
      {"y", options.y.value_or("center")}, {"intercept", options.intercept},           {kSeed, options.seed}};
  return dumped(root, 2) + "\n";
}

std::string indented(const std::string& text) { return dumped(json::parse(text), 2); }

}  // namespace yosida::study
