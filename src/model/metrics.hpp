#pragma once

#include <optional>

#include "yosida/linalg/design.hpp"

// Arguments are those of rows: x is their design, y their targets, m their margins and s their weights
// (empty: all 1).

namespace yosida {

/// 1 − Σ s(y − m)² / Σ s(y − ȳ)²; nothing where y is constant.
std::optional<double> r_squared(const Design& x, const Vector& y, const Vector& m, const Vector& weight = {});
/// Share of rows whose margin has the sign of y ∈ {−1, +1}.
double accuracy(const Design& x, const Vector& y, const Vector& m);
/// Share of rows whose largest margin is that of class y ∈ {0 … classes − 1}; m holds the margins of a row
/// one behind the other. The first of equal ones counts.
double accuracy(const Design& x, const Vector& y, const Vector& m, Index classes);
/// Rows counted by their class (a row of the result) and by what their margins say (a column): of two
/// classes, y ∈ {−1, +1} and one margin a row, else as accuracy has them.
Matrix confusion_matrix(const Design& x, const Vector& y, const Vector& m, Index classes);
/// With two classes, each is that of the second one; with more, the mean over the classes that rows have or
/// are predicted to have. A class that is never predicted counts as 0, as in scikit-learn. Empty where the
/// class that is asked for does not occur: recall needs rows of it, F1 rows or predictions.
std::optional<double> precision(const Matrix& confusion);
std::optional<double> recall(const Matrix& confusion);
std::optional<double> f1(const Matrix& confusion);
/// The mean recall of the classes that rows have.
std::optional<double> balanced_accuracy(const Matrix& confusion);
/// Σ s|y − m| / Σ s and √(Σ s(y − m)² / Σ s).
double mean_absolute_error(const Design& x, const Vector& y, const Vector& m, const Vector& weight = {});
double root_mean_squared_error(const Design& x, const Vector& y, const Vector& m, const Vector& weight = {});
/// Area under the ROC curve, ties counted half; nothing where one class is missing.
std::optional<double> area_under_roc(const Design& x, const Vector& y, const Vector& m);
/// Population variance, rows by their weights where there are some.
double variance(const Design& x, const Vector& y, const Vector& weight = {});

}  // namespace yosida
