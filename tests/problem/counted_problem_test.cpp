#include "problem/counted_problem.hpp"

#include <gtest/gtest.h>

#include "support/problem_case.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::random_split;

struct CountedProblemTest : testing::Test {
  LinearProblem problem{random_split(20, 10, 5, 6, 1, logistic()), logistic(), true};
  Vector w = Vector::Zero(7);
  Vector p = Vector::Ones(7);
  Vector out = Vector::Zero(7);
  Vector one = Vector::Zero(1);
  Vector lambda = lambda_of(-1.0);
};

TEST_F(CountedProblemTest, CountsEveryKindOfCallByItself) {
  const CountedProblem counted(problem);
  for (int i = 0; i < 2; ++i) counted.train_gradient(w, lambda, out);
  for (int i = 0; i < 3; ++i) counted.validation_gradient(w, lambda, out);
  for (int i = 0; i < 5; ++i) counted.hessian_product(w, lambda, p, out);
  for (int i = 0; i < 7; ++i) counted.validation_hessian_product(w, lambda, p, out);
  for (int i = 0; i < 11; ++i) counted.train_loss(w, lambda);
  for (int i = 0; i < 13; ++i) counted.validation_loss(w, lambda);
  EXPECT_EQ(counted.work().train_gradients, 2);
  EXPECT_EQ(counted.work().validation_gradients, 3);
  EXPECT_EQ(counted.work().hessian_products, 12);
  EXPECT_EQ(counted.work().loss_evaluations, 24);
  EXPECT_EQ(counted.work().paper_count(), 17);
  EXPECT_EQ(counted.work().gradient_equivalents(), 17.0 + 12.0);
}

TEST_F(CountedProblemTest, ForwardsWhatItCounts) {
  const CountedProblem counted(problem);
  Vector expected = out;
  problem.train_gradient(p, lambda, expected);
  counted.train_gradient(p, lambda, out);
  EXPECT_EQ(out, expected);
  EXPECT_EQ(counted.train_loss(p, lambda), problem.train_loss(p, lambda));
  EXPECT_EQ(counted.validation_loss(p, lambda), problem.validation_loss(p, lambda));
}

TEST_F(CountedProblemTest, DoesNotCountWatching) {
  const CountedProblem counted(problem);
  counted.losses(w, lambda);
  counted.expand(w);
  EXPECT_EQ(counted.work().gradient_equivalents(), 0.0);
}

TEST_F(CountedProblemTest, ChargesTheInterceptsFitAsALoss) {
  const CountedProblem counted(problem);
  counted.fit_intercept(w);
  EXPECT_EQ(counted.work().loss_evaluations, 1);
  EXPECT_EQ(counted.work().paper_count(), 0);
  // For least squares it needs only the means of the training rows.
  const LinearProblem ridge(random_split(20, 10, 0, 6, 1, least_squares()), least_squares(), true);
  const CountedProblem counted_ridge(ridge);
  counted_ridge.fit_intercept(w);
  EXPECT_EQ(counted_ridge.work().gradient_equivalents(), 0.0);
}

// A penalty's cross products touch no data; those of other problems say what they cost.
TEST_F(CountedProblemTest, ChargesCrossProductsWhatTheySay) {
  struct Dear : ForwardingProblem {
    explicit Dear(const BilevelProblem& cheap) : ForwardingProblem(cheap) {
      traits_.cross_work.hessian_products = 1;
    }
  };
  const CountedProblem counted(problem);
  counted.cross_product(w, lambda, one, out);
  counted.cross_product_transposed(w, lambda, p, one);
  EXPECT_EQ(counted.work().gradient_equivalents(), 0.0);
  const Dear dear(problem);
  const CountedProblem counted_dear(dear);
  counted_dear.cross_product(w, lambda, one, out);
  counted_dear.cross_product_transposed(w, lambda, p, one);
  EXPECT_EQ(counted_dear.work().paper_count(), 2);
}

TEST_F(CountedProblemTest, AddsWhatAnInnerSolveReports) {
  const CountedProblem counted(problem);
  counted.train_gradient(w, lambda, out);
  const InnerReport report = counted.inner_solve(lambda, {}, w);
  EXPECT_GT(report.work.train_gradients, 1);
  EXPECT_GT(report.work.factorisations, 0.0);
  EXPECT_EQ(counted.work().inner_solves, 1);
  EXPECT_EQ(counted.work().paper_count(), 1 + report.work.paper_count());
  const double once = report.setup;
  EXPECT_GT(once, 0.0);
  EXPECT_EQ(counted.work().factorisations, once + report.work.factorisations);
  // A run is charged for the set-up whoever has used the problem before, and only once.
  const CountedProblem second(problem);
  const double first_solve = second.inner_solve(lambda, {}, w).work.factorisations;
  const double second_solve = second.inner_solve(lambda, {}, w).work.factorisations;
  EXPECT_DOUBLE_EQ(second.work().factorisations, once + first_solve + second_solve);
}

TEST_F(CountedProblemTest, StartsFromTheCostOfCollapsing) {
  const auto direct =
      std::make_shared<LinearProblem>(random_split(9, 5, 0, 40, 1, least_squares()), least_squares(), false);
  const CollapsedLeastSquares collapsed(direct);
  const CountedProblem counted(collapsed);
  EXPECT_EQ(counted.work().factorisations, collapsed.traits().setup_work);
  EXPECT_EQ(counted.work().paper_count(), 0);
}

TEST_F(CountedProblemTest, ThrowsBeforeTheCallThatWouldExceedItsLimit) {
  const CountedProblem counted(problem, 3);
  counted.train_gradient(w, lambda, out);
  counted.validation_gradient(w, lambda, out);
  counted.hessian_product(w, lambda, p, out);
  EXPECT_THROW(counted.train_gradient(w, lambda, out), RunEnded);
  EXPECT_THROW(counted.validation_gradient(w, lambda, out), RunEnded);
  EXPECT_THROW(counted.hessian_product(w, lambda, p, out), RunEnded);
  EXPECT_THROW(counted.validation_hessian_product(w, lambda, p, out), RunEnded);
  EXPECT_EQ(counted.work().paper_count(), 3);
  EXPECT_NO_THROW(counted.validation_loss(w, lambda));  // losses are not in the paper's count
}

TEST_F(CountedProblemTest, HoldsItsLimitAcrossInnerSolves) {
  for (std::int64_t limit = 0; limit <= 12; ++limit) {
    const CountedProblem counted(problem, limit);
    bool spent = false;
    try {
      for (int repeat = 0; repeat < 3; ++repeat) {
        w.setZero();
        counted.inner_solve(lambda_of(-4.0 - repeat), {}, w);
      }
    } catch (const RunEnded&) {
      spent = true;
    }
    EXPECT_TRUE(spent) << "limit " << limit;  // three solves from 0 take more than 12 gradients
    EXPECT_LE(counted.work().paper_count(), limit);
  }
}

}  // namespace
}  // namespace yosida
