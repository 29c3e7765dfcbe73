#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

namespace yosida {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
/// Row-major: a row is one observation, read from left to right.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline std::span<const double> as_span(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
inline std::span<double> as_span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
/// The first `count` numbers of a vector.
inline std::span<double> as_span(Vector& v, Index count) {
  return {v.data(), static_cast<std::size_t>(count)};
}

}  // namespace yosida
