#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// One derivative of a problem against finite differences.
struct GradientCheck {
  std::string name;
  double error;  ///< relative: ‖given − numerical‖ / ‖numerical‖
};

/// Checks every gradient and product of a problem at (w, λ) by central differences of the function
/// below it (gradients of losses, products of gradients), along random directions by the seed
/// and, where there are few weights, along every axis.
std::vector<GradientCheck> check_gradients(const BilevelProblem& problem, const Vector& w,
                                           const Vector& lambda, std::uint64_t seed = 0);

}  // namespace yosida
