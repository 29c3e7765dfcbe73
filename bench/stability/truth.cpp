#include "truth.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>

namespace yosida::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotSolved = std::numeric_limits<double>::quiet_NaN();

std::unique_ptr<FoldTruth> make_fold(const Case& drawn, const Split& split, const Vector& column_scale) {
  if (drawn.loss->is_quadratic()) return least_squares_truth(split, drawn.intercept, column_scale);
  return newton_truth(split, std::string(drawn.model->name), drawn.loss->outputs(), drawn.intercept,
                      column_scale);
}

}  // namespace

Rotated::Rotated(const Split& split, bool intercept, const Vector& column_scale) {
  // One-sided Jacobi after pivoting keeps the small singular values of columns of very different scales;
  // where it would take too long, divide and conquer keeps them to 1e-16 of the largest.
  constexpr Index kJacobi = 32;
  Eigen::MatrixXd x = split.train.x.dense().matrix() * column_scale.asDiagonal();
  Eigen::MatrixXd v = split.validation.x.dense().matrix() * column_scale.asDiagonal();
  const Index n = x.rows();
  const Index d = x.cols();
  if (intercept) {
    const Eigen::RowVectorXd mean = x.colwise().mean();
    x.rowwise() -= mean;
    v.rowwise() -= mean;
  }
  Eigen::MatrixXd left, right;
  const auto take = [&](const auto& svd) {
    singular_values = svd.singularValues();
    left = svd.matrixU();
    right = svd.matrixV();
  };
  if (std::min(n, d) <= kJacobi)
    take(Eigen::JacobiSVD<Eigen::MatrixXd>(x, Eigen::ComputeThinU | Eigen::ComputeThinV));
  else
    take(Eigen::BDCSVD<Eigen::MatrixXd>(x, Eigen::ComputeThinU | Eigen::ComputeThinV));
  const double least = static_cast<double>(std::max(n, d)) * std::numeric_limits<double>::epsilon() *
                       (singular_values.size() > 0 ? singular_values[0] : 0.0);
  Index rank = 0;
  while (rank < singular_values.size() && singular_values[rank] > least) ++rank;
  singular_values.conservativeResize(rank);
  const double root = std::sqrt(static_cast<double>(n));
  const Index columns = rank + (intercept ? 1 : 0);
  train = Eigen::MatrixXd::Ones(n, columns);
  train.leftCols(rank) = root * left.leftCols(rank);
  validation = Eigen::MatrixXd::Ones(v.rows(), columns);
  validation.leftCols(rank) = v * right.leftCols(rank) * (root * singular_values.cwiseInverse()).asDiagonal();
  penalty = static_cast<double>(n) * singular_values.cwiseAbs2().cwiseInverse();
}

Truth::Truth(const Case& drawn, double floor) : case_(drawn) {
  for (const Split& split : drawn.splits)
    folds_.push_back(make_fold(drawn, split, Vector::Ones(split.train.features())));
  scan();
  unit_ = std::max(best_, floor * at(kInfinity));
}

double Truth::at(double lambda) {
  double sum = 0.0;
  for (std::size_t k = 0; k < folds_.size(); ++k) sum += case_.share[k] * folds_[k]->at(lambda);
  return sum;
}

double Truth::at(const Vector& lambda) {
  if (case_.sharing == Sharing::one) return at(lambda[0]);
  double sum = 0.0;
  for (std::size_t k = 0; k < folds_.size(); ++k) {
    if (case_.sharing == Sharing::groups && case_.loss->outputs() > 1) {
      sum += case_.share[k] * folds_[k]->at_classes(lambda);
      continue;
    }
    // Weights times e^{λ/2} have a penalty of 1: the same problem with other columns.
    const Split& split = case_.splits[k];
    Vector column_scale(split.train.features());
    for (Index j = 0; j < column_scale.size(); ++j)
      column_scale[j] = std::exp(-0.5 * lambda[case_.penalty->group(j * case_.loss->outputs())]);
    sum += case_.share[k] * make_fold(case_, split, column_scale)->at(0.0);
  }
  return sum;
}

double Truth::gap(double value) const {
  const double excess = value - best_;
  if (std::isnan(value)) return kNotSolved;
  return excess <= 0.0 ? 0.0 : excess / unit_;
}

void Truth::scan() {
  constexpr double kPromising = 1.02;  // valleys up to 2 % above the lowest are polished
  constexpr int kGivenUp = 3;          // unsolved one after the other
  double low = kInfinity;
  double high = -kInfinity;
  double step = kInfinity;
  for (const auto& fold : folds_) {
    low = std::min(low, fold->low);
    high = std::max(high, fold->high);
    step = std::min(step, fold->step);
  }
  std::vector<double> lambda, value;
  best_ = kInfinity;
  int unsolved = 0;
  for (double next = high; next > low - step && unsolved < kGivenUp; next -= step) {
    const double h = at(next);
    unsolved = std::isnan(h) ? unsolved + 1 : 0;
    is_incomplete_ |= std::isnan(h);
    if (std::isnan(h)) continue;
    lambda.push_back(next);
    value.push_back(h);
    if (h < best_) {
      best_ = h;
      best_lambda_ = next;
    }
  }
  const double promising = kPromising * best_;
  for (std::size_t i = 1; i + 1 < value.size(); ++i)
    if (value[i] <= value[i - 1] && value[i] <= value[i + 1] && value[i] <= promising)
      polish(lambda[i + 1], lambda[i - 1]);
}

void Truth::polish(double a, double b) {
  constexpr double kGolden = 0.6180339887498949;
  constexpr double kWidth = 1e-3;  // h is flat to second order there: its own error is about 1e-7
  const auto value = [&](double lambda) {
    const double h = at(lambda);
    if (h < best_) {
      best_ = h;
      best_lambda_ = lambda;
    }
    return h;
  };
  double c = b - kGolden * (b - a);
  double d = a + kGolden * (b - a);
  double f_c = value(c);
  double f_d = value(d);
  while (b - a > kWidth) {
    if (f_c < f_d) {
      b = d;
      d = c;
      f_d = f_c;
      c = b - kGolden * (b - a);
      f_c = value(c);
    } else {
      a = c;
      c = d;
      f_c = f_d;
      d = a + kGolden * (b - a);
      f_d = value(d);
    }
  }
}

}  // namespace yosida::bench
