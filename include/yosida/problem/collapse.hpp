#pragma once

#include <memory>

#include "yosida/export.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// The coordinates that a method may see weights in.
enum class Coordinates {
  features,   ///< its iterates may be anywhere
  row_space,  ///< any basis of the training rows and the ones vector
  any,        ///< it asks for nothing but inner and linear solves: any basis of the training rows, centred
};

/// True where one λ is shared by all weights and collapsing takes a fraction of a second or, where the loss
/// is quadratic, pays for itself in so many iterations, within the memory that the size of the design allows.
bool collapse_is_cheaper(const LinearProblem& problem, double iterations, Coordinates coordinates);

/// The problem in the basis of its training rows: where the loss is quadratic with all in closed form. Only
/// where collapse_is_cheaper(). Throws RunEnded where it is told to stop.
std::shared_ptr<const BilevelProblem> collapsed(std::shared_ptr<const LinearProblem> problem,
                                                const StopToken& stop = {});

/// The problem in the cheapest equal form for so many iterations: collapsed where that is cheaper, as it is
/// elsewhere.
std::shared_ptr<const BilevelProblem> collapse_if_cheaper(std::shared_ptr<const LinearProblem> problem,
                                                          double iterations, Coordinates coordinates,
                                                          const StopToken& stop = {});

}  // namespace yosida
