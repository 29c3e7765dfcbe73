#pragma once

#include <cstdint>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

// What reverse and forward differentiation through T steps of the inner problem share.

/// Steps of the inner problem, and their sizes.
struct UnrolledSettings {
  std::int64_t steps = 100;
  double alpha = 0.0;
  double beta = 3.0;
};

/// What is carried from one hypergradient to the next.
struct UnrolledState : Iterate {
  Start range;
  double validation = 1.0;  // L_V(w_T)
  Vector hypergradient;     // dL_V(w_T)/dλ, w_0 held constant
  CurvatureIteration curvature;
};

/// The table of settings of both.
const std::vector<Setting<UnrolledSettings>>& unrolled_table();

}  // namespace yosida
