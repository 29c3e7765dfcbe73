#pragma once

#include "yosida/linalg/function_ref.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida::search {

/// The value at x; writes the gradient. May be infinite away from the start.
using Differentiable = FunctionRef<double(const Vector& x, Vector& gradient)>;

/// Goes down from x inside the unit cube by projected BFGS until a step gains less than `tolerance`, or after
/// `max_steps`. Never ends higher than it began.
void descend_in_unit_cube(Differentiable f, double tolerance, int max_steps, Vector& x);

}  // namespace yosida::search
