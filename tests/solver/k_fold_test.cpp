#include <gtest/gtest.h>

#include <algorithm>

#include "problem/fold_data.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/solve.hpp"

namespace yosida {
namespace {

constexpr Index kFolds = 5;
/// L_V at the λ found over the lowest of the exact curve, less 1.
constexpr double kGap = 1e-6;
/// Evaluations of Σ_k L_V^k(w*_k(λ)) that a run may need.
constexpr std::int64_t kEvaluations = 45;

struct Run {
  Outcome outcome;
  double gap;
};

Run run(const std::vector<Split>& splits, bool intercept, bool collapsed) {
  const KFoldProblem problem(test::problems_of(splits, least_squares(), intercept, collapsed),
                             test::shares_of(splits));
  SolveOptions options;
  options.start.lambda = Vector::Constant(1, -1.0);
  options.start = with_bounds(problem, options.start);
  Run result{solve(MyHpo{}, problem, options), 0.0};
  const test::KFoldRidgeCurve curve(splits, intercept);
  const double lowest = curve.lowest(options.start.low[0], options.start.high[0], 2000);
  result.gap = curve(result.outcome.best.lambda[0]) / lowest - 1.0;
  EXPECT_EQ(result.outcome.status, StopReason::converged);
  EXPECT_NE(certify(problem, result.outcome.best, options.start).verdict, Verdict::not_certified);
  return result;
}

TEST(KFoldMyHpo, FindsTheLowestPointOfTheExactCurve) {
  for (const bool intercept : {false, true})
    for (const bool collapsed : {false, true})
      for (const Index features : {Index{12}, Index{60}})
        for (const std::uint64_t seed : {1, 2, 3}) {
          SCOPED_TRACE(testing::Message() << "intercept " << intercept << ", collapsed " << collapsed << ", "
                                          << features << " features, seed " << seed);
          const Dataset data = test::random_split(50, 1, 0, features, seed, least_squares()).train;
          EXPECT_LE(run(test::folds_of(data, kFolds, seed), intercept, collapsed).gap, kGap);
        }
}

struct Tally {
  std::vector<std::int64_t> evaluations;
  double worst_gap = -1.0;
  void add(const Run& result) {
    EXPECT_LE(result.gap, kGap);
    EXPECT_LE(result.outcome.work.inner_solves, kEvaluations);
    evaluations.push_back(result.outcome.work.inner_solves);
    worst_gap = std::max(worst_gap, result.gap);
  }
  void report(const char* data) {
    std::sort(evaluations.begin(), evaluations.end());
    std::printf("%s: %zu splits, evaluations median %lld, most %lld; worst gap %.2g\n", data,
                evaluations.size(), static_cast<long long>(evaluations[evaluations.size() / 2]),
                static_cast<long long>(evaluations.back()), worst_gap);
  }
};

// Singular values over many decades: several valleys, and a flat bottom.
TEST(KFoldMyHpo, FindsTheGlobalMinimumOfIllConditionedDataInFewEvaluations) {
  Tally spectra_like, smooth;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    spectra_like.add(run(test::folds_of(spectra(seed), kFolds, seed), true, true));
    Random random(seed);
    smooth.add(run(test::folds_of(test::smooth_dataset(60, 100, random), kFolds, seed), true, true));
  }
  spectra_like.report("spectra");
  smooth.report("smooth");
}

}  // namespace
}  // namespace yosida
