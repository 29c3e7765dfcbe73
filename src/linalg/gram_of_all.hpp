#pragma once

#include <optional>
#include <span>

#include "yosida/linalg/design.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// The Gram matrix of all rows of a dense design, from which that of all but a few is had for the price of
/// these: K folds take two such matrices in all, not K − 1.
class GramOfAll {
 public:
  /// True where `rest` and `left_out` are views that hold each row of `all` once between them, and `left_out`
  /// is so small a part that it pays.
  static bool serves(const Design& all, const Design& rest, const Design& left_out);

  /// Multiplies the rows as they are stored, less their means: squares of large offsets would lose digits.
  explicit GramOfAll(const Design& all, const StopToken* stop = nullptr);

  /// weighted_gram of `rest`, every step applied, where serves() says so. Where `left_out` holds nearly all
  /// of a column, the difference would be rounding: the products of this column are taken from the rows.
  /// Empty where such columns are many.
  std::optional<Matrix> of(const Design& rest, const Design& left_out, const StopToken* stop = nullptr) const;
  /// The same for some columns alone, in the order in which they are named.
  std::optional<Matrix> of(const Design& rest, const Design& left_out, std::span<const Index> columns,
                           const StopToken* stop = nullptr) const;

 private:
  /// Of rows as they are stored, less a mean.
  struct Sums {
    Matrix gram;
    Vector rows;
  };
  static Sums sums_of(const Design& stored, const Vector& mean, const StopToken* stop);
  /// `left`: those of the named columns of the rows left out.
  std::optional<Matrix> difference(const Design& rest, Sums left, std::span<const Index> columns) const;
  /// The entry (i, j) of the Gram matrix, j ≤ i.
  double at(Index i, Index j) const { return lower_[i * (i + 1) / 2 + j]; }

  Vector mean_, sum_;  // the sum of the rows less their mean: what rounding leaves
  Vector lower_;       // the lower triangle of the Gram matrix, row by row
};

}  // namespace yosida
