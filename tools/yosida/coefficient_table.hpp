#pragma once

#include <string>

#include "yosida/model/ranked_coefficients.hpp"

namespace yosida::cli {

inline constexpr std::size_t kAllCoefficients = static_cast<std::size_t>(-1);

/// The weights of a model for people: the largest first, at most so many of them, and which are 0. Lines fit
/// the terminal that standard output is.
std::string coefficients_text(const FittedModel& model, std::size_t most, const std::string& indent = "");

}  // namespace yosida::cli
