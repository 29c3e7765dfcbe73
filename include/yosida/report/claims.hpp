#pragma once

#include <string>
#include <utility>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// A claim of the paper, or of this project, and what runs say of it.
struct Claim {
  const char* claim;
  std::vector<std::pair<std::string, std::string>> findings;  // the name of a problem, and a sentence
};

/// The claims that the problems say something of. Figures are validation losses × 100 of the final weights,
/// means over settings where every seed ended well.
std::vector<Claim> claims(const std::vector<const ProblemContents*>& problems);

}  // namespace report
}  // namespace yosida
