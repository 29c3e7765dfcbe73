#include "linalg/gram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/chosen_columns.hpp"
#include "linalg/factor.hpp"
#include "linalg/kernels.hpp"
#include "linalg/large_blocks.hpp"
#include "linalg/ranks.hpp"
#include "linalg/rows.hpp"
#include "linalg/tasks.hpp"

namespace yosida {
namespace {

using linalg::Access;
using linalg::ColumnMap;
using linalg::kernels_of;
using linalg::RowsOf;
using linalg::SparseRow;

void fill_upper(Matrix& gram) { gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose(); }

/// Zeros are not stored, and steps turn all zeros of a column into the same number: so entries alone are
/// summed, and the shifts are added afterwards.
bool reads_entries(const Design& x) { return x.omits_zeros() && Access::map(x).is_diagonal(); }

/// Turns the sums of rows as they are stored into those of a x + z. `place` says where in the Gram matrix a
/// column is; `first` holds Σ weight_i x_i at these places, `total` is Σ weight_i.
void shift_gram(const ColumnMap& map, std::span<const Index> columns, const Vector& first, double total,
                Matrix& gram) {
  const auto size = static_cast<Index>(columns.size());
  Vector a(size), z(size);
  for (Index i = 0; i < size; ++i) {
    a[i] = map.scaled(columns[static_cast<std::size_t>(i)], 1.0);
    z[i] = map.apply(columns[static_cast<std::size_t>(i)], 0.0);
  }
  for (Index i = 0; i < size; ++i)
    for (Index k = 0; k <= i; ++k)
      gram(i, k) =
          a[i] * a[k] * gram(i, k) + a[i] * first[i] * z[k] + z[i] * a[k] * first[k] + z[i] * z[k] * total;
}

double sum_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

/// Rows are copied in blocks of so many numbers: these stay small however large the design is.
constexpr Index kBlockNumbers = Index{1} << 18;
/// Up to so many columns the ranges of rows have a Gram matrix each; beyond, each task has some of its rows.
constexpr Index kNarrow = 512;
constexpr Index kRanges = 8;
constexpr Index kPanel = 128;
/// Of a number that is copied, its steps and its weight included.
constexpr Index kOperationsOfCopy = 4;

Index rows_a_block(Index columns) {
  return std::clamp<Index>(kBlockNumbers / std::max<Index>(columns, 1), 16, 4096);
}

template <typename Number>
using MatrixOf = std::conditional_t<std::is_same_v<Number, float>, RoughMatrix, Matrix>;

/// The rows [begin, begin + count) of √h_i x_i, one behind the other; no weights are weights of 1.
void copy_weighted(const Design& x, std::span<const double> weight, Index begin, Index count, double* out) {
  const Index d = x.cols();
  x.copy_rows(begin, count, out, d);
  if (weight.empty()) return;
  for (Index i = 0; i < count; ++i)
    Eigen::Map<Vector>(out + i * d, d) *= std::sqrt(weight[static_cast<std::size_t>(begin + i)]);
}

/// x ↦ factor (x − shift) of each column, where steps are no more than that.
struct OwnSteps {
  Vector shift, factor;
};
OwnSteps own_steps(const Design& x) {
  const ColumnMap map = Access::map(x);
  OwnSteps own{Vector(x.cols()), Vector(x.cols())};
  for (Index j = 0; j < x.cols(); ++j) {
    own.factor[j] = map.scaled(j, 1.0);
    own.shift[j] = -map.apply(j, 0.0) / own.factor[j];
  }
  return own;
}

/// The rows of copy_weighted, rounded.
class RoundedRows {
 public:
  RoundedRows(const Design& x, std::span<const double> weight) : x_(x), weight_(weight) {
    is_plain_ = !Access::storage(x).is_sparse && Access::map(x).is_diagonal();
    if (is_plain_) steps_ = own_steps(x);
  }
  void copy(Index begin, Index count, float* out) const {
    const Index d = x_.cols();
    if (!is_plain_) {
      Vector row(d);
      for (Index i = 0; i < count; ++i) {
        copy_weighted(x_, weight_, begin + i, 1, row.data());
        Eigen::Map<Eigen::VectorXf>(out + i * d, d) = row.cast<float>();
      }
      return;
    }
    linalg::visit_dense_rows(x_, [&](const auto& rows) {
      for (Index i = 0; i < count; ++i) {
        const auto* const row = rows.row(begin + i);
        const double weight = weight_.empty() ? 1.0 : weight_[static_cast<std::size_t>(begin + i)];
        kernels_of(row).rounded_row(row, d, steps_.shift.data(), steps_.factor.data(), std::sqrt(weight),
                                    out + i * d);
      }
    });
  }

 private:
  const Design& x_;
  std::span<const double> weight_;
  bool is_plain_;
  OwnSteps steps_;
};

/// Rows that are written one behind the other where they are wanted.
template <typename Number>
struct CopiedRows {
  Index rows, width;
  FunctionRef<void(Index begin, Index count, Number* out)> copy;
};

/// A Gram matrix for each range of rows, then their sum: the ranges are the same whatever threads and
/// processes there are. Processes cannot leave theirs out where one is told to stop, so they ask before
/// alone.
template <typename Number>
Matrix narrow_gram(const CopiedRows<Number>& x, const StopToken* stop) {
  const Index d = x.width;
  const Index block = rows_a_block(d);
  const Index ranges = x.rows < linalg::kSharedRows ? std::min<Index>(kRanges, (x.rows + block - 1) / block)
                                                    : linalg::blocks_of(x.rows);
  Matrix gram = Matrix::Zero(d, d);
  const linalg::OwnBlocks own = linalg::own_blocks(x.rows, ranges);
  const bool is_alone = own.count() == ranges;
  if (!is_alone && stop_requested(stop)) return gram;
  std::vector<MatrixOf<Number>> parts(static_cast<std::size_t>(own.count()));
  linalg::run_tasks(own.count(), x.rows * d * d, [&](Index task) {
    const Index range = own.first + task;
    const Index end = x.rows * (range + 1) / ranges;
    MatrixOf<Number>& part = parts[static_cast<std::size_t>(task)] = linalg::zeros<MatrixOf<Number>>(d, d);
    MatrixOf<Number> rows(block, d);
    for (Index i = x.rows * range / ranges; i < end && !(is_alone && stop_requested(stop)); i += block) {
      const Index count = std::min(block, end - i);
      x.copy(i, count, rows.data());
      add_gram(rows.topRows(count), part);
    }
  });
  if (is_alone) {
    for (const MatrixOf<Number>& part : parts) gram += part.template cast<double>();
    return gram;
  }
  const auto size = static_cast<std::size_t>(d * d);
  std::vector<double> numbers(parts.size() * size);
  for (std::size_t part = 0; part < parts.size(); ++part)
    Eigen::Map<Matrix>(numbers.data() + part * size, d, d) = parts[part].template cast<double>();
  linalg::add_blocks(x.rows, ranges, numbers.data(), size, size, gram.data());
  return gram;
}

/// One Gram matrix, of which each task has kPanel rows.
template <typename Number>
Matrix wide_gram(const CopiedRows<Number>& x, const StopToken* stop) {
  const Index d = x.width;
  const Index block = std::min<Index>(4 * rows_a_block(d), x.rows);
  const Index panels = (d + kPanel - 1) / kPanel;
  auto gram = linalg::zeros<MatrixOf<Number>>(d, d);
  auto rows = linalg::unfilled<MatrixOf<Number>>(block, d);
  for (Index i = 0; i < x.rows && !stop_requested(stop); i += block) {
    const Index count = std::min(block, x.rows - i);
    const Index parts = std::min(kRanges, count);
    linalg::run_tasks(parts, kOperationsOfCopy * count * d, [&](Index part) {
      const Index begin = count * part / parts;
      x.copy(i + begin, count * (part + 1) / parts - begin, rows.row(begin).data());
    });
    linalg::run_tasks(panels, count * d * d, [&](Index task) {
      const Index panel = panels - 1 - task;  // the longest first
      add_gram_rows(rows.topRows(count), panel * kPanel, std::min(kPanel, d - panel * kPanel), gram);
    });
  }
  if constexpr (std::is_same_v<Number, double>)
    return gram;
  else
    return gram.template cast<double>();
}

template <typename Number>
Matrix dense_gram(const Design& x, std::span<const double> weight, const StopToken* stop) {
  if (x.rows() == 0) return Matrix::Zero(x.cols(), x.cols());
  const bool is_narrow = x.cols() <= kNarrow;
  std::vector<double> place;
  if (!is_narrow) weight = linalg::gathered(x.rows(), weight, place);
  const auto gram_of = [&](const auto& copy) {
    const CopiedRows<Number> rows{x.rows(), x.cols(), copy};
    return is_narrow ? narrow_gram(rows, stop) : wide_gram(rows, stop);
  };
  if constexpr (std::is_same_v<Number, float>) {
    const RoundedRows rounded(x, weight);
    return gram_of([&](Index begin, Index count, float* out) { rounded.copy(begin, count, out); });
  } else {
    return gram_of(
        [&](Index begin, Index count, double* out) { copy_weighted(x, weight, begin, count, out); });
  }
}

/// For dense rows: their products with a column of ones and a column y behind them.
Matrix gram_with_border(const Design& x, const Vector& y, const StopToken* stop) {
  const Index width = x.cols() + 2;
  const auto copy = [&](Index begin, Index count, double* out) {
    x.copy_rows(begin, count, out, width);
    for (Index i = 0; i < count; ++i) {
      out[i * width + width - 2] = 1.0;
      out[i * width + width - 1] = y[begin + i];
    }
  };
  const CopiedRows<double> rows{x.rows(), width, copy};
  return width <= kNarrow ? narrow_gram(rows, stop) : wide_gram(rows, stop);
}

Matrix sparse_gram(const Design& x, std::span<const double> weight) {
  Matrix gram = Matrix::Zero(x.cols(), x.cols());
  const RowsOf<SparseRow> rows(x);
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto [column, value, size] = rows.row(i);
    const double h = weight.empty() ? 1.0 : weight[static_cast<std::size_t>(i)];
    for (Index a = 0; a < size; ++a)
      for (Index b = 0; b <= a; ++b) gram(column[a], column[b]) += h * value[a] * value[b];
  }
  const ColumnMap map = Access::map(x);
  if (map.is_identity()) return gram;
  Vector first = Vector::Zero(x.cols());
  std::vector<Index> columns;
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto [column, value, size] = rows.row(i);
    const double h = weight.empty() ? 1.0 : weight[static_cast<std::size_t>(i)];
    for (Index k = 0; k < size; ++k) first[column[k]] += h * value[k];
  }
  for (Index j = 0; j < x.cols(); ++j) columns.push_back(j);
  const double total = weight.empty() ? static_cast<double>(rows.rows()) : sum_of(weight);
  shift_gram(map, columns, first, total, gram);
  return gram;
}

Matrix dense_gram_on(const Design& x, std::span<const double> weight, std::span<const Index> set) {
  constexpr Index kBlock = 256;
  const auto size = static_cast<Index>(set.size());
  const bool ones = size > 0 && set.back() == x.cols();
  const Index features = ones ? size - 1 : size;
  Matrix gram = Matrix::Zero(size, size);
  Matrix rows(std::min(kBlock, x.rows()), size);
  linalg::for_each_row_on(x, set.first(static_cast<std::size_t>(features)), [&](Index i, const double* row) {
    const Index at = i % kBlock;
    std::copy_n(row, features, rows.row(at).data());
    if (ones) rows(at, features) = 1.0;
    rows.row(at) *= std::sqrt(weight[static_cast<std::size_t>(i)]);
    if (at + 1 == kBlock || i + 1 == x.rows()) add_gram(rows.topRows(at + 1), gram);
  });
  return gram;
}

Matrix sparse_gram_on(const Design& x, std::span<const double> weight, std::span<const Index> set) {
  const auto size = static_cast<Index>(set.size());
  std::vector<Index> place(static_cast<std::size_t>(x.cols()) + 1, -1);
  for (std::size_t i = 0; i < set.size(); ++i)
    place[static_cast<std::size_t>(set[i])] = static_cast<Index>(i);
  const ColumnMap map = Access::map(x);
  const bool is_mapped = !map.is_identity();
  const Index ones = place.back();
  Matrix gram = Matrix::Zero(size, size);
  Vector first = Vector::Zero(size);
  std::vector<std::pair<Index, double>> held;
  const RowsOf<SparseRow> rows(x);
  for (Index i = 0; i < rows.rows(); ++i) {
    held.clear();
    const auto [column, value, entries] = rows.row(i);
    const double h = std::sqrt(weight[static_cast<std::size_t>(i)]);
    for (Index k = 0; k < entries; ++k)
      if (const Index at = place[static_cast<std::size_t>(column[k])]; at >= 0) {
        held.emplace_back(at, h * value[k]);
        if (is_mapped) first[at] += weight[static_cast<std::size_t>(i)] * value[k];
      }
    if (ones >= 0) held.emplace_back(ones, h);
    for (const auto& [a, number] : held)
      for (const auto& [b, other] : held)
        if (b <= a) gram(a, b) += number * other;
  }
  if (!is_mapped) return gram;
  const std::span<const Index> columns = set.first(static_cast<std::size_t>(ones >= 0 ? size - 1 : size));
  const double total = sum_of(weight);
  shift_gram(map, columns, first, total, gram);
  for (std::size_t k = 0; ones >= 0 && k < columns.size(); ++k)
    gram(ones, static_cast<Index>(k)) =
        map.scaled(columns[k], 1.0) * first[static_cast<Index>(k)] + map.apply(columns[k], 0.0) * total;
  return gram;
}

void add_dense_row_gram(const Design& x, const Vector& scale, std::span<const Index> set, const Vector& c,
                        Matrix& gram) {
  constexpr std::size_t kBlock = 256;  // columns
  Matrix block;
  for (std::size_t begin = 0; begin < set.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, set.size() - begin);
    block.resize(static_cast<Index>(count), x.rows());
    const std::span<const Index> columns = set.subspan(begin, count);
    linalg::for_each_row_on(x, columns, [&](Index i, const double* row) {
      for (std::size_t k = 0; k < count; ++k)
        block(static_cast<Index>(k), i) = scale[i] * row[k] / std::sqrt(c[columns[k]]);
    });
    add_gram(block, gram);
  }
}

/// With x_ij = a_j v_ij + z_j, Σ x_ij x_kj / c_j is Σ a² v v / c + u_i + u_k + Σ z² / c, u_i = Σ a z v_ij /
/// c.
void add_sparse_row_gram(const Design& x, const Vector& scale, std::span<const Index> set, const Vector& c,
                         Matrix& gram) {
  const ColumnMap map = Access::map(x);
  Vector in_set = Vector::Zero(x.cols());
  Vector shifted = Vector::Zero(x.cols());
  double constant = 0.0;
  for (const Index j : set) {
    const double a = map.scaled(j, 1.0), z = map.apply(j, 0.0);
    in_set[j] = a * a / c[j];
    shifted[j] = a * z / c[j];
    constant += z * z / c[j];
  }
  const RowsOf<SparseRow> rows(x);
  Vector scattered = Vector::Zero(x.cols());
  Vector u = Vector::Zero(x.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    const SparseRow row = rows.row(i);
    for (Index k = 0; k < row.size; ++k) {
      scattered[row.column[k]] += in_set[row.column[k]] * row.value[k];
      u[i] += shifted[row.column[k]] * row.value[k];
    }
    for (Index other = 0; other <= i; ++other) {
      double sum = 0.0;
      const SparseRow with = rows.row(other);
      for (Index k = 0; k < with.size; ++k) sum += scattered[with.column[k]] * with.value[k];
      gram(i, other) += scale[i] * scale[other] * (sum + (u[i] + u[other] + constant));
    }
    for (Index k = 0; k < row.size; ++k) scattered[row.column[k]] = 0.0;
  }
}

/// Columns of dense rows, steps applied, copied in blocks that stay in the second-level cache. For maps
/// without differences.
class ColumnBlocks {
 public:
  explicit ColumnBlocks(const Design& x) : x_(x), is_mapped_(!Access::map(x).is_identity()) {
    if (is_mapped_) steps_ = own_steps(x);
  }
  Index rows() const { return x_.rows(); }
  static bool serve(const Design& x) { return !Access::storage(x).is_sparse && Access::map(x).is_diagonal(); }
  void copy(Index begin, Index count, Matrix& out) const {
    out.resize(x_.rows(), count);
    copy_rows(0, x_.rows(), begin, out);
  }
  /// Into those of a matrix that has as many columns as are wanted.
  void copy_rows(Index first, Index last, Index begin, Matrix& out) const {
    const Index count = out.cols();
    linalg::visit_dense_rows(x_, [&](const auto& rows) {
      for (Index i = first; i < last; ++i) {
        const auto* const from = rows.row(i) + begin;
        double* const to = out.row(i).data();
        if (!is_mapped_) {
          std::copy_n(from, count, to);
          continue;
        }
        const double* const shift = steps_.shift.data() + begin;
        const double* const factor = steps_.factor.data() + begin;
        for (Index j = 0; j < count; ++j) to[j] = factor[j] * (static_cast<double>(from[j]) - shift[j]);
      }
    });
  }

 private:
  const Design& x_;
  bool is_mapped_;
  OwnSteps steps_;
};

/// Calls add(begin, count, sum) for blocks of columns, whose sums are of rows × width numbers: ranges of
/// columns, which are the same whatever threads there are, have sums of their own.
template <typename Add>
Matrix over_column_blocks(Index cols, Index rows, Index width, Index operations, const Add& add) {
  constexpr Index kLeast = 64;
  const Index block = std::clamp<Index>(kBlockNumbers / 4 / std::max<Index>(rows, 1), kLeast, 1024);
  const Index ranges = std::clamp<Index>(cols / block, 1, kRanges);
  std::vector<Matrix> sums(static_cast<std::size_t>(ranges));
  linalg::run_tasks(ranges, operations, [&](Index range) {
    Matrix& sum = sums[static_cast<std::size_t>(range)] = Matrix::Zero(rows, width);
    const Index end = cols * (range + 1) / ranges;
    for (Index begin = cols * range / ranges; begin < end; begin += block)
      add(begin, std::min(block, end - begin), sum);
  });
  for (std::size_t range = 1; range < sums.size(); ++range) sums[0] += sums[range];
  return std::move(sums[0]);
}

/// out += Y Xᵀ of a block of columns, tasks of kPanel rows of Y; of its lower triangle alone where
/// `is_lower`.
void add_panels(const Matrix& y, const Matrix& x, bool is_lower, Matrix& out) {
  const Index tasks = (y.rows() + kPanel - 1) / kPanel;
  linalg::run_tasks(tasks, y.rows() * x.rows() * y.cols(), [&](Index task) {
    const Index begin = (tasks - 1 - task) * kPanel;
    const Index count = std::min(kPanel, y.rows() - begin);
    const Index width = is_lower ? begin + count : x.rows();
    add_product_transposed(y.middleRows(begin, count), x.topRows(width),
                           out.middleRows(begin, count).leftCols(width));
  });
}

/// Y Xᵀ where there are too many rows for each range of columns to have a result of its own: here each task
/// computes some rows of the result.
Matrix products_by_panels(const ColumnBlocks& y, const ColumnBlocks& x, Index cols, bool are_same) {
  constexpr Index kLeast = 256;
  const Index block = std::clamp<Index>(kBlockNumbers / x.rows(), kLeast, std::max(kLeast, cols));
  Matrix result = Matrix::Zero(y.rows(), x.rows());
  Matrix left, right;
  const auto copy = [](const ColumnBlocks& from, Index begin, Index count, Matrix& out) {
    out.resize(from.rows(), count);
    const Index parts = std::min(kRanges, from.rows());
    linalg::run_tasks(parts, from.rows() * count, [&](Index part) {
      from.copy_rows(from.rows() * part / parts, from.rows() * (part + 1) / parts, begin, out);
    });
  };
  for (Index begin = 0; begin < cols; begin += block) {
    const Index count = std::min(block, cols - begin);
    copy(x, begin, count, right);
    if (!are_same) copy(y, begin, count, left);
    add_panels(are_same ? right : left, right, are_same, result);
  }
  return result;
}

/// Y Xᵀ; its lower triangle alone where `are_same`.
Matrix dense_row_products(const Design& y, const Design& x, bool are_same) {
  if (!ColumnBlocks::serve(x) || !ColumnBlocks::serve(y))
    return dense_row_products(Design(to_matrix(y)), Design(to_matrix(x)), are_same);
  const ColumnBlocks of_y(y), of_x(x);
  if (std::max(x.rows(), y.rows()) > kNarrow) return products_by_panels(of_y, of_x, x.cols(), are_same);
  return over_column_blocks(x.cols(), y.rows(), x.rows(), y.rows() * x.rows() * x.cols(),
                            [&](Index begin, Index count, Matrix& sum) {
                              thread_local Matrix left, right;
                              of_x.copy(begin, count, right);
                              if (are_same) return add_own_products(right, sum);
                              of_y.copy(begin, count, left);
                              add_product_transposed(left, right, sum);
                            });
}

/// Y Xᵀ with x_ij = a_j v_ij + z_j, as in add_sparse_row_gram.
Matrix sparse_row_products(const Design& y, const Design& x) {
  Matrix result(y.rows(), x.rows());
  const ColumnMap map = Access::map(x);
  const ColumnMap map_of_y = Access::map(y);
  const RowsOf<SparseRow> rows(x), rows_of_y(y);
  const Index parts = std::min(kRanges, y.rows());
  linalg::run_tasks(parts, y.rows() * rows.numbers(), [&](Index part) {
    Vector row(x.cols());
    for (Index i = y.rows() * part / parts; i < y.rows() * (part + 1) / parts; ++i) {
      // Σ_j (a_j v_j + z_j) (α_j u_j + ζ_j), with all of the row of Y at hand
      for (Index j = 0; j < x.cols(); ++j) row[j] = map_of_y.apply(j, 0.0);
      const SparseRow held = rows_of_y.row(i);
      for (Index k = 0; k < held.size; ++k)
        row[held.column[k]] = map_of_y.apply(held.column[k], held.value[k]);
      double constant = 0.0;
      for (Index j = 0; j < x.cols(); ++j) {
        constant += row[j] * map.apply(j, 0.0);
        row[j] = map.scaled(j, row[j]);
      }
      for (Index other = 0; other < x.rows(); ++other) {
        double sum = constant;
        const SparseRow with = rows.row(other);
        for (Index k = 0; k < with.size; ++k) sum += row[with.column[k]] * with.value[k];
        result(i, other) = sum;
      }
    }
  });
  return result;
}

}  // namespace

Matrix weighted_gram(const Design& x, std::span<const double> weight, const StopToken* stop) {
  std::vector<double> place;
  Matrix gram = reads_entries(x) ? sparse_gram(x, linalg::gathered(x.rows(), weight, place))
                                 : dense_gram<double>(x, weight, stop);
  fill_upper(gram);
  return gram;
}

Vector RowSums::centre(double n, double y) {
  Vector mean = rows / n;
  gram.noalias() -= n * mean * mean.transpose();
  with_y -= y * mean;
  rows.setZero();
  return mean;
}

RowSums row_sums(const Design& x, const Vector& y, const StopToken* stop) {
  const Index d = x.cols();
  const ColumnMap map = Access::map(x);
  if (reads_entries(x) || !map.is_diagonal() || x.rows() == 0) {
    RowSums sums{.gram = weighted_gram(x, {}, stop), .rows = Vector::Zero(d), .with_y = Vector::Zero(d)};
    const Vector ones = Vector::Ones(x.rows());
    x.add_transposed(as_span(ones), as_span(sums.rows));
    x.add_transposed(as_span(y), as_span(sums.with_y));
    return sums;
  }
  // Scales are taken out of the sums: x = a (v − zero) of a number v as it is stored.
  const Vector a = Vector::NullaryExpr(d, [&](Index j) { return map.scaled(j, 1.0); });
  const Vector zero = Vector::NullaryExpr(d, [&](Index j) { return -map.apply(j, 0.0) / a[j]; });
  const Design stored = Access::as_stored(x);
  const Matrix all = gram_with_border(map.is_identity() ? stored : stored.mapped({.shift = zero}), y, stop);
  RowSums sums{.gram = linalg::unfilled(d, d),
               .rows = a.cwiseProduct(all.row(d).head(d).transpose()),
               .with_y = a.cwiseProduct(all.row(d + 1).head(d).transpose())};
  for (Index i = 0; i < d; ++i)
    sums.gram.row(i).head(i + 1) = all.row(i).head(i + 1).cwiseProduct((a[i] * a.head(i + 1)).transpose());
  fill_upper(sums.gram);
  return sums;
}

Matrix rough_weighted_gram(const Design& x, std::span<const double> weight, const StopToken* stop) {
  if (reads_entries(x)) return weighted_gram(x, weight, stop);  // whose time is not that of its sums
  Matrix gram = dense_gram<float>(x, weight, stop);
  fill_upper(gram);
  return gram;
}

Matrix weighted_gram(const Design& x, std::span<const double> own, std::span<const Index> set) {
  std::vector<double> place;
  const std::span<const double> weight = linalg::gathered(x.rows(), own, place);
  Matrix gram = reads_entries(x) ? sparse_gram_on(x, weight, set) : dense_gram_on(x, weight, set);
  fill_upper(gram);
  return gram;
}

void add_row_gram(const Design& x, const Vector& scale, std::span<const Index> set, const Vector& c,
                  Matrix& gram) {
  if (reads_entries(x)) {
    add_sparse_row_gram(x, scale, set, c, gram);
  } else {
    add_dense_row_gram(x, scale, set, c, gram);
  }
}

Matrix multiplied_transposed(const Design& x, const Matrix& b) {
  if (linalg::Access::storage(x).is_sparse || b.cols() == 1) {
    Matrix result = Matrix::Zero(x.cols(), b.cols());
    x.add_transposed({b.data(), static_cast<std::size_t>(b.size())},
                     {result.data(), static_cast<std::size_t>(result.size())}, b.cols());
    return result;
  }
  // Threads share columns, not rows: what they add up to may be many times as large as the design.
  const Index stored = Access::storage(x).cols;
  const Index width = std::clamp<Index>((Index{1} << 16) / std::max<Index>(x.rows(), 1), 32, 2048);
  const Index blocks = (stored + width - 1) / width;
  const Index fours = (b.cols() + 3) / 4;
  const bool is_narrow = fours <= linalg::kMostFours;  // then rows are read where they are
  Matrix padded = Matrix::Zero(is_narrow ? b.rows() : 0, 4 * fours);
  if (is_narrow) padded.leftCols(b.cols()) = b;
  Matrix result = Matrix::Zero(stored, b.cols());
  linalg::visit_dense_rows(x, [&](const auto& rows) {
    linalg::run_tasks(blocks, x.rows() * x.cols() * b.cols(), [&](Index block) {
      const Index begin = block * width;
      const Index count = std::min(width, stored - begin);
      if (is_narrow) {
        std::vector<std::decay_t<decltype(rows.row(0))>> place(static_cast<std::size_t>(x.rows()));
        rows.fetch(0, x.rows(), place.data());
        for (auto& row : place) row += begin;
        Matrix sums = Matrix::Zero(count, 4 * fours);
        kernels_of(place[0]).add_many(place.data(), x.rows(), count, fours, padded.data(), sums.data());
        result.middleRows(begin, count) = sums.leftCols(b.cols());
        return;
      }
      Matrix part(x.rows(), count);
      for (Index i = 0; i < x.rows(); ++i) std::copy_n(rows.row(i) + begin, count, &part(i, 0));
      linalg::add_transposed(part.data(), x.rows(), count, b.data(), b.cols(), &result(begin, 0));
    });
  });
  const ColumnMap map = Access::map(x);
  if (map.is_identity()) return result;
  const Vector sums = b.colwise().sum();
  map.push(result.data(), stored, sums.data(), b.cols());
  result.conservativeResize(x.cols(), b.cols());
  return result;
}

Matrix multiplied(const Design& x, const Matrix& b) {
  Matrix result(x.rows(), b.cols());
  if (x.omits_zeros()) {
    x.multiply({b.data(), static_cast<std::size_t>(b.size())},
               {result.data(), static_cast<std::size_t>(result.size())}, b.cols());
    return result;
  }
  // From so many columns on, a block would hold very few rows, and all of B would be read for these.
  constexpr Index kWide = 1 << 14, kFewRows = 4096;
  if (x.cols() > kWide && x.rows() <= kFewRows && ColumnBlocks::serve(x)) {
    const ColumnBlocks columns(x);
    return over_column_blocks(x.cols(), x.rows(), b.cols(), x.rows() * x.cols() * b.cols(),
                              [&](Index begin, Index count, Matrix& sum) {
                                thread_local Matrix part;
                                columns.copy(begin, count, part);
                                add_product(part, b.middleRows(begin, count), sum);
                              });
  }
  const Index block = rows_a_block(x.cols());
  linalg::run_tasks((x.rows() + block - 1) / block, x.rows() * x.cols() * b.cols(), [&](Index task) {
    const Index begin = task * block;
    const Index count = std::min(block, x.rows() - begin);
    Matrix rows(count, x.cols());
    x.copy_rows(begin, count, rows.data(), x.cols());
    result.middleRows(begin, count) = product(rows, b);
  });
  return result;
}

bool may_leave_out_columns(const Design& x) {
  return !Access::storage(x).is_sparse && x.rows() < linalg::kSharedRows;
}

Matrix multiplied(const Design& x, std::span<const Index> columns, const Matrix& b) {
  constexpr Index kCopied = Index{1} << 15;  // numbers at a time, which stay in the second-level cache
  const ColumnMap map = Access::map(x);
  if (Access::storage(x).is_sparse || !map.is_diagonal()) return multiplied(x.with_columns(columns), b);
  // Numbers are taken as they are stored: B takes on the scales, and what it makes of the shifts is one row.
  Matrix scaled = b;
  Eigen::RowVectorXd shift = Eigen::RowVectorXd::Zero(b.cols());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto row = static_cast<Index>(k);
    scaled.row(row) *= map.scaled(columns[k], 1.0);
    shift += map.apply(columns[k], 0.0) * b.row(row);
  }
  const auto size = static_cast<Index>(columns.size());
  const Index block = std::clamp<Index>(kCopied / std::max<Index>(size, 1), 16, 4096);
  Matrix result(x.rows(), b.cols());
  linalg::visit_dense_rows(x, [&](const auto& rows) {
    linalg::run_tasks((x.rows() + block - 1) / block, x.rows() * size * b.cols(), [&](Index task) {
      const Index begin = task * block;
      const Index count = std::min(block, x.rows() - begin);
      Matrix chosen(count, size);
      for (Index i = 0; i < count; ++i) {
        const auto* const row = rows.row(begin + i);
        for (Index k = 0; k < size; ++k)
          chosen(i, k) = static_cast<double>(row[columns[static_cast<std::size_t>(k)]]);
      }
      result.middleRows(begin, count) = product(chosen, scaled).rowwise() + shift;
    });
  });
  return result;
}

Matrix row_products(const Design& x) {
  if (reads_entries(x)) return sparse_row_products(x, x);
  Matrix products = dense_row_products(x, x, true);
  fill_upper(products);
  return products;
}

Matrix row_products(const Design& y, const Design& x) {
  return reads_entries(y) && reads_entries(x) ? sparse_row_products(y, x) : dense_row_products(y, x, false);
}

}  // namespace yosida
