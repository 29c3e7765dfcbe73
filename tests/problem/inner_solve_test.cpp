#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "problem/newton.hpp"
#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/problem_case.hpp"

namespace yosida {
namespace {

using test::BuiltProblem;
using test::lambda_of;
using test::PlainProblem;
using test::ProblemCase;
using test::random_split;
using test::random_vector;
using test::relative_error;

/// The default tolerance is 1e-11 of the gradient at 0; the margin is for recomputing it another way.
constexpr double kOptimal = 1e-9;

/// ‖∇(L_T(w, λ) + uᵀ(w − v) + ρ/2 ‖w − v‖²)‖ over the same at w = 0, by the plain expressions.
double optimality(const PlainProblem& plain, const Vector& w, double lambda, const Vector& u, const Vector& v,
                  double rho) {
  const auto gradient = [&](const Vector& at) -> Vector {
    return plain.train_gradient(at, lambda) + (u + rho * (at - v)).cwiseProduct(plain.penalised);
  };
  return gradient(w).norm() / gradient(Vector::Zero(w.size())).norm();
}

class InnerSolve : public testing::TestWithParam<ProblemCase> {
 protected:
  InnerSolve() : built(GetParam()), problem(*built.problem), random(3), size(problem.weights()) {}
  BuiltProblem built;
  const BilevelProblem& problem;
  Random random;
  Index size;
};
class RidgeInnerSolve : public InnerSolve {};
class InterceptFit : public InnerSolve {};

const auto name_of = [](const auto& each) { return each.param.name(); };
INSTANTIATE_TEST_SUITE_P(Every, InnerSolve, testing::ValuesIn(test::all_problem_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Every, RidgeInnerSolve,
                         testing::ValuesIn(test::problem_cases([](const ProblemCase& c) {
                           return c.loss->is_quadratic();
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Every, InterceptFit, testing::ValuesIn(test::problem_cases([](const ProblemCase& c) {
                           return c.intercept;
                         })),
                         name_of);

TEST_P(InnerSolve, MeetsTheOptimalityConditions) {
  const Vector zero = Vector::Zero(built.basis.rows());
  for (const double lambda : {-7.0, -1.0, 3.0}) {
    Vector w = Vector::Zero(size);
    const InnerReport report = problem.inner_solve(lambda_of(lambda), {}, w);
    EXPECT_TRUE(report.converged);
    EXPECT_LE(optimality(built.plain, built.basis * w, lambda, zero, zero, 0.0), kOptimal)
        << "lambda " << lambda;
  }
}

TEST_P(InnerSolve, MeetsTheOptimalityConditionsWithAProximalTerm) {
  const Vector u = random_vector(size, random);
  const Vector v = random_vector(size, random);
  for (const double rho : {0.01, 1.0, 30.0})
    for (const double lambda : {-7.0, 0.5}) {
      Vector w = Vector::Zero(size);
      problem.inner_solve(lambda_of(lambda), {.proximal = ProximalTerm{u, v, rho}}, w);
      EXPECT_LE(optimality(built.plain, built.basis * w, lambda, built.basis * u, built.basis * v, rho),
                kOptimal)
          << "rho " << rho << ", lambda " << lambda;
    }
}

TEST_P(InnerSolve, DoesNotDependOnTheStart) {
  Vector from_zero = Vector::Zero(size);
  Vector from_afar = 10.0 * random_vector(size, random);
  problem.inner_solve(lambda_of(-2.0), {}, from_zero);
  problem.inner_solve(lambda_of(-2.0), {}, from_afar);
  EXPECT_LE(relative_error(from_afar, from_zero), kOptimal);
}

// A solve that starts at its answer must say so at once: one gradient, no more.
TEST_P(InnerSolve, CostsOneGradientFromItsOwnAnswer) {
  Vector w = Vector::Zero(size);
  problem.inner_solve(lambda_of(-2.0), {}, w);
  const InnerReport again = problem.inner_solve(lambda_of(-2.0), {.proximal = {}, .tolerance = 1e-9}, w);
  EXPECT_TRUE(again.converged);
  EXPECT_LE(again.work.paper_count(), 1);
}

// (XᵀX/N + 2e^λ P) w = Xᵀy/N, P the identity but for the intercept.
TEST_P(RidgeInnerSolve, EqualsTheClosedForm) {
  for (const double lambda : {-7.0, -1.0, 3.0}) {
    const Vector zero = Vector::Zero(built.basis.rows());
    const Vector closed = test::symmetric_solution(built.plain.train_hessian(zero, lambda),
                                                   -built.plain.train_gradient(zero, lambda));
    Vector w = Vector::Zero(size);
    problem.inner_solve(lambda_of(lambda), {}, w);
    EXPECT_LE(relative_error(built.basis * w, closed), kOptimal);
  }
}

TEST_P(InterceptFit, IsExact) {
  Vector w = random_vector(size, random);
  for (const double start : {0.0, 30.0, -1e3, std::numeric_limits<double>::quiet_NaN()}) {
    const Vector before = w;
    w[size - 1] = start;
    problem.fit_intercept(w);
    EXPECT_EQ(w.head(size - 1), before.head(size - 1));
    // dL_T/db is a mean of slopes of size 1 or y: 1e-13 of them is rounding.
    EXPECT_LE(std::abs(built.plain.train_gradient(built.basis * w, 0.0)[built.basis.rows() - 1]), 1e-13)
        << "from " << start;
  }
}

TEST_P(InnerSolve, HoldsTheLimitOnItsWork) {
  for (const std::int64_t limit : {1, 2, 3, 5}) {
    Vector w = Vector::Zero(size);
    const InnerReport report = problem.inner_solve(lambda_of(-7.0), {.proximal = {}, .max_count = limit}, w);
    EXPECT_LE(report.work.paper_count(), limit);
    EXPECT_TRUE(w.allFinite());
  }
}

// Fewer rows than features: a dense design is solved in row space, a sparse one in feature space.
TEST(InnerSolve, IsTheSameInRowSpaceAndInFeatureSpace) {
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const bool intercept : {false, true}) {
      const Split dense = random_split(15, 5, 0, 40, 4, *loss);
      Split sparse = dense;
      sparse.train.x = test::sparse_of(test::matrix_of(dense.train.x));
      sparse.validation.x = test::sparse_of(test::matrix_of(dense.validation.x));
      const LinearProblem in_rows(dense, *loss, intercept);
      const LinearProblem in_features(sparse, *loss, intercept);
      Random random(5);
      const Vector u = random_vector(in_rows.weights(), random);
      const Vector v = random_vector(in_rows.weights(), random);
      for (const bool proximal : {false, true}) {
        InnerOptions options;
        if (proximal) options.proximal.emplace(ProximalTerm{u, v, 0.3});
        Vector a = Vector::Zero(in_rows.weights());
        Vector b = a;
        in_rows.inner_solve(lambda_of(-5.0), options, a);
        in_features.inner_solve(lambda_of(-5.0), options, b);
        EXPECT_LE(relative_error(a, b), kOptimal) << loss->name() << ", intercept " << intercept;
      }
    }
}

class LargeInnerSolve : public testing::TestWithParam<std::tuple<const Loss*, bool>> {};
INSTANTIATE_TEST_SUITE_P(Losses, LargeInnerSolve,
                         testing::Combine(testing::Values(&least_squares(), &logistic()), testing::Bool()),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param)->name()) +
                                  (std::get<1>(each.param) ? "_intercept" : "");
                         });

// More than kMaxCholesky unknowns in both spaces' reach: conjugate gradients.
TEST_P(LargeInnerSolve, ByConjugateGradientsMeetsTheOptimalityConditions) {
  const auto& [loss, intercept] = GetParam();
  const Split split = random_split(300, 10, 0, kMaxCholesky + 500, 6, *loss, 0.02);
  const LinearProblem problem(split, *loss, intercept);
  const PlainProblem plain(split, *loss, intercept);
  const Vector zero = Vector::Zero(problem.weights());
  Random random(7);
  const Vector u = random_vector(problem.weights(), random);
  const Vector v = random_vector(problem.weights(), random);
  for (const double lambda : {-6.0, -1.0}) {
    Vector w = zero;
    const InnerReport report = problem.inner_solve(lambda_of(lambda), {}, w);
    EXPECT_TRUE(report.converged);
    EXPECT_GT(report.work.hessian_products, 0) << "not by conjugate gradients";
    EXPECT_LE(optimality(plain, w, lambda, zero, zero, 0.0), kOptimal);
    w = zero;
    problem.inner_solve(lambda_of(lambda), {.proximal = ProximalTerm{u, v, 0.5}}, w);
    EXPECT_LE(optimality(plain, w, lambda, u, v, 0.5), kOptimal);
  }
}

TEST_P(LargeInnerSolve, ByConjugateGradientsHoldsTheLimitOnItsWork) {
  const auto& [loss, intercept] = GetParam();
  const LinearProblem problem(random_split(300, 10, 0, kMaxCholesky + 500, 6, *loss, 0.02), *loss, intercept);
  for (const std::int64_t limit : {1, 2, 3, 4, 7, 12}) {
    Vector w = Vector::Zero(problem.weights());
    const InnerReport report = problem.inner_solve(lambda_of(-6.0), {.proximal = {}, .max_count = limit}, w);
    EXPECT_LE(report.work.paper_count(), limit);
  }
}

// Neighbouring columns are nearly equal and penalties small: conjugate gradients would need thousands of
// products.
TEST(HessianSolve, FactorsWhereProductsHaveCostAsMuchToNoEnd) {
  const SharedLoss classes = softmax(6);
  Split split = test::smooth_split(600, 10, 0, 150, 5);
  for (Index i = 0; i < split.train.rows(); ++i) split.train.y[i] = static_cast<double>(i % 6);
  for (Index i = 0; i < split.validation.rows(); ++i) split.validation.y[i] = static_cast<double>(i % 6);
  const LinearProblem problem(split, *classes, true);
  const Vector lambda = lambda_of(-18.0);
  Random random(11);
  Vector b = random_vector(problem.weights(), random);
  b.tail(6).array() -= b.tail(6).mean();  // a number added to all intercepts has no curvature
  const Vector w = Vector::Zero(problem.weights());
  Vector x = w;
  constexpr double kTolerance = 1e-6;
  const LinearReport report = problem.hessian_solve(w, lambda, b, {.tolerance = kTolerance}, x);
  EXPECT_TRUE(report.converged);
  EXPECT_GT(report.work.hessian_products, 0) << "products were not tried";
  EXPECT_LE(report.work.hessian_products, report.work.factorisations + 1.0);
  Vector product(problem.weights());
  problem.hessian_product(w, lambda, x, product);
  EXPECT_LE((product - b).norm(), 10.0 * kTolerance * b.norm());

  // A budget that has no room for a factorisation gets none.
  x = w;
  const LinearReport short_of =
      problem.hessian_solve(w, lambda, b, {.tolerance = kTolerance, .max_count = 30}, x);
  EXPECT_LE(short_of.work.paper_count(), 30);
}

// min_b Σ log(1 + e^{−y b}) is at b = log(N₊/N₋). From 0 Newton's method lands where the slope is exactly 0.
TEST(FitIntercept, IsTheLogOddsAtZeroWeights) {
  Split split = random_split(8, 5, 0, 3, 8, logistic());
  for (Index positive = 1; positive < 8; ++positive) {
    split.train.y.setConstant(-1.0);
    split.train.y.head(positive).setOnes();
    const LinearProblem problem(split, logistic(), true);
    Vector w = Vector::Zero(4);
    problem.fit_intercept(w);
    EXPECT_NEAR(w[3], std::log(static_cast<double>(positive) / static_cast<double>(8 - positive)), 1e-14);
  }
}

// All labels equal: the best intercept is infinite. It must end, finite.
TEST(FitIntercept, StaysFiniteWhereOneLabelIsMissing) {
  Split split = random_split(20, 5, 0, 3, 8, logistic());
  split.train.y.setOnes();
  const LinearProblem problem(split, logistic(), true);
  Vector w = Vector::Zero(4);
  for (int repeat = 0; repeat < 20; ++repeat) problem.fit_intercept(w);
  EXPECT_TRUE(std::isfinite(w[3]));
  EXPECT_GT(w[3], 10.0);
}

}  // namespace
}  // namespace yosida
