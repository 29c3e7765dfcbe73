#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random_split.hpp"
#include "yosida/problem/linear_problem.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/my_hpo.hpp"

// Searches of problems that are too large to be factored at every λ, or have too many rows to be read that
// often, and keep a Hessian instead.

namespace yosida {
namespace {

struct Case {
  std::string name;
  SharedLoss loss;
  Index rows;
  Index columns = 100;
};

class KeptHessianSearch : public testing::TestWithParam<Case> {
 protected:
  KeptHessianSearch()
      : problem(test::random_split(GetParam().rows, 2000, 0, GetParam().columns, 1, GetParam().loss),
                GetParam().loss, true) {
    SolveOptions options;
    options.start.lambda = Vector::Constant(1, -1.0);
    outcome = solve(MyHpo{}, problem, options);
    bounds = options.start;
    bounds.low = outcome.low;
    bounds.high = outcome.high;
  }
  LinearProblem problem;
  Outcome outcome;
  Start bounds;
};
INSTANTIATE_TEST_SUITE_P(Every, KeptHessianSearch,
                         testing::Values(Case{"logistic", logistic(), 20000},
                                         Case{"squared_hinge", squared_hinge(), 20000},
                                         Case{"huber", huber(), 20000}, Case{"poisson", poisson(), 20000},
                                         Case{"softmax", softmax(3), 10000},
                                         Case{"logistic_narrow", logistic(), 40000, 5},
                                         Case{"poisson_narrow", poisson(), 40000, 5}),
                         [](const auto& each) { return each.param.name; });

TEST_P(KeptHessianSearch, IsNoWorseThanAnyLambdaOfAGrid) {
  ASSERT_NE(problem.solve_memory(), nullptr);
  Vector w = starting_weights(problem);
  for (double lambda = bounds.high[0]; lambda >= bounds.low[0]; lambda -= 2.1) {
    const Vector at = Vector::Constant(1, lambda);
    problem.inner_solve(at, {}, w);
    EXPECT_LE(outcome.best.loss.validation, problem.validation_loss(w, at) * (1.0 + 1e-5)) << lambda;
  }
}

/// Also where no penalty is needed and h is level far above the lower bound: solves there cannot be as fine
/// as a search would like, and one that insists takes thousands of passes.
TEST_P(KeptHessianSearch, EndsSoon) { EXPECT_LE(outcome.work.paper_count(), 300); }

TEST_P(KeptHessianSearch, HasACertificateThatGoesOnFromIt) {
  ASSERT_NE(outcome.memory, nullptr);
  const Certificate with = certify(problem, outcome.best, bounds, kCertified, outcome.memory.get());
  const Certificate without = certify(problem, outcome.best, bounds);
  EXPECT_NE(with.verdict, Verdict::not_certified) << with.reason;
  EXPECT_EQ(with.verdict, without.verdict) << with.reason << "; " << without.reason;
  EXPECT_NEAR(with.hypergradient, without.hypergradient,
              1e-4 + with.hypergradient_error + without.hypergradient_error);
}

/// Several λ: the descent uses what is kept, too.
class KeptHessianDescent : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, KeptHessianDescent,
                         testing::Values(Case{"logistic", logistic(), 20000},
                                         Case{"softmax_whole", softmax(4), 40000, 30}),
                         [](const auto& each) { return each.param.name; });

TEST_P(KeptHessianDescent, IsCertifiedAndNoHigherThanItsNeighbours) {
  const Case& own = GetParam();
  const Index outputs = own.loss->outputs();
  std::vector<Index> thirds;
  for (Index j = 0; j < own.columns; ++j) thirds.push_back(j % 3);
  const LinearProblem problem(
      test::random_split(own.rows, 2000, 0, own.columns, 1, own.loss), own.loss, true,
      outputs > 1 ? Penalty::per_class(own.columns, outputs) : Penalty::by_group(thirds, 3, outputs));
  ASSERT_NE(problem.solve_memory(), nullptr);
  SolveOptions options;
  options.start.lambda = Vector::Constant(problem.hyperparameters(), -1.0);
  const Outcome outcome = solve(MyHpo{}, problem, options);
  Start bounds = options.start;
  bounds.low = outcome.low;
  bounds.high = outcome.high;
  const Certificate certificate = certify(problem, outcome.best, bounds);
  EXPECT_NE(certificate.verdict, Verdict::not_certified) << certificate.reason;
  EXPECT_LE(outcome.work.gradient_equivalents(), 3000.0);
  for (Index j = 0; j < problem.hyperparameters(); ++j)
    for (const double away : {-1.0, 1.0}) {
      Vector at = outcome.best.lambda;
      at[j] = std::clamp(at[j] + away, bounds.low[j], bounds.high[j]);
      Vector w = outcome.best.point;
      problem.inner_solve(at, {}, w);
      EXPECT_LE(outcome.best.loss.validation, problem.validation_loss(w, at) * (1.0 + 1e-7)) << j << away;
    }
}

}  // namespace
}  // namespace yosida
