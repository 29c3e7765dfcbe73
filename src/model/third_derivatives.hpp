#pragma once

#include <span>

#include "yosida/model/loss.hpp"

namespace yosida {

/// out = ∂³ℓ/∂m³ of a loss of one output, 0 where ∂²ℓ/∂m² jumps. By formulas for the losses of the library,
/// for others by central differences of their curvatures.
void third_derivatives(const Loss& loss, std::span<const double> m, std::span<const double> y,
                       std::span<double> out);

}  // namespace yosida
