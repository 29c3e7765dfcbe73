#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida {

/// argmin over low ≤ δ ≤ high of gᵀδ + ½ δᵀBδ, B symmetric positive definite and small, by Newton steps on
/// the free components with projection (Bertsekas).
Vector minimise_in_box(const Vector& g, const Eigen::MatrixXd& b, const Vector& low, const Vector& high);

}  // namespace yosida
