#pragma once

#include <filesystem>
#include <string>

#include "yosida/data/dataset.hpp"

namespace yosida {

/// What to do with an empty field (also NA, NaN or ? in a CSV file, where it stands for "missing").
enum class Missing {
  refuse,  ///< an error that names the first one
  mean,    ///< read as NaN; pretreatment puts the training mean of the column in its place
  drop,    ///< leave out the row
};

struct ReadOptions {
  /// The target's column: a name of the header, or an index (from 0; negative counts from the end).
  /// Empty: the file holds no target. LIBSVM files carry theirs in the first field always.
  std::string target;
  /// The file that holds the target, one value a row, where it is a file of its own.
  std::filesystem::path target_file;
  Missing missing = Missing::refuse;
  /// A column that may be absent although `target` names it (prediction on unlabelled data).
  bool target_optional = false;
};

/// Reads a data file by its ending: .csv, .tsv/.tab/.txt, .libsvm/.svm/.t or no ending (LIBSVM), .npy,
/// .npz (arrays "x"/"X" and "y"; an only array is x), IDX (-ubyte, .idx, .idx1, .idx3), each also with .gz or .xz
/// behind it. Throws InputError naming file, line, field, value and rule.
Dataset read_dataset(const std::filesystem::path& file, const ReadOptions& options = {});

}  // namespace yosida
