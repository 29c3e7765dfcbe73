// What every solver promises, whatever it does inside: run over every method the library knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/problem_case.hpp"
#include "yosida/error.hpp"
#include "yosida/search/samplers.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::random_split;

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& each : methods()) names.push_back(each.name);
  return names;
}

/// The paper's own methods and its baseline have no bounds unless they are given some.
bool is_of_the_paper(const Method& method) {
  const std::vector<std::string> names = {"my-hpo-bt", "my-hpo-c", "my-hpo-full", "sho", "sho-code"};
  return std::find(names.begin(), names.end(), method.name) != names.end();
}

bool is_search(const Method& method) {
  const auto& kinds = search::samplers();
  return std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == method.name; });
}

/// Ridge and logistic, with and without intercept, dense and sparse, direct and collapsed.
std::vector<std::shared_ptr<const BilevelProblem>> problems(const Method& method) {
  const auto linear = [](const Loss& loss, bool intercept, double density) {
    return std::make_shared<LinearProblem>(random_split(24, 14, 6, 5, 3, loss, density), loss, intercept);
  };
  std::vector<std::shared_ptr<const BilevelProblem>> all = {
      linear(least_squares(), false, 1.0), linear(logistic(), true, 1.0), linear(logistic(), false, 0.4)};
  if (method.make({})->stays_in_row_space())
    all.push_back(std::make_shared<CollapsedLeastSquares>(linear(least_squares(), true, 1.0)));
  return all;
}

bool is_finite(const Solution& solution) {
  return solution.lambda.allFinite() && solution.w.allFinite() && std::isfinite(solution.loss.train) &&
         std::isfinite(solution.loss.validation) && std::isfinite(solution.loss.test.value_or(0.0));
}

/// Equal to the last bit; two NaN (a residual a solver does not have) are equal too.
bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool same(const Losses& a, const Losses& b) {
  return same(a.train, b.train) && same(a.validation, b.validation) && a.test == b.test;
}
bool same(const Work& a, const Work& b) {
  return a.train_gradients == b.train_gradients && a.validation_gradients == b.validation_gradients &&
         a.hessian_products == b.hessian_products && a.loss_evaluations == b.loss_evaluations &&
         a.inner_solves == b.inner_solves && a.factorisations == b.factorisations;
}
bool same(const Solution& a, const Solution& b) {
  return a.lambda == b.lambda && a.w == b.w && same(a.loss, b.loss) && a.iteration == b.iteration;
}

/// As many candidates as a test needs: what is promised does not depend on their number.
const SettingValues kQuickGpEi = {{"grid", "200"}, {"burn_in", "5"}, {"samples", "2"}, {"polished", "2"}};

class Contract : public testing::TestWithParam<std::string> {
 protected:
  const Method& method = yosida::method(GetParam());

  SolveOptions options(std::int64_t iterations = 30) const {
    SolveOptions result;
    result.start.lambda = lambda_of(method.lambda0);
    result.start.seed = 4;
    // A search looks at the ends of its range, where w is as bad as that of a run that diverged.
    if (is_search(method)) result.start.bound(method.lambda0 - 3.0, method.lambda0 + 3.0);
    // What is promised shows in few trials, and each further one of GP-EI takes longer.
    result.budget.iterations = method.name == "gp-ei" ? std::min<std::int64_t>(iterations, 20) : iterations;
    return result;
  }
  Outcome run(const BilevelProblem& problem, const SolveOptions& with, SettingValues settings = {}) const {
    if (method.name == "gp-ei") settings.merge(SettingValues(kQuickGpEi));
    return solve(*method.make(settings), problem, with);
  }
  /// What the start alone costs: bounds from the data, for methods that need some.
  std::int64_t start_work(const BilevelProblem& problem) const {
    return run(problem, options(0)).work.paper_count();
  }
  /// A trial of an exact solve by factorisation computes no gradient.
  bool has_free_iterations(const BilevelProblem& problem) const {
    return ends_early(problem) ||
           (is_search(method) && (problem.traits().has_closed_form || problem.traits().factors_cheaply));
  }
  /// How a run ends that has a budget of gradients: as it would without one where that costs no more, else at
  /// the limit.
  StopReason expected_within(const BilevelProblem& problem, const SolveOptions& with) const {
    SolveOptions unlimited = with;
    unlimited.budget.gradients = SolveOptions{}.budget.gradients;
    const Outcome free = run(problem, unlimited);
    return free.work.paper_count() <= with.budget.gradients ? free.status : StopReason::work_limit;
  }
  /// Where h costs little, many points of its scan are one iteration and a few more are the end.
  bool ends_early(const BilevelProblem& problem) const {
    return method.name == "my-hpo" && (problem.traits().has_closed_form || problem.traits().factors_cheaply);
  }
  /// What a search that trains by steps needs for a single trial.
  std::int64_t least_budget() const { return method.name == "hyperband" ? 81 : 0; }
  /// Every step size of the method, set to so much.
  SettingValues steps(const std::string& size) const {
    SettingValues values;
    for (const SettingInfo& setting : method.settings)
      if (setting.name == "alpha" || setting.name == "beta" || setting.name == "delta")
        values[setting.name] = size;
    return values;
  }
};
INSTANTIATE_TEST_SUITE_P(Every, Contract, testing::ValuesIn(method_names()), [](const auto& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(Contract, TheSameSeedGivesTheSameTraceBitForBit) {
  for (const auto& problem : problems(method)) {
    SolveOptions with = options();
    with.trace_every = 1;
    const Outcome a = run(*problem, with);
    const Outcome b = run(*problem, with);
    EXPECT_TRUE(same(a.best, b.best));
    EXPECT_TRUE(same(a.final, b.final));
    ASSERT_EQ(a.trace.size(), b.trace.size());
    ASSERT_GE(a.trace.size(), 2U);
    for (std::size_t i = 0; i < a.trace.size(); ++i) {
      EXPECT_EQ(a.trace[i].lambda, b.trace[i].lambda);
      EXPECT_TRUE(same(a.trace[i].loss, b.trace[i].loss));
      EXPECT_TRUE(same(a.trace[i].primal_residual, b.trace[i].primal_residual));
      EXPECT_TRUE(same(a.trace[i].dual_residual, b.trace[i].dual_residual));
      EXPECT_TRUE(same(a.trace[i].work, b.trace[i].work));
    }
  }
}

TEST_P(Contract, HoldsItsBudgetOfGradients) {
  for (const auto& problem : problems(method))
    for (const std::int64_t gradients : {1, 2, 3, 7, 50}) {
      SolveOptions with = options(is_search(method) ? 10 : 1000);
      with.budget.gradients = gradients;
      if (gradients < start_work(*problem) || gradients < least_budget()) {
        EXPECT_THROW(run(*problem, with), InputError);
        continue;
      }
      const Outcome outcome = run(*problem, with);
      EXPECT_LE(outcome.work.paper_count(), gradients);
      EXPECT_EQ(outcome.status, expected_within(*problem, with)) << gradients << ": " << outcome.message;
      EXPECT_TRUE(is_finite(outcome.final));
    }
}

TEST_P(Contract, HoldsItsLimitOfIterations) {
  for (const auto& problem : problems(method))
    for (const std::int64_t iterations : {0, 1, 3}) {
      if (iterations > 1 && ends_early(*problem)) continue;
      const Outcome outcome = run(*problem, options(iterations));
      EXPECT_EQ(outcome.status, StopReason::iteration_limit);
      EXPECT_EQ(outcome.iterations, iterations);
      EXPECT_EQ(outcome.final.iteration, iterations);
    }
}

TEST_P(Contract, StopsAtOnceWhereThereIsNoTime) {
  for (const auto& problem : problems(method)) {
    SolveOptions with = options();
    with.budget.seconds = 0.0;
    const Outcome outcome = run(*problem, with);
    EXPECT_EQ(outcome.status, StopReason::time_limit);
    EXPECT_EQ(outcome.iterations, 0);
    EXPECT_EQ(outcome.work.paper_count(), 0) << "the time limit acts inside the start too";
    EXPECT_TRUE(is_finite(outcome.best));
  }
}

// Only bounds may cost something before the first iteration, and for the paper's methods nothing does.
TEST_P(Contract, StartsWithoutWorkInsideGivenBounds) {
  for (const auto& problem : problems(method)) {
    if (is_of_the_paper(method)) {
      EXPECT_EQ(start_work(*problem), 0);
    }
    SolveOptions with = options(0);
    with.start.bound(method.lambda0 - 1.0, method.lambda0 + 2.5);
    EXPECT_EQ(run(*problem, with).work.paper_count(), 0);
  }
}

TEST_P(Contract, StopsWhereAnObserverSaysSo) {
  for (const auto& problem : problems(method))
    for (const std::int64_t last : {0, ends_early(*problem) ? 1 : 2}) {
      std::vector<std::int64_t> seen;
      SolveOptions with = options();
      with.observers.push_back([&](const TracePoint& point) {
        seen.push_back(point.iteration);
        return point.iteration == last ? Watch::stop : Watch::go_on;
      });
      const Outcome outcome = run(*problem, with);
      EXPECT_EQ(outcome.status, StopReason::stopped);
      EXPECT_EQ(outcome.iterations, last);
      std::vector<std::int64_t> expected;
      for (std::int64_t i = 0; i <= last; ++i) expected.push_back(i);
      EXPECT_EQ(seen, expected);
    }
}

TEST_P(Contract, SaysHowMuchIsDoneOrNothing) {
  for (const auto& problem : problems(method)) {
    double least = 1.0, most = 0.0;
    SolveOptions with = options();
    with.observers.push_back([&](const TracePoint& point) {
      if (std::isnan(point.share_done)) return Watch::go_on;
      least = std::min(least, point.share_done);
      most = std::max(most, point.share_done);
      return Watch::go_on;
    });
    run(*problem, with);
    EXPECT_GE(least, 0.0);
    EXPECT_LE(most, 1.0);
  }
}

TEST_P(Contract, WatchingChangesNeitherIteratesNorWork) {
  for (const auto& problem : problems(method)) {
    const Outcome blind = run(*problem, options());
    SolveOptions with = options();
    with.trace_every = 1;
    with.observers.push_back([](const TracePoint&) { return Watch::go_on; });
    const Outcome watched = run(*problem, with);
    EXPECT_TRUE(blind.trace.empty());
    EXPECT_EQ(blind.status, watched.status);
    EXPECT_TRUE(same(blind.final, watched.final));
    EXPECT_TRUE(same(blind.best, watched.best));
    EXPECT_TRUE(same(blind.work, watched.work));
  }
}

TEST_P(Contract, TracesTheFirstSoManyPointsThenEverySoManyAndTheLast) {
  for (const auto& problem : problems(method)) {
    SolveOptions with = options(10);
    with.trace_every = 4;
    const Outcome outcome = run(*problem, with);
    std::vector<std::int64_t> kept;
    for (const TracePoint& point : outcome.trace) kept.push_back(point.iteration);
    std::vector<std::int64_t> expected;
    for (const std::int64_t i : {0, 1, 2, 3, 4, 8, 10})
      if (i < outcome.iterations) expected.push_back(i);
    expected.push_back(outcome.iterations);
    EXPECT_EQ(kept, expected);
    EXPECT_TRUE(outcome.iterations == 10 || ends_early(*problem));
  }
}

// The best is judged on the problem's own validation loss; reported losses are recomputed on all weights,
// which differs by rounding where the problem is collapsed.
TEST_P(Contract, TheBestIsTheBestOfTheTrace) {
  for (const auto& problem : problems(method)) {
    SolveOptions with = options(100);
    with.trace_every = 1;
    const Outcome outcome = run(*problem, with);
    // my-hpo vouches for its last iterate, though one solved less exactly may have had a lower loss.
    const bool vouched = (method.name == "my-hpo" || method.name == "my-hpo-consensus") &&
                         outcome.status == StopReason::converged;
    if (vouched) {
      EXPECT_EQ(outcome.best.iteration, outcome.final.iteration);
    } else {
      for (const TracePoint& point : outcome.trace) {
        if (is_search(method) && point.iteration == 0) continue;  // w = 0, no trial
        EXPECT_LE(outcome.best.loss.validation, point.loss.validation * (1.0 + 1e-13));
      }
    }
    const TracePoint& at = outcome.trace[static_cast<std::size_t>(outcome.best.iteration)];
    EXPECT_EQ(outcome.best.lambda, at.lambda);
    EXPECT_TRUE(same(outcome.best.loss, at.loss));
    EXPECT_TRUE(same(outcome.final.loss, outcome.trace.back().loss));
  }
}

TEST_P(Contract, ReportsLossesOfTheWeightsItReturns) {
  const Split split = random_split(24, 14, 6, 5, 3, least_squares());
  const auto direct = std::make_shared<LinearProblem>(split, least_squares(), true);
  const Outcome outcome = run(*direct, options());
  const test::PlainProblem plain(split, least_squares(), true);
  for (const Solution* solution : {&outcome.best, &outcome.final}) {
    ASSERT_EQ(solution->w.size(), 6);
    EXPECT_NEAR(solution->loss.validation, plain.validation_loss(solution->w), 1e-13);
    EXPECT_NEAR(solution->loss.train, plain.data_term(plain.x_train, plain.y_train, solution->w), 1e-13);
  }
}

TEST_P(Contract, CountsInOrder) {
  for (const auto& problem : problems(method)) {
    SolveOptions with = options();
    with.trace_every = 1;
    const Outcome outcome = run(*problem, with);
    for (std::size_t i = 1; i < outcome.trace.size(); ++i) {
      if (has_free_iterations(*problem))
        EXPECT_GE(outcome.trace[i].work.paper_count(), outcome.trace[i - 1].work.paper_count());
      else
        EXPECT_GT(outcome.trace[i].work.paper_count(), outcome.trace[i - 1].work.paper_count());
      EXPECT_GE(outcome.trace[i].seconds, outcome.trace[i - 1].seconds);
    }
    EXPECT_TRUE(same(outcome.work, outcome.trace.back().work));
    EXPECT_GE(outcome.work.factorisations, problem->traits().setup_work);
  }
}

TEST_P(Contract, KeepsLambdaInsideBounds) {
  for (const auto& problem : problems(method)) {
    SolveOptions with = options(100);
    with.start.bound(method.lambda0 - 0.02, method.lambda0 + 0.02);
    with.trace_every = 1;
    const Outcome outcome = run(*problem, with, steps("1"));
    for (const TracePoint& point : outcome.trace) {
      EXPECT_GE(point.lambda[0], with.start.low[0]);
      EXPECT_LE(point.lambda[0], with.start.high[0]);
    }
  }
}

/// Runs that must not let a number escape that is not finite.
void expect_finite(const Outcome& outcome) {
  EXPECT_TRUE(is_finite(outcome.best)) << outcome.message;
  EXPECT_TRUE(is_finite(outcome.final)) << outcome.message;
  EXPECT_FALSE(std::isinf(outcome.primal_residual)) << outcome.message;
  EXPECT_FALSE(std::isinf(outcome.dual_residual)) << outcome.message;
  EXPECT_FALSE(outcome.message.empty());
}

TEST_P(Contract, NothingInfiniteLeavesWithHugeSteps) {
  for (const auto& problem : problems(method)) {
    const Outcome outcome = run(*problem, options(500), steps("1e6"));
    expect_finite(outcome);
    // Nothing tames the constant steps; backtracking and inner solves do.
    if (method.name == "my-hpo-c" || method.name == "sho") {
      EXPECT_EQ(outcome.status, StopReason::diverged);
    }
  }
}

TEST_P(Contract, NothingInfiniteLeavesFromExtremeLambda) {
  for (const auto& problem : problems(method))
    for (const double lambda : {700.0, -700.0, 745.0}) {  // e^745 is infinite
      SolveOptions with = options(50);
      with.start.lambda = lambda_of(lambda);
      with.start.low = with.start.high = Vector();
      expect_finite(run(*problem, with));
    }
}

/// Targets this many times as large, everywhere.
Split scaled_targets(double factor) {
  Split split = random_split(24, 14, 6, 5, 3, least_squares());
  for (Dataset* data : {&split.train, &split.validation, &*split.test}) data->y *= factor;
  return split;
}

TEST_P(Contract, NothingInfiniteLeavesFromHugeTargets) {
  for (const double factor : {1e-70, 1e30, 1e74})
    for (const bool intercept : {false, true}) {
      const LinearProblem problem(scaled_targets(factor), least_squares(), intercept);
      expect_finite(run(problem, options(50)));
    }
}

// Squares of 1e160 are not finite: there is no loss to start from. Those of gradients are not from 1e80 on,
// nor distinct from 0 below 1e-80.
TEST_P(Contract, RefusesTargetsWhoseFourthPowersAreNoNumbers) {
  for (const double factor : {1e160, 1e80, 1e-80, 1e-300})
    EXPECT_THROW(LinearProblem(scaled_targets(factor), least_squares(), true), InputError) << factor;
}

// One NaN among the numbers: refused before the first iteration, or seen in it. Never returned.
TEST_P(Contract, NothingInfiniteLeavesFromDataWithANaN) {
  for (const bool in_targets : {false, true})
    for (const bool in_training : {false, true})
      for (const bool intercept : {false, true}) {
        Split split = random_split(24, 14, 6, 5, 3, least_squares());
        Dataset& data = in_training ? split.train : split.validation;
        Matrix x = to_matrix(data.x);
        (in_targets ? data.y[2] : x(2, 1)) = std::nan("");
        data.x = Design(x);
        try {
          const LinearProblem problem(split, least_squares(), intercept);
          const Outcome outcome = run(problem, options(5));
          EXPECT_EQ(outcome.status, StopReason::diverged);
          EXPECT_TRUE(outcome.final.w.allFinite() && outcome.final.lambda.allFinite());
          EXPECT_TRUE(std::isfinite(outcome.final.loss.validation));
        } catch (const InputError& error) {
          EXPECT_NE(std::string(error.what()).find("finite"), std::string::npos) << error.what();
        }
      }
}

TEST_P(Contract, SurvivesALambdaOfAnySize) {
  for (const auto& problem : problems(method))
    for (const double lambda : {1e300, -1e300}) {
      SolveOptions with = options(5);
      with.start.lambda = lambda_of(lambda);
      try {
        expect_finite(run(*problem, with));
      } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find("lambda0 = "), 0U) << error.what();
      }
    }
}

TEST_P(Contract, RefusesTheWrongNumberOfLambdas) {
  const auto problem = problems(method).front();
  for (const Index count : {2, 3}) {
    SolveOptions with = options();
    with.start.lambda = Vector::Constant(count, -1.0);
    try {
      run(*problem, with);
      FAIL() << count << " values accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(),
                "lambda0 has " + std::to_string(count) + " values: the problem has 1 hyperparameters");
    }
  }
}

TEST_P(Contract, RefusesAStartThatIsNotFiniteOrOutsideItsBounds) {
  const auto problem = problems(method).front();
  SolveOptions with = options();
  with.start.lambda = lambda_of(std::nan(""));
  EXPECT_THROW(run(*problem, with), InputError);
  with = options();
  with.start.bound(method.lambda0 + 1.0, method.lambda0 + 2.0);
  EXPECT_THROW(run(*problem, with), InputError);
  with.start.bound(1.0, -1.0);
  EXPECT_THROW(run(*problem, with), InputError);
}

TEST_P(Contract, SaysWhichSettingBreaksWhichRule) {
  for (const SettingInfo& setting : method.settings) {
    std::vector<std::string> bad = {"nonsense", ""};
    if (setting.rule.find("number") != std::string::npos)
      bad.insert(bad.end(), {"-1", "nan", "inf", "1e999", "1x"});
    if (setting.rule == "a finite number > 0") bad.push_back("0");
    for (const std::string& value : bad) {
      try {
        method.make({{setting.name, value}});
        ADD_FAILURE() << setting.name << " = " << value << " accepted";
      } catch (const InputError& error) {
        EXPECT_EQ(error.what(),
                  method.name + ": " + setting.name + " = " + value + ": must be " + setting.rule);
      }
    }
  }
}

TEST_P(Contract, SuggestsTheNearestSetting) {
  for (const SettingInfo& setting : method.settings) {
    try {
      method.make({{setting.name + "x", "1"}});
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("did you mean \"" + setting.name + "\"?"), std::string::npos)
          << error.what();
    }
  }
}

TEST_P(Contract, ItsWrittenDefaultsAreItsDefaults) {
  SettingValues written;
  for (const SettingInfo& setting : method.settings) {
    written[setting.name] = setting.default_value;
    EXPECT_FALSE(setting.meaning.empty());
    EXPECT_FALSE(setting.origin.empty());
  }
  const auto problem = problems(method).front();
  const SolveOptions few = options(is_search(method) ? 4 : 30);
  EXPECT_TRUE(
      same(solve(*method.make({}), *problem, few).final, solve(*method.make(written), *problem, few).final));
}

class MeanAnchoredMethod : public Contract {};
INSTANTIATE_TEST_SUITE_P(Every, MeanAnchoredMethod, testing::Values("my-hpo-c", "my-hpo-bt", "my-hpo-full"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// φ₁ = (v − φ₀)/λ has a pole at 0.
TEST_P(MeanAnchoredMethod, RefusesToStartAtLambdaZero) {
  SolveOptions with = options();
  with.start.lambda = lambda_of(0.0);
  try {
    run(*problems(method).front(), with);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("lambda0 = 0: must not be 0 for " + GetParam()),
              std::string::npos)
        << error.what();
  }
}

// One column: v is its own mean, so φ₁ = 0 and nothing can move λ. It must not become 0/0.
TEST_P(MeanAnchoredMethod, LeavesLambdaWhereTheResponseIsFlat) {
  for (const bool intercept : {false, true}) {
    const LinearProblem problem(random_split(20, 10, 0, 1, 6, least_squares()), least_squares(), intercept);
    const Outcome outcome = run(problem, options(20));
    EXPECT_EQ(outcome.final.lambda[0], -1.0);
    EXPECT_TRUE(is_finite(outcome.final));
    EXPECT_NE(outcome.message.find("lost its slope"), std::string::npos) << outcome.message;
  }
}

TEST(Methods, SuggestTheNearestName) {
  for (const auto& [wrong, right] :
       {std::pair<const char*, const char*>{"my-hpo-cc", "my-hpo-c"}, {"shoo", "sho"}}) {
    try {
      method(wrong);
      FAIL() << wrong << " accepted";
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find("method = " + std::string(wrong) + ": "), 0U) << message;
      EXPECT_NE(message.find("did you mean " + std::string(right) + "?"), std::string::npos) << message;
    }
  }
  EXPECT_THROW(method(""), InputError);
  EXPECT_NO_THROW(method(kDefaultMethod));
}

}  // namespace
}  // namespace yosida
