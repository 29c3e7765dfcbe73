#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

#include "yosida/export.hpp"

// Eigen frees in one way what it aligns to 16 bytes and in another what it aligns to more, and vectors cross
// the boundary of the library. CMake's target and pkg-config's flags define this.
#if !defined(EIGEN_MAX_ALIGN_BYTES) || EIGEN_MAX_ALIGN_BYTES != 64
#error \
    "Compile with -DEIGEN_MAX_ALIGN_BYTES=64, as yosida was: find_package(yosida) and pkg-config --cflags yosida say so"
#endif

namespace YOSIDA_EXPORT yosida {

/// A number of rows, columns or weights, and a place among them.
using Index = Eigen::Index;
/// Weights, targets, hyperparameters.
using Vector = Eigen::VectorXd;
/// Row-major: a row is one observation, read from left to right.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The numbers of a vector.
inline std::span<const double> as_span(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
/// The same, to be written to.
inline std::span<double> as_span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
/// The first `count` numbers of a vector.
inline std::span<double> as_span(Vector& v, Index count) {
  return {v.data(), static_cast<std::size_t>(count)};
}

}  // namespace yosida
