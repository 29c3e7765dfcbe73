#include "problem/many_targets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/factor.hpp"
#include "problem/penalty_range.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {
namespace {

/// The columns named.
Matrix columns_of(const Matrix& all, std::span<const Index> columns) {
  Matrix chosen(all.rows(), static_cast<Index>(columns.size()));
  for (Index i = 0; i < all.rows(); ++i)
    for (std::size_t k = 0; k < columns.size(); ++k) chosen(i, static_cast<Index>(k)) = all(i, columns[k]);
  return chosen;
}

/// A direction counts as rounding of means and sums where its singular value is below this share of the
/// largest.
double rounding_of(const Matrix& x, double largest, double mean_norm) {
  const double size = largest + std::sqrt(static_cast<double>(x.rows())) * mean_norm;
  return std::numeric_limits<double>::epsilon() * size * std::sqrt(static_cast<double>(x.cols()));
}

bool are_equal(const Vector& lambda) { return (lambda.array() == lambda[0]).all(); }

}  // namespace

FactoredRows::FactoredRows(const TargetRows& given, bool intercept)
    : rows(static_cast<double>(given.x.rows())),
      has_intercept(intercept),
      root_weight(given.weight.size() > 0 ? Vector(given.weight.cwiseSqrt())
                                          : Vector(Vector::Ones(given.x.rows()))),
      x_mean(Vector::Zero(given.x.cols())),
      y_mean(Vector::Zero(given.y.cols())) {
  if (intercept) {
    const Vector share = root_weight.cwiseAbs2() / rows;
    x_mean = given.x.transpose() * share;
    y_mean = given.y.transpose() * share;
  }
  const Matrix x = root_weight.asDiagonal() * (given.x.rowwise() - x_mean.transpose());
  const Matrix y = root_weight.asDiagonal() * (given.y.rowwise() - y_mean.transpose());
  // Orthogonal factors alone: products of columns would square the condition.
  Svd parts;
  if (x.rows() >= x.cols()) {
    const Qr factors = qr(x);
    parts = svd(factors.r, false);
    parts.u = product(factors.q, parts.u);
  } else {
    const Qr factors = qr(x.transpose());
    parts = svd(factors.r.transpose(), false);
    parts.v = product(factors.q, parts.v);
  }
  const double least = rounding_of(x, parts.s.size() > 0 ? parts.s[0] : 0.0, x_mean.norm());
  const Index rank = (parts.s.array() > least).count();
  squares = parts.s.head(rank).cwiseAbs2();
  u = parts.u.leftCols(rank);
  v = parts.v.leftCols(rank);
  z = product(u.transpose(), y);
  rest = y - product(u, z);
}

Matrix FactoredRows::coordinates(std::span<const Index> targets, const Vector& lambda, Matrix* turn) const {
  // a = σz/(σ² + 2Ne^λ),  da/dλ = −2Ne^λ a/(σ² + 2Ne^λ)
  Matrix a = columns_of(z, targets);
  const Eigen::RowVectorXd penalty = 2.0 * rows * lambda.transpose().array().exp();
  if (turn != nullptr) turn->resize(a.rows(), a.cols());
  for (Index k = 0; k < rank(); ++k) {
    const Eigen::ArrayXd curvature = squares[k] + penalty.transpose().array();
    a.row(k).array() *= std::sqrt(squares[k]) / curvature.transpose();
    if (turn != nullptr) turn->row(k) = -a.row(k).array() * penalty.array() / curvature.transpose();
  }
  return a;
}

Matrix FactoredRows::weights(const Vector& lambda) const {
  std::vector<Index> all(static_cast<std::size_t>(z.cols()));
  for (std::size_t t = 0; t < all.size(); ++t) all[t] = static_cast<Index>(t);
  Matrix w(v.rows() + 1, z.cols());
  w.topRows(v.rows()) = product(v, coordinates(all, lambda));
  w.row(v.rows()) = y_mean.transpose() - x_mean.transpose() * w.topRows(v.rows());
  return w;
}

ManyTargets::ManyTargets(const std::vector<Part>& parts, bool intercept) {
  for (const Part& part : parts) {
    trained_.emplace_back(part.train, intercept);
    judges_.push_back(judge_of(part.validation, trained_.back(), part.share));
    trained_.back().rest.resize(0, 0);
  }
}

ManyTargets::ManyTargets(const TargetRows& rows, bool intercept, Criterion criterion)
    : criterion_(criterion) {
  const FactoredRows& all = trained_.emplace_back(rows, intercept);
  if (criterion == Criterion::leave_one_out) shift_ = std::log1p(-1.0 / all.rows);
  u_squares_ = all.u.cwiseAbs2();
  const bool spans_all = all.rank() + (intercept ? 1 : 0) >= rows.x.rows();
  outside_ = Vector::Zero(rows.x.rows());
  if (spans_all) return;
  outside_ = Vector::Ones(rows.x.rows()) - u_squares_.rowwise().sum();
  if (intercept) outside_ -= all.root_weight.cwiseAbs2() / all.rows;
  outside_ = outside_.cwiseMax(0.0);
}

ManyTargets::Judge ManyTargets::judge_of(const TargetRows& validation, const FactoredRows& trained,
                                         double share) {
  Judge judge;
  judge.rows = static_cast<double>(validation.x.rows());
  judge.share = share;
  judge.m = product(validation.x.rowwise() - trained.x_mean.transpose(), trained.v);
  judge.z = validation.y.rowwise() - trained.y_mean.transpose();
  if (validation.weight.size() > 0) {
    const Vector root = validation.weight.cwiseSqrt();
    judge.m = root.asDiagonal() * judge.m;
    judge.z = root.asDiagonal() * judge.z;
  }
  judge.rest = Vector::Zero(judge.z.cols());
  if (judge.m.rows() <= judge.m.cols() + 1) return judge;
  const Qr factors = qr(judge.m);
  Matrix inside = product(factors.q.transpose(), judge.z);
  judge.rest = (judge.z - product(factors.q, inside)).colwise().squaredNorm().transpose();
  judge.m = factors.r;
  judge.z = std::move(inside);
  return judge;
}

ManyTargets::Range ManyTargets::bounds() const {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const FactoredRows& each : trained_) {
    const double largest = each.rank() > 0 ? each.squares.maxCoeff() / each.rows : 1.0;
    const double least = each.rank() > 0 ? each.squares.minCoeff() / each.rows : 1.0;
    range.high = std::max(range.high, std::log(kMostPenaltyShare * largest));
    range.low = std::min({range.low, std::log(kLeastPenaltyShare * largest), std::log(1e-6 * least)});
  }
  return range;
}

void ManyTargets::add_holdout(std::size_t part, std::span<const Index> targets, const Vector& lambda,
                              Points& points) const {
  const Judge& judge = judges_[part];
  Matrix turn;
  const Matrix a = trained_[part].coordinates(targets, lambda, &turn);
  const Matrix residual = product(judge.m, a) - columns_of(judge.z, targets);
  const Matrix moved = product(judge.m, turn);
  const double each = judge.share / judge.rows;
  for (Index i = 0; i < residual.rows(); ++i) {  // row by row, as the numbers lie
    points.value += 0.5 * each * residual.row(i).cwiseAbs2().transpose();
    points.slope += each * residual.row(i).cwiseProduct(moved.row(i)).transpose();
  }
  for (std::size_t k = 0; k < targets.size(); ++k)
    points.value[static_cast<Index>(k)] += 0.5 * each * judge.rest[targets[k]];
}

/// With g = 2Ne^λ/(σ² + 2Ne^λ), the share that the penalty takes, g′ = g(1 − g):
///   √s r = rest + U(g∘z),  1 − a = outside + (U∘U)g
ManyTargets::LeftOutColumns ManyTargets::left_out(std::span<const Index> targets,
                                                  const Vector& lambda) const {
  const FactoredRows& all = trained_.front();
  const bool one = are_equal(lambda);
  const Index columns = one ? 1 : lambda.size();
  Matrix taken(all.rank(), columns);
  for (Index l = 0; l < columns; ++l) {
    const double penalty = 2.0 * all.rows * std::exp(lambda[l] + shift_);
    taken.col(l) = penalty / (all.squares.array() + penalty);
  }
  const Matrix turn = taken.array() * (1.0 - taken.array());
  const auto along = [&](const Matrix& share) -> Matrix {
    const Matrix own = columns_of(all.z, targets);
    return one ? Matrix(share.col(0).asDiagonal() * own) : Matrix(share.cwiseProduct(own));
  };
  LeftOutColumns found;
  found.r = product(all.u, along(taken)) + columns_of(all.rest, targets);
  found.r_turn = product(all.u, along(turn));
  found.kept = product(u_squares_, taken).colwise() + outside_;
  found.kept_turn = product(u_squares_, turn);
  return found;
}

ManyTargets::Points ManyTargets::left_out_points(std::span<const Index> targets, const Vector& lambda) const {
  const LeftOutColumns at = left_out(targets, lambda);
  const double n = trained_.front().rows;
  using Row = Eigen::RowVectorXd;
  const Row none = Row::Zero(lambda.size());
  // Row by row, as the numbers lie.
  if (criterion_ == Criterion::leave_one_out) {
    Row value = none, slope = none, e(lambda.size());
    const bool one = at.kept.cols() == 1;
    for (Index i = 0; i < at.r.rows(); ++i) {
      const Row kept = one ? Row::Constant(lambda.size(), at.kept(i, 0)) : Row(at.kept.row(i));
      const Row turn = one ? Row::Constant(lambda.size(), at.kept_turn(i, 0)) : Row(at.kept_turn.row(i));
      e = at.r.row(i).array() / kept.array();
      value += e.cwiseAbs2();
      slope.array() += e.array() * (at.r_turn.row(i).array() - e.array() * turn.array()) / kept.array();
    }
    return {0.5 / n * value.transpose(), slope.transpose() / n};
  }
  Row square = none, along = none;
  for (Index i = 0; i < at.r.rows(); ++i) {
    square += at.r.row(i).cwiseAbs2();
    along += at.r.row(i).cwiseProduct(at.r_turn.row(i));
  }
  Row free = Row::Ones(at.kept.rows()) * at.kept / n, turn = Row::Ones(at.kept.rows()) * at.kept_turn / n;
  if (free.size() == 1) {
    free = Row::Constant(lambda.size(), free[0]);
    turn = Row::Constant(lambda.size(), turn[0]);
  }
  const Row mean = 0.5 / n * square;
  return {(mean.array() / free.array().square()).matrix().transpose(),
          ((along.array() / n - 2.0 * mean.array() / free.array() * turn.array()) / free.array().square())
              .matrix()
              .transpose()};
}

ManyTargets::Points ManyTargets::at(std::span<const Index> targets, const Vector& lambda) const {
  if (criterion_ != Criterion::holdout) return left_out_points(targets, lambda);
  Points points{Vector::Zero(lambda.size()), Vector::Zero(lambda.size())};
  for (std::size_t part = 0; part < judges_.size(); ++part) add_holdout(part, targets, lambda, points);
  return points;
}

Matrix ManyTargets::left_out_residuals(std::span<const Index> targets, const Vector& lambda) const {
  const LeftOutColumns at = left_out(targets, lambda);
  Matrix e = at.r;
  for (Index l = 0; l < lambda.size(); ++l) {
    const auto kept = at.kept.col(at.kept.cols() == 1 ? 0 : l).array();
    if (criterion_ == Criterion::leave_one_out)
      e.col(l).array() /= kept;
    else
      e.col(l).array() /= kept.sum() / trained_.front().rows;
  }
  return trained_.front().root_weight.cwiseInverse().asDiagonal() * e;
}

Vector ManyTargets::certificate_scales(std::span<const Index> targets, const Vector& lambda) const {
  Vector curved = Vector::Zero(lambda.size()), size = Vector::Zero(lambda.size());
  for (const FactoredRows& each : trained_) {
    const Matrix a = each.coordinates(targets, own(lambda));
    curved += (a.cwiseAbs2().transpose() * each.squares) / each.rows;
    size += a.colwise().squaredNorm().transpose();
  }
  Vector scale(lambda.size());
  for (Index t = 0; t < lambda.size(); ++t)
    scale[t] = certificate_scale_of(curved[t] / size[t], std::exp(own(lambda)[t]));
  return scale;
}

}  // namespace yosida
