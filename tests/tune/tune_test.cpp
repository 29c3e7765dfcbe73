#include "yosida/tune/tune.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "support/dense.hpp"
#include "tune/tables.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida {
namespace {

/// The parts that tune() draws by itself, for numbers that are computed by hand.
Split drawn(const Dataset& table, std::uint64_t seed = 0) {
  return split_rows(table, {.validation_fraction = 0.25, .seed = seed});
}

std::string message_of(const Dataset& table, const TuneOptions& options) {
  try {
    tune(table, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Tune, FindsThePenaltyOfARidgeAndSaysAllOfIt) {
  const Tuned tuned = tune(numeric_table(200), {.refit = true, .oracle = true});
  EXPECT_EQ(tuned.outcome.status, StopReason::converged);
  EXPECT_EQ(tuned.lambda_names, std::vector<std::string>{"shared"});
  ASSERT_TRUE(tuned.oracle);
  EXPECT_LT(tuned.oracle->lambda_gap, 1e-6);
  ASSERT_TRUE(tuned.certificate);
  EXPECT_NE(tuned.certificate->verdict, Verdict::not_certified);
  EXPECT_EQ(tuned.certificate->lambda_gap, tuned.oracle->lambda_gap);
  EXPECT_DOUBLE_EQ(*(*tuned.best.validation)["loss"], tuned.outcome.best.loss.validation);
  EXPECT_GT(*(*tuned.best.validation)["r_squared"], 0.9);
  EXPECT_FALSE((*tuned.best.validation)["accuracy"]);
  EXPECT_FALSE(tuned.best.test);
  ASSERT_TRUE(tuned.refit);
  ASSERT_FALSE(tuned.equivalents.empty());
  // Ridge(alpha = 2N e^λ), on 150 rows and on all 200.
  EXPECT_NEAR(tuned.equivalents[0].second, 300.0 * std::exp(tuned.lambda()[0]), 1e-9);
  EXPECT_NEAR(tuned.refit_equivalents[0].second, 400.0 * std::exp(tuned.lambda()[0]), 1e-9);
  EXPECT_TRUE(tuned.warnings.empty());
  EXPECT_GE(tuned.seconds, tuned.outcome.seconds);
}

// So many rows that solves of the search end early: the answer is trained as strictly as the certificate
// asks.
TEST(Tune, SaysTheLossOfTrainedWeights) {
  TuneOptions options;
  options.model = "logistic";
  const TuneProblem problem({.train = class_table(40000, {-1.0, 1.0})}, options);
  const Tuned tuned = tune(problem, options);
  ASSERT_NE(tuned.certificate->verdict, Verdict::not_certified);
  const LinearProblem direct(problem.split(), logistic(), true);
  const auto gradient_at = [&](const Vector& w, double lambda) {
    Vector g(direct.weights());
    direct.train_gradient(w, Vector::Constant(1, lambda), g);
    return g.norm();
  };
  const double at_zero = gradient_at(Vector::Zero(direct.weights()), 0.0);
  EXPECT_LE(gradient_at(tuned.outcome.best.w, tuned.lambda()[0]), 1e-7 * at_zero);
  EXPECT_LE(tuned.certificate->inner_gradient, 1e-7);
  EXPECT_NEAR(tuned.outcome.best.loss.validation,
              direct.validation_loss(tuned.outcome.best.w, tuned.lambda()), 1e-13);
}

// Every form that a problem has is run, first the one that a run takes; folds add up.
TEST(TryForms, RunsEachFormOfTheProblem) {
  for (const bool folds : {false, true}) {
    TuneOptions options;
    if (folds) options.validation.folds = 3;
    const TuneProblem problem({.train = numeric_table(200)}, options);
    const std::vector<FormTrial> trials = try_forms(problem, options);
    ASSERT_EQ(trials.size(), 2U);  // of passes and of factors; so small a problem needs no products
    EXPECT_EQ(trials[0].form, Form::factors);
    EXPECT_EQ(trials[1].form, Form::direct);
    for (const FormTrial& trial : trials) {
      EXPECT_GT(trial.expected, 0.0);
      EXPECT_TRUE(trial.is_exact);
      ASSERT_TRUE(trial.seconds);
      EXPECT_GT(*trial.seconds, 0.0);
    }
  }
  TuneOptions lasso;
  lasso.model = "lasso";
  const std::vector<FormTrial> trials = try_forms(TuneProblem({.train = numeric_table(60)}, lasso), lasso);
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_TRUE(std::isnan(trials[0].expected));
}

TEST(Tune, WeightsAreThoseOfTheNormalEquations) {
  const Dataset table = numeric_table(120);
  const Tuned tuned = tune(table);
  // By hand: standardised training rows, centred target, (XᵀX/N + 2e^λ I) w = Xᵀy/N.
  const Split parts = drawn(table);
  const Matrix x = to_matrix(parts.train.x);
  const auto n = static_cast<double>(x.rows());
  const Vector mean = x.colwise().mean().transpose();
  const Matrix centred = x.rowwise() - mean.transpose();
  const Vector deviation = (centred.cwiseAbs2().colwise().sum() / n).cwiseSqrt().transpose();
  const Matrix z = centred.array().rowwise() / deviation.transpose().array();
  const double y_mean = parts.train.y.mean();
  const Vector y = parts.train.y.array() - y_mean;
  Matrix h = z.transpose() * z / n;
  h.diagonal().array() += 2.0 * std::exp(tuned.lambda()[0]);
  const Vector w = test::symmetric_solution(h, z.transpose() * y / n);
  const Coefficients own = tuned.model->coefficients();
  EXPECT_EQ(own.names, table.feature_names);
  for (Index j = 0; j < 3; ++j)
    EXPECT_NEAR(own.weights(j, 0), w[j] / deviation[j], 1e-9 * std::abs(w[j] / deviation[j]));
  EXPECT_NEAR(own.intercept[0], y_mean - w.cwiseQuotient(deviation).dot(mean), 1e-8);
}

TEST(Tune, CoefficientsPredictAsTheModelDoes) {
  for (const char* x :
       {"raw", "center", "standardize", "minmax", "difference", "difference,minmax", "minmax,difference"})
    for (const char* y : {"raw", "center", "standardize"}) {
      SCOPED_TRACE(std::string(x) + " " + y);
      const Dataset table = numeric_table(80);
      const Tuned tuned = tune(table, {.x = x, .y = y});
      const Matrix predicted = tuned.model->predict(table);
      const Coefficients own = tuned.model->coefficients();
      const Matrix by_hand = (to_matrix(table.x) * own.weights).rowwise() + own.intercept.transpose();
      EXPECT_LT((by_hand - predicted).cwiseAbs().maxCoeff(), 1e-12 * predicted.cwiseAbs().maxCoeff());
    }
}

TEST(Tune, AClassifierHasProbabilitiesOfItsLabels) {
  const Dataset table = class_table(300, {3.0, 7.0});
  const Tuned tuned = tune(table, {.model = "logistic", .class_weights = "balanced"});
  EXPECT_GT(*(*tuned.best.validation)["accuracy"], 0.8);
  const Matrix margins = tuned.model->predict(table);
  const Matrix shares = tuned.model->predict_proba(table);
  ASSERT_EQ(shares.cols(), 2);
  for (Index i = 0; i < shares.rows(); ++i) {
    EXPECT_NEAR(shares.row(i).sum(), 1.0, 1e-15);
    EXPECT_NEAR(shares(i, 1), 1.0 / (1.0 + std::exp(-margins(i, 0))), 1e-14);
  }
  const Coefficients own = tuned.model->coefficients();
  const Vector by_hand = (to_matrix(table.x) * own.weights).col(0).array() + own.intercept[0];
  EXPECT_LT((by_hand - margins.col(0)).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(Tune, SoftmaxHasALambdaForEachClassByItsName) {
  const Dataset table = class_table(300, {1.0, 2.0, 5.0});
  const Tuned tuned = tune(table, {.model = "softmax", .penalty = {.lambda_per = "class"}});
  EXPECT_EQ(tuned.lambda_names, (std::vector<std::string>{"1", "2", "5"}));
  EXPECT_EQ(tuned.lambda().size(), 3);
  const Matrix shares = tuned.model->predict_proba(table);
  ASSERT_EQ(shares.cols(), 3);
  EXPECT_LT((shares.rowwise().sum().array() - 1.0).abs().maxCoeff(), 1e-14);
  EXPECT_EQ(tuned.model->coefficients().weights.cols(), 3);
}

TEST(Tune, GroupsOfColumnsShareALambda) {
  const Tuned tuned = tune(numeric_table(120), {.penalty = {.groups = {"large=b", "small=a,2"}}});
  EXPECT_EQ(tuned.lambda_names, (std::vector<std::string>{"large", "small"}));
  EXPECT_TRUE(tuned.equivalents.empty());
}

TEST(Tune, FoldsAreDrawnOrGivenAndEndInAFitOfAllRows) {
  Dataset table = numeric_table(90);
  const Tuned drawn_folds = tune(table, {.validation = {.folds = 5}});
  ASSERT_TRUE(drawn_folds.refit && drawn_folds.model);
  EXPECT_FALSE(drawn_folds.refit->validation);
  EXPECT_TRUE(drawn_folds.equivalents.empty());
  EXPECT_EQ(drawn_folds.refit_equivalents[0].first, "sklearn_ridge_alpha");

  table.fold = Vector(table.rows());
  for (Index i = 0; i < table.rows(); ++i) table.fold[i] = static_cast<double>(10 * (i % 3));
  const Tuned given = tune(table);
  EXPECT_TRUE(given.refit);
  EXPECT_NE(*(*given.best.validation)["loss"], *(*drawn_folds.best.validation)["loss"]);
  EXPECT_EQ(message_of(table, {.validation = {.folds = 3}}).substr(0, 7), "--folds");
}

TEST(Tune, FoldsThatAreStoppedHaveAModelAllTheSame) {
  for (const std::string model : {"ridge", "lasso", "logistic", "softmax"}) {
    const bool is_class = model == "logistic" || model == "softmax";
    const Dataset table = is_class ? class_table(300, {0.0, 1.0, 2.0}) : numeric_table(300);
    TuneOptions options{.model = model, .validation = {.folds = 5}};
    if (model == "logistic") options.model = "softmax", options.penalty.lambda_per = "class";
    const TuneProblem problem({.train = table}, options);
    const Tuned run = run_method(problem, options);
    Tuned whole = run, given_a_moment = run, cut_short = run;
    complete(whole, problem, options);
    StopSource source;
    source.request_stop();
    options.stop = source.token();
    complete(given_a_moment, problem, options);
    EXPECT_TRUE(given_a_moment.model) << model;  // trained or not: a moment is short on a busy machine
    options.stop = StopToken().with_deadline(StopToken::Clock::now());
    complete(cut_short, problem, options);
    ASSERT_TRUE(cut_short.model) << model;
    ASSERT_EQ(cut_short.warnings.size(), 1U);
    EXPECT_NE(cut_short.warnings[0].find("mean of those of the folds"), std::string::npos);
    const Matrix& expected = whole.model->weights;
    EXPECT_LE((cut_short.model->weights - expected).norm(), 0.1 * expected.norm()) << model;
    EXPECT_NE(cut_short.model->weights, expected) << model;
  }
}

TEST(Tune, GivenPartsAreTunedAsTheyAre) {
  const Dataset table = numeric_table(100);
  const Tuned by_rows = tune(table, {.seed = 4});
  const Tuned by_parts = tune(drawn(table, 4), {.seed = 4});
  EXPECT_EQ(by_rows.lambda(), by_parts.lambda());
  EXPECT_EQ(by_rows.outcome.best.w, by_parts.outcome.best.w);
}

TEST(Tune, NumbersOfTheCallerStayAsTheyAre) {
  const Dataset table = numeric_table(60);
  const Matrix before = to_matrix(table.x);
  const Vector y = table.y;
  for (const TuneOptions& options : {TuneOptions{}, TuneOptions{.validation = {.folds = 3}}}) {
    tune(table, options);
    EXPECT_EQ(to_matrix(table.x), before);
    EXPECT_EQ(table.y, y);
  }
  const Split parts = drawn(table);
  const Matrix train = to_matrix(parts.train.x);
  tune(parts);
  EXPECT_EQ(to_matrix(parts.train.x), train);
}

TEST(Tune, RunsShareAProblemAndGiveTheSame) {
  const Dataset table = numeric_table(100);
  const TuneOptions options{.method = "hoag"};
  const TuneProblem problem({.train = table}, options);
  const Tuned first = tune(problem, options), second = tune(problem, options);
  EXPECT_EQ(first.lambda(), second.lambda());
  EXPECT_EQ(first.lambda(), tune(table, options).lambda());
}

TEST(Tune, AnObserverEndsTheRunWithItsBestSoFar) {
  int calls = 0;
  const auto stop = [&](const TracePoint&) { return ++calls == 3 ? Watch::stop : Watch::go_on; };
  const Tuned tuned = tune(numeric_table(100),
                           {.method = "my-hpo-bt", .observers = {stop}, .trace_every = 1, .oracle = true});
  EXPECT_EQ(tuned.outcome.status, StopReason::stopped);
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(tuned.certificate || tuned.oracle);
  EXPECT_TRUE(tuned.model);
  EXPECT_GE(tuned.outcome.trace.size(), 3U);
}

// K folds have K − 1 times as many training rows as there are: who has stopped a run does not wait for them.
TEST(Tune, FoldsThatAreStoppedAreJudgedByTheRowsThatJudge) {
  TuneOptions options{.method = "my-hpo-bt"};
  options.validation.folds = 3;
  options.observers = {[](const TracePoint&) { return Watch::stop; }};
  const TuneProblem problem({.train = numeric_table(90)}, options);
  const Tuned tuned = run_method(problem, options);
  EXPECT_EQ(tuned.outcome.status, StopReason::stopped);
  EXPECT_FALSE(tuned.best.train["loss"] || tuned.final.train["loss"]);
  EXPECT_TRUE(std::isnan(tuned.outcome.best.loss.train));
  const Report all = problem.report(tuned.outcome.best);
  EXPECT_TRUE(all.train["loss"]);
  EXPECT_EQ((*tuned.best.validation)["loss"], (*all.validation)["loss"]);
  EXPECT_EQ(tuned.outcome.best.loss.validation, *(*all.validation)["loss"]);
}

// Several λ begin with a search for one in common, which is a part of the run.
TEST(Tune, ATimeLimitHoldsForTheSearchOfALambdaInCommon) {
  TuneOptions options{.model = "logistic"};
  options.penalty.lambda_per = "feature";
  options.limits.seconds = 1e-9;
  const Tuned tuned = tune(class_table(400, {-1.0, 1.0}), options);
  EXPECT_EQ(tuned.outcome.status, StopReason::time_limit);
  EXPECT_EQ(tuned.outcome.message, "reached the time limit of 1e-09 s");
  options.limits = {};
  EXPECT_LT(tuned.outcome.work.paper_count() * 4,
            tune(class_table(400, {-1.0, 1.0}), options).outcome.work.paper_count());
}

TEST(Tune, LimitsAndBoundsHold) {
  const Tuned tuned = tune(
      numeric_table(100),
      {.method = "my-hpo-bt", .limits = {.iterations = 7}, .lambda0 = -2.0, .bounds = Interval{-3.0, -1.0}});
  EXPECT_LE(tuned.outcome.iterations, 7);
  EXPECT_EQ(tuned.start.lambda[0], -2.0);
  EXPECT_GE(tuned.lambda()[0], -3.0);
  EXPECT_LE(tuned.lambda()[0], -1.0);
}

TEST(Tune, AModelIsSavedAndLoadedToTheLastBit) {
  const Dataset table = numeric_table(80);
  const Tuned tuned = tune(table);
  const std::string file = testing::TempDir() + "tune_model.json";
  save_model(*tuned.model, file);
  const FittedModel loaded = load_model(file);
  EXPECT_EQ(loaded.predict(table), tuned.model->predict(table));
  EXPECT_EQ(loaded.coefficients().weights, tuned.model->coefficients().weights);
  EXPECT_EQ(loaded.target_name, "y");
}

TEST(Tune, RefusesWhatDoesNotFit) {
  const Dataset table = numeric_table(60);
  const auto begins = [&](const TuneOptions& options, const std::string& text) {
    const std::string message = message_of(table, options);
    EXPECT_EQ(message.substr(0, text.size()), text);
  };
  begins({.model = "rigde"}, "model");
  begins({.x = "standard"}, "x = standard: no such x (did you mean");
  begins({.y = "log"}, "y = log: no such y; must be");
  begins({.model = "poisson", .y = "center"}, "--y center: the target of poisson stays as it is");
  begins({.model = "ridge", .class_weights = "balanced"}, "--class-weights: is for classifications");
  begins({.class_weights = "balanced"},
         "--class-weights: is for classifications and needs classes, but the training target takes 60");
  begins({.validation = {.folds = 1}}, "folds = 1: must be >= 2");
  begins({.validation = {.fraction = 0.2, .folds = 3}}, "--folds: does not go with --valid-fraction");
  begins({.validation = {.fraction = 1.5}}, "validation fraction = 1.5: must be > 0 and < 1");
  begins({.penalty = {.groups = {"g=d"}}}, "--group g=d: there is no feature \"d\"");
  begins({.penalty = {.lambda_per = "feature"}, .oracle = true}, "--oracle: searches one lambda; here are 3");
  begins({.method = "my-hop"}, "method");
  begins({.settings = {{"no_such", "1"}}}, "my-hpo");
  begins({.model = "lasso", .method = "sho"}, "method = sho: does not go with --model lasso");
  begins({.limits = {.iterations = 0}}, "max-iterations = 0: must be > 0");
  begins({.bounds = Interval{1.0, -1.0}}, "bounds = 1,-1: the lower must be below the upper");
  begins({.trace_every = -1}, "trace-every = -1");
}

TEST(Tune, RefusesRowsThatAreNotWhole) {
  Dataset table = numeric_table(60);
  table.y.conservativeResize(59);
  EXPECT_THROW(tune(table), InputError);
  table = numeric_table(60);
  table.y.resize(0);
  EXPECT_EQ(message_of(table, {}), "table: no target: each row needs one to train and to judge by");
  table = numeric_table(60);
  table.feature_names.pop_back();
  EXPECT_THROW(tune(table), InputError);
  table = numeric_table(60);
  table.weight = Vector::Ones(30);
  EXPECT_THROW(tune(table), InputError);
  table.weight = Vector::Zero(60);
  EXPECT_NE(message_of(table, {}).find("the weights of all"), std::string::npos);

  Split parts = drawn(numeric_table(60));
  parts.validation = numeric_table(20, 5);
  parts.validation.feature_names = {"a", "b", "z"};
  EXPECT_THROW(tune(parts), InputError);
  parts.validation = {};
  EXPECT_THROW(tune(parts), InputError);
  EXPECT_THROW(tune(Dataset{}), InputError);
}

TEST(Tune, SvmAndNumbersHaveNoProbabilities) {
  const Dataset numbers = numeric_table(60), classes = class_table(80, {0.0, 1.0});
  EXPECT_THROW(tune(numbers).model->predict_proba(numbers), InputError);
  EXPECT_THROW(tune(classes, {.model = "svm"}).model->predict_proba(classes), InputError);
}

/// Weights 0 to 3, and each row as often as its weight says.
std::pair<Dataset, Dataset> weighted_and_repeated(Dataset table) {
  table.weight.resize(table.rows());
  table.fold.resize(table.rows());
  std::vector<Index> rows;
  for (Index i = 0; i < table.rows(); ++i) {
    table.weight[i] = static_cast<double>((5 * i + i * i) % 4);
    table.fold[i] = static_cast<double>(i % 3);
    rows.insert(rows.end(), static_cast<std::size_t>(table.weight[i]), i);
  }
  Dataset repeated = select_rows(table, rows);
  repeated.weight.resize(0);
  return {table, repeated};
}

// Folds are given, so that both are cut in the same way. λ is found where the slope of the loss is 0, to
// about half the digits of the loss or better.
TEST(Tune, AWeightCountsAsSoManyRowsInEveryFold) {
  for (const char* model : {"ridge", "huber"}) {
    const auto [weighted, repeated] = weighted_and_repeated(numeric_table(90));
    TuneOptions options;
    options.model = model;
    const Tuned one = tune(weighted, options);
    const Tuned other = tune(repeated, options);
    EXPECT_NEAR(one.lambda()[0], other.lambda()[0], 1e-6) << model;
    EXPECT_NEAR(one.outcome.best.loss.validation / other.outcome.best.loss.validation, 1.0, 1e-10) << model;
    ASSERT_TRUE(one.model && other.model);
    EXPECT_LT((one.model->coefficients().weights - other.model->coefficients().weights).norm(), 1e-6)
        << model;
  }
}

TEST(Tune, ARefitWeighsTheRowsOfBothPartsByTheirOwnWeights) {
  auto [weighted, repeated] = weighted_and_repeated(numeric_table(90));
  weighted.fold.resize(0);
  repeated.fold.resize(0);
  const auto halves = [](const Dataset& rows, Index first) {
    std::vector<Index> train, validation;
    for (Index i = 0; i < rows.rows(); ++i) (i < first ? train : validation).push_back(i);
    return Split{.train = select_rows(rows, train), .validation = select_rows(rows, validation), .test = {}};
  };
  const auto in_train = static_cast<Index>(weighted.weight.head(50).sum());
  Split parts = halves(weighted, 50);
  parts.validation.weight *= 1e-3;  // of another size than in the training rows: the refit must know it
  Split often = halves(repeated, in_train);
  often.train.weight = Vector::Ones(often.train.rows());
  often.validation.weight = Vector::Constant(often.validation.rows(), 1e-3);
  const TuneOptions options{.refit = true};
  const Tuned one = tune(parts, options);
  const Tuned other = tune(often, options);
  EXPECT_LT((one.model->coefficients().weights - other.model->coefficients().weights).norm(), 1e-6);
  parts.validation.weight *= 1e3;
  EXPECT_GT((tune(parts, options).model->coefficients().weights - one.model->coefficients().weights).norm(),
            1e-5);
}

TEST(Tune, WeightsThatAreAllTheSameAreNone) {
  Dataset table = numeric_table(60);
  const Tuned plain = tune(table);
  table.weight = Vector::Constant(60, 0.3);
  EXPECT_EQ(tune(table).lambda(), plain.lambda());
}

// Parts that are the folds of a column give its answer; others are taken as they are.
TEST(Tune, TakesPartsThatTheCallerHasChosen) {
  Dataset table = numeric_table(90);
  Rows rows{.train = table};
  table.fold.resize(90);
  for (Index fold = 0; fold < 3; ++fold) {
    RowParts parts;
    for (Index i = 0; i < 90; ++i) {
      table.fold[i] = static_cast<double>(i % 3);
      (i % 3 == fold ? parts.validation : parts.train).push_back(i);
    }
    rows.parts.push_back(parts);
  }
  const TuneOptions options;
  const Tuned given = tune(TuneProblem(rows, options), options);
  EXPECT_EQ(given.lambda(), tune(table, options).lambda());
  rows.parts.resize(1);  // one part: a validation set, and a refit on all rows
  const Tuned one = tune(TuneProblem(rows, options), options);
  EXPECT_TRUE(one.refit && one.model);
  EXPECT_NE(one.lambda(), given.lambda());
  rows.parts[0].validation = {90};
  EXPECT_THROW(TuneProblem(rows, options), InputError);
  rows.parts[0].validation.clear();
  EXPECT_THROW(TuneProblem(rows, options), InputError);
  rows.parts[0].validation = {1};
  TuneOptions folds;
  folds.validation.folds = 3;
  EXPECT_THROW(TuneProblem(rows, folds), InputError);
}

}  // namespace
}  // namespace yosida
