#pragma once

#include <vector>

#include "yosida/linalg/design.hpp"

namespace yosida {

// Numbers kept for each row of a design, such as targets and weights: what is summed over all rows of it goes
// through the design, as its own passes do.

double sum_of(const Design& x, const Vector& numbers);
double dot_of(const Design& x, const Vector& a, const Vector& b);
/// The largest |number|; NaN where there is one, 0 of none.
double largest_of(const Design& x, const Vector& numbers);
/// Those there are, each once, rising.
std::vector<double> distinct_of(const Design& x, const Vector& numbers);

}  // namespace yosida
