// A black-box search is its sampler and plain training: both written out here again.
#include "yosida/solver/black_box.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/problem_case.hpp"
#include "yosida/error.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida {
namespace {

using test::BuiltProblem;
using test::lambda_of;
using test::random_split;

constexpr std::int64_t kSteps = 100;
const SettingValues kPaperTraining = {{"train_steps", "100"}, {"train_step_size", "0.05"}};

BuiltProblem ridge() {
  return {random_split(24, 14, 6, 5, 3, least_squares()), least_squares(), false, false};
}

SolveOptions options_of(std::int64_t gradients) {
  SolveOptions options;
  options.start.lambda = lambda_of(-1.0);
  options.start.seed = 7;
  options.start.bound(-10.0, 5.0);
  options.budget.gradients = gradients;
  options.trace_every = 1;
  return options;
}

Outcome run(const std::string& method, const BilevelProblem& problem, const SolveOptions& options,
            const SettingValues& settings = {}) {
  return solve(*yosida::method(method).make(settings), problem, options);
}

/// w after so many steps from 0, by the problem's gradient alone.
Vector trained(const BilevelProblem& problem, double lambda, std::int64_t steps, double alpha) {
  Vector w = Vector::Zero(problem.weights());
  Vector g(w.size());
  for (std::int64_t t = 0; t < steps; ++t) {
    problem.train_gradient(w, lambda_of(lambda), g);
    w -= alpha * g;
  }
  return w;
}

std::vector<std::string> all_samplers() {
  std::vector<std::string> names;
  for (const search::SamplerKind& kind : search::samplers()) names.push_back(kind.name);
  return names;
}

TEST(BlackBox, GridUnderABudgetTriesBothEndsAndTrainsFromZero) {
  const BuiltProblem built = ridge();
  const Outcome outcome = run("grid", *built.problem, options_of(2 * kSteps + kSteps / 2), kPaperTraining);
  EXPECT_EQ(outcome.status, StopReason::exhausted);
  EXPECT_EQ(outcome.iterations, 2);
  EXPECT_EQ(outcome.work.train_gradients, 2 * kSteps);
  // e^5 × 0.05 > 2: the upper end diverges in numbers that stay finite for 100 steps; the lower end is the
  // answer.
  const Vector w = trained(*built.problem, -10.0, kSteps, 0.05);
  ASSERT_EQ(outcome.final.lambda[0], -10.0);
  EXPECT_EQ(outcome.final.w, w);
  EXPECT_EQ(outcome.final.loss.validation, built.problem->validation_loss(w, lambda_of(-10.0)));
}

TEST(BlackBox, RandomIsTheBestOfItsTrials) {
  const BuiltProblem built = ridge();
  const Outcome outcome = run("random", *built.problem, options_of(10 * kSteps), kPaperTraining);
  EXPECT_EQ(outcome.iterations, 10);
  const auto sampler =
      search::make_sampler("random", search::Space({{.low = -10.0, .high = 5.0}}), {.seed = 7});
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < outcome.trace.size(); ++k) {
    const double lambda = sampler->ask()->x[0];
    EXPECT_EQ(outcome.trace[k].tried[0], lambda) << "trial " << k;
    EXPECT_EQ(
        outcome.trace[k].tried_validation,
        built.problem->validation_loss(trained(*built.problem, lambda, kSteps, 0.05), lambda_of(lambda)));
    best = std::min(best, built.problem->validation_loss(trained(*built.problem, lambda, kSteps, 0.05),
                                                         lambda_of(lambda)));
    EXPECT_EQ(outcome.trace[k].loss.validation, best) << "trial " << k;
  }
}

TEST(BlackBox, ExactTrainingIsTheInnerSolve) {
  const BuiltProblem built = ridge();
  SolveOptions options = options_of(std::numeric_limits<std::int64_t>::max());
  const Outcome outcome = run("grid", *built.problem, options, {{"trials", "16"}});
  EXPECT_EQ(outcome.iterations, 16);
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 16; ++k) best = std::min(best, validation_at(*built.problem, -10.0 + k));
  // Both are solved to a gradient of 1e-11 of its size at 0.
  EXPECT_NEAR(outcome.final.loss.validation, best, 1e-10 * best);
}

TEST(BlackBox, EverySamplerHoldsTheBudgetAndNeverGetsWorse) {
  const BuiltProblem built = ridge();
  for (const std::string& name : all_samplers()) {
    const Outcome outcome = run(name, *built.problem, options_of(12 * kSteps), kPaperTraining);
    EXPECT_LE(outcome.work.paper_count(), 12 * kSteps) << name;
    EXPECT_GE(outcome.iterations, 12) << name;
    // From the first trial on; before it stands w = 0, which a trial may well be worse than.
    for (std::size_t k = 2; k < outcome.trace.size(); ++k)
      EXPECT_LE(outcome.trace[k].loss.validation, outcome.trace[k - 1].loss.validation) << name;
    EXPECT_EQ(outcome.failed_trials, 0) << name;
  }
}

TEST(BlackBox, HyperbandGoesOnWhereAConfigurationWasLeft) {
  const BuiltProblem built = ridge();
  SolveOptions options = options_of(std::numeric_limits<std::int64_t>::max());
  // The first bracket of Li et al. for R = 81, η = 3: 81 configurations at 1, 27 at 3, 9 at 9, 3 at 27, 1
  // at 81.
  options.budget.iterations = 81 + 27 + 9 + 3 + 1;
  const Outcome outcome = run("hyperband", *built.problem, options, {{"train_step_size", "0.005"}});
  EXPECT_EQ(outcome.work.train_gradients, 81 * 1 + 27 * 2 + 9 * 6 + 3 * 18 + 1 * 54);
  // The step is stable at every λ, so that more training is better here: the last one has been trained in
  // full.
  const double lambda = outcome.final.lambda[0];
  bool is_some_share = false;
  for (const int steps : {1, 3, 9, 27, 81})
    is_some_share |= outcome.final.w == trained(*built.problem, lambda, steps, 0.005);
  EXPECT_TRUE(is_some_share);
}

TEST(BlackBox, BudgetBelowOneTrialIsRefused) {
  const BuiltProblem built = ridge();
  try {
    run("random", *built.problem, options_of(kSteps - 1), kPaperTraining);
    FAIL() << "must be refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "budget of 99 gradient computations: one trial of random needs 100 (train_steps = 100)");
  }
}

TEST(BlackBox, TrialsThatBlowUpAreCountedAndNeverLeave) {
  const BuiltProblem built = ridge();
  SolveOptions options = options_of(20 * 2000);
  const Outcome some =
      run("grid", *built.problem, options, {{"train_steps", "2000"}, {"train_step_size", "0.05"}});
  EXPECT_GT(some.failed_trials, 0);
  EXPECT_LT(some.failed_trials, some.iterations);
  EXPECT_EQ(some.status, StopReason::exhausted);
  EXPECT_TRUE(std::isfinite(some.final.loss.validation));
  EXPECT_NE(some.message.find("gave no finite loss"), std::string::npos) << some.message;

  const Outcome all =
      run("random", *built.problem, options, {{"train_steps", "2000"}, {"train_step_size", "1e3"}});
  EXPECT_EQ(all.status, StopReason::diverged);
  EXPECT_TRUE(all.final.w.allFinite());
  EXPECT_NE(all.message.find("no trial gave a finite loss"), std::string::npos) << all.message;
}

TEST(BlackBox, StepSizeOfTheCurvatureNeverBlowsUp) {
  const BuiltProblem built = ridge();
  const Outcome outcome =
      run("grid", *built.problem, options_of(13 * (kSteps + 3)), {{"train_steps", "100"}});
  EXPECT_EQ(outcome.status, StopReason::exhausted) << "the grid fits into the budget, curvature counted";
  EXPECT_EQ(outcome.failed_trials, 0);
  EXPECT_LE(outcome.work.paper_count(), 13 * (kSteps + 3));
}

// Where every trial is worse than w = 0, the answer is a trial all the same: λ was tried.
TEST(BlackBox, TheAnswerIsATrial) {
  const BuiltProblem built = ridge();
  SolveOptions options = options_of(1000);
  options.start.lambda = lambda_of(4.0);
  options.start.bound(4.0, 5.0);
  const Outcome outcome = run("grid", *built.problem, options,
                              {{"trials", "1"}, {"train_steps", "20"}, {"train_step_size", "0.02"}});
  EXPECT_EQ(outcome.best.lambda[0], 4.5);
  EXPECT_EQ(outcome.best.iteration, 1);
  EXPECT_GT(outcome.best.loss.validation,
            built.problem->validation_loss(Vector::Zero(built.problem->weights()), lambda_of(4.0)))
      << "or the test shows nothing";
}

TEST(BlackBox, TrialsEndASearchByThemselves) {
  const BuiltProblem built = ridge();
  SolveOptions options = options_of(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(run("random", *built.problem, options).iterations, 25);
  EXPECT_EQ(run("random", *built.problem, options, {{"trials", "7"}}).status, StopReason::exhausted);
  EXPECT_EQ(run("hyperband", *built.problem, options).iterations, 206);
  options.budget.gradients = 1'000'000;  // which exact solves may never use up
  EXPECT_EQ(run("random", *built.problem, options).iterations, 25);
}

/// One proposal, and no word of how many there are.
struct OneProposal final : search::Sampler {
  std::optional<search::Proposal> ask() override {
    if (asked++ > 0) return {};
    return search::Proposal{.id = 0, .x = lambda_of(1.0)};
  }
  void tell(const search::Proposal&, double) override {}
  int asked = 0;
};

// The step that finds nothing left to try has no trial: the last one is neither shown nor counted again.
TEST(BlackBox, AStepWithoutATrialSaysSo) {
  const BuiltProblem built = ridge();
  const BlackBox search("one", [](const auto&, const auto&) { return std::make_unique<OneProposal>(); },
                        {.train_steps = 500, .train_step_size = 1e3});
  const Outcome outcome = solve(search, *built.problem, options_of(10'000));
  EXPECT_EQ(outcome.status, StopReason::exhausted);
  EXPECT_EQ(outcome.failed_trials, 1);
  ASSERT_EQ(outcome.trace.size(), 3U);
  EXPECT_EQ(outcome.trace[1].tried, lambda_of(1.0));
  EXPECT_TRUE(std::isnan(outcome.trace[1].tried_validation));
  EXPECT_EQ(outcome.trace[0].tried.size() + outcome.trace[2].tried.size(), 0);
}

TEST(BlackBox, SettingsAreRefusedByName) {
  const auto refuses = [](const std::string& name, const SettingValues& settings) {
    EXPECT_THROW(static_cast<void>(method(name).make(settings)), InputError) << name;
  };
  refuses("random", {{"trials", "0"}});
  refuses("tpe", {{"train_steps", "-1"}});
  refuses("grid", {{"train_step_size", "nan"}});
  refuses("hyperband", {{"train_steps", "exact"}});
  refuses("hyperband", {{"train_steps", "80"}});  // a rung without a step
  refuses("random", {{"train_step_size", "0.1"}});
  refuses("gp-ei", {{"samples", "1000000"}});
  refuses("random", {{"no_such", "1"}});
}

TEST(BlackBox, SeveralLambdas) {
  const Split split = random_split(30, 20, 6, 4, 3, least_squares());
  const LinearProblem problem(split, least_squares(), true, Penalty::per_feature(4));
  SolveOptions options;
  options.start.lambda = Vector::Constant(4, -1.0);
  options.start.seed = 1;
  for (const std::string& name : all_samplers()) {
    const Outcome outcome = run(name, problem, options, {{"trials", "30"}});
    EXPECT_NE(outcome.status, StopReason::diverged) << name;
    EXPECT_TRUE(outcome.final.lambda.allFinite()) << name;
    EXPECT_EQ(outcome.final.lambda.size(), 4) << name;
  }
}

}  // namespace
}  // namespace yosida
