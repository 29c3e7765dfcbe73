#include "linalg/gram_of_all.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "linalg/gram.hpp"
#include "linalg/rows.hpp"

namespace yosida {

using linalg::Access;
using linalg::ColumnMap;

namespace {

Vector of_columns(const Vector& numbers, std::span<const Index> columns) { return numbers(columns); }

}  // namespace

bool GramOfAll::serves(const Design& all, const Design& rest, const Design& left_out) {
  constexpr Index kLeastParts = 4;
  if (Access::storage(all).is_sparse || left_out.rows() * kLeastParts > all.rows() ||
      rest.rows() + left_out.rows() != all.rows())
    return false;
  std::vector<char> is_held(static_cast<std::size_t>(Access::storage(all).rows()), 0);
  const auto each_row = [](const Design& x, const auto& visit) {
    const std::uint32_t* const selection = Access::selection(x);
    for (Index i = 0; i < x.rows(); ++i)
      if (!visit(static_cast<std::size_t>(selection != nullptr ? Index{selection[i]} : Access::begin(x) + i)))
        return false;
    return true;
  };
  each_row(all, [&](std::size_t row) {
    is_held[row] = 1;
    return true;
  });
  for (const Design* part : {&rest, &left_out}) {
    if (&Access::storage(*part) != &Access::storage(all) || !Access::map(*part).is_diagonal()) return false;
    const auto take = [&](std::size_t row) { return std::exchange(is_held[row], 0) == 1; };
    if (!each_row(*part, take)) return false;
  }
  return true;
}

GramOfAll::Sums GramOfAll::sums_of(const Design& stored, const Vector& mean, const StopToken* stop) {
  const Design centred = stored.mapped({.shift = mean});
  return {.gram = weighted_gram(centred, {}, stop),
          .rows = multiplied_transposed(centred, Matrix::Ones(stored.rows(), 1)).col(0)};
}

GramOfAll::GramOfAll(const Design& all, const StopToken* stop) {
  const Design stored = Access::as_stored(all);
  mean_ = Vector::Zero(stored.cols());
  const Vector share = Vector::Constant(all.rows(), 1.0 / static_cast<double>(all.rows()));
  stored.add_transposed(as_span(share), as_span(mean_));
  Sums sums = sums_of(stored, mean_, stop);
  const Matrix& gram = sums.gram;
  lower_.resize(gram.rows() * (gram.rows() + 1) / 2);
  for (Index i = 0; i < gram.rows(); ++i) lower_.segment(i * (i + 1) / 2, i + 1) = gram.row(i).head(i + 1);
  sum_ = std::move(sums.rows);
}

std::optional<Matrix> GramOfAll::of(const Design& rest, const Design& left_out, const StopToken* stop) const {
  std::vector<Index> columns(static_cast<std::size_t>(mean_.size()));
  std::iota(columns.begin(), columns.end(), Index{0});
  return difference(rest, sums_of(Access::as_stored(left_out), mean_, stop), columns);
}

std::optional<Matrix> GramOfAll::of(const Design& rest, const Design& left_out,
                                    std::span<const Index> columns, const StopToken* stop) const {
  // Their columns are copied, so some rows at a time.
  constexpr Index kCopied = Index{1} << 18;
  const auto size = std::ssize(columns);
  const Design stored = Access::as_stored(left_out);
  const Vector mean = of_columns(mean_, columns);
  const Index block = std::max<Index>(kCopied / std::max<Index>(size, 1), 1);
  Sums left{.gram = Matrix::Zero(size, size), .rows = Vector::Zero(size)};
  for (Index begin = 0; begin < stored.rows(); begin += block) {
    const Design rows = stored.row_range(begin, std::min(block, stored.rows() - begin));
    const Sums own = sums_of(rows.with_columns(columns), mean, stop);
    left.gram += own.gram;
    left.rows += own.rows;
  }
  return difference(rest, std::move(left), columns);
}

std::optional<Matrix> GramOfAll::difference(const Design& rest, Sums left,
                                            std::span<const Index> columns) const {
  constexpr double kLeastShare = 1e-3;  // of a column's square that is left: three digits are lost at most
  constexpr Index kMostShare = 8;       // one column in so many may be taken from the rows
  const auto all_at = [&](Index i, Index j) {
    const auto [least, most] =
        std::minmax(columns[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    return at(most, least);
  };
  Matrix& gram = left.gram;
  const Vector sum = of_columns(sum_, columns) - left.rows;
  const auto n = static_cast<double>(rest.rows());
  std::vector<Index> lost, lost_places;
  for (Index j = 0; j < gram.cols(); ++j) {
    const double all = all_at(j, j);
    if (!(all > 0.0) || all - gram(j, j) - sum[j] * sum[j] / n >= kLeastShare * all) continue;
    lost.push_back(columns[static_cast<std::size_t>(j)]);
    lost_places.push_back(j);
  }
  if (std::ssize(lost) * kMostShare > gram.cols()) return {};
  // x = a v + z of a number v as it is stored, and a (v − mean) + b
  const ColumnMap map = Access::map(rest);
  Vector a(gram.cols()), b(gram.cols());
  for (Index k = 0; k < gram.cols(); ++k) {
    const Index column = columns[static_cast<std::size_t>(k)];
    a[k] = map.scaled(column, 1.0);
    b[k] = map.apply(column, mean_[column]);
  }
  for (Index i = 0; i < gram.rows(); ++i)
    for (Index j = 0; j <= i; ++j)
      gram(i, j) = a[i] * a[j] * (all_at(i, j) - gram(i, j)) + (a[i] * sum[i] * b[j] + b[i] * a[j] * sum[j]) +
                   n * b[i] * b[j];
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  if (lost.empty()) return std::move(left.gram);
  const Matrix products = multiplied_transposed(rest, to_matrix(rest.with_columns(lost)));
  for (std::size_t k = 0; k < lost.size(); ++k) {
    const auto own = products.col(static_cast<Index>(k))(columns).eval();
    gram.row(lost_places[k]) = own;
    gram.col(lost_places[k]) = own;
  }
  return std::move(left.gram);
}

}  // namespace yosida
