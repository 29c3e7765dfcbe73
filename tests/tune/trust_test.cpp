#include "yosida/tune/trust.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tune/tables.hpp"
#include "yosida/data/folds.hpp"
#include "yosida/error.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida {
namespace {

/// Ten columns, of which three matter, and noise.
Dataset noisy_table(Index rows, std::uint64_t seed = 3, Index features = 10) {
  Random random(seed);
  Matrix x(rows, features);
  Vector y(rows);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < features; ++j) x(i, j) = random.normal();
    y[i] = x(i, 0) - x(i, 1) + 0.5 * x(i, 2) + 1.5 * random.normal();
  }
  return {.x = Design(x), .y = y, .feature_names = {}, .target_name = "y", .source = "noisy"};
}

TuneOptions with(const std::string& criterion) {
  TuneOptions options;
  options.model = "ridge";
  options.validation.criterion = criterion;
  return options;
}

std::string message_of(const Dataset& table, const TuneOptions& options) {
  try {
    tune(table, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Criterion, LeaveOneOutIsCertifiedAndRefitsOnAllRows) {
  for (const char* model : {"ridge", "huber"}) {
    TuneOptions options = with("loo");
    options.model = model;
    const Tuned tuned = tune(noisy_table(60), options);
    ASSERT_TRUE(tuned.certificate) << model;
    // Where ℓ″ jumps, leave-one-out does, too, and a certificate may find a slope beside a jump.
    if (tuned.model->model == "ridge") {
      EXPECT_EQ(tuned.certificate->verdict, Verdict::certified) << tuned.certificate->reason;
    }
    ASSERT_TRUE(tuned.refit);
    EXPECT_FALSE(tuned.refit->validation);
    ASSERT_TRUE(tuned.model);
    EXPECT_GT(*(*tuned.best.validation)["loss"], *tuned.best.train["loss"]);
  }
}

// N folds are leave-one-out, but for the pretreatment, which folds fit without the row: here there is none.
TEST(Criterion, LeaveOneOutIsTheLimitOfFolds) {
  TuneOptions loo = with("loo"), folds = with("folds");
  loo.x = folds.x = "raw";
  loo.y = folds.y = "raw";
  folds.validation.folds = 40;
  const Dataset table = noisy_table(40);
  const Tuned by_rows = tune(table, loo), by_folds = tune(table, folds);
  EXPECT_NEAR(by_rows.lambda()[0], by_folds.lambda()[0], 1e-4);
  EXPECT_NEAR(by_rows.outcome.best.loss.validation, by_folds.outcome.best.loss.validation, 1e-9);
}

TEST(Criterion, SeveralLambdaOfLeaveOneOutAreCertified) {
  for (const char* name : {"loo", "gcv"}) {
    TuneOptions options = with(name);
    options.penalty.groups = {"first=0,1,2", "second=3,4,5,6"};
    options.trust.shrinkage = 0.0;
    const Tuned tuned = tune(noisy_table(80), options);
    ASSERT_TRUE(tuned.certificate);
    EXPECT_NE(tuned.certificate->verdict, Verdict::not_certified)
        << name << ": " << tuned.certificate->reason;
  }
}

TEST(Criterion, RefusesWhatDoesNotGoTogether) {
  const Dataset table = noisy_table(40);
  TuneOptions options = with("loo");
  options.validation.folds = 5;
  EXPECT_NE(message_of(table, options).find("--criterion loo: does not go with --folds"), std::string::npos);
  options = with("gcv");
  options.model = "huber";
  EXPECT_NE(message_of(table, options).find("least squares"), std::string::npos);
  options = with("loo");
  options.model = "lasso";
  EXPECT_NE(message_of(table, options).find("--criterion loo: does not go with --model lasso"),
            std::string::npos);
  options = with("loo");
  options.validation.grouped = true;
  EXPECT_NE(message_of(table, options).find("--group-rows"), std::string::npos);
  EXPECT_NE(message_of(table, with("cv")).find("must be holdout, folds, loo or gcv"), std::string::npos);
  options = with("loo");
  options.method = "my-hpo-c";
  EXPECT_NE(message_of(table, options).find("w*(lambda) alone"), std::string::npos);
  options = with("");
  options.validation.repeats = 3;
  EXPECT_NE(message_of(table, options).find("--repeats: goes with --folds"), std::string::npos);
}

// The mean over 3 drawings is the mean of the three problems.
TEST(Criterion, RepeatedFoldsAreTheMeanOfTheirRepeats) {
  const Dataset table = noisy_table(50);
  TuneOptions options = with("folds");
  options.validation.folds = 4;
  options.validation.repeats = 3;
  options.lambda0 = -2.0;
  const TuneProblem all({.train = table}, options);
  EXPECT_EQ(all.data().fold_count, 12);
  const auto h = [](const TuneProblem& problem) {
    const auto bilevel = problem.bilevel(1e9);
    Vector w = starting_weights(*bilevel);
    const Vector lambda = Vector::Constant(1, -2.0);
    bilevel->inner_solve(lambda, {}, w);
    const RowLosses rows = problem.row_losses(*bilevel, w, lambda);
    EXPECT_EQ(rows.loss.size(), 50);
    EXPECT_NEAR(rows.mean(), bilevel->validation_loss(w, lambda), 1e-12);
    return rows.mean();
  };
  double mean = 0.0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    TuneOptions one = options;
    one.validation.repeats = 1;
    one.seed = seed;
    mean += h(TuneProblem({.train = table}, one)) / 3.0;
  }
  EXPECT_NEAR(h(all), mean, 1e-12);
}

TEST(Criterion, RowsOfAGroupStayTogether) {
  Dataset table = noisy_table(90);
  for (Index i = 0; i < table.rows(); ++i) table.id.push_back("group " + std::to_string((i * i) % 17));
  for (const bool folds : {false, true}) {
    TuneOptions options = with(folds ? "folds" : "holdout");
    options.validation.grouped = true;
    const TuneProblem problem({.train = table}, options);
    for (Index k = 0; k < (folds ? 5 : 1); ++k) {
      const Split& split = folds ? problem.fold(k) : problem.split();
      for (const std::string& group : split.validation.id)
        EXPECT_EQ(std::count(split.train.id.begin(), split.train.id.end(), group), 0) << group;
      EXPECT_EQ(split.train.rows() + split.validation.rows(), 90);
    }
  }
}

TEST(Criterion, GroupedFoldsAreOfLikeSizes) {
  std::vector<std::string> group;
  for (int i = 0; i < 100; ++i) group.push_back(std::to_string(i / 7));
  const std::vector<Index> fold = draw_grouped_folds(group, 5, 3);
  for (Index k = 0; k < 5; ++k) {
    const auto rows = std::count(fold.begin(), fold.end(), k);
    EXPECT_GE(rows, 14);
    EXPECT_LE(rows, 28);
  }
  EXPECT_THROW(draw_grouped_folds(group, 16, 3), InputError);
}

Tuned trusted(const Dataset& table, Rule rule = Rule::minimum, const char* criterion = "loo") {
  TuneOptions options = with(criterion);
  options.trust.report = true;
  options.trust.rule = rule;
  return tune(table, options);
}

// A picture is made of it: it holds the answer and the ends of the interval, and says there what is known of
// them.
TEST(CurveAroundTheAnswer, HoldsTheIntervalAndItsEnds) {
  const Tuned tuned = trusted(noisy_table(60));
  const Trust& trust = *tuned.trust;
  ASSERT_GT(trust.curve.size(), 20U);
  EXPECT_LE(trust.curve.front().shift, trust.interval.low);
  EXPECT_GE(trust.curve.back().shift, trust.interval.high);
  bool has_least = false;
  for (std::size_t i = 0; i < trust.curve.size(); ++i) {
    const CriterionPoint& point = trust.curve[i];
    if (i > 0) {
      EXPECT_GT(point.shift, trust.curve[i - 1].shift);
    }
    EXPECT_GT(point.standard_error, 0.0);
    const bool is_inside = point.shift > trust.interval.low && point.shift < trust.interval.high;
    if (is_inside) {
      EXPECT_LE(point.value, trust.value + trust.standard_error);
    }
    if (point.shift == 0.0) {
      has_least = true;
      EXPECT_DOUBLE_EQ(point.value, trust.value);
      EXPECT_DOUBLE_EQ(point.standard_error, trust.standard_error);
    }
  }
  EXPECT_TRUE(has_least);
}

// The law that went wrong elsewhere: the rule takes the larger penalty, never the smaller.
TEST(OneStandardError, IsTheLargerPenalty) {
  for (const char* criterion : {"holdout", "folds", "loo", "gcv"}) {
    const Tuned least = trusted(noisy_table(60), Rule::minimum, criterion);
    const Tuned taken = trusted(noisy_table(60), Rule::one_standard_error, criterion);
    EXPECT_GT(taken.lambda()[0], least.lambda()[0]) << criterion;
    EXPECT_NEAR(taken.lambda()[0], least.lambda()[0] + least.trust->one_standard_error, 1e-9);
    EXPECT_NEAR(taken.trust->minimum[0], least.lambda()[0], 1e-9);
    // Just within: the criterion there is at most one standard error above the least.
    const double above = taken.outcome.best.loss.validation - least.outcome.best.loss.validation;
    EXPECT_LE(above, least.trust->standard_error * (1.0 + 1e-9)) << criterion;
    if (!least.trust->interval.high_is_end) {
      EXPECT_GE(above, 0.95 * least.trust->standard_error);
    }
  }
}

TEST(OneStandardError, DoesNotDependOnTheUnitOfTheTarget) {
  Dataset table = noisy_table(60);
  const Tuned plain = trusted(table, Rule::one_standard_error);
  table.y *= 1000.0;
  const Tuned scaled = trusted(table, Rule::one_standard_error);
  EXPECT_NEAR(plain.lambda()[0], scaled.lambda()[0], 2e-3);
  EXPECT_NEAR(scaled.trust->standard_error, 1e6 * plain.trust->standard_error,
              1e-6 * scaled.trust->standard_error);
}

TEST(OneStandardError, OfRowsOfEqualLossIsNothing) {
  const RowLosses rows{.loss = Vector::Constant(20, 0.7), .weight = Vector::Ones(20)};
  EXPECT_EQ(standard_error_of(rows), 0.0);
  RowLosses varied = rows;
  varied.loss = Vector::LinSpaced(20, 0.0, 19.0);
  // sd/√N by hand: the variance of 0 … 19 is 35.
  EXPECT_NEAR(standard_error_of(varied), std::sqrt(35.0 / 20.0), 1e-12);
  EXPECT_NEAR(paired_standard_error(varied, varied), 0.0, 1e-15);
}

TEST(Intervals, HoldTheAnswerAndPairedOnesAreShorter) {
  const Tuned tuned = trusted(noisy_table(150));
  const Trust& trust = *tuned.trust;
  EXPECT_LT(trust.interval.low, 0.0);
  EXPECT_GT(trust.interval.high, 0.0);
  EXPECT_LT(trust.paired.high - trust.paired.low, trust.interval.high - trust.interval.low);
  EXPECT_TRUE(trust.optimism.empty());
}

TEST(Nested, ScoreIsThatOfRowsThatTookNoPart) {
  TuneOptions options = with("loo");
  options.trust.nested = 5;
  const Tuned tuned = tune(noisy_table(80), options);
  ASSERT_TRUE(tuned.nested);
  EXPECT_EQ(tuned.nested->rows, 80);
  EXPECT_EQ(tuned.nested->folds, 5);
  EXPECT_GT(tuned.nested->loss, *tuned.best.train["loss"]);
  EXPECT_LE(tuned.nested->lambda_low[0], tuned.nested->lambda_high[0]);
}

// A short form of `bench_criteria nested`: two standard errors hold the loss on fresh rows nearly always.
TEST(Nested, IntervalCoversTheLossOfFreshRows) {
  int covered = 0;
  constexpr int kDraws = 20;
  for (int seed = 0; seed < kDraws; ++seed) {
    const Dataset both = noisy_table(860, static_cast<std::uint64_t>(100 + seed));
    std::vector<Index> train, fresh;
    for (Index i = 0; i < both.rows(); ++i) (i < 60 ? train : fresh).push_back(i);
    TuneOptions options = with("loo");
    options.trust.nested = 5;
    const TuneProblem problem({.train = select_rows(both, train), .test = select_rows(both, fresh)}, options);
    const Tuned tuned = tune(problem, options);
    const NestedScore score = nested_score({.train = select_rows(both, train)}, options);
    covered += std::abs(score.loss - *(*tuned.refit->test)["loss"]) <= 2.0 * score.standard_error ? 1 : 0;
  }
  EXPECT_GE(covered, 15);  // of 20; at a true rate of 0.9 fewer happen in 0.2 % of all such tests
}

TEST(Shrinkage, IsForManyLambdaOnFewRows) {
  EXPECT_EQ(default_shrinkage(1, 5), 0.0);
  EXPECT_EQ(default_shrinkage(4, 20), 0.0);
  EXPECT_EQ(default_shrinkage(5, 100), 0.0);
  EXPECT_EQ(default_shrinkage(20, 100), 0.01);
  EXPECT_EQ(default_shrinkage(500, 2000), 0.0);
}

TEST(Shrinkage, DrawsLambdaTogetherAndIsCertifiedAsASum) {
  const Dataset table = noisy_table(60);
  double last = std::numeric_limits<double>::infinity();
  for (const double mu : {0.0, 0.003, 0.1, kOneForAll}) {
    TuneOptions options = with("loo");
    options.penalty.lambda_per = "feature";
    options.trust.shrinkage = mu;
    const Tuned tuned = tune(table, options);
    const double spread = tuned.lambda().maxCoeff() - tuned.lambda().minCoeff();
    EXPECT_LT(spread, last) << mu;
    last = spread;
    EXPECT_EQ(tuned.shrinkage, mu);
    if (mu == 0.0) continue;
    ASSERT_TRUE(tuned.certificate);
    EXPECT_NE(tuned.certificate->verdict, Verdict::not_certified) << tuned.certificate->reason;
    EXPECT_NE(tuned.certificate->reason.find("sum"), std::string::npos);
  }
  EXPECT_LT(last, 1e-3);
  TuneOptions shared = with("loo");
  EXPECT_NEAR(
      tune(table, shared).outcome.best.loss.validation,
      [&] {
        TuneOptions options = with("loo");
        options.penalty.lambda_per = "feature";
        options.trust.shrinkage = kOneForAll;
        return tune(table, options).outcome.best.loss.validation;
      }(),
      1e-6);
}

}  // namespace
}  // namespace yosida
