#include "problem/dependent_weights.hpp"

#include <gtest/gtest.h>

#include "support/dense.hpp"
#include "support/random_split.hpp"
#include "yosida/problem/elastic_net_problem.hpp"

namespace yosida {
namespace {

TEST(DependentWeights, AnIndependentSupportKeepsItsWeights) {
  Random random(1);
  const Matrix x = test::random_matrix(30, 6, random);
  const Vector before = test::random_vector(6, random);
  Vector w = before;
  EXPECT_EQ(give_up_dependent(x.transpose() * x, std::vector<bool>(6, true), w), 0);
  EXPECT_EQ(w, before);
}

// Column 3 is twice column 0, and column 4 is column 1 less column 2: the product with the columns stays, and
// the later columns, or those whose sign would change, become 0.
TEST(DependentWeights, CornersPredictTheSame) {
  Random random(2);
  Matrix x = test::random_matrix(30, 5, random);
  x.col(3) = 2.0 * x.col(0);
  x.col(4) = x.col(1) - x.col(2);
  const Matrix h = x.transpose() * x;
  const std::vector<bool> priced(5, true);
  Vector w = (Vector(5) << 1.0, 0.5, -2.0, 0.25, 0.1).finished();
  const Vector before = x * w;
  EXPECT_EQ(give_up_dependent(h, priced, w), 2);
  EXPECT_LE((x * w - before).norm(), 1e-13 * before.norm());
  EXPECT_LE((w - (Vector(5) << 1.5, 0.6, -2.1, 0.0, 0.0).finished()).norm(), 1e-13);
  EXPECT_EQ(w[3], 0.0);
  EXPECT_EQ(w[4], 0.0);

  // x₁ reaches 0 before x₄ does and leaves in its place.
  w << 1.0, 0.05, -2.0, 0.0, -0.1;
  const Vector second = x * w;
  EXPECT_EQ(give_up_dependent(h, priced, w), 1);
  EXPECT_LE((x * w - second).norm(), 1e-13 * second.norm());
  EXPECT_EQ(w[1], 0.0);
  EXPECT_NE(w[4], 0.0);
}

TEST(DependentWeights, WhatHasNoPriceTakesOverWhatItCan) {
  Matrix x = Matrix::Ones(8, 2);
  Vector w = (Vector(2) << 1.0, 3.0).finished();
  EXPECT_EQ(give_up_dependent(x.transpose() * x, {false, true}, w), 1);
  EXPECT_DOUBLE_EQ(w[0], 4.0);
  EXPECT_EQ(w[1], 0.0);
}

/// 40 rows whose column 5 is column 2 and whose column 6 is column 3 with the other sign, as the features of
/// a text of two levels are.
Split with_copies(const Loss& loss) {
  Split split = test::random_split(40, 20, 0, 7, 3, loss, 1.0);
  for (Dataset* part : {&split.train, &split.validation}) {
    Matrix x = to_matrix(part->x);
    x.col(5) = x.col(2);
    x.col(6) = -x.col(3);
    part->x = Design(x);
  }
  return split;
}

// Wherever the solver starts, the first of two equal columns has the weight.
TEST(DependentWeights, ALassoOfCopiesEndsAtOneAnswer) {
  InnerOptions options;
  options.tolerance = 1e-10;
  for (const Loss* loss : {&least_squares(), &logistic()}) {
    const ElasticNetProblem problem(with_copies(*loss), *loss, true, ElasticNetProblem::Kind::lasso);
    const Vector lambda = Vector::Constant(1, std::log(problem.largest_slope()) - 3.0);
    Vector first = Vector::Zero(problem.weights());
    ASSERT_TRUE(problem.inner_solve(lambda, options, first).converged);
    EXPECT_NE(first[2], 0.0);
    EXPECT_NE(first[3], 0.0);
    Random random(5);
    for (int i = 0; i < 20; ++i) {
      Vector w = test::random_vector(problem.weights(), random);
      ASSERT_TRUE(problem.inner_solve(lambda, options, w).converged);
      EXPECT_EQ(w[5], 0.0) << "start " << i;
      EXPECT_EQ(w[6], 0.0) << "start " << i;
      EXPECT_LE((w - first).norm(), 1e-7 * first.norm()) << "start " << i;
    }
  }
}

}  // namespace
}  // namespace yosida
