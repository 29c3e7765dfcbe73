#pragma once

#include <string>
#include <vector>

#include "yosida/data/split.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// How a loss names classes: of two the smaller label is −1 and the larger +1; of K they are 0 to K−1.
enum class ClassCode { signs, indices };

/// The values a classification target takes in the user's files, in rising order.
struct Labels {
  std::vector<double> values;
  std::vector<std::string> names = {};  // of each, where the target is text; empty where it is a number

  Index classes() const { return static_cast<Index>(values.size()); }
  double negative() const { return values.front(); }
  double positive() const { return values.back(); }
  /// The name of class k for people.
  std::string name(Index k) const;
};

/// The labels of the training rows. Throws InputError where there is one only, where there are not two
/// although `code` needs that, or so many that they cannot be classes.
Labels find_labels(const Dataset& train, ClassCode code);
/// The data with its targets mapped. Throws InputError where one is none of the labels.
[[nodiscard]] Dataset map_labels(const Labels& labels, ClassCode code, Dataset data);
/// Every part of the split mapped. Throws InputError also where the validation rows hold one class only.
[[nodiscard]] Split map_labels(const Labels& labels, ClassCode code, Split split);

/// Throws InputError where the training target is constant.
void require_varying_target(const Dataset& train);

/// The columns of `data` in the order of `names`, where both have names. Throws InputError naming
/// the first column that is missing, or, unless `extra_allowed`, one too many. Without names only
/// the count is checked (a sparse design with fewer columns is widened).
void align_features(Dataset& data, const std::vector<std::string>& names, Index features,
                    const std::string& reference, bool extra_allowed);

}  // namespace yosida
