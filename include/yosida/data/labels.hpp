#pragma once

#include <string>
#include <vector>

#include "yosida/data/split.hpp"

namespace yosida {

/// The two values a classification target takes in the user's files; the smaller one is −1.
struct Labels {
  double negative = -1.0;
  double positive = 1.0;
};

/// Finds the two labels of the training rows and maps every part of the split to −1 / +1. Throws
/// InputError where there are one or more than two values, or a part holds another one.
Labels map_labels(Split& split);
/// The same for one more data set, with labels known.
void map_labels(const Labels& labels, Dataset& data);

/// Throws InputError where the training target is constant.
void require_varying_target(const Dataset& train);

/// The columns of `data` in the order of `names`, where both have names. Throws InputError naming
/// the first column that is missing, or, unless `extra_allowed`, one too many. Without names only
/// the count is checked (a sparse design with fewer columns is widened).
void align_features(Dataset& data, const std::vector<std::string>& names, Index features,
                    const std::string& reference, bool extra_allowed);

}  // namespace yosida
