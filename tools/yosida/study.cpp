#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "commands.hpp"
#include "output.hpp"
#include "table.hpp"
#include "yosida/error.hpp"
#include "yosida/number_text.hpp"
#include "yosida/study/builds.hpp"
#include "yosida/study/export.hpp"
#include "yosida/study/place.hpp"
#include "yosida/study/problem_name.hpp"
#include "yosida/study/run_outcome.hpp"

namespace yosida::cli {
namespace {

using study::Record;
using study::Store;

/// How a run of a study may have ended. One that was stopped, the last of the reasons, is never stored.
std::vector<std::string> statuses() {
  std::vector<std::string> names{study::kFailed};
  for (int reason = 0; reason < static_cast<int>(StopReason::stopped); ++reason)
    names.emplace_back(to_string(static_cast<StopReason>(reason)));
  return names;
}

// ---- which runs ----

/// Which runs a command is about: those that fit all that is given.
struct Filter {
  std::string method, status;
  std::optional<std::uint64_t> seed;

  void add_to(CLI::App& command) {
    command.add_option("--method", method, "only runs of this method, with whatever settings or just these");
    command.add_option("--seed", seed, "only runs of this seed")->check(whole_number());
    command.add_option("--status", status, "only runs that ended so")->check(CLI::IsMember(statuses()));
  }
  bool is_empty() const { return method.empty() && status.empty() && !seed; }
  bool matches(const Record& run) const {
    return (method.empty() || run.spec.method == method || run.spec.method.starts_with(method + ":")) &&
           (status.empty() || run.status == status) && (!seed || run.spec.seed == *seed);
  }
  std::vector<Record> of(const Store& store) const {
    std::vector<Record> runs = store.records(false);
    std::erase_if(runs, [this](const Record& run) { return !matches(run); });
    return runs;
  }
};

Record run_of(const Store& store, const std::string& file, const std::string& key) {
  std::optional<Record> run = store.record(key);
  if (!run)
    throw InputError(fmt::format("{}: no run has a key that starts with \"{}\"", study::shown_place(file),
                                 printable(key)));
  return std::move(*run);
}

std::vector<std::string> keys_of(const std::vector<Record>& runs) {
  std::vector<std::string> keys(runs.size());
  std::transform(runs.begin(), runs.end(), keys.begin(), [](const Record& run) { return run.spec.key(); });
  return keys;
}

// ---- list ----

/// So many digits that no two keys look the same.
std::size_t digits_of_keys(const std::vector<Record>& runs) {
  std::vector<std::string> keys = keys_of(runs);
  std::sort(keys.begin(), keys.end());
  std::size_t digits = 8;
  for (std::size_t i = 1; i < keys.size(); ++i)
    while (digits < keys[i].size() && keys[i].compare(0, digits, keys[i - 1], 0, digits) == 0) ++digits;
  return digits;
}

std::string shown(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? number_text(*value) : "-";
}

std::string shown(const std::vector<double>& values) {
  if (values.empty()) return "-";
  return values.size() == 1 ? shown(values[0]) : fmt::format("{} … ({})", shown(values[0]), values.size());
}

/// The runs as lines; their builds have a column where there are several.
Table table_of(const std::vector<Record>& runs) {
  const std::size_t digits = digits_of_keys(runs);
  std::vector<std::vector<std::string>> lines;
  std::vector<study::ProblemName> problems;
  std::vector<std::string> models, builds;
  for (const Record& run : runs) {
    const study::SpecInWords words = in_words(run.spec);
    const study::RunOutcome outcome = study::outcome_from_json(run.outcome);
    const auto& validation = outcome.final.report.validation;
    lines.push_back({run.spec.key().substr(0, digits), printable(run.spec.method),
                     std::to_string(run.spec.seed), printable(run.status),
                     shown(validation ? (*validation)[kLoss] : std::nullopt), shown(outcome.final.lambda),
                     shown(outcome.gradient_equivalents), number_text(run.seconds, 3),
                     printable(run.finished)});
    problems.push_back(problem_name(words, outcome.file_names, run.data_sha256));
    builds.push_back(study::build_in_words(words.spec.build));
    models.push_back(words.spec.options.model.empty() ? "-" : words.spec.options.model);
  }
  std::vector<Table::Column> columns = {{"key", kLeft},       {"method", kLeft},      {"seed", kRight},
                                        {"status", kLeft, 4}, {"validation", kRight}, {"lambda", kRight, 3},
                                        {"work", kRight, 5},  {"seconds", kRight, 6}, {"finished", kLeft, 7}};
  const auto add_column = [&](const char* title, const std::vector<std::string>& texts) {
    columns.push_back({title, kLeft, 2});
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i].push_back(printable(texts[i]));
  };
  add_column("data", told_apart(problems));
  add_column("model", models);
  if (std::set(builds.begin(), builds.end()).size() > 1) add_column("build", builds);
  Table table(columns);
  for (auto& line : lines) table.add(std::move(line));
  return table;
}

std::string size_of(const Store& store) {
  auto bytes = static_cast<double>(store.size_in_bytes());
  const char* units[] = {"bytes", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024.0 && unit < 3; ++unit) bytes /= 1024.0;
  return fmt::format("{:.{}f} {}", bytes, unit > 0 && bytes < 100.0 ? 1 : 0, units[unit]);
}

std::string count(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string summary(const std::vector<Record>& runs) {
  std::set<std::string> methods;
  std::set<std::uint64_t> seeds;
  std::map<std::string, std::size_t> statuses;
  for (const Record& run : runs) {
    methods.insert(run.spec.method);
    seeds.insert(run.spec.seed);
    ++statuses[printable(run.status)];
  }
  std::string parts;
  for (const auto& [status, number] : statuses)
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", number, status);
  return fmt::format("{}{}, {}, {}", count(runs.size(), "run"),
                     parts.empty() ? "" : fmt::format(" ({})", parts), count(methods.size(), "method"),
                     count(seeds.size(), "seed"));
}

int run_list(const std::string& file, const Filter& filter) {
  const Store store(file, Store::Mode::read);
  const std::vector<Record> runs = filter.of(store);
  if (!runs.empty()) {
    table_of(runs).print();
    fmt::print("\n");
  }
  fmt::print("{}{}; {}: {}\n", summary(runs), filter.is_empty() ? "" : " match",
             printable(study::shown_place(file)), size_of(store));
  return kOk;
}

// ---- show ----

void print_json(const char* title, const std::string& json) {
  fmt::print("\n{}\n{}\n", title, printable(study::indented(json), true));
}

std::string described(const TracePoint& point) {
  const std::vector<double> lambda(point.lambda.begin(), point.lambda.end());
  return fmt::format("iteration {}, validation {}, lambda {}", point.iteration, shown(point.loss.validation),
                     shown(lambda));
}

/// The validation loss from left to right, on a logarithmic scale where it is above 0.
std::string sparkline(const Trace& trace) {
  static const char* const kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kWidth = 60;
  std::vector<double> values;
  for (const TracePoint& point : trace)
    if (std::isfinite(point.loss.validation)) values.push_back(point.loss.validation);
  if (values.size() < 2) return "";
  if (*std::min_element(values.begin(), values.end()) > 0.0)
    for (double& value : values) value = std::log(value);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::size_t columns = std::min(kWidth, values.size());
  std::string bars;
  for (std::size_t j = 0; j < columns; ++j) {
    const double value = values[columns == 1 ? 0 : j * (values.size() - 1) / (columns - 1)];
    const double share = *high > *low ? (value - *low) / (*high - *low) : 0.0;
    bars += kBars[static_cast<std::size_t>(std::lround(7.0 * std::clamp(share, 0.0, 1.0)))];
  }
  return bars;
}

void print_trace(const Trace& trace) {
  if (trace.empty()) return fmt::print("\ntrace: none\n");
  const auto above = [](double loss) {
    return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
  };
  const auto best =
      std::min_element(trace.begin(), trace.end(), [&](const TracePoint& a, const TracePoint& b) {
        return above(a.loss.validation) < above(b.loss.validation);
      });
  fmt::print("\ntrace: {}\n  first: {}\n  best: {}\n  last: {}\n", count(trace.size(), "point"),
             described(trace.front()), described(*best), described(trace.back()));
  if (const std::string bars = sparkline(trace); !bars.empty()) fmt::print("  {}\n", bars);
}

struct ShowFlags {
  std::string file, key;
  bool trace = false;
};

int run_show(const ShowFlags& flags) {
  const Store store(flags.file, Store::Mode::read);
  const Record run = run_of(store, flags.file, flags.key);
  if (flags.trace) {
    fmt::print("{}", study::trace_table(run.trace));
    return kOk;
  }
  fmt::print(
      "run: {}\nmethod: {}\nseed: {}\nstatus: {}\nseconds: {}\nfinished: {}\nprogram: {}\nbuild: {}\ndata "
      "sha256: {}\n",
      run.spec.key(), printable(run.spec.method), run.spec.seed, printable(run.status), run.seconds,
      printable(run.finished), printable(run.program),
      printable(study::build_in_words(spec_of(run.spec).build)), printable(run.data_sha256));
  print_json("spec", run.spec.json);
  print_json("outcome", run.outcome);
  print_trace(run.trace);
  return kOk;
}

// ---- export ----

struct ExportFlags {
  std::string file, format = "csv", out = "-";
  study::ExportOptions options = {};
};

int run_export(ExportFlags flags) {
  require_writable({{"--out", flags.out}}, files_of_study(flags.file));
  const Store store(flags.file, Store::Mode::read);
  OutputStream out(flags.out);
  flags.options.study = study::shown_place(flags.file);
  flags.options.as_json = flags.format == "json";
  study::export_runs(store, flags.options, [&](std::string_view text) { out.write(text); });
  out.finish();
  return kOk;
}

// ---- prune ----

struct PruneFlags {
  std::string file;
  Filter filter;
  std::vector<std::string> keys;
  bool failed = false, dry_run = false;
};

std::vector<Record> runs_to_prune(const Store& store, const PruneFlags& flags) {
  Filter filter = flags.filter;
  if (flags.failed) filter.status = study::kFailed;
  std::vector<Record> runs = filter.of(store);
  if (flags.keys.empty()) return runs;
  std::set<std::string> keys;
  for (const std::string& key : flags.keys) keys.insert(run_of(store, flags.file, key).spec.key());
  std::erase_if(runs, [&](const Record& run) { return !keys.contains(run.spec.key()); });
  return runs;
}

int run_prune(const PruneFlags& flags) {
  if (flags.filter.is_empty() && flags.keys.empty() && !flags.failed)
    throw InputError("study prune: say which runs: --failed, --method, --seed, --status or --key");
  Store store(flags.file, flags.dry_run ? Store::Mode::read : Store::Mode::update);
  const std::vector<Record> runs = runs_to_prune(store, flags);
  const std::vector<std::string> keys = keys_of(runs);
  if (!flags.dry_run && !keys.empty()) store.remove(keys);
  const std::size_t digits = digits_of_keys(runs);
  for (const Record& run : runs)
    fmt::print("{}  {}  seed {}  {}\n", run.spec.key().substr(0, digits), printable(run.spec.method),
               run.spec.seed, printable(run.status));
  fmt::print("{} {}\n", flags.dry_run ? "would remove" : "removed", count(runs.size(), "run"));
  return kOk;
}

// ---- copy ----

int run_copy(const std::string& from, const std::string& to) {
  if (!study::is_database(to)) require_writable({{"study copy", to}}, files_of_study(from));
  const Store source(from, Store::Mode::read);
  Store target(to, Store::Mode::create);
  const study::CopyReport report = study::copy_study(source, target);
  fmt::print("{}: {} copied, {} there before\n", printable(study::shown_place(to)),
             count(static_cast<std::size_t>(report.copied), "run"), report.there_before);
  return kOk;
}

// ---- the command line ----

void add_file(CLI::App& command, std::string& file) {
  command.add_option("file", file, "the study, as compare --study makes it: a file, or postgresql://…")
      ->required();
}

void add_list(CLI::App& study, int& exit_code) {
  auto* command = study.add_subcommand("list", "one line for each run");
  auto file = std::make_shared<std::string>();
  auto filter = std::make_shared<Filter>();
  add_file(*command, *file);
  filter->add_to(*command);
  command->footer("Example:\n  yosida study list study.db --method sho");
  command->callback([file, filter, &exit_code] { exit_code = run_list(*file, *filter); });
}

void add_show(CLI::App& study, int& exit_code) {
  auto* command = study.add_subcommand("show", "everything about one run");
  auto flags = std::make_shared<ShowFlags>();
  add_file(*command, flags->file);
  command->add_option("key", flags->key, "the run: the first digits of its key, as list prints them")
      ->required();
  command->add_flag("--trace", flags->trace, "its trace instead, as CSV");
  command->footer(
      "Examples:\n  yosida study show study.db 1f2e3d4c\n  yosida study show study.db 1f2e3d4c --trace");
  command->callback([flags, &exit_code] { exit_code = run_show(*flags); });
}

void add_export(CLI::App& study, int& exit_code) {
  auto* command =
      study.add_subcommand("export", "all runs, for other programs; the order is always the same");
  auto flags = std::make_shared<ExportFlags>();
  add_file(*command, flags->file);
  command
      ->add_option("--format", flags->format,
                   "csv (one row for each run) or json (an array of objects) [csv]")
      ->check(CLI::IsMember({"csv", "json"}));
  command->add_option("--out", flags->out, "the file to write [-]");
  command->add_flag("--traces", flags->options.traces,
                    "csv: one row for each point of each trace instead; json: traces too");
  command->add_flag("--without-times", flags->options.without_times,
                    "leave out seconds and when runs finished: equal studies then give equal files");
  command->footer("Example:\n  yosida study export study.db --format json --traces --out study.json");
  command->callback([flags, &exit_code] { exit_code = run_export(*flags); });
}

void add_prune(CLI::App& study, int& exit_code) {
  auto* command =
      study.add_subcommand("prune", "remove runs that fit all that is given, so that they are done again");
  auto flags = std::make_shared<PruneFlags>();
  add_file(*command, flags->file);
  flags->filter.add_to(*command);
  command->add_flag("--failed", flags->failed, "the same as --status failed")->excludes("--status");
  command->add_option("--key", flags->keys, "only this run: the first digits of its key; may be given again")
      ->allow_extra_args(false);
  command->add_flag("--dry-run", flags->dry_run, "remove nothing, say what would be removed");
  command->footer("Example:\n  yosida study prune study.db --failed --dry-run");
  command->callback([flags, &exit_code] { exit_code = run_prune(*flags); });
}

void add_copy(CLI::App& study, int& exit_code) {
  auto* command = study.add_subcommand("copy", "copy all runs to another study; those that it has stay");
  auto from = std::make_shared<std::string>();
  auto to = std::make_shared<std::string>();
  command->add_option("from", *from, "the study that is read: a file, or postgresql://…")->required();
  command->add_option("to", *to, "where to: the same; made where it is not there")->required();
  command->footer(
      "Examples:\n"
      "  yosida study copy study.db copy.db\n"
      "  yosida study copy study.db 'postgresql://host/database?study=prices'");
  command->callback([from, to, &exit_code] { exit_code = run_copy(*from, *to); });
}

}  // namespace

void add_study(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("study", "look at the runs of a study, export them, copy them, remove some");
  command->require_subcommand(1);
  command->footer("Examples:\n  yosida study list study.db\n  yosida study export study.db --out runs.csv");
  add_list(*command, exit_code);
  add_show(*command, exit_code);
  add_export(*command, exit_code);
  add_prune(*command, exit_code);
  add_copy(*command, exit_code);
}

}  // namespace yosida::cli
