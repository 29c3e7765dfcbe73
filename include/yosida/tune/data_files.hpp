#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/data/reader.hpp"
#include "yosida/export.hpp"
#include "yosida/tune/prepare.hpp"
#include "yosida/tune/targets.hpp"

namespace YOSIDA_EXPORT yosida {

/// Where the rows are. Targets, columns, missing values and memory as ReadOptions has them.
struct DataFiles {
  std::string built_in = {};  ///< a data set of the catalog instead of files
  std::string data_dir = {};  ///< where that is looked for first
  std::string train = {}, validation = {}, test = {};
  /// Files of the targets, where these stand apart.
  std::string train_target = {}, validation_target = {}, test_target = {};
  std::string target = {};  ///< its column, or those of several targets: a,b,c
  /// The file of several targets where these stand apart: a row for each training row, a column for each.
  std::string targets = {};
  std::vector<std::string> ignore = {}, categorical = {}, numeric = {};
  char decimal = '\0';
  bool drop_first = false, refuse_unseen = false;
  std::string weights = {};  ///< the column of row weights
  /// The column that says of each training row whether it is a test row ("test"); empty: none is.
  std::string part_column = {};
  std::string fold_column = {};  ///< the column of folds: with it, rows are cross-validated by these
  std::string group_rows = {};   ///< the column whose equal fields stay together in a fold or part
  Missing missing = Missing::refuse;
  bool dense = false;
  bool singles = false;  ///< dense rows are kept as numbers of 4 bytes
  std::uint64_t max_memory = 0;
  bool cache = false;  ///< keep parsed files in the user's cache, and use what is there
  /// Hears sentences for a person; see ReadOptions::tell.
  std::function<void(const std::string&)> tell = {};

  /// The files that are read; names that were not given are empty.
  std::vector<std::string> paths() const {
    return {train, validation, test, train_target, validation_target, test_target, targets};
  }
  /// Several targets are named, or their file.
  bool has_several_targets() const;
};

/// "refuse", "mean" or "drop", and back. Throws InputError.
Missing parse_missing(std::string_view text);
std::string_view to_string(Missing missing);

/// The files, target and columns of a data set of the catalog in the place of its name; as it is where there
/// is none, or that has no files of rows. Throws InputError where one is not here, with how to get it.
DataFiles with_catalog(DataFiles files);

/// Throws InputError where they do not fit each other, or not the way that rows are to be validated. Reads
/// nothing.
void verify_files(const DataFiles& files, const ValidationOptions& validation);
/// Reads them, for options.seed where built-in rows are drawn; before that, everything is verified that needs
/// no rows. Throws InputError and MemoryError.
Rows read_rows(const DataFiles& files, const TuneOptions& options);
/// Rows with several targets.
struct RowsOfTargets {
  Rows rows;
  Targets targets;
};
/// As read_rows, where the files name several targets.
RowsOfTargets read_rows_of_targets(const DataFiles& files, const TuneOptions& options);

}  // namespace yosida
