// What a problem of one's own gets for nothing, against derivatives by hand.
#include <gtest/gtest.h>

#include "problem/counted_problem.hpp"
#include "support/compare.hpp"
#include "support/own_problem.hpp"
#include "support/random_split.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/gradient_check.hpp"
#include "yosida/problem/k_fold_problem.hpp"

namespace yosida {
namespace {

using test::OwnProblem;
using test::random_vector;
using test::relative_error;

/// Differences of gradients of size 1 are good to nine digits, and a little less where they cancel.
constexpr double kDifferences = 1e-8;

class Defaults : public testing::TestWithParam<Index> {
 protected:
  const Index lambdas = GetParam();
  const OwnProblem problem{9, lambdas, 0.3};
  Random random{5};
  const Vector w = random_vector(9, random), p = random_vector(9, random);
  const Vector lambda = Vector::LinSpaced(lambdas, -2.0, 0.5), q = random_vector(lambdas, random);
  Vector out = Vector::Zero(9), out_lambda = Vector::Zero(lambdas);
};
INSTANTIATE_TEST_SUITE_P(Lambdas, Defaults, testing::Values(1, 3, 9));

TEST_P(Defaults, ProductsEqualThoseByHand) {
  problem.hessian_product(w, lambda, p, out);
  EXPECT_LE(relative_error(out, problem.hessian(w, lambda) * p), kDifferences);
  problem.cross_product(w, lambda, q, out);
  EXPECT_LE(relative_error(out, problem.cross(w, lambda) * q), kDifferences);
  problem.cross_product_transposed(w, lambda, p, out_lambda);
  EXPECT_LE(relative_error(out_lambda, problem.cross(w, lambda).transpose() * p), kDifferences);
  problem.validation_hessian_product(w, lambda, p, out);
  EXPECT_LE(relative_error(out, p), kDifferences);
  problem.train_gradient_lambda(w, lambda, out_lambda);
  EXPECT_LE(relative_error(out_lambda, problem.train_direct(w, lambda)), kDifferences);
  problem.validation_gradient_lambda(w, lambda, out_lambda);
  EXPECT_LE(relative_error(out_lambda, problem.validation_direct(w, lambda)), kDifferences);
}

// A direction of 0 has no length to scale a step by.
TEST_P(Defaults, ProductsWithNothingAreNothing) {
  problem.hessian_product(w, lambda, Vector::Zero(9), out);
  EXPECT_EQ(out, Vector::Zero(9));
  problem.cross_product(w, lambda, Vector::Zero(lambdas), out);
  EXPECT_EQ(out, Vector::Zero(9));
}

// With ∂L_T/∂λ offered, Cᵀp costs two of these however many λ there are.
TEST_P(Defaults, TransposedProductComesFromTheGradientInLambda) {
  struct Offering : OwnProblem {
    mutable int asked = 0;
    explicit Offering(Index lambdas_) : OwnProblem(9, lambdas_, 0.3) {
      traits_.has_train_gradient_lambda = true;
    }
    void train_gradient_lambda(const Vector& at, const Vector& l, Vector& g) const override {
      ++asked;
      g = train_direct(at, l);
    }
    void cross_product(const Vector&, const Vector&, const Vector&, Vector&) const override { FAIL(); }
  };
  const Offering offering(lambdas);
  offering.cross_product_transposed(w, lambda, p, out_lambda);
  EXPECT_EQ(offering.asked, 2);
  EXPECT_LE(relative_error(out_lambda, problem.cross(w, lambda).transpose() * p), kDifferences);
}

TEST_P(Defaults, PassTheGradientChecker) {
  for (const GradientCheck& check : check_gradients(problem, w, lambda))
    EXPECT_LE(check.error, 1e-6) << check.name;
}

TEST_P(Defaults, InnerSolveEndsAtTheMinimum) {
  Vector solved = Vector::Zero(9);
  const InnerReport report = problem.inner_solve(lambda, {}, solved);
  EXPECT_TRUE(report.converged);
  EXPECT_LE(relative_error(solved, problem.trained(lambda)), 1e-10);
  EXPECT_GT(report.work.train_gradients, 0);
  EXPECT_GT(report.work.hessian_products, 0);
}

TEST_P(Defaults, InnerSolveTakesTheProximalTerm) {
  const double rho = 0.7;
  InnerOptions options;
  options.proximal.emplace(ProximalTerm{p, w, rho});
  Vector solved = Vector::Zero(9);
  EXPECT_TRUE(problem.inner_solve(lambda, options, solved).converged);
  problem.train_gradient(solved, lambda, out);
  EXPECT_LE((out + p + rho * (solved - w)).norm(), 1e-9);
}

TEST_P(Defaults, InnerSolveHoldsItsBudget) {
  for (const std::int64_t most : {1, 2, 3, 5, 10}) {
    Vector solved = Vector::Zero(9);
    InnerOptions options;
    options.max_count = most;
    const InnerReport report = problem.inner_solve(lambda, options, solved);
    EXPECT_FALSE(report.converged);
    EXPECT_LE(report.work.paper_count(), most);
  }
}

TEST_P(Defaults, InnerSolveStopsWhereItIsTold) {
  StopSource source;
  source.request_stop();
  const StopToken stop = source.token();
  InnerOptions options;
  options.stop = &stop;
  Vector solved = Vector::Zero(9);
  EXPECT_FALSE(problem.inner_solve(lambda, options, solved).converged);
  EXPECT_EQ(solved, Vector::Zero(9));
}

TEST_P(Defaults, CurvatureAlongTheTangentEqualsDifferencesOfTheLoss) {
  const Matrix phi1 = test::random_matrix(9, lambdas, random);
  Eigen::MatrixXd curvature;
  problem.validation_curvature(w, lambda, phi1, curvature);
  const double step = 1e-4;
  const auto along = [&](double t) { return problem.validation_loss(w + t * phi1 * q, lambda + t * q); };
  const double numerical = (along(step) - 2.0 * along(0.0) + along(-step)) / (step * step);
  EXPECT_NEAR(q.dot(curvature * q), numerical, 1e-6 * std::abs(numerical) + 1e-6);
}

// Folds of such problems: the direct terms add up by their shares.
TEST_P(Defaults, HoldInFolds) {
  const auto one = std::make_shared<OwnProblem>(9, lambdas, 0.3),
             two = std::make_shared<OwnProblem>(4, lambdas, 0.1);
  const KFoldProblem folds({one, two}, {0.75, 0.25});
  Vector both(13);
  both << w, p.head(4);
  for (const GradientCheck& check : check_gradients(folds, both, lambda))
    EXPECT_LE(check.error, 1e-6) << check.name;
  folds.validation_gradient_lambda(both, lambda, out_lambda);
  EXPECT_LE(relative_error(out_lambda, 0.75 * one->validation_direct(w, lambda) +
                                           0.25 * two->validation_direct(p.head(4), lambda)),
            kDifferences);
}

/// Σ ¼w⁴ − ½w² + 0.01 e^λ Σ w: minima near ±1, a maximum near 0.
struct Wells : BilevelProblem {
  Index weights() const override { return 3; }
  Index hyperparameters() const override { return 1; }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return 0.25 * w.array().pow(4).sum() - 0.5 * w.squaredNorm() + 0.01 * std::exp(lambda[0]) * w.sum();
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = w.array().cube() - w.array() + 0.01 * std::exp(lambda[0]);
  }
  double validation_loss(const Vector& w, const Vector&) const override { return w.squaredNorm(); }
  double validation_gradient(const Vector& w, const Vector&, Vector& g) const override {
    g = 2.0 * w;
    return w.squaredNorm();
  }
};

TEST(NotConvex, InnerSolveLeavesAMaximumForAMinimum) {
  const Wells problem;
  Vector w = Vector::Constant(3, 0.02);
  w[1] = -0.1;
  ASSERT_TRUE(problem.inner_solve(Vector::Zero(1), {}, w).converged);
  for (const double each : w) {
    EXPECT_NEAR(each * each * each - each + 0.01, 0.0, 1e-9);
    EXPECT_GT(3.0 * each * each - 1.0, 0.0) << "a minimum";
  }
}

TEST(NotConvex, LinearSolveDampsAndSaysSo) {
  const Wells problem;
  Vector w(3);
  w << 0.0, 1.0, 2.0;  // H = diag(−1, 2, 11)
  const Vector b = Vector::Ones(3);
  Vector x = Vector::Zero(3);
  const LinearReport report = problem.hessian_solve(w, Vector::Zero(1), b, {}, x);
  EXPECT_FALSE(report.converged);
  EXPECT_GT(report.damping, 1.0);
  ASSERT_TRUE(x.allFinite());
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR((3.0 * w[j] * w[j] - 1.0 + report.damping) * x[j], 1.0, 1e-6);
  w[0] = 1.5;  // positive definite: no damping
  EXPECT_TRUE(problem.hessian_solve(w, Vector::Zero(1), b, {}, x).converged);
}

struct NotANumber : OwnProblem {
  NotANumber() : OwnProblem(4, 1, 0.0) {}
  void train_gradient(const Vector&, const Vector&, Vector& g) const override { g.setConstant(std::nan("")); }
};

TEST(NotFinite, InnerSolveReturnsWhatItWasGiven) {
  const NotANumber problem;
  Vector w = Vector::Ones(4);
  const InnerReport report = problem.inner_solve(Vector::Zero(1), {}, w);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(w, Vector::Ones(4));
}

TEST(Sizes, AreChecked) {
  const OwnProblem problem(9, 3, 0.3);
  Vector w = Vector::Zero(9), wrong = Vector::Zero(8);
  const Vector lambda = Vector::Zero(3), wrong_lambda = Vector::Zero(2);
  EXPECT_THROW(problem.inner_solve(lambda, {}, wrong), InputError);
  EXPECT_THROW(problem.inner_solve(wrong_lambda, {}, w), InputError);
  EXPECT_THROW(check_gradients(problem, wrong, lambda), InputError);
  EXPECT_THROW(check_gradients(problem, w, wrong_lambda), InputError);
}

}  // namespace
}  // namespace yosida
