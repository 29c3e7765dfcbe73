// Batches of rows, how they are counted, and the methods that draw them. The steps of all single-loop methods
// are compared with numpy in tests/reference/check_field.py.
#include <gtest/gtest.h>

#include <functional>

#include "problem/counted_problem.hpp"
#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/problem/cleaning_problem.hpp"
#include "yosida/solver/batch_draws.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"
#include "yosida/solver/saba.hpp"
#include "yosida/solver/soba.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::random_split;
using test::relative_error;

constexpr Index kBatch = 16;

LinearProblem ridge(bool intercept = true) {
  return {random_split(70, 45, 0, 4, 9, least_squares()), least_squares(), intercept};
}

TEST(Batches, AddUpToTheProblem) {
  for (const Loss* loss : {&least_squares(), &logistic()}) {
    const LinearProblem problem(random_split(70, 45, 0, 4, 9, *loss), *loss, true);
    const Batches batches = problem.batches(kBatch);
    ASSERT_EQ(batches.train_shares.size(), 5U);
    ASSERT_EQ(batches.validation_shares.size(), 3U);
    ASSERT_EQ(batches.problems.size(), 5U);
    const Vector w = Vector::LinSpaced(problem.weights(), -0.4, 0.7), lambda = lambda_of(-1.3);
    Vector whole(w.size()), part(w.size()), sum = Vector::Zero(w.size());
    problem.train_gradient(w, lambda, whole);
    for (std::size_t i = 0; i < 5; ++i) {
      batches.problems[i]->train_gradient(w, lambda, part);
      sum += batches.train_shares[i] * part;
    }
    EXPECT_LE(relative_error(sum, whole), 1e-13);
    problem.validation_gradient(w, lambda, whole);
    sum.setZero();
    for (std::size_t i = 0; i < 3; ++i) {
      batches.problems[i]->validation_gradient(w, lambda, part);
      sum += batches.validation_shares[i] * part;
    }
    EXPECT_LE(relative_error(sum, whole), 1e-13);
  }
}

TEST(Batches, OfRowsWithLambdaOfTheirOwnAddUpToTheProblem) {
  const CleaningProblem problem(random_split(70, 90, 0, 4, 9, softmax(3)), softmax(3), true, 1e-3);
  const Batches batches = problem.batches(kBatch);
  ASSERT_EQ(batches.train_shares.size(), 5U);
  ASSERT_EQ(batches.problems.size(), 6U);
  const Vector w = Vector::LinSpaced(problem.weights(), -0.4, 0.7), lambda = Vector::LinSpaced(70, -3.0, 2.0);
  const auto adds_up = [&](Index size, const std::function<void(const BilevelProblem&, Vector&)>& write) {
    Vector whole(size), part(size), sum = Vector::Zero(size);
    write(problem, whole);
    for (std::size_t i = 0; i < 5; ++i) {
      write(*batches.problems[i], part);
      sum += batches.train_shares[i] * part;
    }
    EXPECT_LE(relative_error(sum, whole), 1e-13);
  };
  adds_up(w.size(), [&](const BilevelProblem& of, Vector& g) { of.train_gradient(w, lambda, g); });
  adds_up(w.size(), [&](const BilevelProblem& of, Vector& g) { of.hessian_product(w, lambda, w, g); });
  adds_up(w.size(), [&](const BilevelProblem& of, Vector& g) { of.cross_product(w, lambda, lambda, g); });
  adds_up(70, [&](const BilevelProblem& of, Vector& g) { of.cross_product_transposed(w, lambda, w, g); });
  adds_up(70, [&](const BilevelProblem& of, Vector& g) { of.train_gradient_lambda(w, lambda, g); });
}

TEST(Batches, CountByTheirShareOfTheRows) {
  const LinearProblem problem = ridge();
  const CountedProblem counted(problem, 3);
  const Batches batches = counted.batches(kBatch);
  Vector w = Vector::Zero(problem.weights()), g(w.size());
  for (int pass = 1; pass <= 3; ++pass) {
    for (const auto& batch : batches.problems) batch->train_gradient(w, lambda_of(0.0), g);
    EXPECT_EQ(counted.work().train_gradients, pass);
  }
  EXPECT_EQ(counted.work().paper_count(), 3);
  EXPECT_THROW(batches.problems[0]->train_gradient(w, lambda_of(0.0), g), RunEnded) << "the budget is spent";
}

TEST(BatchDraws, TakeEveryBatchOnceInAPass) {
  const LinearProblem problem = ridge();
  BatchDraws draws(problem, kBatch, 7);
  std::vector<std::vector<Index>> passes;
  for (int pass = 0; pass < 6; ++pass) {
    std::vector<Index> drawn;
    for (Index i = 0; i < draws.train_count(); ++i) drawn.push_back(draws.next_train());
    passes.push_back(drawn);
    std::sort(drawn.begin(), drawn.end());
    EXPECT_EQ(drawn, (std::vector<Index>{0, 1, 2, 3, 4}));
  }
  EXPECT_EQ(passes[0], (std::vector<Index>{0, 1, 2, 3, 4}));
  EXPECT_NE(passes[1], passes[2]) << "orders are drawn anew";
  EXPECT_TRUE(BatchDraws(problem, 0, 7).is_whole());
  EXPECT_TRUE(BatchDraws(problem, 100, 7).is_whole());
}

/// The λ that a method ends at with batches, and the best one.
class Drawn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, Drawn, testing::Values("soba", "saba"));

// SABA's memory takes the noise away; SOBA's steps shrink, which is slower.
TEST_P(Drawn, ComesToTheBestLambda) {
  const LinearProblem problem = ridge();
  SolveOptions options;
  options.start.lambda = lambda_of(-1.0);
  options.start.bound(-8.0, 3.0);
  options.budget.iterations = 2000;
  const Outcome outcome =
      solve(*method(GetParam()).make({{"batch", "16"}, {"alpha", "0.05"}}), problem, options);
  const Oracle oracle = find_oracle(problem, -8.0, 3.0);
  const bool has_memory = GetParam() == std::string("saba");
  EXPECT_LT(outcome.best.loss.validation / oracle.validation - 1.0, has_memory ? 1e-6 : 1e-2)
      << outcome.best.lambda << " against " << oracle.lambda << "; " << outcome.message;
  // Each of 2000 iterations is an epoch: a train gradient, a product, and 5 of 3 validation batches.
  EXPECT_NEAR(static_cast<double>(outcome.work.train_gradients), 2001, 2);
}

// One batch of everything leaves a memory nothing to correct.
TEST(Saba, IsSobaWithoutDecayOnAllRows) {
  const LinearProblem problem = ridge();
  SolveOptions options;
  options.start.lambda = lambda_of(-1.0);
  options.start.bound(-8.0, 3.0);
  options.budget.iterations = 50;
  const Outcome a = solve(*method("soba").make({{"batch", "all"}}), problem, options);
  const Outcome b = solve(*method("saba").make({{"batch", "all"}}), problem, options);
  EXPECT_LE(relative_error(a.final.w, b.final.w), 1e-12);
  EXPECT_LE(relative_error(a.final.lambda, b.final.lambda), 1e-12);
}

}  // namespace
}  // namespace yosida
