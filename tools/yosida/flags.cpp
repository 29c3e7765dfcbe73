#include "flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <map>

#include "command_text.hpp"
#include "commands.hpp"
#include "say.hpp"
#include "yosida/error.hpp"

namespace yosida::cli {
namespace {

/// LO,HI as two numbers; their order is the library's to judge.
Interval parse_bounds(const std::string& text) {
  const auto number = [&](std::string_view part) {
    double value = 0.0;
    if (!settings::parse_real(part, {-std::numeric_limits<double>::infinity(), false}, value))
      throw InputError(fmt::format("bounds = {}: must be two finite numbers LO,HI", text));
    return value;
  };
  const std::string_view view = text;
  const std::size_t comma = std::min(view.find(','), view.size());
  return {.low = number(view.substr(0, comma)),
          .high = number(view.substr(std::min(comma + 1, view.size())))};
}

}  // namespace

CLI::Option* add_max_memory(CLI::App& command, std::uint64_t& bytes) {
  const auto refused = [](const std::string& text) {
    return text == "0" || text.starts_with('-') ? "must be at least a byte" : std::string();
  };
  // What is said is looked at before units are taken for factors (-5 becomes a large number), and after it
  // (0k).
  return command
      .add_option("--max-memory", bytes,
                  "the most memory that a data file may take, as 500M or 8G [1G, and 256 bytes for each byte "
                  "of the file]")
      ->transform(CLI::AsSizeValue(true))
      ->transform(CLI::Validator(refused, ""))
      ->check(CLI::Validator(refused, ""));
}

CLI::Option* add_decimal(CLI::App& command, char& mark) {
  const auto refused = [](const std::string& text) {
    return text == "." || text == "," ? std::string() : fmt::format("{} must be . or ,", text);
  };
  return command.add_option("--decimal", mark, "the decimal mark of a CSV file, . or , [seen from the file]")
      ->check(CLI::Validator(refused, ""));
}

CLI::Option* add_unseen(CLI::App& command, bool& refuse) {
  return command
      .add_option_function<std::string>(
          "--unseen", [&](const std::string& text) { refuse = text == "refuse"; },
          "a level that the training file does not have: zeros (none of the features) or refuse [zeros]")
      ->check(CLI::IsMember({"zeros", "refuse"}));
}

namespace {

void add_file_flags(CLI::App& command, DataFiles& files) {
  const std::string group = "Data";
  command
      .add_option("--train", files.train,
                  "training rows: .csv .tsv .txt .libsvm .npy .npz IDX, also .gz and .xz; a folder or "
                  "'part-*.csv': several "
                  "files")
      ->group(group);
  command.add_option("--valid", files.validation, "validation rows (default: a part of --train)")
      ->group(group);
  command.add_option("--test", files.test, "test rows, reported only")->group(group);
  command
      .add_option("--target", files.target,
                  "the target's column: a name, or an index from 0 (-1 is the last); tune takes several of "
                  "ridge, as NAME,NAME,...")
      ->group(group);
  const auto add_columns = [&](const char* flag, std::vector<std::string>& names, const char* meaning) {
    command.add_option(flag, names, fmt::format("columns of a CSV file {}: NAME,NAME,...", meaning))
        ->delimiter(',')
        ->group(group);
  };
  add_columns("--ignore", files.ignore, "to pass over");
  add_columns("--categorical", files.categorical, "that are categories, whatever they look like");
  add_columns("--numeric", files.numeric, "that are numbers; other text in them is a missing value");
  add_decimal(command, files.decimal)->group(group);
  command.add_flag("--drop-first", files.drop_first, "the first level of each category gets no feature")
      ->group(group);
  add_unseen(command, files.refuse_unseen)->group(group);
  command
      .add_option("--train-target", files.train_target,
                  "file of the training targets, where they stand apart (IDX, NPY)")
      ->group(group);
  command.add_option("--valid-target", files.validation_target, "file of the validation targets")
      ->group(group);
  command.add_option("--test-target", files.test_target, "file of the test targets")->group(group);
  command.add_option("--data", files.built_in, "a data set by name instead of files; see: yosida data list")
      ->group(group);
  command.add_option("--data-dir", files.data_dir, "where --data is looked for first")->group(group);
}

void add_row_flags(CLI::App& command, DataFiles& files, TuneOptions& options) {
  const std::string group = "Data";
  command
      .add_option("--valid-fraction", options.validation.fraction,
                  "share of --train drawn as validation rows [0.25]")
      ->group(group);
  command
      .add_option("--test-fraction", options.validation.test_fraction,
                  "share of --train drawn as test rows [0]")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--missing",
          [&](const std::string& text) {
            files.missing = parse_missing(text);
            options.fill_missing = files.missing == Missing::mean;
          },
          "an empty field: refuse, mean (of the training rows) or drop (the row) [refuse]")
      ->group(group);
  command.add_flag("--dense", files.dense, "turn a sparse file into a dense table")->group(group);
  command.add_flag("--float", files.singles, "keep dense rows as 4-byte numbers: half the memory, 7 digits")
      ->group(group);
  add_max_memory(command, files.max_memory)->group(group);
  files.tell = [](const std::string& note) { say("yosida: {}\n", note); };
  command
      .add_flag("--cache", files.cache,
                "keep parsed CSV and LIBSVM files in the user's cache, where the next run finds them")
      ->group(group);
  command.add_option("--seed", options.seed, "seed of splits, noise and built-in data [0]")
      ->check(whole_number())
      ->group(group);
  command.add_option("--weights", files.weights, "the column of a CSV file with the weight of each row")
      ->group(group);
  command
      .add_option("--class-weights", options.class_weights,
                  "weight of the rows of each class: balanced, or LABEL=W,LABEL=W,...")
      ->group(group);
}

void add_model_flags(CLI::App& command, TuneOptions& options) {
  const std::string group = "Model";
  std::string known;
  for (const Model& each : models())
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", each.name, each.meaning);
  command.add_option("--model", options.model, known + " [ridge; of classes logistic or softmax]")
      ->group(group);
  command
      .add_option("--x", options.x,
                  "features: raw, center, standardize, minmax, difference or a chain such as "
                  "difference,minmax [standardize]")
      ->group(group);
  command
      .add_option(
          "--y", options.y,
          "a target that is a number: raw, center, standardize [center; huber: standardize, poisson: raw]")
      ->group(group);
  auto* on = command
                 .add_flag_function(
                     "--intercept", [&](std::int64_t said) { options.intercept = said > 0; },
                     "an unpenalised intercept (the default)")
                 ->group(group);
  command
      .add_flag_function(
          "--no-intercept", [&](std::int64_t said) { options.intercept = said <= 0; },
          "no intercept, as in the paper's experiments")
      ->group(group)
      ->excludes(on);
}

}  // namespace

void add_data_flags(CLI::App& command, DataFiles& files, TuneOptions& options) {
  add_file_flags(command, files);
  add_row_flags(command, files, options);
  add_model_flags(command, options);
}

void add_fold_flags(CLI::App& command, DataFiles& files, TuneOptions& options) {
  const std::string group = "Data";
  command
      .add_option(
          "--folds", options.validation.folds,
          "cross-validation with so many folds (of classes in equal shares), then a refit on all rows")
      ->check(whole_number())
      ->group(group);
  command
      .add_option("--fold-column", files.fold_column,
                  "cross-validation with the folds that this column names: each value is one")
      ->group(group);
  ValidationOptions& validation = options.validation;
  command
      .add_option("--criterion", validation.criterion,
                  "what judges a lambda: holdout, folds, loo (each row by weights trained without it) or gcv "
                  "(of least squares) [folds where there are some, else holdout]")
      ->group(group);
  command.add_option("--repeats", validation.repeats, "draw the folds so many times [1]")
      ->check(signed_number())
      ->group(group);
  command
      .add_option_function<std::string>(
          "--group-rows",
          [&](const std::string& column) {
            files.group_rows = column;
            validation.grouped = true;
          },
          "the column of a CSV file that says which rows belong together: they stay in one fold or part")
      ->group(group);
}

void add_trust_flags(CLI::App& command, TrustOptions& trust) {
  const std::string group = "Trust";
  command
      .add_flag("--trust", trust.report, "also show the standard error over the rows and intervals of lambda")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--rule", [&](const std::string& text) { trust.rule = parse_rule(text); },
          "which lambda is taken: min, or 1se (the largest penalty within one standard error) [min]")
      ->group(group);
  command
      .add_option("--nested", trust.nested,
                  "repeat the whole tuning in so many outer folds: an honest score of it")
      ->check(whole_number())
      ->group(group);
  command
      .add_option_function<std::string>(
          "--shrinkage",
          [&](const std::string& text) {
            double value = 0.0;
            trust.chooses_shrinkage = text == "nested";
            if (trust.chooses_shrinkage) return;
            if (!settings::parse_real(text, LowerLimit{0.0, true}, value))
              throw InputError(fmt::format("shrinkage = {}: must be a number >= 0 or nested", text));
            trust.shrinkage = value;
          },
          "how strongly several lambda are drawn together: a number >= 0, or nested (chosen) [0.01 where "
          "they are 5 or more, over a tenth of the rows that judge them, and these under 1000; else 0]")
      ->group(group);
}

void add_penalty_flags(CLI::App& command, PenaltyOptions& penalty) {
  const std::string group = "Model";
  command
      .add_option("--penalty", penalty.kind,
                  "l2, l1 (sets weights to 0), elastic-net (both), group-lasso (sets groups to 0) or "
                  "sparse-group-lasso (both kinds of 0) [l2; that of lasso and elastic-net]")
      ->group(group);
  command
      .add_option(
          "--group-scale", penalty.group_scale,
          "of groups that share a lambda: sqrt (a norm counts by the root of its group's size) or none "
          "[none]")
      ->group(group);
  command
      .add_option("--lambda-per", penalty.lambda_per,
                  "what has a lambda of its own: shared (one for all), feature, class (of softmax), group, "
                  "target (of several) or row (how far each training row is trusted) [shared]")
      ->group(group);
  command
      .add_option("--fixed-penalty", penalty.fixed,
                  "with --lambda-per row: C of the penalty C w^2 of all weights, which stays as it is")
      ->group(group);
  command.add_option("--groups", penalty.groups_file, "groups of features: a file of lines feature,group")
      ->group(group);
  command
      .add_option("--group", penalty.groups,
                  "a group of features, NAME=col,col,... (repeatable; all others are the group \"rest\")")
      ->group(group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--unpenalised", penalty.unpenalised, "columns without a penalty: col,col,...")
      ->delimiter(',')
      ->group(group);
}

void add_run_flags(CLI::App& command, TuneOptions& options, std::optional<int>& threads) {
  const std::string run = "Run";
  command
      .add_option("--budget-gradients", options.limits.gradients,
                  "stop before more gradient computations than this")
      ->check(signed_number())
      ->group(run);
  command.add_option("--max-iterations", options.limits.iterations, "stop after so many iterations")
      ->check(signed_number())
      ->group(run);
  command.add_option("--time-limit", options.limits.seconds, "stop after so many seconds")->group(run);
  command.add_option("--lambda0", options.lambda0, "where every lambda starts (the method's own start)")
      ->group(run);
  command
      .add_option_function<std::string>(
          "--bounds", [&](const std::string& text) { options.bounds = parse_bounds(text); },
          "keep lambda inside LO,HI (and search the oracle there)")
      ->group(run);
  command.add_option("--threads", threads, "threads for large designs [all cores]")->group(run);
}

void add_setting_flags(CLI::App& command, SettingValues& values) {
  std::map<std::string, std::string> meanings;
  for (const Method& each : methods())
    for (const SettingInfo& setting : each.settings) meanings.emplace(setting.name, setting.meaning);
  // A setting means what its method says: help shows them by method. (In the group "" messages would not name
  // them.)
  for (const auto& [name, meaning] : meanings)
    command
        .add_option_function<std::string>(
            flag_of_setting(name), [&values, name = name](const std::string& text) { values[name] = text; },
            meaning)
        ->group(kHiddenGroup);
  command
      .add_option_function<std::string>(
          "--help-method",
          [](const std::string& name) {
            print_method(method(name));
            throw CLI::Success();
          },
          "show the settings of a method, which are flags, too: --help-method tpe")
      ->trigger_on_parse()
      ->group("Options");
}

std::vector<std::string> input_paths(const DataFiles& files, const PenaltyOptions& penalty) {
  std::vector<std::string> paths = files.paths();
  paths.push_back(penalty.groups_file);
  return paths;
}

}  // namespace yosida::cli
