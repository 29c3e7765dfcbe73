// Single properties of solve() and of the solvers at convergence.
#include "yosida/solver/solve.hpp"

#include <gtest/gtest.h>

#include "problem/counted_problem.hpp"
#include "problem/forwarding_problem.hpp"
#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/error.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/my_hpo_bt.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/my_hpo_full.hpp"
#include "yosida/solver/sho.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::PlainProblem;
using test::random_split;

SolveOptions options(std::int64_t iterations) {
  SolveOptions result;
  result.start.lambda = lambda_of(-1.0);
  result.budget.iterations = iterations;
  return result;
}

class FixedPoint : public testing::TestWithParam<std::tuple<const Loss*, bool>> {};
INSTANTIATE_TEST_SUITE_P(Losses, FixedPoint,
                         testing::Combine(testing::Values(&least_squares(), &logistic()), testing::Bool()),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param)->name()) +
                                  (std::get<1>(each.param) ? "_intercept" : "");
                         });

// Where MY-HPO stands still: w = v = argmin L_T(·, λ), so ∇L_T(w, λ) = 0; Step 2 then says u = 0, and Step 3
// φ₁ᵀ∇L_V(v) = 0. Residuals are under ε (relative to weights of size 1 to 10); each equation
// holds to a modest multiple of ε: the curvatures of these problems, some 10, times the residuals.
TEST_P(FixedPoint, OfFullMyHpoSolvesItsEquations) {
  const auto& [loss, intercept] = GetParam();
  const double epsilon = 1e-9;
  const Split split = random_split(30, 20, 0, 6, 13, *loss);
  const LinearProblem problem(split, *loss, intercept);
  const PlainProblem plain(split, *loss, intercept);
  const MyHpoFull full{{.rho = 0.5, .epsilon = epsilon}};
  MyHpoFull::State state = full.init(problem, {.lambda = lambda_of(-1.0)});
  int iterations = 0;
  while (state.status != SolverStatus::converged && iterations < 2000) {
    full.step(problem, state);
    ++iterations;
  }
  ASSERT_EQ(state.status, SolverStatus::converged) << "lambda " << state.lambda[0];
  const double lambda = state.lambda[0];
  EXPECT_LE(plain.train_gradient(state.w, lambda).norm(), 100.0 * epsilon);
  EXPECT_LE(state.u.norm(), 100.0 * epsilon);
  Vector slope = state.v;
  slope.head(6).array() -= state.v.head(6).mean();
  if (intercept) slope[6] = 0.0;
  EXPECT_LE(std::abs(slope.dot(plain.validation_gradient(state.v)) / lambda), 100.0 * epsilon);
  EXPECT_GT(std::abs(lambda + 1.0), 0.01) << "it stands where it started: the test shows little";
}

// d = 1: all of v equal. Full MY-HPO says so instead of dividing 0 by 0.
TEST(FlatResponse, IsFlaggedByFullMyHpo) {
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const bool intercept : {false, true}) {
      const LinearProblem problem(random_split(20, 10, 0, 1, 6, *loss), *loss, intercept);
      const MyHpoFull full;
      MyHpoFull::State state = full.init(problem, {.lambda = lambda_of(-1.0)});
      full.step(problem, state);
      EXPECT_TRUE(state.has_flat_response);
      EXPECT_EQ(state.lambda[0], -1.0);
      EXPECT_TRUE(state.w.allFinite() && state.u.allFinite() && state.v.allFinite());
      const Outcome outcome = solve(full, problem, options(5));
      EXPECT_NE(outcome.message.find("lost its slope"), std::string::npos) << outcome.message;
    }
}

// Equal columns have equal weights: v − v̄1 is rounding, and so is any step that divides by its square.
TEST(FlatResponse, IsSeenThroughRounding) {
  for (const Index d : {2, 3, 5, 7}) {
    Split split = random_split(20, 10, 0, d, 6, least_squares());
    for (Dataset* data : {&split.train, &split.validation}) {
      Matrix x = to_matrix(data->x);
      for (Index j = 1; j < d; ++j) x.col(j) = x.col(0);
      data->x = Design(x);
    }
    const LinearProblem problem(split, least_squares(), false);
    const Outcome outcome = solve(MyHpoFull{}, problem, options(20));
    EXPECT_NEAR(outcome.final.lambda[0], -1.0, 1e-6) << d << " equal columns";
    EXPECT_NE(outcome.message.find("lost its slope"), std::string::npos) << outcome.message;
  }
}

// Nothing moves any more, and still ε = 0 asks for every iteration of the budget.
TEST(Convergence, IsNeverSaidWhereEpsilonIsZero) {
  const LinearProblem problem(random_split(20, 10, 0, 1, 6, least_squares()), least_squares(), false);
  EXPECT_EQ(solve(MyHpoFull{{.epsilon = 0.0}}, problem, options(30)).status, StopReason::iteration_limit);
  EXPECT_EQ(solve(MyHpoFull{{.epsilon = 1e-6}}, problem, options(30)).status, StopReason::converged);
}

/// Inner solves that do what they should and say they did not.
struct Inexact : ForwardingProblem {
  using ForwardingProblem::ForwardingProblem;
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& with, Vector& w) const override {
    InnerReport report = problem_.inner_solve(lambda, with, w);
    report.converged = false;
    return report;
  }
};

TEST(InexactSolves, AreCountedAndSaid) {
  const LinearProblem problem(random_split(20, 10, 0, 4, 9, least_squares()), least_squares(), false);
  const Outcome exact = solve(MyHpoFull{}, problem, options(3));
  EXPECT_EQ(exact.inexact_solves, 0);
  const Outcome inexact = solve(MyHpoFull{}, Inexact(problem), options(3));
  EXPECT_EQ(inexact.inexact_solves, 6);  // two a step
  EXPECT_NE(inexact.message.find("6 inner problems were not solved"), std::string::npos) << inexact.message;
  EXPECT_EQ(inexact.final.w, exact.final.w);
}

/// How often all losses are evaluated.
struct LossesCounted : ForwardingProblem {
  using ForwardingProblem::ForwardingProblem;
  Losses losses(const Vector& w, const Vector& lambda) const override {
    ++evaluations;
    return problem_.losses(w, lambda);
  }
  mutable int evaluations = 0;
};

// Whoever stops a run waits for what is evaluated at its end.
TEST(EndOfARun, EvaluatesTheLossesOfOneIterateOnce) {
  const LinearProblem problem(random_split(20, 10, 0, 4, 9, least_squares()), least_squares(), false);
  const LossesCounted counted(problem);
  SolveOptions with = options(3);
  with.trace_every = 0;
  const Outcome outcome = solve(MyHpoC{}, counted, with);
  ASSERT_EQ(outcome.best.iteration, outcome.final.iteration);
  EXPECT_EQ(counted.evaluations, 1);
  EXPECT_EQ(outcome.final.w, outcome.best.w);
  EXPECT_EQ(outcome.final.loss.train, problem.losses(outcome.final.point, outcome.final.lambda).train);
}

// Steps of 1.5 against a largest curvature of some 3: |1 − 1.5 · 3| a step, away but not yet out of range.
TEST(Diverged, IsSaidOfAFiniteEndFarAboveTheLossOfZero) {
  const LinearProblem problem(random_split(20, 10, 0, 8, 9, least_squares()), least_squares(), false);
  const MyHpoC c{{.alpha = 1.5, .beta = 1.5, .delta = 0.0, .rho = 0.1}};
  const Outcome outcome = solve(c, problem, options(40));
  EXPECT_EQ(outcome.status, StopReason::diverged) << outcome.message;
  EXPECT_EQ(outcome.iterations, 40);
  EXPECT_TRUE(outcome.final.w.allFinite());
  EXPECT_GT(outcome.final.loss.validation, 10.0 * problem.validation_loss(Vector::Zero(8), Vector::Zero(1)));
  EXPECT_LE(outcome.best.loss.validation, problem.validation_loss(Vector::Zero(8), Vector::Zero(1)));
}

TEST(StopReason, HasAName) {
  EXPECT_EQ(to_string(StopReason::converged), "converged");
  EXPECT_EQ(to_string(StopReason::iteration_limit), "iteration_limit");
  EXPECT_EQ(to_string(StopReason::work_limit), "work_limit");
  EXPECT_EQ(to_string(StopReason::time_limit), "time_limit");
  EXPECT_EQ(to_string(StopReason::diverged), "diverged");
  EXPECT_EQ(to_string(StopReason::stopped), "stopped");
}

// The paper's counts: two gradients an iteration, three with w's own.
TEST(Work, IsThePapersCountPerIteration) {
  const LinearProblem problem(random_split(20, 10, 0, 4, 9, logistic()), logistic(), false);
  EXPECT_EQ(solve(Sho{}, problem, options(10)).work.paper_count(), 20);
  EXPECT_EQ(solve(MyHpoC{}, problem, options(10)).work.paper_count(), 20);
  EXPECT_EQ(solve(MyHpoC{{.w_gradient = WGradient::own}}, problem, options(10)).work.paper_count(), 30);
  const Work bt = solve(MyHpoBt{}, problem, options(10)).work;
  EXPECT_EQ(bt.paper_count(), 20);
  EXPECT_GE(bt.loss_evaluations, 60);  // at least two for each of the three searches
}

// At rest, differences of objectives are rounding. The slack of the test lets the first step pass (6
// evaluations an iteration, two a search); without it they are halved a dozen times each, 19 an iteration on
// this problem.
TEST(Backtracking, IsNotBlockedByRoundingNearConvergence) {
  const LinearProblem problem(random_split(30, 20, 0, 6, 13, least_squares()), least_squares(), false);
  const MyHpoBt bt{{.alpha = 0.2, .beta = 0.2, .delta = 0.1, .epsilon = 0.0, .w_gradient = WGradient::own}};
  const CountedProblem counted(problem);
  MyHpoBt::State state = bt.init(counted, {.lambda = lambda_of(-1.0)});
  for (int i = 0; i < 6000; ++i) bt.step(counted, state);
  ASSERT_LE(state.primal_residual, 1e-10) << "not at rest yet";
  const std::int64_t before = counted.work().loss_evaluations;
  for (int i = 0; i < 2000; ++i) bt.step(counted, state);
  EXPECT_LE(static_cast<double>(counted.work().loss_evaluations - before) / 2000.0, 7.0);
  EXPECT_EQ(state.skipped_steps, 0);
}

// A budget that ends inside a step leaves the last whole iterate.
TEST(WorkLimit, KeepsTheLastWholeIterate) {
  const LinearProblem problem(random_split(20, 10, 0, 4, 9, least_squares()), least_squares(), false);
  SolveOptions with = options(100);
  with.budget.gradients = 7;  // three iterations of two, and one gradient more
  const Outcome cut = solve(MyHpoC{}, problem, with);
  const Outcome whole = solve(MyHpoC{}, problem, options(3));
  EXPECT_EQ(cut.status, StopReason::work_limit);
  EXPECT_EQ(cut.iterations, 3);
  EXPECT_EQ(cut.final.w, whole.final.w);
  EXPECT_EQ(cut.final.lambda, whole.final.lambda);
}

// The stop tests must not depend on the units of y: they once had an absolute part, and small targets
// "converged" at the first iteration with λ still at its start.
TEST(SmallTargets, DoNotConvergeAtOnce) {
  for (const double scale : {1.0, 1e-3, 1e-6}) {
    Split split = random_split(30, 20, 0, 6, 5, least_squares());
    split.train.y *= scale;
    split.validation.y *= scale;
    const LinearProblem problem(split, least_squares(), false);
    EXPECT_EQ(solve(MyHpoBt{}, problem, options(50)).iterations, 50) << scale;
    EXPECT_EQ(solve(MyHpoC{{.alpha = 1e-6, .beta = 1e-6}}, problem, options(50)).iterations, 50) << scale;
    EXPECT_GT(solve(MyHpoFull{}, problem, options(50)).iterations, 2) << scale;
  }
}

TEST(Pole, IsRefusedAsStartAndAsBound) {
  const LinearProblem problem(random_split(30, 20, 0, 6, 5, least_squares()), least_squares(), false);
  SolveOptions at_pole = options(5);
  at_pole.start.lambda = lambda_of(0.0);
  EXPECT_THROW(solve(MyHpoC{}, problem, at_pole), InputError);
  SolveOptions bound = options(5);
  bound.start.bound(-3.0, 0.0);
  EXPECT_THROW(solve(MyHpoBt{}, problem, bound), InputError);
  EXPECT_THROW(solve(MyHpoFull{}, problem, bound), InputError);
}

TEST(Settings, GivenAsAStructAreCheckedToo) {
  const LinearProblem problem(random_split(30, 20, 0, 6, 5, least_squares()), least_squares(), false);
  EXPECT_THROW(solve(MyHpoC{{.alpha = std::nan("")}}, problem, options(5)), InputError);
  EXPECT_THROW(solve(MyHpoFull{{.rho = 0.0}}, problem, options(5)), InputError);
  EXPECT_THROW(solve(Sho{{.sigma = -1.0}}, problem, options(5)), InputError);
}

TEST(RowSpace, IsLeftByARandomStart) {
  EXPECT_TRUE(method("sho").make({})->stays_in_row_space());
  EXPECT_FALSE(method("sho").make({{"phi_scale", "0.1"}})->stays_in_row_space());
  EXPECT_FALSE(method("sho-code").make({})->stays_in_row_space());
}

}  // namespace
}  // namespace yosida
