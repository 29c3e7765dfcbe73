#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/data/reader.hpp"
#include "yosida/export.hpp"
#include "yosida/tune/prepare.hpp"

namespace YOSIDA_EXPORT yosida {

/// Where the rows are. Targets, columns, missing values and memory as ReadOptions has them.
struct DataFiles {
  std::string built_in = {};  ///< a built-in data set instead of files
  std::string train = {}, validation = {}, test = {};
  /// Files of the targets, where these stand apart.
  std::string train_target = {}, validation_target = {}, test_target = {};
  std::string target = {};
  std::vector<std::string> ignore = {};
  std::string weights = {};      ///< the column of row weights
  std::string fold_column = {};  ///< the column of folds: with it, rows are cross-validated by these
  Missing missing = Missing::refuse;
  bool dense = false;
  bool singles = false;  ///< dense rows are kept as numbers of 4 bytes
  std::uint64_t max_memory = 0;
  bool cache = false;  ///< keep parsed files in the user's cache, and use what is there
  /// As ReadOptions has it.
  std::function<void(const std::string&)> tell = {};

  /// That are read; empty names among them.
  std::vector<std::string> paths() const {
    return {train, validation, test, train_target, validation_target, test_target};
  }
};

/// "refuse", "mean" or "drop", and back. Throws InputError.
Missing parse_missing(std::string_view text);
std::string_view to_string(Missing missing);

/// Throws InputError where they do not fit each other, or not the way that rows are to be validated. Reads
/// nothing.
void verify_files(const DataFiles& files, const ValidationOptions& validation);
/// Reads them, for options.seed where built-in rows are drawn; before that, everything is verified that needs
/// no rows. Throws InputError and MemoryError.
Rows read_rows(const DataFiles& files, const TuneOptions& options);

}  // namespace yosida
