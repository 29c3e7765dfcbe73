#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/design.hpp"

namespace YOSIDA_EXPORT yosida {

/// Observations with their targets, and what messages call them. May be read from several threads.
struct Dataset {
  Design x;
  Vector y;                                // empty where the data has no target (prediction)
  std::vector<std::string> feature_names;  // empty where the source names none
  std::string target_name;                 // empty where the source names none
  std::string source;                      // the file or generator, for messages
  Vector weight = {};                      // of each row, their mean 1; empty where all are
  std::string weight_name = {};            // of their column; empty where the source names none
  Vector fold = {};  // the fold of each row as the source has it; empty where it has none

  Index rows() const { return x.rows(); }
  Index features() const { return x.cols(); }
};

/// Throws InputError unless targets, weights and folds are either absent or one per row, and names either
/// absent or one per feature.
void require_whole(const Dataset& data);
/// What messages call a feature: column "price", or feature 3 (counted from 1) where there are no names.
std::string feature_in_words(const Dataset& data, Index feature);

}  // namespace yosida
