#pragma once

#include <Eigen/Core>

namespace yosida {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
/// Row-major: a row is one observation, read from left to right.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace yosida
