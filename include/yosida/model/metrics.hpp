#pragma once

#include <optional>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {

/// 1 − Σ s(y − m)² / Σ s(y − ȳ)², s the weights of the rows (empty: all 1); nothing where y is constant.
std::optional<double> r_squared(const Vector& y, const Vector& m, const Vector& weight = {});
/// Share of rows whose margin has the sign of y ∈ {−1, +1}.
double accuracy(const Vector& y, const Vector& m);
/// Share of rows whose largest margin is that of class y ∈ {0 … classes − 1}; m holds the margins of a row
/// one behind the other. The first of equal ones counts.
double accuracy(const Vector& y, const Vector& m, Index classes);
/// Area under the ROC curve, ties counted half; nothing where one class is missing.
std::optional<double> area_under_roc(const Vector& y, const Vector& m);
/// Population variance, rows by their weights where there are some.
double variance(const Vector& y, const Vector& weight = {});

}  // namespace yosida
