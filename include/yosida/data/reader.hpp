#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/error.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// What to do with a missing value: in a text file an empty field, NA, NaN or ?; in an array NaN. LIBSVM has
/// none. A missing target is an error unless its row is dropped.
enum class Missing {
  refuse,  ///< an error that names the first one
  mean,    ///< read as NaN; pretreatment puts the training mean of the column in its place
  drop,    ///< leave out the row
};

/// Which columns of a file are what, and what to do where it has gaps.
struct ReadOptions {
  /// The target's column: a name of the header, or an index (from 0; negative counts from the end).
  /// Empty: the target is where the format puts it (LIBSVM: the first field; NPZ: the array y), or there is
  /// none.
  std::string target = {};
  /// The file that holds the target, one value a row, where it is a file of its own (of any format). It goes
  /// before a target that the format itself carries.
  std::filesystem::path target_file = {};
  Missing missing = Missing::refuse;
  /// The column may be absent although `target` names it (prediction on unlabelled data).
  bool target_optional = false;
  /// Columns of a CSV file to pass over (an identifier, text), by name or index as the target is.
  std::vector<std::string> ignore = {};
  /// The columns of a CSV file that hold the weight of each row (≥ 0; as written, not yet of mean 1) and the
  /// fold it is in, by name or index as the target is. Empty: there are none.
  std::string weight = {};
  std::string fold = {};
  /// The column of folds may be absent (test rows are in none).
  bool fold_optional = false;
  /// Where not empty and the file names its columns: pass over all but these and the target.
  std::vector<std::string> only = {};
  /// A sparse file becomes a dense design.
  bool dense = false;
  /// The most memory, in bytes, that what a file holds may take. 0: a gigabyte, and 256 bytes for each byte
  /// of the file as it lies there (4096 of a sparse one), but no more than the machine has; see docs/data.md.
  std::uint64_t max_memory = 0;
  /// A folder to keep parsed CSV and LIBSVM files in (see parsed_files): the next read of the same bytes with
  /// the same options maps what is kept. Empty: nothing is kept. Whoever makes a kept file shorter while the
  /// data is used ends the program by SIGBUS.
  std::filesystem::path cache = {};
  /// Columns of a CSV file that are categories, whatever they look like, and columns that are numbers: a
  /// field of these that is none is a missing value. By name or index as the target is. Where neither says,
  /// the file does; see docs/data.md.
  std::vector<std::string> categorical = {}, numeric = {};
  /// The decimal mark of a CSV file, '.' or ','; the other one, spaces and apostrophes may then separate
  /// thousands. 0: seen from the file.
  char decimal = '\0';
  /// The first level of each category gets no feature.
  bool drop_first = false;
  /// How a table was read that this one is to be read like (Dataset::table): the same columns, found by name
  /// in any order, others passed over, and the same levels. Plain: as this file says itself.
  TableForm like = {};
  /// A level that `like` does not have is an error; else its row has none of the features of that column, and
  /// a note counts it.
  bool refuse_unseen = false;
  /// The column of a CSV file whose fields are to be kept as they stand (Dataset::id).
  std::string id = {};
  /// Hears why a kept file could not be used or written, in a sentence; the data file is read all the same.
  std::function<void(const std::string&)> tell = {};
};

/// The file may be right, but there is not enough memory for what it holds. The command line turns it into
/// exit code 1, as it does std::bad_alloc.
struct MemoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Columns of a table cannot be read as they are; `correction` holds the flags with which they are passed
/// over or read otherwise, as the command line has them: "--ignore id,sold".
struct TableError : InputError {
  /// A message, and the flags with which reading goes on.
  TableError(const std::string& message, std::string flags)
      : InputError(message), correction(std::move(flags)) {}
  std::string correction;
};

/// Reads a data file, its format told by its ending: .csv; .tsv, .tab; .txt, .dat (the delimiter is seen from
/// the first line); .libsvm, .svm, .t (LIBSVM); .npy; .npz (the data is array x, X, data or features,
/// or the only one; the target y, Y, target or labels); IDX (-ubyte, .idx, .idx1, .idx3, -idx within the
/// name), each also with .gz or .xz behind it. NPY and IDX files are known by their first bytes too; without
/// an ending, and of a pipe, all formats are. "-" is standard input. Throws InputError naming file, line,
/// field, value and rule, and MemoryError. May be called from several threads. A large .npy file of doubles,
/// row by row, is mapped and not copied: whoever makes it shorter while the data is used ends the program by
/// SIGBUS.
Dataset read_dataset(const std::filesystem::path& file, const ReadOptions& options = {});

}  // namespace yosida
