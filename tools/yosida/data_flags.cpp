#include "data_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "row_weights.hpp"
#include "yosida/data/folds.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/error.hpp"

namespace yosida::cli {
namespace {

Missing parse_missing(const std::string& text) {
  if (text == "refuse") return Missing::refuse;
  if (text == "mean") return Missing::mean;
  if (text == "drop") return Missing::drop;
  throw InputError(fmt::format("missing = {}: must be refuse, mean or drop", text));
}

/// Here, and not only where the problem is made: rows still stand where the file has them.
void require_targets(const Dataset& data, const std::string& name) {
  const Model& known = model(name);
  if (known.code) return;
  const Loss& loss = known.loss(0);
  for (Index i = 0; i < data.y.size(); ++i)
    if (!std::isnan(data.y[i]) && !loss.accepts(data.y[i]))
      throw InputError(fmt::format("{}: row {} has target {}: must be {} for --model {}", data.source, i + 1,
                                   data.y[i], loss.targets(), name));
}

Dataset read_part(const DataFlags& flags, const std::string& file, const std::string& target_file,
                  const char* target_flag) {
  ReadOptions options;
  options.target = target_file.empty() ? flags.target : "";
  options.target_file = target_file;
  options.missing = parse_missing(flags.missing);
  options.ignore = flags.ignore;
  options.weight = flags.weights;
  options.fold = flags.fold_column;
  options.fold_optional = file != flags.train;
  options.dense = flags.dense;
  options.max_memory = flags.max_memory;
  Dataset data = read_dataset(file, options);
  if (data.y.size() == 0)
    throw InputError(
        fmt::format("{}: no target: name its column with --target (a name or an index), or its file with {}",
                    file, target_flag));
  require_targets(data, flags.model);
  // Before a split by classes fails on a target that has none.
  if (const auto code = model(flags.model).code; code && file == flags.train) find_labels(data, *code);
  return data;
}

void require_alone(const DataFlags& flags) {
  const auto refuse = [](const char* flag, const char* why) {
    throw InputError(fmt::format("{}: {}", flag, why));
  };
  if (flags.data.empty() == flags.train.empty())
    throw InputError("give the data either as --train FILE or as --data NAME (a built-in data set: spectra)");
  if (!flags.data.empty()) {
    const char* why = "goes with --train, not with --data";
    if (!flags.validation.empty()) refuse("--valid", why);
    if (!flags.test.empty()) refuse("--test", why);
    if (!flags.target.empty()) refuse("--target", why);
    if (!flags.train_target.empty()) refuse("--train-target", why);
    if (flags.validation_fraction) refuse("--valid-fraction", why);
    if (flags.test_fraction != 0.0) refuse("--test-fraction", why);
    if (flags.missing != "refuse") refuse("--missing", why);
    if (!flags.ignore.empty()) refuse("--ignore", why);
    if (flags.dense) refuse("--dense", why);
    if (flags.max_memory != 0) refuse("--max-memory", why);
    if (!flags.weights.empty()) refuse("--weights", why);
    if (!flags.fold_column.empty()) refuse("--fold-column", why);
  }
  if (flags.has_folds()) {
    const char* fold_flag = flags.folds ? "--folds" : "--fold-column";
    if (flags.folds && !flags.fold_column.empty())
      refuse("--fold-column", "does not go with --folds: folds are drawn or given");
    if (!flags.validation.empty())
      refuse(fold_flag, "does not go with --valid: every row is a validation row of one fold");
    if (flags.validation_fraction)
      refuse(fold_flag, "does not go with --valid-fraction: every row is a validation row of one fold");
    if (flags.folds && *flags.folds < 2)
      throw InputError(fmt::format("folds = {}: must be >= 2", *flags.folds));
  }
  if (!flags.class_weights.empty() && !model(flags.model).code)
    refuse("--class-weights", "is for classifications: --model logistic, softmax or svm");
  if (!flags.validation.empty() && flags.validation_fraction)
    refuse("--valid-fraction", "does not go with --valid: the validation rows are given");
  if (!flags.test.empty() && flags.test_fraction != 0.0)
    refuse("--test-fraction", "does not go with --test: the test rows are given");
  if (!flags.validation_target.empty() && flags.validation.empty()) refuse("--valid-target", "needs --valid");
  if (!flags.test_target.empty() && flags.test.empty()) refuse("--test-target", "needs --test");
  if (!flags.train_target.empty()) {
    if (!flags.target.empty())
      refuse("--train-target", "does not go with --target: the target is one or the other");
    if (!flags.validation.empty() && flags.validation_target.empty())
      refuse("--valid-target", "needed beside --train-target and --valid");
    if (!flags.test.empty() && flags.test_target.empty())
      refuse("--test-target", "needed beside --train-target and --test");
  }
}

/// Sparse files say only how many columns they use: all parts get the most of them.
void widen(Split& split) {
  Index most = std::max(split.train.features(), split.validation.features());
  if (split.test) most = std::max(most, split.test->features());
  for (Dataset* part : {&split.train, &split.validation, split.test ? &*split.test : nullptr})
    if (part != nullptr && part->x.is_sparse()) part->x.sparse().columns = most;
}

void align(Split& split, const std::string& reference) {
  widen(split);
  align_features(split.validation, split.train.feature_names, split.train.features(), reference, false);
  if (split.test)
    align_features(*split.test, split.train.feature_names, split.train.features(), reference, false);
}

Split read_split(const DataFlags& flags, bool stratified) {
  if (!flags.data.empty()) {
    Split split = built_in(flags.data, flags.seed);
    require_targets(split.train, flags.model);
    return split;
  }
  const SplitOptions fractions{.validation_fraction = flags.validation_fraction.value_or(0.25),
                               .test_fraction = flags.test_fraction,
                               .stratified = stratified,
                               .seed = flags.seed};
  Split split;
  if (flags.validation.empty()) {
    split = split_rows(read_part(flags, flags.train, flags.train_target, "--train-target"), fractions);
  } else {
    split.train = read_part(flags, flags.train, flags.train_target, "--train-target");
    split.validation = read_part(flags, flags.validation, flags.validation_target, "--valid-target");
    if (flags.test_fraction != 0.0)
      throw InputError("--test-fraction: goes with --valid-fraction; give the test rows as --test FILE");
  }
  if (!flags.test.empty()) split.test = read_part(flags, flags.test, flags.test_target, "--test-target");
  align(split, flags.train);
  return split;
}

/// For cross-validation: all rows but the test rows as training and as validation rows.
Split read_rows(const DataFlags& flags, bool stratified) {
  Split split;
  if (!flags.data.empty()) {
    split = read_split(flags, stratified);
    split.train = train_and_validation(split);
  } else {
    split.train = read_part(flags, flags.train, flags.train_target, "--train-target");
    if (flags.test_fraction != 0.0) {
      Split drawn = split_rows(
          std::move(split.train),
          {.validation_fraction = flags.test_fraction, .stratified = stratified, .seed = flags.seed});
      split = {.train = std::move(drawn.train), .validation = {}, .test = std::move(drawn.validation)};
    }
    if (!flags.test.empty()) split.test = read_part(flags, flags.test, flags.test_target, "--test-target");
  }
  split.validation = split.train;
  align(split, flags.train);
  return split;
}

/// Every class must be among the training rows of every fold.
void require_classes(const std::vector<Split>& folds, const Labels& labels) {
  for (std::size_t k = 0; k < folds.size(); ++k) {
    const Vector& y = folds[k].train.y;
    for (const double label : labels.values)
      if (std::find(y.begin(), y.end(), label) == y.end())
        throw InputError(fmt::format("{}: without fold {} (of {}) no row of class {} is left to train on",
                                     folds[k].train.source, k + 1, folds.size(), label));
  }
}

void pretreat(Split& split, const Pretreatment& pretreatment) {
  pretreatment.apply(split.validation);
  if (split.test) pretreatment.apply(*split.test);
}

}  // namespace

CLI::Option* add_max_memory(CLI::App& command, std::uint64_t& bytes) {
  return command
      .add_option(
          "--max-memory", bytes,
          "the most memory that a data file may take, as 500M or 8G [1G and 256 bytes for each of the file]")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::PositiveNumber);
}

void DataFlags::add_to(CLI::App& command) {
  const std::string group = "Data";
  command
      .add_option("--train", train, "training rows: .csv .tsv .txt .libsvm .npy .npz IDX, also .gz and .xz")
      ->group(group);
  command.add_option("--valid", validation, "validation rows (default: a part of --train)")->group(group);
  command.add_option("--test", test, "test rows, reported only")->group(group);
  command.add_option("--target", target, "the target's column: a name, or an index from 0 (-1 is the last)")
      ->group(group);
  command.add_option("--ignore", ignore, "columns of a CSV file to pass over: NAME,NAME,...")
      ->delimiter(',')
      ->group(group);
  command
      .add_option("--train-target", train_target,
                  "file of the training targets, where they stand apart (IDX, NPY)")
      ->group(group);
  command.add_option("--valid-target", validation_target, "file of the validation targets")->group(group);
  command.add_option("--test-target", test_target, "file of the test targets")->group(group);
  command.add_option("--data", data, "a built-in data set instead of files: spectra")->group(group);
  command
      .add_option("--valid-fraction", validation_fraction, "share of --train drawn as validation rows [0.25]")
      ->group(group);
  command.add_option("--test-fraction", test_fraction, "share of --train drawn as test rows [0]")
      ->group(group);
  command
      .add_option("--missing", missing,
                  "an empty field: refuse, mean (of the training rows) or drop (the row) [refuse]")
      ->group(group);
  command.add_flag("--dense", dense, "turn a sparse file into a dense design")->group(group);
  add_max_memory(command, max_memory)->group(group);
  command.add_option("--seed", seed, "seed of splits, noise and built-in data [0]")
      ->check(whole_number())
      ->group(group);
  command.add_option("--weights", weights, "the column of a CSV file with the weight of each row")
      ->group(group);
  command
      .add_option("--class-weights", class_weights,
                  "weight of the rows of each class: balanced, or LABEL=W,LABEL=W,...")
      ->group(group);
  const std::string model_group = "Model";
  std::string known;
  for (const Model& each : models())
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", each.name, each.meaning);
  command.add_option("--model", model, known + " [ridge]")->group(model_group);
  command
      .add_option("--x", x,
                  "features: raw, center, standardize, minmax, difference or a chain such as "
                  "difference,minmax [standardize]")
      ->group(model_group);
  command
      .add_option(
          "--y", y,
          "a target that is a number: raw, center, standardize [center; huber: standardize, poisson: raw]")
      ->group(model_group);
  auto* on = command.add_flag("--intercept", with_intercept, "an unpenalised intercept (the default)")
                 ->group(model_group);
  command.add_flag("--no-intercept", no_intercept, "no intercept, as in the paper's experiments")
      ->group(model_group)
      ->excludes(on);
}

void DataFlags::add_folds_to(CLI::App& command) {
  const std::string group = "Data";
  command
      .add_option(
          "--folds", folds,
          "cross-validation with so many folds (of classes in equal shares), then a refit on all rows")
      ->check(whole_number())
      ->group(group);
  command
      .add_option("--fold-column", fold_column,
                  "cross-validation with the folds that this column names: each value is one")
      ->group(group);
}

Prepared prepare(const DataFlags& flags) {
  parse_missing(flags.missing);
  Prepared prepared;
  prepared.model = &model(flags.model);
  const std::optional<ClassCode> code = prepared.model->code;
  require_alone(flags);
  const std::vector<XStep> x_steps = parse_x_steps(flags.x);
  prepared.y_step = flags.y ? parse_y_step(*flags.y) : prepared.model->y;
  if (flags.y && code)
    throw InputError(
        "--y: is for a target that is a number (ridge, lasso, elastic-net, huber); the labels of a "
        "classification are mapped to classes");
  if (flags.y && !prepared.model->y_may_change && prepared.y_step != YStep::raw)
    throw InputError(
        fmt::format("--y {}: the target of {} stays as it is: only raw is possible", *flags.y, flags.model));
  const bool fill = flags.missing == "mean";
  prepared.split =
      flags.has_folds() ? read_rows(flags, code.has_value()) : read_split(flags, code.has_value());
  Split& split = prepared.split;
  if (flags.has_folds()) {
    const std::vector<Index> fold_of_row =
        flags.folds ? draw_folds(split.train, *flags.folds, code.has_value(), flags.seed)
                    : given_folds(split.train);
    prepared.folds = fold_splits(split.train, fold_of_row);
    prepared.fold_count = static_cast<Index>(prepared.folds.size());
  }
  std::optional<ClassWeights> class_weights;
  if (code) {
    prepared.labels = find_labels(split.train, *code);
    require_classes(prepared.folds, *prepared.labels);
    map_labels(split, *code);
    for (Split& fold : prepared.folds) {
      map_labels(*prepared.labels, *code, fold.train);
      map_labels(*prepared.labels, *code, fold.validation);
    }
    if (!flags.class_weights.empty()) class_weights.emplace(flags.class_weights, *prepared.labels, *code);
  } else {
    require_varying_target(split.train);
    for (const Split& fold : prepared.folds) require_varying_target(fold.train);
  }
  prepared.loss = &prepared.model->loss(prepared.labels ? prepared.labels->classes() : 0);
  prepared.features = split.train.features();
  prepared.feature_names = split.train.feature_names;
  weigh_rows(split, flags.weights, class_weights);
  for (Split& fold : prepared.folds) {
    weigh_rows(fold, flags.weights, class_weights);
    pretreat(fold, fit_pretreatment(fold.train, x_steps, prepared.y_step, fill));
  }
  prepared.pretreatment = fit_pretreatment(split.train, x_steps, prepared.y_step, fill);
  if (prepared.folds.empty()) {
    pretreat(split, prepared.pretreatment);
  } else {
    split.validation = split.train;
    if (split.test) prepared.pretreatment.apply(*split.test);
  }
  if (split.train.x.is_sparse() && flags.x == "standardize")
    prepared.note =
        "the sparse features are scaled without centring, so that zeros stay zeros; --dense centres them too";
  return prepared;
}

Prepared prepare(Split split, const std::string& model, const std::string& x, const std::string& y) {
  Prepared prepared;
  prepared.model = &yosida::model(model);
  if (const std::optional<ClassCode> code = prepared.model->code) prepared.labels = map_labels(split, *code);
  prepared.loss = &prepared.model->loss(prepared.labels ? prepared.labels->classes() : 0);
  prepared.y_step = y.empty() ? YStep::raw : parse_y_step(y);
  prepared.features = split.train.features();
  prepared.feature_names = split.train.feature_names;
  prepared.pretreatment = fit_pretreatment(split.train, parse_x_steps(x), prepared.y_step);
  pretreat(split, prepared.pretreatment);
  prepared.split = std::move(split);
  return prepared;
}

}  // namespace yosida::cli
