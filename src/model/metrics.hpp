#pragma once

#include <optional>

#include "yosida/linalg/design.hpp"

// Of rows: x is their design, y their targets, m their margins and s their weights (empty: all 1).

namespace yosida {

/// 1 − Σ s(y − m)² / Σ s(y − ȳ)²; nothing where y is constant.
std::optional<double> r_squared(const Design& x, const Vector& y, const Vector& m, const Vector& weight = {});
/// Share of rows whose margin has the sign of y ∈ {−1, +1}.
double accuracy(const Design& x, const Vector& y, const Vector& m);
/// Share of rows whose largest margin is that of class y ∈ {0 … classes − 1}; m holds the margins of a row
/// one behind the other. The first of equal ones counts.
double accuracy(const Design& x, const Vector& y, const Vector& m, Index classes);
/// Area under the ROC curve, ties counted half; nothing where one class is missing.
std::optional<double> area_under_roc(const Design& x, const Vector& y, const Vector& m);
/// Population variance, rows by their weights where there are some.
double variance(const Design& x, const Vector& y, const Vector& weight = {});

}  // namespace yosida
