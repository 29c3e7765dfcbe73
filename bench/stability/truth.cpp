#include "truth.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

extern "C" void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
                        const int* lda, double* s, double* u, const int* ldu, double* vt, const int* ldvt,
                        double* work, const int* lwork, int* info);

namespace yosida::bench {
namespace {

/// Singular values and vectors by QR iteration. (Eigen's divide and conquer loses small ones among clusters.)
struct Svd {
  explicit Svd(Eigen::MatrixXd x) {
    const auto m = static_cast<int>(x.rows()), n = static_cast<int>(x.cols()), k = std::min(m, n);
    s.resize(k);
    u.resize(m, k);
    Eigen::MatrixXd vt(k, n);
    const int size = 64 * (m + n);
    std::vector<double> work(static_cast<std::size_t>(size));
    int info = 0;
    dgesvd_("S", "S", &m, &n, x.data(), &m, s.data(), u.data(), &m, vt.data(), &k, work.data(), &size, &info);
    if (info != 0) throw std::runtime_error("dgesvd has failed");
    v = vt.transpose();
  }
  const Vector& singularValues() const { return s; }
  const Eigen::MatrixXd& matrixU() const { return u; }
  const Eigen::MatrixXd& matrixV() const { return v; }

  Vector s;
  Eigen::MatrixXd u, v;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotSolved = std::numeric_limits<double>::quiet_NaN();

std::unique_ptr<FoldTruth> make_fold(const Case& drawn, const Split& split, const Vector& column_scale) {
  if (drawn.loss->is_quadratic()) return least_squares_truth(split, drawn.intercept, column_scale);
  return newton_truth(split, std::string(drawn.model->name), drawn.loss->outputs(), drawn.intercept,
                      column_scale);
}

/// Evaluates `value` at points that close in on a minimum of it in [a, b].
template <typename Function>
void golden_section(Function&& value, double a, double b, double width) {
  constexpr double kGolden = 0.6180339887498949;
  double c = b - kGolden * (b - a);
  double d = a + kGolden * (b - a);
  double f_c = value(c);
  double f_d = value(d);
  while (b - a > width) {
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

}  // namespace

Rotated::Rotated(const Split& split, bool intercept, const Vector& column_scale) {
  // One-sided Jacobi after pivoting keeps the small singular values of columns of very different scales;
  // where it would take too long, QR iteration keeps them to 1e-16 of the largest.
  constexpr Index kJacobi = 32;
  Eigen::MatrixXd x = to_matrix(split.train.x) * column_scale.asDiagonal();
  Eigen::MatrixXd v = to_matrix(split.validation.x) * column_scale.asDiagonal();
  const Index n = x.rows();
  const Index d = x.cols();
  // Twice: what rounding leaves of a mean is as large as the smallest singular values.
  for (int pass = 0; intercept && pass < 2; ++pass) {
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
    take(Svd(x));
  const double least = std::sqrt(static_cast<double>(std::min(n, d))) *
                       std::numeric_limits<double>::epsilon() *
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

double Path::at(double lambda) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < folds_.size(); ++k) sum += share_[k] * folds_[k]->at(lambda);
  return sum;
}

double Path::at_classes(const Vector& lambda) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < folds_.size(); ++k) sum += share_[k] * folds_[k]->at_classes(lambda);
  return sum;
}

std::vector<double> Path::grid() const {
  double low = kInfinity;
  double high = -kInfinity;
  double step = kInfinity;
  std::vector<double> points;
  for (const auto& fold : folds_) {
    low = std::min(low, fold->low);
    high = std::max(high, fold->high);
    step = std::min(step, fold->step);
    points.insert(points.end(), fold->kinks.begin(), fold->kinks.end());
  }
  for (double next = high; next > low - step; next -= step) points.push_back(next);
  std::sort(points.begin(), points.end(), std::greater<>());
  return points;
}

Path::Lowest Path::lowest() const {
  constexpr double kPromising = 1.02;  // valleys up to 2 % above the lowest are polished
  constexpr double kFarAbove = 1.5;    // a path that ends so much above its lowest has said enough
  constexpr int kGivenUp = 3;          // unsolved one after the other
  std::vector<double> lambda, value;
  Lowest best{.value = kInfinity, .lambda = kInfinity};
  int unsolved = 0;
  for (const double next : grid()) {
    const double h = at(next);
    unsolved = std::isnan(h) ? unsolved + 1 : 0;
    if (unsolved == kGivenUp) break;
    if (std::isnan(h)) continue;
    lambda.push_back(next);
    value.push_back(h);
    if (h < best.value) {
      best.value = h;
      best.lambda = next;
    }
  }
  best.is_incomplete = value.empty() || (unsolved > 0 && !(value.back() > kFarAbove * best.value));
  const double promising = kPromising * best.value;
  for (std::size_t i = 1; i + 1 < value.size(); ++i)
    if (value[i] <= value[i - 1] && value[i] <= value[i + 1] && value[i] <= promising)
      polish(lambda[i + 1], lambda[i - 1], best);
  return best;
}

void Path::polish(double a, double b, Lowest& best) const {
  constexpr double kWidth = 1e-3;  // h is flat to second order there: its own error is about 1e-7
  golden_section(
      [&](double lambda) {
        const double h = at(lambda);
        if (h < best.value) {
          best.value = h;
          best.lambda = lambda;
        }
        return h;
      },
      a, b, kWidth);
}

Path Truth::path(double ridge) const {
  std::vector<std::unique_ptr<FoldTruth>> folds;
  for (const Split& split : case_.splits)
    folds.push_back(case_.penalty ? make_fold(case_, split, Vector::Ones(split.train.features()))
                                  : lasso_truth(split, case_.intercept, ridge));
  return {std::move(folds), case_.share};
}

Truth::Truth(const Case& drawn, double floor) : case_(drawn) {
  path_ = std::make_unique<Path>(path(0.0));
  const Path::Lowest lowest = path_->lowest();
  best_ = lowest.value;
  best_lambda_ = lowest.lambda;
  is_incomplete_ = lowest.is_incomplete;
  null_loss_ = path_->at(kInfinity);
  if (drawn.model->penalty == PenaltyForm::l1_l2) search_two();
  unit_ = std::max(best_, floor * null_loss_);
}

void Truth::search_two() {
  constexpr double kStep = 2.5;
  constexpr double kWidth = 0.3;
  double largest = 0.0;
  double smallest = kInfinity;
  for (const Split& split : case_.splits) {
    const auto x = to_matrix(split.train.x);
    const Vector squares = x.colwise().squaredNorm().transpose() / static_cast<double>(x.rows());
    largest = std::max(largest, squares.sum());
    for (const double square : squares)
      if (square > 0.0) smallest = std::min(smallest, square);
  }
  double best_ridge = std::log(largest);
  double best = kInfinity;
  const auto value = [&](double lambda) {
    const Path::Lowest lowest = path(std::exp(lambda)).lowest();
    if (lowest.value < best_) {
      best_ = lowest.value;
      best_lambda_ = lowest.lambda;
    }
    return lowest.value;
  };
  for (double lambda = std::log(largest) + 3.0; lambda > std::log(smallest) - 12.0; lambda -= kStep)
    if (const double h = value(lambda); h < best) {
      best = h;
      best_ridge = lambda;
    }
  golden_section(value, best_ridge - kStep, best_ridge + kStep, kWidth);
}

double Truth::at(const Vector& lambda) {
  if (case_.model->penalty == PenaltyForm::l1_l2) return path(std::exp(lambda[1])).at(lambda[0]);
  if (case_.sharing == Sharing::one) return path_->at(lambda[0]);
  if (case_.sharing == Sharing::groups && case_.loss->outputs() > 1) return path_->at_classes(lambda);
  double sum = 0.0;
  for (std::size_t k = 0; k < case_.splits.size(); ++k) {
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
  if (std::isnan(value)) return kNotSolved;
  const double excess = value - best_;
  return excess <= 0.0 ? 0.0 : excess / unit_;
}

}  // namespace yosida::bench
