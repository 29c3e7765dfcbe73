#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/stop.hpp"

namespace YOSIDA_EXPORT yosida {

namespace linalg {
struct Storage;
class Access;
}  // namespace linalg

/// Compressed sparse rows while they are built: row i holds entries [row_start[i], row_start[i + 1]).
struct SparseRows {
  std::vector<std::int64_t> row_start{0};
  std::vector<std::int32_t> column;  // rising in each row
  std::vector<double> value;
  Index columns = 0;

  Index rows() const { return static_cast<Index>(row_start.size()) - 1; }
};

/// One affine step on the columns of a row: x_j becomes (x_j − shift_j) / scale_j, or the difference x_{j+1}
/// − x_j, which leaves one column fewer.
struct ColumnStep {
  Vector shift = {};  // empty: none
  Vector scale = {};  // empty: none
  bool differences = false;

  /// True where both do the same, to the last bit.
  bool operator==(const ColumnStep& other) const;
};

/// A design matrix: n rows (observations) by d columns (features), dense or sparse. It is a view: of numbers
/// that nobody writes to, in one piece or in several, of some of their rows, and through affine steps on
/// their columns that are carried in the products. Copies share the numbers. May be read by several threads.
/// How rows are stored is known in linalg/ alone: all that is summed over rows is a function of this class
/// or of that folder, and no sum depends on pieces or on the number of threads, to the last
/// bit.
class Design {
 public:
  Design();
  /// Rows of its own.
  explicit Design(Matrix values);
  /// A view of this matrix, which it keeps alive.
  explicit Design(std::shared_ptr<const Matrix> values);
  /// Rows of its own. Throws InputError as sparse_view does.
  Design(SparseRows rows);  // NOLINT(google-explicit-constructor)

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// True where zeros are not stored: then steps that keep them are the cheaper ones.
  bool omits_zeros() const;
  /// Floating-point operations of one product with a vector.
  double product_flops() const { return 2.0 * static_cast<double>(numbers_); }
  /// What a packed() copy takes; 0 where it would be no better than this design.
  double bytes_to_pack() const;

  // Views. None of them reads a row.

  /// `count` rows from `begin` on.
  Design row_range(Index begin, Index count) const;
  /// The rows named, in that order. Throws InputError where one is not there.
  Design select_rows(std::span<const Index> rows) const;
  /// Behind the steps there are already, one more. Throws InputError where it is not of cols() columns.
  Design mapped(ColumnStep step) const;
  /// With columns of zeros behind its own up to `cols`, where zeros are not stored; elsewhere as it is.
  Design widened(Index cols) const;

  // Copies.

  /// Rows [begin, begin + count), every step applied, each `stride` ≥ cols() numbers behind the one before.
  void copy_rows(Index begin, Index count, double* out, Index stride) const;
  /// The same rows one behind the other and the steps applied to them, as far as zeros that are not stored
  /// allow it: of a column with some, only the scale is.
  Design packed() const;
  /// A packed copy of the columns named, in that order.
  Design with_columns(std::span<const Index> columns) const;
  /// With values[j] for each NaN of column j; as it is where there is none. A zero that is not stored is
  /// none. Before any step. Throws InputError where there are not cols() values.
  Design with_missing(const Vector& values) const;

  // Products may have several outputs: then w is a matrix of cols() × outputs numbers, row-major, a row has
  // `outputs` products, one behind the other, and so have the weights r_i of the rows. Where w is longer by
  // `outputs`, its end holds intercepts: as if each row had one more column, of ones. The same holds for
  // `out`.

  /// out = X w
  void multiply(std::span<const double> w, std::span<double> out, Index outputs = 1) const;
  /// out += Xᵀ r
  void add_transposed(std::span<const double> r, std::span<double> out, Index outputs = 1) const;
  /// out += (X∘X)ᵀ r: the sums of r_ik x_ij² that the diagonal of a Hessian is made of.
  void add_transposed_squares(std::span<const double> r, std::span<double> out, Index outputs = 1) const;

  /// What a fused pass does with a block of rows: `products` holds x_iᵀw for the rows from `first` on and is
  /// overwritten with the weights r_i of these rows. The return values of all blocks are added up. It is
  /// called inside a parallel region: it must not throw, nor pass over a design itself.
  using RowBlock = FunctionRef<double(Index first, std::span<double> products)>;
  /// Reads the design once: per block of rows, the products x_iᵀw, then `map`, then
  /// out += Σ r_i x_i while the block is still in cache. Calls `map` from several threads where
  /// the design is large; the result does not depend on their number.
  double fused_pass(std::span<const double> w, RowBlock map, std::span<double> out, Index outputs = 1) const;
  /// The first half of it: Σ map over the products, nothing accumulated.
  double product_pass(std::span<const double> w, RowBlock map, Index outputs = 1) const;
  /// What a pass with two products a row does with a block: `second` holds x_iᵀp.
  using RowBlock2 =
      FunctionRef<double(Index first, std::span<double> products, std::span<const double> second)>;
  /// fused_pass with two products a row.
  double fused_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                     std::span<double> out, Index outputs = 1) const;
  /// product_pass with two products a row.
  double product_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                       Index outputs = 1) const;

  /// What a pass over numbers kept for each row (margins, targets) does with the rows [first, first + count):
  /// it may add to `sums`, and what it returns is added up. The same rules as for RowBlock.
  using RowRange = FunctionRef<double(Index first, Index count, double* sums)>;
  /// Reads no row: the sums of `range` over all rows, `outputs` numbers a row.
  double sum_rows(Index outputs, RowRange range, std::span<double> sums = {}) const;

 private:
  friend class linalg::Access;
  using Selection = std::vector<std::uint32_t>;
  using Steps = std::vector<ColumnStep>;

  explicit Design(std::shared_ptr<const linalg::Storage> storage);
  Design with_rows(std::shared_ptr<const Selection> selection, Index begin, Index count) const;

  std::shared_ptr<const linalg::Storage> storage_;
  std::shared_ptr<const Selection> selection_;  // of the rows stored; null: all
  Index begin_ = 0;                             // the first row, of the selection where there is one
  Index rows_ = 0;
  std::shared_ptr<const Steps> steps_;  // null: none
  Index cols_ = 0;
  Index numbers_ = 0;  // that are read in a pass
};

/// Dense rows that someone else holds: row i is the `cols` numbers from values + i·stride on. They are only
/// read, and must stay as they are; `owner` keeps them alive (null: the caller does). Throws InputError where
/// sizes are negative or too large, stride < cols, or there are numbers but no `values`.
Design dense_view(const double* values, Index rows, Index cols, Index stride,
                  std::shared_ptr<const void> owner);
/// The same of numbers of 4 bytes: half the memory, and sums in double precision all the same.
Design dense_view(const float* values, Index rows, Index cols, Index stride,
                  std::shared_ptr<const void> owner);
/// Compressed sparse rows that someone else holds: row i has the entries [row_start[i], row_start[i + 1]) of
/// `column` and `value`. Throws InputError where these do not fit together, a column lies outside 0 to cols −
/// 1, or the columns of a row do not rise.
Design sparse_view(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column,
                   std::span<const double> value, Index cols, std::shared_ptr<const void> owner);

/// Dense rows copied to numbers of 4 bytes, which hold seven digits; steps on columns stay as they are, and
/// so does what omits zeros. Throws InputError for a number beyond 3.4e38.
Design with_singles(const Design& x);

/// The rows of all pieces, one behind the other, as one view; pieces may be empty. Where some hold numbers of
/// 4 bytes and others do not, those are copied to doubles. Throws InputError where they differ in columns, in
/// their steps, or in whether they store zeros.
Design stack_rows(std::span<const Design> pieces);
/// Stacks two pieces.
Design stack_rows(const Design& upper, const Design& lower);
/// All rows as a plain matrix, every step applied.
Matrix to_matrix(const Design& design);

}  // namespace yosida
