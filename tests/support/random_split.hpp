#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "yosida/data/split.hpp"
#include "yosida/model/loss.hpp"
#include "yosida/random.hpp"

namespace yosida::test {

inline Vector random_vector(Index size, Random& random) {
  Vector v(size);
  for (double& value : v) value = random.normal();
  return v;
}

inline Matrix random_matrix(Index rows, Index cols, Random& random) {
  Matrix m(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) m(i, j) = random.normal();
  return m;
}

/// The non-zeros of a matrix, written without the library's own conversions.
inline SparseRows sparse_of(const Matrix& m) {
  SparseRows x;
  x.columns = m.cols();
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) {
      if (m(i, j) == 0.0) continue;
      x.column.push_back(static_cast<std::int32_t>(j));
      x.value.push_back(m(i, j));
    }
    x.row_start.push_back(static_cast<std::int64_t>(x.value.size()));
  }
  return x;
}

/// Dense where density = 1; below, sparse with about that share of non-zeros (empty rows may occur).
inline Design random_design(Index rows, Index cols, double density, Random& random) {
  Matrix m = random_matrix(rows, cols, random);
  if (density == 1.0) return Design(m);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      if (random.uniform() >= density) m(i, j) = 0.0;
  return sparse_of(m);
}

/// Any design as a plain matrix.
inline Matrix matrix_of(const Design& x) { return to_matrix(x); }

/// A target of the kind the loss wants from a number of some size 1.
inline double target_of(double y, const Loss& loss) {
  const auto classes = static_cast<double>(loss.outputs());
  if (loss.outputs() > 1) return std::clamp(std::floor((y + 2.0) / 4.0 * classes), 0.0, classes - 1.0);
  if (loss.is_classification()) return y < 0.0 ? -1.0 : 1.0;
  return loss.accepts(-1.0) ? y : std::floor(std::exp(std::min(y, 3.0)));
}

/// y = 0.3 + xᵀw* / √d + noise with w* and x standard normal, turned into what the loss wants.
inline Dataset random_dataset(Index rows, const Vector& w_star, const Loss& loss, double density,
                              Random& random, std::string source) {
  Dataset data;
  data.x = random_design(rows, w_star.size(), density, random);
  data.y = matrix_of(data.x) * w_star / std::sqrt(static_cast<double>(w_star.size()));
  for (double& y : data.y) {
    y = target_of(y + 0.3 + 0.5 * random.normal(), loss);
  }
  data.source = std::move(source);
  return data;
}

/// No test rows where n_test = 0.
inline Split random_split(Index n_train, Index n_valid, Index n_test, Index d, std::uint64_t seed,
                          const Loss& loss, double density = 1.0) {
  Random random(seed);
  const Vector w_star = random_vector(d, random);
  Split split;
  split.train = random_dataset(n_train, w_star, loss, density, random, "random train");
  split.validation = random_dataset(n_valid, w_star, loss, density, random, "random validation");
  if (n_test > 0) split.test = random_dataset(n_test, w_star, loss, density, random, "random test");
  return split;
}

/// Spectra-like rows in [0, 1]: each a sum of a few broad bumps whose heights vary from row to row, so that
/// neighbouring columns are nearly equal and singular values fall fast; y depends on two of the heights.
inline Dataset smooth_dataset(Index rows, Index d, Random& random) {
  constexpr int kBumps = 6;
  Matrix x(rows, d);
  Dataset data;
  data.y.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    double height[kBumps];
    for (double& each : height) each = random.uniform();
    for (Index j = 0; j < d; ++j) {
      double value = 0.0;
      for (int k = 0; k < kBumps; ++k) {
        const double distance = static_cast<double>(j) / static_cast<double>(d) - (k + 0.5) / kBumps;
        value += height[k] * std::exp(-40.0 * distance * distance);
      }
      x(i, j) = (value + 0.01 * random.uniform()) / 2.0;
    }
    data.y[i] = height[1] - 0.5 * height[4] + 0.05 * random.normal();
  }
  data.x = Design(x);
  data.source = "smooth";
  return data;
}

inline Split smooth_split(Index n_train, Index n_valid, Index n_test, Index d, std::uint64_t seed) {
  Random random(seed);
  Split split;
  split.train = smooth_dataset(n_train, d, random);
  split.validation = smooth_dataset(n_valid, d, random);
  if (n_test > 0) split.test = smooth_dataset(n_test, d, random);
  return split;
}

}  // namespace yosida::test
