#pragma once

#include <optional>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// 1 − Σ(y − m)² / Σ(y − ȳ)²; nothing where y is constant.
std::optional<double> r_squared(const Vector& y, const Vector& m);
/// Share of rows whose margin has the sign of y ∈ {−1, +1}.
double accuracy(const Vector& y, const Vector& m);
/// Area under the ROC curve, ties counted half; nothing where one class is missing.
std::optional<double> area_under_roc(const Vector& y, const Vector& m);
/// Population variance.
double variance(const Vector& y);

}  // namespace yosida
