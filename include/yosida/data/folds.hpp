#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "yosida/data/split.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// The fold of each row, 0 to folds − 1, drawn by the seed; their sizes differ by at most 1. Stratified: also
/// the rows of each value of y do. Throws InputError where folds < 2, or more than there are rows (of some
/// value of y, where stratified).
std::vector<Index> draw_folds(const Dataset& data, Index folds, bool stratified, std::uint64_t seed);
/// The same with rows of equal `group` in one fold: the largest groups first, each to the fold that has the
/// fewest rows. Throws InputError where there are fewer groups than folds.
std::vector<Index> draw_grouped_folds(const std::vector<std::string>& group, Index folds, std::uint64_t seed);
/// Draws whole groups for the validation and the test part, until these are as near to their share of the
/// rows as groups allow. Throws InputError where a part would be empty.
Split split_grouped_rows(const Dataset& data, const std::vector<std::string>& group,
                         const SplitOptions& options);
/// The folds that the data's own column names: each distinct value is one, in rising order. Throws InputError
/// where there is one only.
std::vector<Index> given_folds(const Dataset& data);

/// One split for each fold: its rows are the validation rows, all others the training rows. Views, which
/// share the features of the data. Throws InputError where a row has no fold, or fewer than 2 are numbered
/// from 0 without a gap.
std::vector<Split> fold_splits(const Dataset& data, const std::vector<Index>& fold_of_row);

}  // namespace yosida
