#include "data_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
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

Dataset read_part(const DataFlags& flags, const std::string& file, const std::string& target_file,
                  const char* target_flag) {
  ReadOptions options;
  options.target = target_file.empty() ? flags.target : "";
  options.target_file = target_file;
  options.missing = parse_missing(flags.missing);
  options.ignore = flags.ignore;
  Dataset data = read_dataset(file, options);
  if (data.y.size() == 0)
    throw InputError(
        fmt::format("{}: no target: name its column with --target (a name or an index), or its file with {}",
                    file, target_flag));
  if (flags.dense) data.x = to_dense(data.x);
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
  }
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

Split read_split(const DataFlags& flags, bool stratified) {
  if (!flags.data.empty()) return built_in(flags.data, flags.seed);
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
  widen(split);
  const std::string reference = flags.train;
  align_features(split.validation, split.train.feature_names, split.train.features(), reference, false);
  if (split.test)
    align_features(*split.test, split.train.feature_names, split.train.features(), reference, false);
  return split;
}

}  // namespace

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
  command.add_option("--seed", seed, "seed of splits, noise and built-in data [0]")
      ->check(whole_number())
      ->group(group);
  const std::string model_group = "Model";
  command.add_option("--model", model, "ridge (a number) or logistic (two classes) [ridge]")
      ->group(model_group);
  command
      .add_option("--x", x,
                  "features: raw, center, standardize, minmax, difference or a chain such as "
                  "difference,minmax [standardize]")
      ->group(model_group);
  command.add_option("--y", y, "target of ridge: raw, center, standardize [center]")->group(model_group);
  auto* on = command.add_flag("--intercept", with_intercept, "an unpenalised intercept (the default)")
                 ->group(model_group);
  command.add_flag("--no-intercept", no_intercept, "no intercept, as in the paper's experiments")
      ->group(model_group)
      ->excludes(on);
}

Prepared prepare(const DataFlags& flags, const Loss& loss) {
  parse_missing(flags.missing);
  require_alone(flags);
  const std::vector<XStep> x_steps = parse_x_steps(flags.x);
  const YStep y_step = loss.is_classification() ? YStep::raw : parse_y_step(flags.y.value_or("center"));
  if (loss.is_classification() && flags.y)
    throw InputError("--y: is for ridge; the labels of a classification are mapped to -1 and +1");
  Prepared prepared;
  prepared.split = read_split(flags, loss.is_classification());
  Split& split = prepared.split;
  if (loss.is_classification()) {
    prepared.labels = map_labels(split);
  } else {
    require_varying_target(split.train);
  }
  prepared.features = split.train.features();
  prepared.feature_names = split.train.feature_names;
  prepared.pretreatment = fit_pretreatment(split.train, x_steps, y_step, flags.missing == "mean");
  prepared.pretreatment.apply(split.validation);
  if (split.test) prepared.pretreatment.apply(*split.test);
  if (split.train.x.is_sparse() && flags.x == "standardize")
    prepared.note =
        "the sparse features are scaled without centring, so that zeros stay zeros; --dense centres them too";
  return prepared;
}

}  // namespace yosida::cli
