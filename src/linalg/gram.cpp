#include "linalg/gram.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"
#include "linalg/over_rows.hpp"
#include "linalg/rows.hpp"

namespace yosida {
namespace {

using linalg::Access;
using linalg::ColumnMap;
using linalg::RowsOf;
using linalg::SparseRow;

void fill_upper(Matrix& gram) { gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose(); }

/// Zeros are not stored, and are one number each: sums are of entries alone, and take on the shifts after.
bool reads_entries(const Design& x) { return x.omits_zeros() && Access::map(x).is_diagonal(); }

/// From the sums of rows as they are stored to those of a x + z. `place` says where in the Gram matrix a
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

/// Up to so many columns a Gram matrix is small, and each range of rows has one of its own.
constexpr Index kFewColumns = 256;
/// A wider one is cut into so many groups of columns, and each pair of them is summed by one thread.
constexpr int kPanels = 4;

/// Rows [i, i + count) times the roots of their weights, to the top of `scaled`.
void copy_scaled(const Design& x, std::span<const double> weight, Index i, Index count,
                 Eigen::Ref<Matrix> scaled) {
  x.copy_rows(i, count, scaled.data(), scaled.outerStride());
  for (Index k = 0; k < count; ++k) scaled.row(k) *= std::sqrt(weight[static_cast<std::size_t>(i + k)]);
}

/// Blocks of weighted rows √h_i x_i: the copy stays small however large the design is.
Matrix narrow_gram(const Design& x, std::span<const double> weight, const StopToken* stop) {
  constexpr Index kBlock = 256;
  const Index d = x.cols();
  Matrix gram = Matrix::Zero(d, d);
  linalg::over_rows(x.rows(), x.rows() * d * d, {gram.data(), static_cast<std::size_t>(d * d)},
                    [&](Index begin, Index end, double* sums) {
                      Matrix scaled(std::min(kBlock, end - begin), d);
                      for (Index i = begin; i < end && !stop_requested(stop); i += kBlock) {
                        const Index count = std::min(kBlock, end - i);
                        copy_scaled(x, weight, i, count, scaled);
                        add_gram(scaled.topRows(count), Eigen::Map<Matrix>(sums, d, d));
                      }
                      return 0.0;
                    });
  return gram;
}

Matrix wide_gram(const Design& x, std::span<const double> weight, const StopToken* stop) {
  const Index d = x.cols();
  const Index block = std::clamp<Index>((Index{1} << 20) / d, 64, 4096);
  Matrix gram = Matrix::Zero(d, d);
  Matrix scaled(std::min(block, x.rows()), d);
  const auto first_of = [&](int panel) { return d * panel / kPanels; };
  constexpr int kPairs = kPanels * (kPanels + 1) / 2;
  for (Index i = 0; i < x.rows() && !stop_requested(stop); i += block) {
    const Index count = std::min(block, x.rows() - i);
    linalg::each_of<kPanels>(count * d * d, [&](int part) {
      const Index begin = count * part / kPanels, end = count * (part + 1) / kPanels;
      copy_scaled(x, weight, i + begin, end - begin, scaled.middleRows(begin, end - begin));
    });
    linalg::each_of<kPairs>(count * d * d, [&](int pair) {
      int left = 0;
      while ((left + 1) * (left + 2) / 2 <= pair) ++left;
      const int right = pair - left * (left + 1) / 2;  // ≤ left: the lower triangle
      const Index l = first_of(left), r = first_of(right);
      const auto a = scaled.block(0, l, count, first_of(left + 1) - l);
      const auto b = scaled.block(0, r, count, first_of(right + 1) - r);
      auto sums = gram.block(l, r, a.cols(), b.cols());
      if (left == right) {
        add_gram(a, sums);
      } else {
        add_product_transposed(a, b, sums);
      }
    });
  }
  return gram;
}

Matrix dense_gram(const Design& x, std::span<const double> weight, const StopToken* stop) {
  return x.cols() <= kFewColumns ? narrow_gram(x, weight, stop) : wide_gram(x, weight, stop);
}

Matrix sparse_gram(const Design& x, std::span<const double> weight) {
  Matrix gram = Matrix::Zero(x.cols(), x.cols());
  const RowsOf<SparseRow> rows(x);
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto [column, value, size] = rows.row(i);
    const double h = weight[static_cast<std::size_t>(i)];
    for (Index a = 0; a < size; ++a)
      for (Index b = 0; b <= a; ++b) gram(column[a], column[b]) += h * value[a] * value[b];
  }
  const ColumnMap map = Access::map(x);
  if (map.is_identity()) return gram;
  Vector first = Vector::Zero(x.cols());
  std::vector<Index> columns;
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto [column, value, size] = rows.row(i);
    for (Index k = 0; k < size; ++k) first[column[k]] += weight[static_cast<std::size_t>(i)] * value[k];
  }
  for (Index j = 0; j < x.cols(); ++j) columns.push_back(j);
  shift_gram(map, columns, first, sum_of(weight), gram);
  return gram;
}

Matrix dense_gram_on(const Design& x, std::span<const double> weight, std::span<const Index> set) {
  constexpr Index kBlock = 256;
  const auto size = static_cast<Index>(set.size());
  const bool ones = size > 0 && set.back() == x.cols();
  const Index features = ones ? size - 1 : size;
  Matrix gram = Matrix::Zero(size, size);
  Matrix rows(std::min(kBlock, x.rows()), size);
  linalg::for_each_row(x, [&](Index i, const double* row) {
    const Index at = i % kBlock;
    for (Index j = 0; j < features; ++j) rows(at, j) = row[set[static_cast<std::size_t>(j)]];
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
    linalg::for_each_row(x, [&](Index i, const double* row) {
      for (std::size_t k = 0; k < count; ++k) {
        const Index j = set[begin + k];
        block(static_cast<Index>(k), i) = scale[i] * row[j] / std::sqrt(c[j]);
      }
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

}  // namespace

Matrix weighted_gram(const Design& x, std::span<const double> weight, const StopToken* stop) {
  Matrix gram = reads_entries(x) ? sparse_gram(x, weight) : dense_gram(x, weight, stop);
  fill_upper(gram);
  return gram;
}

Matrix weighted_gram(const Design& x, std::span<const double> weight, std::span<const Index> set) {
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

Matrix multiplied(const Design& x, const Matrix& b) {
  if (!x.omits_zeros()) return product(to_matrix(x), b);
  Matrix result(x.rows(), b.cols());
  x.multiply({b.data(), static_cast<std::size_t>(b.size())},
             {result.data(), static_cast<std::size_t>(result.size())}, b.cols());
  return result;
}

}  // namespace yosida
