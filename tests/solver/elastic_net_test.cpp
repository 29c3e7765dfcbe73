#include <gtest/gtest.h>

#include "solver/elastic_net_data.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/oracle.hpp"
#include "yosida/solver/solve.hpp"

namespace yosida {
namespace {

using test::LassoCase;
using test::lowest_of_path;
using test::tight_validation;
using Kind = ElasticNetProblem::Kind;

constexpr std::uint64_t kSeeds = 10;
/// What agreeing with a path means: L_V at the λ found, over the lowest of the path.
constexpr double kAgrees = 1e-3;
constexpr int kPathPoints = 1000;

Outcome run(const BilevelProblem& problem, const Vector& lambda, double spacing) {
  MyHpo method;
  method.settings.spacing = spacing;
  SolveOptions options;
  options.start.lambda = lambda;
  options.budget.iterations = 300;
  return solve(method, problem, options);
}

class LassoMyHpo : public testing::TestWithParam<LassoCase> {};
INSTANTIATE_TEST_SUITE_P(Data, LassoMyHpo, testing::ValuesIn(test::lasso_cases()),
                         [](const auto& each) { return std::string(each.param.name); });

// h(λ₁) has a kink wherever the support changes, and valleys as near to each other as 0.1: the scan must be
// finer than for ridge. One seed of a set may end in a valley 0.3 % above the lowest.
TEST_P(LassoMyHpo, AgreesWithAPath) {
  int disagreeing = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ElasticNetProblem problem(GetParam().split(seed), *GetParam().loss, true, Kind::lasso);
    const Bounds bounds = *problem.traits().bounds;
    const Outcome outcome = run(problem, bounds.high, MyHpo{}.settings.spacing);
    EXPECT_EQ(outcome.status, StopReason::converged);
    Vector w = Vector::Zero(problem.weights());
    const double gap =
        tight_validation(problem, outcome.best.lambda, w) / lowest_of_path(problem, bounds, kPathPoints) -
        1.0;
    EXPECT_LE(gap, 3.0 * kAgrees) << "seed " << seed;
    disagreeing += gap > kAgrees;
  }
  EXPECT_LE(disagreeing, 1);
}

// It ends at the bottom of a valley, most often of the lowest.
TEST_P(LassoMyHpo, EndsAtALocalMinimum) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ElasticNetProblem problem(GetParam().split(seed), *GetParam().loss, true, Kind::lasso);
    const Bounds bounds = *problem.traits().bounds;
    const Outcome outcome = run(problem, bounds.high, MyHpo{}.settings.spacing);
    EXPECT_EQ(outcome.status, StopReason::converged);
    EXPECT_EQ(outcome.inexact_solves, 0);
    Vector w = Vector::Zero(problem.weights());
    const double reached = tight_validation(problem, outcome.best.lambda, w);
    for (const double away : {-0.003, -0.001, 0.001, 0.003}) {
      const Vector beside = (outcome.best.lambda.array() + away).matrix().cwiseMin(bounds.high);
      EXPECT_GE(tight_validation(problem, beside, w), reached * (1.0 - 1e-4))
          << "seed " << seed << ", " << away << " away";
    }
    // Where exact solves cost little no valley is missed.
    const double allowed = problem.traits().factors_cheaply ? 1.001 : 1.1;
    EXPECT_LE(reached, lowest_of_path(problem, bounds, 200) * allowed) << "seed " << seed;
  }
}

// Of least squares h is known for all λ: the answer is the lowest there is, and its certificate says so.
TEST_P(LassoMyHpo, TakesTheLeastOfAnExactCurve) {
  if (!GetParam().loss->is_quadratic()) return;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ElasticNetProblem problem(GetParam().split(seed), *GetParam().loss, true, Kind::lasso);
    const Bounds bounds = *problem.traits().bounds;
    const Outcome outcome = run(problem, bounds.high, MyHpo{}.settings.spacing);
    EXPECT_EQ(outcome.status, StopReason::converged);
    EXPECT_EQ(outcome.iterations, 1);
    EXPECT_GT(outcome.work.gradient_equivalents(), 1.0);  // a path is not for nothing
    Vector w = Vector::Zero(problem.weights());
    const double reached = tight_validation(problem, outcome.best.lambda, w);
    EXPECT_LE(reached, lowest_of_path(problem, bounds, kPathPoints) * (1.0 + 1e-9)) << "seed " << seed;
    const Certificate certificate =
        certify(problem, outcome.best,
                Start{.lambda = outcome.best.lambda, .low = outcome.low, .high = outcome.high});
    EXPECT_NE(certificate.verdict, Verdict::not_certified) << "seed " << seed << ": " << certificate.reason;
  }
}

// Five folds of a lasso are a K-fold problem like any other.
TEST(LassoMyHpo, TunesOnFolds) {
  std::vector<std::shared_ptr<const BilevelProblem>> folds;
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    folds.push_back(std::make_shared<ElasticNetProblem>(test::sparse_truth(60, 40, seed, least_squares()),
                                                        least_squares(), true, Kind::lasso));
  const KFoldProblem problem(folds, std::vector<double>(5, 0.2));
  const Bounds bounds = *problem.traits().bounds;
  const Outcome outcome = run(problem, bounds.high, MyHpo{}.settings.spacing);
  Vector w = Vector::Zero(problem.weights());
  EXPECT_LE(tight_validation(problem, outcome.best.lambda, w),
            lowest_of_path(problem, bounds, kPathPoints) * (1.0 + kAgrees));
}

// Two λ: steps downhill from a start. h has several minima within a few per cent of each other: every start
// ends near the lowest of a grid, the best of them there.
TEST(ElasticNetMyHpo, ReachesTheLowestOfAGridFromSomeStart) {
  constexpr int kGrid = 60;
  for (const Split& split :
       {test::sparse_truth(100, 30, 1, least_squares()), test::sparse_truth(50, 120, 2, least_squares()),
        test::random_split(60, 40, 0, 40, 3, least_squares())}) {
    const ElasticNetProblem problem(split, least_squares(), true, Kind::elastic_net);
    const Bounds bounds = *problem.traits().bounds;
    double lowest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kGrid; ++i) {
      Bounds line = bounds;
      line.low[1] = line.high[1] = bounds.low[1] + (bounds.high[1] - bounds.low[1]) * i / (kGrid - 1.0);
      lowest = std::min(lowest, lowest_of_path(problem, line, kGrid));
    }
    double best = std::numeric_limits<double>::infinity();
    for (const double first : {0.1, 0.3, 0.6})
      for (const double second : {0.2, 0.5, 0.9}) {
        Vector start = bounds.high;
        start[0] += first * (bounds.low[0] - bounds.high[0]);
        start[1] += second * (bounds.low[1] - bounds.high[1]);
        const Outcome outcome = run(problem, start, MyHpo{}.settings.spacing);
        Vector w = Vector::Zero(problem.weights());
        const double reached = tight_validation(problem, outcome.best.lambda, w);
        EXPECT_LE(reached, lowest * 1.05) << first << ", " << second;
        best = std::min(best, reached);
      }
    EXPECT_LE(best, lowest * (1.0 + kAgrees));
  }
}

// Where h is known along λ₁, no λ₂ of a grid has a lower one, spectra with their narrow valleys included.
TEST(ElasticNetMyHpo, EndsNoHigherThanAGridOfCurves) {
  constexpr int kGrid = 200;
  for (const Split& split :
       {test::sparse_truth(100, 30, 1, least_squares()), test::sparse_truth(50, 120, 2, least_squares()),
        test::smooth_split(50, 25, 0, 80, 3), test::smooth_split(30, 60, 0, 80, 4)}) {
    const ElasticNetProblem problem(split, least_squares(), true, Kind::elastic_net);
    const Bounds bounds = *problem.traits().bounds;
    double lowest = std::numeric_limits<double>::infinity();
    Vector lambda = Vector::Zero(2);
    for (int i = 0; i < kGrid; ++i) {
      lambda[1] = bounds.low[1] + (bounds.high[1] - bounds.low[1]) * i / (kGrid - 1.0);
      const auto curve = problem.exact_curve(lambda, 0, nullptr);
      ASSERT_NE(curve, nullptr);
      lowest = std::min(lowest, curve->minimum(bounds.low[0], bounds.high[0]).value);
    }
    const Outcome outcome = run(problem, 0.7 * bounds.high + 0.3 * bounds.low, MyHpo{}.settings.spacing);
    Vector w = Vector::Zero(problem.weights());
    EXPECT_LE(tight_validation(problem, outcome.best.lambda, w), lowest * (1.0 + kAgrees));
  }
}

// The same problem with its features in another order ends at the same λ: at the bottom of its valley to
// rounding, or at the kink that it ends in. Folds add kinks of their own.
TEST(ElasticNetMyHpo, EndsAtTheBottomToRounding) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::vector<std::shared_ptr<const BilevelProblem>> one, other;
    for (std::uint64_t fold = 0; fold < 3; ++fold) {
      const Split split = test::random_split(30, 30, 0, 8, 100 * seed + fold, least_squares());
      Split turned = split;
      const std::vector<Index> order = {5, 2, 7, 0, 3, 6, 1, 4};
      turned.train.x = split.train.x.with_columns(order);
      turned.validation.x = split.validation.x.with_columns(order);
      one.push_back(std::make_shared<ElasticNetProblem>(split, least_squares(), true, Kind::elastic_net));
      other.push_back(std::make_shared<ElasticNetProblem>(turned, least_squares(), true, Kind::elastic_net));
    }
    const std::vector<double> shares(3, 1.0 / 3.0);
    const KFoldProblem problem(one, shares), same(other, shares);
    const Bounds bounds = *problem.traits().bounds;
    const Outcome a = run(problem, bounds.high, MyHpo{}.settings.spacing);
    const Outcome b = run(same, bounds.high, MyHpo{}.settings.spacing);
    EXPECT_EQ(a.status, StopReason::converged);
    EXPECT_LE((a.best.lambda - b.best.lambda).lpNorm<Eigen::Infinity>(), 1e-9) << "seed " << seed;
    const bool is_inside =
        (a.best.lambda.array() > a.low.array()).all() && (a.best.lambda.array() < a.high.array()).all();
    inside += is_inside ? 1 : 0;
    const Certificate certificate =
        certify(problem, a.best, Start{.lambda = a.best.lambda, .low = a.low, .high = a.high});
    EXPECT_NE(certificate.verdict, Verdict::not_certified) << "seed " << seed << ": " << certificate.reason;
  }
  EXPECT_GE(inside, 10);  // most data want only one of the two penalties
}

}  // namespace
}  // namespace yosida
