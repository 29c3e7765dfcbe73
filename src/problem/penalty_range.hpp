#pragma once

namespace yosida {

/// e^λ of a penalty on squares is searched between these shares of the largest curvature that it works on.
inline constexpr double kLeastPenaltyShare = 1e-12;
inline constexpr double kMostPenaltyShare = 10.0;

}  // namespace yosida
