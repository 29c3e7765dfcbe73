#include "yosida/tune/data_files.hpp"

#include <fmt/format.h>

#include <array>

#include "yosida/data/catalog.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr std::array<std::string_view, 3> kMissingNames = {"refuse", "mean", "drop"};

[[noreturn]] void refuse(const char* flag, const char* why) {
  throw InputError(fmt::format("{}: {}", flag, why));
}

Dataset read_part(const DataFiles& files, const std::string& file, const std::string& target_file,
                  const char* target_flag) {
  ReadOptions options;
  options.target = target_file.empty() ? files.target : "";
  options.target_file = target_file;
  options.missing = files.missing;
  options.ignore = files.ignore;
  options.weight = files.weights;
  options.fold = files.fold_column;
  options.fold_optional = file != files.train;
  options.dense = files.dense;
  options.max_memory = files.max_memory;
  if (files.cache) options.cache = parsed_files();
  options.tell = files.tell;
  Dataset data = read_dataset(file, options);
  if (files.singles) {
    try {
      data.x = with_singles(data.x);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: --float: {}", file, error.what()));
    }
  }
  if (data.y.size() == 0)
    throw InputError(
        fmt::format("{}: no target: name its column with --target (a name or an index), or its file with {}",
                    file, target_flag));
  return data;
}

/// What belongs to files cannot be said of built-in rows.
void verify_built_in(const DataFiles& files, const ValidationOptions& validation) {
  const char* why = "goes with --train, not with --data";
  if (!files.validation.empty()) refuse("--valid", why);
  if (!files.test.empty()) refuse("--test", why);
  if (!files.target.empty()) refuse("--target", why);
  if (!files.train_target.empty()) refuse("--train-target", why);
  if (validation.fraction) refuse("--valid-fraction", why);
  if (validation.test_fraction != 0.0) refuse("--test-fraction", why);
  if (files.missing != Missing::refuse) refuse("--missing", why);
  if (!files.ignore.empty()) refuse("--ignore", why);
  if (files.dense) refuse("--dense", why);
  if (files.singles) refuse("--float", why);
  if (files.max_memory != 0) refuse("--max-memory", why);
  if (files.cache) refuse("--cache", why);
  if (!files.weights.empty()) refuse("--weights", why);
  if (!files.fold_column.empty()) refuse("--fold-column", why);
}

void verify_folds(const DataFiles& files, const ValidationOptions& validation) {
  if (!validation.folds && files.fold_column.empty()) return;
  const char* flag = validation.folds ? "--folds" : "--fold-column";
  if (validation.folds && !files.fold_column.empty())
    refuse("--fold-column", "does not go with --folds: folds are drawn or given");
  if (!files.validation.empty())
    refuse(flag, "does not go with --valid: every row is a validation row of one fold");
  if (validation.fraction)
    refuse(flag, "does not go with --valid-fraction: every row is a validation row of one fold");
}

void verify_targets(const DataFiles& files) {
  if (!files.validation_target.empty() && files.validation.empty()) refuse("--valid-target", "needs --valid");
  if (!files.test_target.empty() && files.test.empty()) refuse("--test-target", "needs --test");
  if (files.train_target.empty()) return;
  if (!files.target.empty())
    refuse("--train-target", "does not go with --target: the target is one or the other");
  if (!files.validation.empty() && files.validation_target.empty())
    refuse("--valid-target", "needed beside --train-target and --valid");
  if (!files.test.empty() && files.test_target.empty())
    refuse("--test-target", "needed beside --train-target and --test");
}

}  // namespace

Missing parse_missing(std::string_view text) {
  for (std::size_t i = 0; i < kMissingNames.size(); ++i)
    if (text == kMissingNames[i]) return static_cast<Missing>(i);
  throw InputError(fmt::format("missing = {}: must be refuse, mean or drop", text));
}

std::string_view to_string(Missing missing) { return kMissingNames[static_cast<std::size_t>(missing)]; }

void verify_files(const DataFiles& files, const ValidationOptions& validation) {
  if (files.built_in.empty() == files.train.empty())
    throw InputError("give the data either as --train FILE or as --data NAME (a built-in data set: spectra)");
  if (!files.built_in.empty()) verify_built_in(files, validation);
  verify_folds(files, validation);
  if (!files.validation.empty() && validation.fraction)
    refuse("--valid-fraction", "does not go with --valid: the validation rows are given");
  if (!files.test.empty() && validation.test_fraction != 0.0)
    refuse("--test-fraction", "does not go with --test: the test rows are given");
  verify_targets(files);
}

Rows read_rows(const DataFiles& files, const TuneOptions& options) {
  verify_model(options);
  verify_files(files, options.validation);
  if (!files.built_in.empty()) {
    Split split = built_in(files.built_in, options.seed);
    if (options.validation.folds)
      return {.train = train_and_validation(split), .test = std::move(split.test)};
    return {.train = std::move(split.train),
            .validation = std::move(split.validation),
            .test = std::move(split.test)};
  }
  Rows rows{.train = read_part(files, files.train, files.train_target, "--train-target")};
  if (!files.validation.empty())
    rows.validation = read_part(files, files.validation, files.validation_target, "--valid-target");
  if (!files.test.empty()) rows.test = read_part(files, files.test, files.test_target, "--test-target");
  return rows;
}

}  // namespace yosida
