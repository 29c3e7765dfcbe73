#pragma once

#include "report/curves.hpp"

namespace yosida::report {

/// How many points curves and paths may have, so that a page stays small whatever the study.
struct PointLimits {
  std::size_t curve, path;
};

/// The runs as problems, by name. `tells_builds`: runs of different builds are different rows.
std::vector<ProblemContents> problems_of(const Runs& runs, bool tells_builds = true);

/// How many points each row may have where there are so many rows in all.
PointLimits limits_for(std::size_t rows);

}  // namespace yosida::report
