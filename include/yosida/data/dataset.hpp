#pragma once

#include <string>
#include <vector>

#include "yosida/linalg/design.hpp"

namespace yosida {

/// Observations with their targets, and what messages call them.
struct Dataset {
  Design x;
  Vector y;                                // empty where the data has no target (prediction)
  std::vector<std::string> feature_names;  // empty where the source names none
  std::string target_name;                 // empty where the source names none
  std::string source;                      // the file or generator, for messages
  Vector weight = {};                      // of each row, their mean 1; empty where all are
  Vector fold = {};  // the fold of each row as the source has it; empty where it has none

  Index rows() const { return x.rows(); }
  Index features() const { return x.cols(); }
};

}  // namespace yosida
