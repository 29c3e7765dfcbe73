#pragma once

#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// Weights of columns that depend on each other can move together and change no prediction. Where an ℓ₁ term
/// is all that prices them, a whole face of weights is the minimum, and rounding would choose a point of it.
/// This takes a corner: columns later in the order than those they depend on give up their weights, as far as
/// no weight changes its sign. h holds the products of the columns; weights that are not `priced` may take
/// any value. Returns the number of weights that became 0.
int give_up_dependent(const Matrix& h, const std::vector<bool>& priced, Vector& x);

}  // namespace yosida
