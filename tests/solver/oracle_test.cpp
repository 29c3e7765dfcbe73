#include "yosida/solver/oracle.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <functional>

#include "problem/forwarding_problem.hpp"
#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/problem_case.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

using test::BuiltProblem;
using test::lambda_of;
using test::PlainProblem;
using test::random_split;

/// L_V(w*(λ)) for least squares, from one eigendecomposition of the (centred) training Gram matrix:
///   w*(λ) = V (D + 2e^λ)⁻¹ Vᵀ Xᵀy/N,  b = ȳ − x̄ᵀw.
class RidgePath {
 public:
  RidgePath(const Split& split, bool intercept) : plain_(split, least_squares(), false) {
    const double n = static_cast<double>(plain_.x_train.rows());
    if (intercept) {
      x_mean_ = plain_.x_train.colwise().mean();
      y_mean_ = plain_.y_train.mean();
    } else {
      x_mean_ = Vector::Zero(plain_.x_train.cols());
    }
    const Eigen::MatrixXd x = plain_.x_train.rowwise() - x_mean_.transpose();
    eigen_ = test::symmetric_eigen(x.transpose() * x / n);
    rotated_ = eigen_.vectors.transpose() * (x.transpose() * (plain_.y_train.array() - y_mean_).matrix()) / n;
  }
  double operator()(double lambda) const {
    const Vector d = eigen_.values.cwiseMax(0.0).array() + 2.0 * std::exp(lambda);
    const Vector w = eigen_.vectors * rotated_.cwiseQuotient(d);
    const Vector m = (plain_.x_valid * w).array() + (y_mean_ - x_mean_.dot(w));
    return 0.5 * (plain_.y_valid - m).squaredNorm() / static_cast<double>(m.size());
  }

 private:
  PlainProblem plain_;
  Vector x_mean_;
  double y_mean_ = 0.0;
  test::SymmetricEigen eigen_;
  Vector rotated_;
};

/// Two scales of signal, each overfitted where the other is not: λ ↦ L_V(w*(λ)) has a valley for each.
/// Feature 1 is strong and helps; feature 2 is weaker and its training slope is spoiled, feature 3 is tiny
/// and helps again.
Split two_valleys(double spoiled) {
  Split split;
  Random random(3);
  for (Dataset* data : {&split.train, &split.validation}) {
    const Index n = 60;
    Matrix x(n, 3);
    data->y.resize(n);
    const bool train = data == &split.train;
    for (Index i = 0; i < n; ++i) {
      const double a = random.normal(), b = random.normal(), c = random.normal();
      x.row(i) << a, 0.03 * b, 0.001 * c;
      data->y[i] = a + (train ? spoiled : 0.0) * b + 0.8 * c + 0.01 * random.normal();
    }
    data->x = Design(x);
    data->source = "two valleys";
  }
  return split;
}

double lowest(const std::function<double(double)>& h, double low, double high, int points) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < points; ++i) best = std::min(best, h(low + (high - low) * i / (points - 1)));
  return best;
}

int valleys(const std::function<double(double)>& h, double low, double high, int points) {
  int count = 0;
  double previous = h(low), slope_before = -1.0;
  for (int i = 1; i < points; ++i) {
    const double value = h(low + (high - low) * i / (points - 1));
    if (value > previous && slope_before < 0.0) ++count;
    if (value != previous) slope_before = value - previous;
    previous = value;
  }
  return count;
}

struct Data {
  const char* name;
  Split split;
};

std::vector<Data> ridge_data() {
  return {{"random tall", random_split(30, 20, 0, 10, 1, least_squares())},
          {"random wide", random_split(15, 20, 0, 40, 2, least_squares())},
          {"sparse", random_split(40, 20, 0, 20, 3, least_squares(), 0.3)},
          {"smooth", test::smooth_split(34, 17, 0, 120, 4)},
          {"two valleys, the left lower", two_valleys(0.5)},
          {"two valleys, the right lower", two_valleys(1.2)}};
}

// The oracle is the minimum of a curve; no point of a grid may lie under it. Both sides solve the inner
// problem to about 1e-12, so the curve is known to that: 1e-9 of it is the margin.
TEST(Oracle, LiesUnderAGridOf2000PointsForRidge) {
  for (const bool intercept : {false, true})
    for (const Data& data : ridge_data())
      for (const bool collapsed : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << data.name << ", intercept " << intercept << ", collapsed " << collapsed);
        const BuiltProblem built(data.split, least_squares(), intercept, collapsed);
        const RidgePath path(data.split, intercept);
        const Oracle oracle = find_oracle(*built.problem, -22.0, 5.0);
        EXPECT_LE(oracle.validation, lowest(path, -22.0, 5.0, 2000) * (1.0 + 1e-9));
        EXPECT_LE(test::relative_error(oracle.validation, path(oracle.lambda)), 1e-9);
        EXPECT_GE(oracle.lambda, -22.0);
        EXPECT_LE(oracle.lambda, 5.0);
      }
}

// At least two minima, so that descent from one side would end in the wrong one; the answer changes sides
// with the data.
TEST(Oracle, FindsTheLowerOfTwoValleys) {
  const RidgePath left(two_valleys(0.5), false);
  const RidgePath right(two_valleys(1.2), false);
  ASSERT_GE(valleys(left, -22.0, 5.0, 2000), 2);
  ASSERT_GE(valleys(right, -22.0, 5.0, 2000), 2);
  const BuiltProblem built_left(two_valleys(0.5), least_squares(), false, true);
  const BuiltProblem built_right(two_valleys(1.2), least_squares(), false, true);
  const double lambda_left = find_oracle(*built_left.problem, -22.0, 5.0).lambda;
  const double lambda_right = find_oracle(*built_right.problem, -22.0, 5.0).lambda;
  EXPECT_LT(lambda_left + 4.0, lambda_right);
}

/// A made-up curve: w*(λ) = λ and L_V(w) = h(w).
class Curve : public ForwardingProblem {
 public:
  Curve(const BilevelProblem& any, double (*h)(double)) : ForwardingProblem(any), h_(h) {}
  InnerReport inner_solve(const Vector& lambda, const InnerOptions&, Vector& w) const override {
    w[0] = lambda[0];
    InnerReport report;
    report.converged = true;
    return report;
  }
  double validation_loss(const Vector& w, const Vector&) const override { return h_(w[0]); }

 private:
  double (*h_)(double);
};

// The grid has 8 points a unit. A valley at 2 shows its bottom, 1, on it; a steeper one at −3 + 1/16, between
// two points, shows 1.02 and is 0.99 deep. It must be looked into all the same.
TEST(Oracle, PolishesValleysThatOnlySeemHigher) {
  const LinearProblem any(random_split(4, 4, 0, 1, 1, least_squares()), least_squares(), false);
  const Curve curve(any, [](double x) {
    return std::min(1.0 + (x - 2.0) * (x - 2.0), 0.99 + 7.68 * (x + 2.9375) * (x + 2.9375));
  });
  const Oracle oracle = find_oracle(curve, -8.0, 8.0);
  EXPECT_NEAR(oracle.lambda, -2.9375, 1e-6);
  EXPECT_NEAR(oracle.validation, 0.99, 1e-12);
}

/// w*(λ) of a logistic problem by plain Newton steps from the w given.
double logistic_validation(const PlainProblem& plain, double lambda, Vector& w) {
  for (int i = 0; i < 100; ++i) {
    const Vector step =
        test::symmetric_solution(plain.train_hessian(w, lambda), plain.train_gradient(w, lambda));
    double t = 1.0;
    while (t > 1e-6 && plain.train_loss(w - t * step, lambda) > plain.train_loss(w, lambda)) t *= 0.5;
    w -= t * step;
    if (step.norm() <= 1e-12 * (1.0 + w.norm())) break;
  }
  return plain.validation_loss(w);
}

TEST(Oracle, LiesUnderAGridOf200PointsForLogistic) {
  for (const bool intercept : {false, true})
    for (const double density : {1.0, 0.4}) {
      const Split split = random_split(60, 40, 0, 8, 5, logistic(), density);
      const LinearProblem problem(split, logistic(), intercept);
      const PlainProblem plain(split, logistic(), intercept);
      const Oracle oracle = find_oracle(problem, -12.0, 4.0);
      Vector w = Vector::Zero(problem.weights());
      double best = std::numeric_limits<double>::infinity();
      for (int i = 0; i < 200; ++i)  // from the most penalised on, each warm-started from the last
        best = std::min(best, logistic_validation(plain, 4.0 - 16.0 * i / 199.0, w));
      EXPECT_LE(oracle.validation, best * (1.0 + 1e-9));
      w.setZero();
      EXPECT_LE(test::relative_error(oracle.validation, logistic_validation(plain, oracle.lambda, w)), 1e-8);
      EXPECT_LE(test::relative_error(validation_at(problem, oracle.lambda), oracle.validation), 1e-8);
    }
}

// At a bound, the bound itself is the answer: h falls all the way to it.
TEST(Oracle, ReachesABoundWhereTheCurveFallsToIt) {
  const BuiltProblem built(random_split(30, 20, 0, 10, 1, least_squares()), least_squares(), false, true);
  const Oracle whole = find_oracle(*built.problem, -22.0, 5.0);
  const double low = whole.lambda + 1.0;
  const Oracle oracle = find_oracle(*built.problem, low, 5.0);
  EXPECT_NEAR(oracle.lambda, low, 1e-8);
  EXPECT_GT(oracle.validation, whole.validation);
}

// e^low = 1e-12 of the least column's curvature and e^high = 10 κ, κ the largest eigenvalue of XᵀX/N, to what
// 30 power iterations give; where a column is smaller by a factor, the lower bound follows by its square.
TEST(DefaultBounds, SpanTheScaleOfTheData) {
  const Split split = test::smooth_split(34, 17, 0, 120, 4);
  const BuiltProblem built(split, least_squares(), false, false);
  const Eigen::MatrixXd h =
      built.plain.data_hessian(built.plain.x_train, built.plain.y_train, Vector::Zero(120));
  const double curvature = test::symmetric_eigen(h).values.maxCoeff();
  const Interval bounds = default_bounds(*built.problem, -1.0);
  EXPECT_NEAR(bounds.low, std::log(1e-12 * h.diagonal().minCoeff()), 1e-6);
  EXPECT_NEAR(bounds.high, std::log(10.0 * curvature), 1e-6);
  EXPECT_EQ(default_bounds(*built.problem, -50.0).low, -50.0);
  EXPECT_EQ(default_bounds(*built.problem, 50.0).high, 50.0);
}

}  // namespace
}  // namespace yosida
