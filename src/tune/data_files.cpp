#include "yosida/tune/data_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "data/digest.hpp"
#include "data/formats.hpp"
#include "yosida/data/catalog.hpp"
#include "yosida/data/gtsrb.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr const char* kSpectra = "spectra";
constexpr const char* kGtsrb = "gtsrb";
constexpr std::array<std::string_view, 3> kMissingNames = {"refuse", "mean", "drop"};

[[noreturn]] void refuse(const char* flag, const char* why) {
  throw InputError(fmt::format("{}: {}", flag, why));
}

/// `like`: how the training rows were read, for all others.
Dataset read_part(const DataFiles& files, const std::string& file, const std::string& target_file,
                  const char* target_flag, const TableForm* like = nullptr) {
  ReadOptions options;
  // Where there are several targets, this is the first; the others are taken out of the features.
  options.target = target_file.empty() && !files.target.empty() ? split_targets(files.target)[0] : "";
  options.target_file = target_file;
  options.missing = files.missing;
  if (like != nullptr) options.like = *like;
  if (options.like.columns.empty()) {  // else it says what each column is
    options.ignore = files.ignore;
    options.categorical = files.categorical;
    options.numeric = files.numeric;
  }
  options.decimal = files.decimal;
  options.drop_first = files.drop_first;
  options.refuse_unseen = files.refuse_unseen;
  const bool groups = !files.group_rows.empty() && file == files.train;
  options.id = groups ? files.group_rows : files.part_column;
  if (!files.group_rows.empty() && !groups && options.like.columns.empty())
    options.ignore.push_back(files.group_rows);
  options.weight = files.weights;
  options.fold = files.fold_column;
  options.fold_optional = file != files.train;
  options.dense = files.dense;
  options.max_memory = files.max_memory;
  if (files.cache) options.cache = parsed_files();
  options.tell = files.tell;
  Dataset data = files.singles ? read_dataset_as_singles(file, options) : read_dataset(file, options);
  if (like != nullptr && data.table.from_zero && !like->from_zero)
    throw InputError(fmt::format(
        "{}: its indices count from 0, those of the training rows from 1: both must be written alike", file));
  if (data.y.size() == 0 && files.targets.empty())
    throw InputError(
        fmt::format("{}: no target: name its column with --target (a name or an index), or its file with {}",
                    file, target_flag));
  return data;
}

/// Whether two files hold the same rows. Few have the same targets, so that hardly any is read once more.
bool hold_the_same(const std::filesystem::path& a, const Dataset& in_a, const std::filesystem::path& b,
                   const Dataset& in_b) {
  if (in_a.rows() != in_b.rows() || in_a.y.size() != in_b.y.size() || in_a.y != in_b.y) return false;
  std::error_code error;
  if (a == b || std::filesystem::equivalent(a, b, error)) return true;
  const auto bytes_of = [&](const std::filesystem::path& file) {
    return std::filesystem::is_regular_file(file, error) ? std::filesystem::file_size(file, error) : 0;
  };
  const std::uint64_t bytes = bytes_of(a);
  return bytes > 0 && bytes == bytes_of(b) && digest_of_pieces(a, bytes) == digest_of_pieces(b, bytes);
}

/// Rows that are to judge what they have trained.
void note_same_rows(const DataFiles& files, Rows& rows) {
  if (rows.validation && hold_the_same(files.train, rows.train, files.validation, *rows.validation))
    rows.validation->notes.emplace_back(
        "its rows are the training rows: judged by rows that it was trained on, a model needs no penalty; "
        "without --valid a part of --train judges");
  if (rows.test && !files.test.empty() && hold_the_same(files.train, rows.train, files.test, *rows.test))
    rows.test->notes.emplace_back(
        "its rows are the training rows: the test loss does not say how new rows are predicted");
}

/// Moves the training rows whose id is "test" to the test rows.
void take_out_test_rows(Rows& rows) {
  std::vector<Index> train, test;
  for (Index i = 0; i < rows.train.rows(); ++i)
    (rows.train.id[static_cast<std::size_t>(i)] == "test" ? test : train).push_back(i);
  rows.test = select_rows(rows.train, test);
  rows.train = select_rows(rows.train, train);
}

/// What belongs to files cannot be said of built-in rows.
void verify_built_in(const DataFiles& files, const ValidationOptions& validation) {
  const char* why = "goes with --train, not with --data";
  if (!files.validation.empty()) refuse("--valid", why);
  if (!files.test.empty()) refuse("--test", why);
  if (!files.target.empty()) refuse("--target", why);
  if (!files.targets.empty()) refuse("--targets", why);
  if (!files.train_target.empty()) refuse("--train-target", why);
  if (validation.fraction) refuse("--valid-fraction", why);
  if (validation.test_fraction != 0.0) refuse("--test-fraction", why);
  if (files.missing != Missing::refuse) refuse("--missing", why);
  if (!files.ignore.empty()) refuse("--ignore", why);
  if (!files.categorical.empty()) refuse("--categorical", why);
  if (!files.numeric.empty()) refuse("--numeric", why);
  if (files.decimal != '\0') refuse("--decimal", why);
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

void verify_groups(const DataFiles& files) {
  if (files.group_rows.empty()) return;
  if (!files.built_in.empty() || !files.part_column.empty())
    refuse("--group-rows", "names a column of --train, and does not go with --data");
  if (const auto names = split_targets(files.target);
      std::find(names.begin(), names.end(), files.group_rows) != names.end())
    refuse("--group-rows", "names the target: rows are held together by a column of their own");
  if (!files.validation.empty())
    refuse("--group-rows", "does not go with --valid: the validation rows are given");
  if (!files.fold_column.empty())
    refuse("--group-rows", "does not go with --fold-column: folds are drawn or given");
}

void verify_group_columns(const DataFiles& files, const PenaltyOptions& penalty) {
  if (files.group_rows.empty()) return;
  for (const std::string& group : penalty.groups) {
    const auto columns = split_targets(group.substr(group.find('=') + 1));
    if (std::find(columns.begin(), columns.end(), files.group_rows) != columns.end())
      throw InputError(
          fmt::format("--group {}: column \"{}\" holds rows together (--group-rows) and is no feature", group,
                      files.group_rows));
  }
}

void verify_targets(const DataFiles& files) {
  if (!files.validation_target.empty() && files.validation.empty()) refuse("--valid-target", "needs --valid");
  if (!files.test_target.empty() && files.test.empty()) refuse("--test-target", "needs --test");
  if (!files.targets.empty()) {
    if (!files.target.empty() || !files.train_target.empty())
      refuse("--targets", "does not go with --target or --train-target: the targets are one or the other");
    if (!files.validation.empty() || !files.test.empty())
      refuse("--targets",
             "does not go with --valid or --test: name the columns of several targets by --target a,b,c");
    if (files.missing == Missing::drop)
      refuse("--targets", "does not go with --missing drop: its rows are those of --train");
  }
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
    throw InputError(
        "give the data either as --train FILE or as --data NAME (yosida data list shows the names)");
  if (files.built_in == kSpectra) verify_built_in(files, validation);
  verify_folds(files, validation);
  verify_groups(files);
  if (validation.judges_by_rows() && !files.validation.empty())
    refuse("--valid", "does not go with --criterion loo or gcv: all rows train, and each judges");
  if (validation.judges_by_rows() && !files.fold_column.empty())
    refuse("--fold-column", "does not go with --criterion loo or gcv: every row is left out by itself");
  if (!files.validation.empty() && validation.fraction)
    refuse("--valid-fraction", "does not go with --valid: the validation rows are given");
  if (!files.test.empty() && validation.test_fraction != 0.0)
    refuse("--test-fraction", "does not go with --test: the test rows are given");
  verify_targets(files);
}

DataFiles with_catalog(DataFiles files) {
  if (files.built_in.empty() || !files.train.empty()) return files;
  const CatalogEntry& entry = catalog_entry(files.built_in);
  if (entry.name == kSpectra || entry.name == kGtsrb) return files;
  const char* why = "goes with --train, not with --data";
  if (!files.validation.empty()) refuse("--valid", why);
  if (!files.test.empty()) refuse("--test", why);
  if (!files.train_target.empty()) refuse("--train-target", why);
  const std::vector<std::filesystem::path> paths = require_data(entry, data_folders(files.data_dir));
  files.built_in.clear();
  files.train = paths.at(0).string();
  if (entry.name == "cookie") {
    if (files.target.empty()) files.target = "fat";
    files.part_column = "set";
    for (const char* other : {"sample", "fat", "sucrose", "dry_flour", "water"})
      if (const auto names = split_targets(files.target);
          std::find(names.begin(), names.end(), other) == names.end())
        files.ignore.emplace_back(other);
    return files;
  }
  if (entry.name == "breast-cancer-scale" || entry.name == "diabetes-scale" || entry.name == "dna")
    throw InputError(
        fmt::format("--data {}: is for yosida reproduce --suite lassobench; to tune on it, copy "
                    "{} under a name that ends in .libsvm.xz and name that by --train",
                    entry.name, paths.front().string()));
  if (entry.name.starts_with("covtype") && files.target.empty()) files.target = "-1";
  if (paths.size() == 1) return files;
  // Rows and targets of one part after the other, or files that hold both.
  const bool has_targets = paths.size() == 4;
  if (has_targets) {
    files.train_target = paths[1].string();
    files.test_target = paths[3].string();
  }
  files.test = paths.at(has_targets ? 2 : 1).string();
  return files;
}

namespace {

Rows read_all_rows(const DataFiles& given, const TuneOptions& options) {
  verify_model(options);
  const DataFiles files = with_catalog(given);
  verify_files(files, options.validation);
  verify_group_columns(files, options.penalty);
  if (files.built_in == kGtsrb)
    return {.train = gtsrb_features(data_folders(files.data_dir), {}, files.tell).data};
  if (!files.built_in.empty()) {
    Split split = built_in(files.built_in, options.seed);
    if (options.validation.folds || options.validation.judges_by_rows() ||
        options.validation.criterion == "folds")
      return {.train = train_and_validation(split), .test = std::move(split.test)};
    return {.train = std::move(split.train),
            .validation = std::move(split.validation),
            .test = std::move(split.test)};
  }
  Rows rows{.train = read_part(files, files.train, files.train_target, "--train-target")};
  if (!files.part_column.empty()) take_out_test_rows(rows);
  if (!files.validation.empty())
    rows.validation =
        read_part(files, files.validation, files.validation_target, "--valid-target", &rows.train.table);
  if (!files.test.empty())
    rows.test = read_part(files, files.test, files.test_target, "--test-target", &rows.train.table);
  note_same_rows(files, rows);
  return rows;
}

}  // namespace

bool DataFiles::has_several_targets() const { return !targets.empty() || split_targets(target).size() > 1; }

Rows read_rows(const DataFiles& files, const TuneOptions& options) {
  if (files.has_several_targets())
    throw InputError(
        "--target: names several targets: only yosida tune takes them; a name that holds a comma stands in "
        "double quotes");
  return read_all_rows(files, options);
}

RowsOfTargets read_rows_of_targets(const DataFiles& files, const TuneOptions& options) {
  RowsOfTargets all{.rows = read_all_rows(files, options), .targets = {}};
  if (files.targets.empty()) {
    all.targets = take_targets(all.rows, split_targets(files.target));
    return all;
  }
  ReadOptions reading;
  reading.missing = Missing::mean;  // a gap is found, and named by its target, with all others
  reading.max_memory = files.max_memory;
  const Dataset targets = read_dataset(files.targets, reading);
  if (targets.rows() != all.rows.train.rows())
    throw InputError(fmt::format("{}: {} rows of targets, {} has {}: each row needs its targets",
                                 files.targets, targets.rows(), files.train, all.rows.train.rows()));
  all.targets.train = to_matrix(targets.x);
  all.targets.names = targets.feature_names;
  for (Index t = std::ssize(all.targets.names); t < targets.features(); ++t)
    all.targets.names.push_back(std::to_string(t));
  return all;
}

}  // namespace yosida
