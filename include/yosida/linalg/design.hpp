#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/stop.hpp"

namespace YOSIDA_EXPORT yosida {

/// Rows of doubles, row-major, in one buffer that designs share: a range of rows is a view, so a
/// split of a file costs no memory.
class DenseDesign {
 public:
  DenseDesign() = default;
  /// Uninitialised storage, aligned to a cache line.
  DenseDesign(Index rows, Index cols);
  /// A copy of these rows.
  explicit DenseDesign(const Matrix& values);
  /// Takes over `buffer`, which holds at least rows × cols numbers.
  DenseDesign(std::shared_ptr<double> buffer, Index rows, Index cols);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// The first number of row i.
  const double* row(Index i) const { return data_ + i * cols_; }
  /// Writing is for whoever builds a design (readers, splits, pretreatment), before it is shared.
  double* row(Index i) { return data_ + i * cols_; }
  Eigen::Map<const Matrix> matrix() const { return {data_, rows_, cols_}; }
  Eigen::Map<Matrix> matrix() { return {data_, rows_, cols_}; }
  /// A view of `count` rows from `begin` on.
  DenseDesign row_range(Index begin, Index count) const;
  /// True where `next` starts in the same buffer right behind the last row of this one.
  bool adjoins(const DenseDesign& next) const;
  /// The rows of this design and of `next`, which must adjoin it, as one view.
  DenseDesign joined(const DenseDesign& next) const;
  /// True where both are views of one buffer.
  bool shares_buffer_with(const DenseDesign& other) const { return buffer_ == other.buffer_; }
  /// How many designs, and other owners of the buffer, hold it.
  long sharers() const { return buffer_.use_count(); }
  /// This design, copied first where others share its buffer: safe to write to.
  DenseDesign unshared() const;
  /// The same buffer read with fewer columns; the caller has moved the values.
  DenseDesign narrowed(Index cols) const;

 private:
  std::shared_ptr<double> buffer_;
  double* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
};

/// Compressed sparse rows: row i holds entries [row_start[i], row_start[i + 1]).
struct SparseDesign {
  std::vector<std::int64_t> row_start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;
  Index columns = 0;

  Index rows() const { return static_cast<Index>(row_start.size()) - 1; }
  Index cols() const { return columns; }
};

/// A design matrix, dense or sparse: n rows (observations) by d columns (features).
class Design {
 public:
  Design() : storage_(DenseDesign{}) {}
  /// Of rows that are stored in full.
  Design(DenseDesign dense) : storage_(std::move(dense)) {}  // NOLINT(google-explicit-constructor)
  /// Of rows that leave zeros out.
  Design(SparseDesign sparse) : storage_(std::move(sparse)) {}  // NOLINT(google-explicit-constructor)

  Index rows() const;
  Index cols() const;
  bool is_sparse() const { return std::holds_alternative<SparseDesign>(storage_); }
  const DenseDesign& dense() const { return std::get<DenseDesign>(storage_); }
  DenseDesign& dense() { return std::get<DenseDesign>(storage_); }
  const SparseDesign& sparse() const { return std::get<SparseDesign>(storage_); }
  SparseDesign& sparse() { return std::get<SparseDesign>(storage_); }
  /// Floating-point operations of one product with a vector.
  double product_flops() const;

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
  /// Σ_i weight_i x_i x_iᵀ, both triangles filled; of some rows only where `stop` says so on the way.
  Matrix weighted_gram(std::span<const double> weight, const StopToken* stop = nullptr) const;

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
  /// The same two with two products a row: `second` holds x_iᵀp.
  using RowBlock2 =
      FunctionRef<double(Index first, std::span<double> products, std::span<const double> second)>;
  /// fused_pass with two products a row.
  double fused_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                     std::span<double> out, Index outputs = 1) const;
  /// product_pass with two products a row.
  double product_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                       Index outputs = 1) const;

 private:
  std::variant<DenseDesign, SparseDesign> storage_;
};

/// The rows of both as one design; a view where they adjoin, a copy elsewhere.
Design stack_rows(const Design& upper, const Design& lower);
/// The dense form of a sparse design (a dense one is returned as it is).
Design to_dense(const Design& design);

}  // namespace yosida
