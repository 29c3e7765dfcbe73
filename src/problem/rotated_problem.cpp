#include "problem/rotated_problem.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"
#include "linalg/gram.hpp"

namespace yosida {
namespace {

/// A processor does this many operations in a fraction of a second.
constexpr double kLittle = 1e9;
/// Features and targets between these leave room for their singular values.
constexpr double kLargest = 1e60;
constexpr double kSmallest = 1e-60;
/// The eigenvectors of so many rows take a second.
constexpr Index kMostRows = 1500;
/// Directions whose share of the largest curvature is at least kClearlyThere keep eight digits in products of
/// rows; below kClearlyNot there is rounding and nothing else.
constexpr double kClearlyThere = 1e-8;
constexpr double kClearlyNot = 1e-13;

Dataset with_rows(const Dataset& data, const Matrix& rows) {
  Dataset result;
  result.x = Design(rows);
  result.y = data.y;
  result.weight = data.weight;
  result.source = data.source;
  return result;
}

/// The rows less the means of the training rows.
Design shifted(const Design& x, const Vector& mean) {
  return mean.isZero(0.0) ? x : x.mapped({.shift = mean});
}

}  // namespace

double RotatedProblem::factoring_flops(const LinearProblem& direct) {
  const auto n = static_cast<double>(direct.split().train.rows());
  const auto d = static_cast<double>(direct.split().train.features());
  const double rank = std::min(n, d);
  return 8.0 * n * d * rank + 22.0 * rank * rank * rank +
         2.0 * static_cast<double>(direct.split().validation.rows()) * d * rank;
}

double RotatedProblem::products_flops(const LinearProblem& direct) {
  const auto n = static_cast<double>(direct.split().train.rows());
  const auto m = static_cast<double>(direct.split().validation.rows());
  const double row_products = 2.0 * direct.split().train.x.product_flops();
  return (n + m) * row_products + 9.0 * n * n * n + 2.0 * m * n * n;
}

/// What the factorisation gives, before there is a problem.
struct RotatedProblem::Parts {
  Matrix basis, rows;
  Vector mean;
  std::unique_ptr<const LinearProblem> rotated;  // null where digits are lost

  static Parts of_rows(const LinearProblem& direct) {
    Parts parts;
    parts.from_rows(direct);
    return parts;
  }
  static Parts of_products(const LinearProblem& direct) {
    Parts parts;
    parts.from_products(direct);
    return parts;
  }

 private:
  void from_products(const LinearProblem& direct) {
    const auto& [train, validation, test] = direct.split();
    const Index n = train.rows();
    const bool intercept = direct.intercepts() > 0;
    mean = Vector::Zero(train.features());
    if (intercept) {
      const Vector weight = Vector::Constant(n, 1.0 / static_cast<double>(n));
      train.x.add_transposed(as_span(weight), as_span(mean));
    }
    const Design x = shifted(train.x, mean);
    const Eigensystem parts = symmetric_eigen(row_products(x));
    const double largest = parts.values[n - 1];
    if (!(largest > kSmallest && largest < kLargest)) return;
    Index rank = 0;
    while (rank < n && parts.values[n - 1 - rank] >= kClearlyThere * largest) ++rank;
    if (rank < n && parts.values[n - 1 - rank] > kClearlyNot * largest) return;
    // X Xᵀ = U s² Uᵀ, so the basis is Xᵀ U s⁻¹.
    const Vector s = parts.values.tail(rank).cwiseSqrt();
    const Matrix u = parts.vectors.rightCols(rank);
    rows = u * s.cwiseInverse().asDiagonal();
    Split split{
        .train = with_rows(train, u * s.asDiagonal()),
        .validation = with_rows(validation, product(row_products(shifted(validation.x, mean), x), rows)),
        .test = {}};
    rotated = std::make_unique<const LinearProblem>(std::move(split), direct.loss(), intercept);
  }

  void from_rows(const LinearProblem& direct) {
    const auto& [train, validation, test] = direct.split();
    const Index n = train.rows(), d = train.features();
    const bool intercept = direct.intercepts() > 0;
    Matrix x = to_matrix(train.x);
    Matrix v = to_matrix(validation.x);
    // With an intercept any shift of the columns is the same problem: centred, the means hide nothing.
    mean = intercept ? Vector(x.colwise().mean().transpose()) : Vector(Vector::Zero(d));
    x.rowwise() -= mean.transpose();
    v.rowwise() -= mean.transpose();
    const Svd parts = svd(x, false);
    // Taking out the means leaves their rounding, which may be larger than that of what is left.
    const double rounding = std::sqrt(static_cast<double>(std::min(n, d))) *
                            std::numeric_limits<double>::epsilon() *
                            (parts.s[0] + std::sqrt(static_cast<double>(n)) * mean.norm());
    Index rank = 0;
    while (rank < parts.s.size() && parts.s[rank] > rounding) ++rank;
    rank = std::max<Index>(rank, 1);  // a design of zeros has one column of them
    basis = parts.v.leftCols(rank);
    Split split{.train = with_rows(train, parts.u.leftCols(rank) * parts.s.head(rank).asDiagonal()),
                .validation = with_rows(validation, product(v, basis)),
                .test = {}};
    rotated = std::make_unique<const LinearProblem>(std::move(split), direct.loss(), intercept);
  }
};

bool RotatedProblem::rotates(const LinearProblem& direct) {
  const auto& [train, validation, test] = direct.split();
  if (!direct.penalty().is_shared() || !direct.traits().factors_cheaply ||
      factoring_flops(direct) > kLittle || direct.solve_memory() != nullptr)
    return false;
  const double largest =
      std::max(to_matrix(train.x).cwiseAbs().maxCoeff(), to_matrix(validation.x).cwiseAbs().maxCoeff());
  return largest < kLargest && largest > kSmallest;
}

bool RotatedProblem::is_wide(const LinearProblem& direct) {
  const Dataset& train = direct.split().train;
  return direct.penalty().is_shared() && train.rows() < train.features() && train.rows() <= kMostRows;
}

std::shared_ptr<const RotatedProblem> RotatedProblem::of(const std::shared_ptr<const LinearProblem>& direct) {
  Parts parts = rotates(*direct) ? Parts::of_rows(*direct) : Parts::of_products(*direct);
  if (!parts.rotated) return nullptr;
  return std::shared_ptr<const RotatedProblem>(new RotatedProblem(direct, std::move(parts)));
}

std::shared_ptr<const RotatedProblem> RotatedProblem::of_rows(
    const std::shared_ptr<const LinearProblem>& direct) {
  return std::shared_ptr<const RotatedProblem>(new RotatedProblem(direct, Parts::of_rows(*direct)));
}

RotatedProblem::RotatedProblem(std::shared_ptr<const LinearProblem> direct, Parts parts)
    : ForwardingProblem(*parts.rotated),
      direct_(std::move(direct)),
      rotated_(std::move(parts.rotated)),
      basis_(std::move(parts.basis)),
      rows_(std::move(parts.rows)),
      mean_(std::move(parts.mean)) {
  const Index outputs = direct_->loss().outputs();
  Vector own;
  if (rows_.size() == 0) {
    own = basis_.transpose() * Vector::Ones(basis_.rows());
  } else {
    const Design& x = direct_->split().train.x;
    const Vector ones = Vector::Ones(x.cols());
    Vector sums(x.rows());
    shifted(x, mean_).multiply(as_span(ones), as_span(sums));
    own = rows_.transpose() * sums;
  }
  traits_.ones = Vector::Zero(rotated_->weights());
  for (Index j = 0; j < own.size(); ++j) traits_.ones.segment(j * outputs, outputs).setConstant(own[j]);
  const double flops = rows_.size() == 0 ? factoring_flops(*direct_) : products_flops(*direct_);
  traits_.setup_work =
      flops / (2.0 * direct_->split().train.x.product_flops() * static_cast<double>(outputs));
}

Vector RotatedProblem::expand(const Vector& w) const {
  const Index outputs = direct_->loss().outputs();
  const Index d = direct_->split().train.features();
  const Index rank = std::max(basis_.cols(), rows_.cols());
  Vector full = Vector::Zero(direct_->weights());
  // One row of weights for each feature, a number for each output.
  const Eigen::Map<const Matrix> inner(w.data(), rank, outputs);
  Eigen::Map<Matrix> outer(full.data(), d, outputs);
  if (rows_.size() == 0) {
    outer.noalias() = basis_ * inner;
  } else {
    const Matrix combined = product(rows_, inner);
    shifted(direct_->split().train.x, mean_)
        .add_transposed({combined.data(), static_cast<std::size_t>(combined.size())},
                        {full.data(), static_cast<std::size_t>(d * outputs)}, outputs);
  }
  const Index intercepts = direct_->intercepts();
  if (intercepts > 0) full.tail(intercepts) = w.tail(intercepts) - outer.transpose() * mean_;
  return full;
}

}  // namespace yosida
