#pragma once

#include <cstdint>
#include <utility>

#include "yosida/problem/work.hpp"

namespace yosida {

/// What results and traces call the counts of work, in this order; then their two sums.
inline constexpr std::pair<const char*, std::int64_t Work::*> kWorkCounts[] = {
    {"train_gradients", &Work::train_gradients},
    {"validation_gradients", &Work::validation_gradients},
    {"hessian_products", &Work::hessian_products},
    {"loss_evaluations", &Work::loss_evaluations},
    {"inner_solves", &Work::inner_solves}};
inline constexpr const char* kPaperCount = "paper_count";
inline constexpr const char* kGradientEquivalents = "gradient_equivalents";

}  // namespace yosida
