#include <gtest/gtest.h>

#include <cmath>

#include "problem/forwarding_problem.hpp"
#include "support/random_split.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/problem/linear_problem.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/solve.hpp"

// Searches that look by a kept Hessian first, beside those whose solves are all exact.

namespace yosida {
namespace {

/// The same problem with nothing that solves could keep.
class WithoutMemory final : public ForwardingProblem {
 public:
  explicit WithoutMemory(const BilevelProblem& problem) : ForwardingProblem(problem) {}
  std::unique_ptr<SolveMemory> solve_memory() const override { return nullptr; }
};

Outcome searched(const BilevelProblem& problem) {
  SolveOptions options;
  options.start.lambda = Vector::Constant(1, -1.0);
  return solve(MyHpo{}, problem, options);
}

void expect_same_answer(const Outcome& quick, const Outcome& exact) {
  EXPECT_EQ(quick.status, exact.status);
  EXPECT_NEAR(quick.best.lambda[0], exact.best.lambda[0], 1e-7);
  EXPECT_NEAR(quick.best.loss.validation, exact.best.loss.validation, 1e-12 * exact.best.loss.validation);
  EXPECT_LE((quick.best.w - exact.best.w).norm(), 1e-7 * exact.best.w.norm());
}

struct Case {
  std::string name;
  SharedLoss loss;
  Index rows, columns;
};

class QuickSearchOf : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, QuickSearchOf,
                         testing::Values(Case{"logistic", logistic(), 600, 30},
                                         Case{"logistic_larger", logistic(), 3000, 60},
                                         Case{"poisson", poisson(), 1000, 20}),
                         [](const auto& each) { return each.param.name; });

TEST_P(QuickSearchOf, EndsWhereExactSolvesDoAndSooner) {
  const auto& [name, loss, rows, columns] = GetParam();
  const LinearProblem problem(test::random_split(rows, 300, 0, columns, 3, loss), loss, true);
  ASSERT_TRUE(problem.traits().factors_cheaply);
  ASSERT_NE(problem.solve_memory(), nullptr);
  const Outcome quick = searched(problem);
  const Outcome exact = searched(WithoutMemory(problem));
  expect_same_answer(quick, exact);
  EXPECT_LT(quick.work.gradient_equivalents(), 0.5 * exact.work.gradient_equivalents());
}

TEST(QuickSearch, EndsWhereExactSolvesDoOnFolds) {
  std::vector<std::shared_ptr<const BilevelProblem>> folds;
  for (const std::uint64_t seed : {1, 2, 3})
    folds.push_back(std::make_shared<const LinearProblem>(
        test::random_split(700, 100, 0, 25, seed, logistic()), logistic(), true));
  const KFoldProblem problem(folds, {0.25, 0.25, 0.5});
  ASSERT_NE(problem.solve_memory(), nullptr);
  expect_same_answer(searched(problem), searched(WithoutMemory(problem)));
}

/// Half of the columns nearly repeat the others, and what they differ by alone tells the classes: h rises
/// over many units of λ, to fall into its valley where the penalty is small enough for these directions.
Split with_a_deep_valley() {
  Random random(5);
  const auto rows_of = [&](Index rows) {
    constexpr Index kPairs = 6;
    Dataset data;
    Matrix x = test::random_matrix(rows, 2 * kPairs, random);
    data.y.resize(rows);
    for (Index i = 0; i < rows; ++i) {
      double signal = 0.0;
      for (Index j = 0; j < kPairs; ++j) {
        signal += x(i, kPairs + j);
        x(i, kPairs + j) = x(i, j) + 3e-3 * x(i, kPairs + j);
      }
      data.y[i] = signal + 4.0 * random.normal() < 0.0 ? -1.0 : 1.0;
    }
    data.x = Design(std::move(x));
    data.source = "made";
    return data;
  };
  return {.train = rows_of(600), .validation = rows_of(2000), .test = {}};
}

TEST(QuickSearch, FindsAValleyFarBelow) {
  const LinearProblem problem(with_a_deep_valley(), logistic(), true);
  ASSERT_NE(problem.solve_memory(), nullptr);
  const Outcome quick = searched(problem);
  expect_same_answer(quick, searched(WithoutMemory(problem)));
  EXPECT_LT(quick.best.lambda[0], -10.0);
  EXPECT_LT(quick.best.loss.validation, 0.95 * std::log(2.0));
}

/// Classes that a plane separates: the loss falls towards 0 with the penalty, and no scan tells all of h.
TEST(QuickSearch, LeavesSeparableClassesToExactSolves) {
  Split split = test::random_split(800, 200, 0, 10, 7, logistic());
  for (Dataset* each : {&split.train, &split.validation}) {
    const Matrix x = test::matrix_of(each->x);
    for (Index i = 0; i < each->rows(); ++i) each->y[i] = x(i, 0) + x(i, 1) < 0.0 ? -1.0 : 1.0;
  }
  const LinearProblem problem(split, logistic(), false);
  ASSERT_NE(problem.solve_memory(), nullptr);
  const Outcome quick = searched(problem), exact = searched(WithoutMemory(problem));
  EXPECT_EQ(quick.best.lambda[0], exact.best.lambda[0]);
  EXPECT_EQ(quick.best.loss.validation, exact.best.loss.validation);
}

TEST(QuickSearch, IsNotForDependentColumnsNorForFewRows) {
  const auto keeps = [](const Split& split) {
    return LinearProblem(split, logistic(), true).solve_memory() != nullptr;
  };
  Split split = test::random_split(1000, 100, 0, 6, 1, logistic());
  EXPECT_TRUE(keeps(split));
  for (Dataset* each : {&split.train, &split.validation}) {
    Matrix x = test::matrix_of(each->x);
    x.col(2) = x.col(0) + x.col(1);
    each->x = Design(std::move(x));
  }
  EXPECT_FALSE(keeps(split));
  EXPECT_FALSE(keeps(test::random_split(100, 100, 0, 6, 1, logistic())));
}

}  // namespace
}  // namespace yosida
