#pragma once

#include <span>
#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// Rows with many targets: a row of y for each row of x, a column for each target. The weights of rows have a
/// mean of 1; none are weights of 1.
struct TargetRows {
  Matrix x, y;
  Vector weight = {};
};

/// The rows of many targets, factored once: √s (X − x̄) = U diag(σ) Vᵀ, where x̄ are the weighted means with an
/// intercept and 0 without. Any target at any λ then costs products with U or V.
struct FactoredRows {
  FactoredRows(const TargetRows& rows, bool intercept);

  double rows = 0.0;
  bool has_intercept = false;
  Vector root_weight;  // √s
  Vector x_mean, y_mean;
  Matrix u, v;     // N × rank, d × rank
  Vector squares;  // σ²
  Matrix z;        // Uᵀ√s (Y − ȳ)
  /// (√s (Y − ȳ) − U z): what of the targets the rows do not span.
  Matrix rest;

  Index rank() const { return squares.size(); }
  /// The weights of the named targets, each at its own λ: a column for each in the basis V, and its
  /// derivative by λ where there is a place for it.
  Matrix coordinates(std::span<const Index> targets, const Vector& lambda, Matrix* turn = nullptr) const;
  /// Weights and, in the last row, the intercept of each target.
  Matrix weights(const Vector& lambda) const;
};

/// The criterion of ridge regression for many targets on the same rows, with one λ on all weights of a
/// target. What it costs to evaluate many of them is a few products of matrices.
class ManyTargets {
 public:
  enum class Criterion { holdout, leave_one_out, generalised };
  /// Training rows, rows that judge, and how much these count; the shares add up to 1.
  struct Part {
    TargetRows train, validation;
    double share = 1.0;
  };
  /// Hold-out rows, or folds.
  ManyTargets(const std::vector<Part>& parts, bool intercept);
  /// All rows train, and each judges: as LeaveOneOutProblem has it.
  ManyTargets(const TargetRows& rows, bool intercept, Criterion criterion);

  Index targets() const { return trained_.front().z.cols(); }
  /// How far λ is searched, as with_bounds has it.
  struct Range {
    double low, high;
  };
  Range bounds() const;
  /// h and h′ of the named targets, each at its own λ.
  struct Points {
    Vector value, slope;
  };
  Points at(std::span<const Index> targets, const Vector& lambda) const;
  /// BilevelProblem::certificate_scale of them.
  Vector certificate_scales(std::span<const Index> targets, const Vector& lambda) const;
  /// The training rows of each part, or all rows.
  const std::vector<FactoredRows>& trained() const { return trained_; }
  /// The λ whose weights on all rows are those that leave-one-out judges at λ: that of a mean over N − 1
  /// rows.
  Vector own(const Vector& lambda) const { return lambda.array() + shift_; }
  /// Where all rows train: the residual of each row (a row) and target (a column) by weights trained without
  /// it; of generalised cross-validation, as its mean leverage has it.
  Matrix left_out_residuals(std::span<const Index> targets, const Vector& lambda) const;

 private:
  /// Validation rows as an equal least-squares data set of few rows: ‖m a − z‖² + rest for each target.
  struct Judge {
    Matrix m;
    Matrix z;
    Vector rest;
    double rows = 0.0;
    double share = 1.0;
  };
  static Judge judge_of(const TargetRows& validation, const FactoredRows& trained, double share);
  /// Residuals r and what each row keeps of itself, 1 − a, with their derivatives where asked for; every λ
  /// its own column, or one column of `kept` for all where they are equal.
  struct LeftOutColumns {
    Matrix r, r_turn, kept, kept_turn;
  };
  LeftOutColumns left_out(std::span<const Index> targets, const Vector& lambda) const;
  void add_holdout(std::size_t part, std::span<const Index> targets, const Vector& lambda,
                   Points& points) const;
  Points left_out_points(std::span<const Index> targets, const Vector& lambda) const;

  std::vector<FactoredRows> trained_;
  std::vector<Judge> judges_;
  Criterion criterion_ = Criterion::holdout;
  double shift_ = 0.0;
  Matrix u_squares_;
  Vector outside_;  // 1 − s/Σs − Σ_k U_ik²: the part of each row that the others do not span
};

}  // namespace yosida
