#include "problem/rotated_problem.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"

namespace yosida {
namespace {

/// So many operations take a fraction of a second.
constexpr double kLittle = 1e9;
/// Features and targets between these leave room for their singular values.
constexpr double kLargest = 1e60;
constexpr double kSmallest = 1e-60;

Dataset with_rows(const Dataset& data, const Matrix& rows) {
  Dataset result;
  result.x = Design(rows);
  result.y = data.y;
  result.weight = data.weight;
  result.source = data.source;
  return result;
}

}  // namespace

double RotatedProblem::factoring_flops(const LinearProblem& direct) {
  const auto n = static_cast<double>(direct.split().train.rows());
  const auto d = static_cast<double>(direct.split().train.features());
  const double rank = std::min(n, d);
  return 8.0 * n * d * rank + 22.0 * rank * rank * rank +
         2.0 * static_cast<double>(direct.split().validation.rows()) * d * rank;
}

/// What the factorisation gives, before there is a problem.
struct RotatedProblem::Parts {
  Matrix basis;
  Vector mean;
  std::unique_ptr<const LinearProblem> rotated;

  explicit Parts(const LinearProblem& direct) {
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
  if (!direct.penalty().is_shared() || !direct.traits().factors_cheaply || factoring_flops(direct) > kLittle)
    return false;
  const double largest =
      std::max(to_matrix(train.x).cwiseAbs().maxCoeff(), to_matrix(validation.x).cwiseAbs().maxCoeff());
  return largest < kLargest && largest > kSmallest;
}

RotatedProblem::RotatedProblem(const std::shared_ptr<const LinearProblem>& direct)
    : RotatedProblem(direct, Parts(*direct)) {}

RotatedProblem::RotatedProblem(std::shared_ptr<const LinearProblem> direct, Parts parts)
    : ForwardingProblem(*parts.rotated),
      direct_(std::move(direct)),
      rotated_(std::move(parts.rotated)),
      basis_(std::move(parts.basis)),
      mean_(std::move(parts.mean)) {
  const Index outputs = direct_->loss().outputs();
  const Vector own = basis_.transpose() * Vector::Ones(basis_.rows());
  traits_.ones = Vector::Zero(rotated_->weights());
  for (Index j = 0; j < own.size(); ++j) traits_.ones.segment(j * outputs, outputs).setConstant(own[j]);
  traits_.setup_work = factoring_flops(*direct_) /
                       (2.0 * direct_->split().train.x.product_flops() * static_cast<double>(outputs));
}

Vector RotatedProblem::expand(const Vector& w) const {
  const Index outputs = direct_->loss().outputs();
  const Index d = basis_.rows(), rank = basis_.cols();
  Vector full(direct_->weights());
  // One row of weights for each feature, a number for each output.
  const Eigen::Map<const Matrix> inner(w.data(), rank, outputs);
  Eigen::Map<Matrix> outer(full.data(), d, outputs);
  outer.noalias() = basis_ * inner;
  const Index intercepts = direct_->intercepts();
  if (intercepts > 0) full.tail(intercepts) = w.tail(intercepts) - outer.transpose() * mean_;
  return full;
}

}  // namespace yosida
