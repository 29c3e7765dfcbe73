#include "yosida/tune/targets.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <sstream>

#include "support/dense.hpp"
#include "yosida/error.hpp"
#include "yosida/random.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida {
namespace {

struct Table {
  Dataset rows;
  Targets targets;
};

/// Six targets of the same columns: from nearly all signal to nearly all noise, each in a unit of its own.
Table table(Index rows, Index features, std::uint64_t seed = 5, bool weighted = false) {
  Random random(seed);
  const Index count = 6;
  Matrix x(rows, features), w(features, count), y(rows, count);
  for (double& value : x.reshaped()) value = random.normal();
  for (double& value : w.reshaped()) value = random.normal();
  for (Index t = 0; t < count; ++t)
    for (Index i = 0; i < rows; ++i)
      y(i, t) = std::pow(10.0, static_cast<double>(t - 3)) *
                (x.row(i).dot(w.col(t)) + (0.5 + 2.0 * static_cast<double>(t)) * random.normal() + 7.0);
  Table all{.rows = {.x = Design(x), .y = {}, .feature_names = {}, .target_name = "", .source = "made"},
            .targets = {.names = {"a", "b", "c", "d", "e", "f"}, .train = y}};
  if (weighted) {
    all.rows.weight.resize(rows);
    for (double& each : all.rows.weight) each = 0.2 + random.uniform();
  }
  return all;
}

TuneOptions by(const std::string& criterion) {
  TuneOptions options;
  options.model = "ridge";
  options.validation.criterion = criterion;
  return options;
}

/// The target alone, by the road for one.
Tuned alone(const Table& all, Index t, const TuneOptions& options) {
  Dataset rows = all.rows;
  rows.y = all.targets.train.col(t);
  return tune(rows, options);
}

void expect_each_is_as_alone(const Table& all, TuneOptions options) {
  const TunedTargets together = tune_targets({.train = all.rows}, all.targets, options);
  ASSERT_EQ(together.targets.size(), 6u);
  const Coefficients weights = together.model.coefficients();
  int inside = 0;
  for (Index t = 0; t < 6; ++t) {
    SCOPED_TRACE(all.targets.names[static_cast<std::size_t>(t)]);
    const TunedTarget& found = together.targets[static_cast<std::size_t>(t)];
    const Tuned single = alone(all, t, options);
    ASSERT_TRUE(single.certificate && found.certificate);
    EXPECT_NE(found.certificate->verdict, Verdict::not_certified) << found.certificate->reason;
    if (single.certificate->verdict != Verdict::certified) continue;
    ++inside;
    // Both bring |h′| down to rounding, some 1e-13 of h; where h bends by 1e-2 of itself, λ is good to 1e-11.
    EXPECT_NEAR(found.lambda[0], single.lambda()[0], 1e-8);
    const Coefficients own = single.model->coefficients();
    EXPECT_LE((weights.weights.col(t) - own.weights.col(0)).norm(), 1e-8 * own.weights.norm());
    EXPECT_NEAR(weights.intercept[t], own.intercept[0],
                1e-8 * (std::abs(own.intercept[0]) + own.weights.norm()));
    EXPECT_NEAR(*(*found.report.validation)["r_squared"], *(*single.best.validation)["r_squared"], 1e-8);
    EXPECT_NEAR(*(*found.report.validation)["rmse"], *(*single.best.validation)["rmse"],
                1e-8 * *(*single.best.validation)["rmse"]);
  }
  EXPECT_GE(inside, 3) << "the test shows little";
}

TEST(Targets, EachIsAsAloneOnEveryCriterion) {
  for (const char* criterion : {"holdout", "folds", "loo", "gcv"})
    for (const bool weighted : {false, true})
      for (const Index features : {8, 90}) {
        SCOPED_TRACE(testing::Message() << criterion << ", " << features << (weighted ? ", weights" : ""));
        expect_each_is_as_alone(table(80, features, 5, weighted), by(criterion));
      }
}

TEST(Targets, EachIsAsAloneWithoutInterceptAndWithARefit) {
  TuneOptions options = by("holdout");
  options.intercept = false;
  options.y = "raw";
  Table all = table(80, 8);
  all.targets.train.rowwise() -= all.targets.train.colwise().mean().eval();  // there is no intercept to do it
  expect_each_is_as_alone(all, options);
  options = by("holdout");
  options.refit = true;
  expect_each_is_as_alone(table(80, 8), options);
}

// Every row is predicted by weights that were trained on the others, solved anew by normal equations.
TEST(Targets, LeaveOneOutIsAllRefits) {
  const Table all = table(40, 6);
  TuneOptions options = by("loo");
  options.x = "raw";
  options.y = "raw";
  const TunedTargets found = tune_targets({.train = all.rows}, all.targets, options);
  const Matrix x = to_matrix(all.rows.x);
  for (Index t = 0; t < 6; ++t) {
    double sum = 0.0;
    for (Index left = 0; left < 40; ++left) {
      Matrix others(39, 7);
      Vector y(39);
      for (Index i = 0, next = 0; i < 40; ++i) {
        if (i == left) continue;
        others.row(next) << x.row(i), 1.0;
        y[next++] = all.targets.train(i, t);
      }
      Eigen::MatrixXd h = others.transpose() * others / 39.0;
      h.diagonal().head(6).array() += 2.0 * std::exp(found.targets[static_cast<std::size_t>(t)].lambda[0]);
      const Vector w = test::symmetric_solution(h, others.transpose() * y / 39.0);
      const double e = all.targets.train(left, t) - x.row(left).dot(w.head(6)) - w[6];
      sum += 0.5 * e * e;
    }
    EXPECT_NEAR(found.targets[static_cast<std::size_t>(t)].criterion, sum / 40.0, 1e-11 * sum);
    EXPECT_NEAR(*(*found.targets[static_cast<std::size_t>(t)].report.validation)["loss"], sum / 40.0,
                1e-11 * sum);
  }
}

TEST(Targets, ASharedLambdaIsTheBestOfTheSum) {
  const Table all = table(80, 8);
  TuneOptions options = by("folds");
  options.penalty.lambda_per = "shared";
  const TunedTargets found = tune_targets({.train = all.rows}, all.targets, options);
  const double lambda = found.targets[0].lambda[0];
  const auto spread = [&](Index t) {
    return (all.targets.train.col(t).array() - all.targets.train.col(t).mean()).square().mean();
  };
  const auto sum_at = [&](double fixed) {
    TuneOptions at = by("folds");
    at.bounds = Interval{fixed, fixed + 1e-12};
    double sum = 0.0;
    for (Index t = 0; t < 6; ++t) sum += *(*alone(all, t, at).best.validation)["loss"] / spread(t);
    return sum;
  };
  const double here = sum_at(lambda);
  double reported = 0.0;
  for (Index t = 0; t < 6; ++t) {
    const TunedTarget& target = found.targets[static_cast<std::size_t>(t)];
    EXPECT_EQ(target.lambda[0], lambda);
    reported += target.criterion / spread(t);
  }
  EXPECT_NEAR(reported, here, 1e-9 * here);
  for (const double away : {-1.0, -0.05, 0.05, 1.0}) EXPECT_GT(sum_at(lambda + away), here) << away;
  EXPECT_EQ(found.targets[0].certificate->verdict, Verdict::certified);
}

TEST(Targets, ThreadsAndTheOtherTargetsChangeNothing) {
  const Table all = table(60, 12);
  const TunedTargets together = tune_targets({.train = all.rows}, all.targets, by("folds"));
  Table two = all;
  two.targets.names = {"e", "b"};
  two.targets.train.resize(60, 2);
  two.targets.train << all.targets.train.col(4), all.targets.train.col(1);
  const TunedTargets fewer = tune_targets({.train = two.rows}, two.targets, by("folds"));
  EXPECT_NEAR(fewer.targets[0].lambda[0], together.targets[4].lambda[0], 1e-8);
  EXPECT_NEAR(fewer.targets[1].lambda[0], together.targets[1].lambda[0], 1e-8);
}

TEST(Targets, BandsDoBetterThanOneLambdaAndAreCertified) {
  Random random(9);
  const Index rows = 120, features = 20;
  Matrix x(rows, features), y(rows, 4);
  for (double& value : x.reshaped()) value = random.normal();
  // The first two targets depend on the first band alone, the others on the second.
  for (Index t = 0; t < 4; ++t)
    for (Index i = 0; i < rows; ++i)
      y(i, t) = x.row(i).segment(t < 2 ? 0 : 10, 10).sum() + 4.0 * random.normal();
  const Dataset data{.x = Design(x), .y = {}, .feature_names = {}, .target_name = "", .source = "bands"};
  const Targets targets{.names = {"a", "b", "c", "d"}, .train = y};
  TuneOptions options = by("folds");
  const TunedTargets one = tune_targets({.train = data}, targets, options);
  options.penalty.groups = {"left=0,1,2,3,4,5,6,7,8,9", "right=10,11,12,13,14,15,16,17,18,19"};
  const TunedTargets bands = tune_targets({.train = data}, targets, options);
  EXPECT_EQ(bands.lambda_names, (std::vector<std::string>{"left", "right"}));
  for (std::size_t t = 0; t < 4; ++t) {
    const TunedTarget& found = bands.targets[t];
    EXPECT_LT(*(*found.report.validation)["loss"], *(*one.targets[t].report.validation)["loss"]) << t;
    EXPECT_EQ(found.lambda[0] < found.lambda[1], t < 2) << "the band that matters has the smaller penalty";
    EXPECT_NE(found.certificate->verdict, Verdict::not_certified) << found.certificate->reason;
  }
  EXPECT_EQ(bands.model.lambda.size(), 8u);
}

TEST(Targets, TheModelSavesLoadsAndPredictsEachInItsUnits) {
  const Table all = table(80, 8);
  TuneOptions options = by("holdout");
  const TunedTargets found = tune_targets({.train = all.rows}, all.targets, options);
  std::istringstream text(to_json(found.model));
  const FittedModel loaded = read_model(text, "model");
  EXPECT_EQ(loaded.target_names, all.targets.names);
  const Matrix predicted = loaded.predict(all.rows);
  ASSERT_EQ(predicted.cols(), 6);
  for (Index t = 0; t < 6; ++t) {
    const Tuned single = alone(all, t, options);
    const Matrix own = single.model->predict(all.rows);
    EXPECT_LE((predicted.col(t) - own.col(0)).norm(), 1e-7 * own.norm()) << t;
  }
  EXPECT_EQ(predictions_csv(loaded, predicted).substr(0, 12), "a,b,c,d,e,f\n");
}

std::string message_of(Table all, const TuneOptions& options = by("holdout")) {
  try {
    tune_targets({.train = all.rows}, all.targets, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Targets, BadInputIsNamed) {
  Table all = table(40, 5);
  all.targets.train(3, 2) = std::nan("");
  expect_says(message_of(all), "row 4 has target \"c\" = nan");
  all = table(40, 5);
  all.targets.train.col(1).setConstant(2.0);
  expect_says(message_of(all), "target \"b\" is 2 in every training row");
  all = table(40, 5);
  all.targets.train.conservativeResize(39, 6);
  expect_says(message_of(all), "40 rows");
  all = table(40, 5);
  all.targets.names[4] = "a";
  expect_says(message_of(all), "\"a\" is named twice");
  all = table(40, 5);
  TuneOptions options = by("holdout");
  options.model = "huber";
  expect_says(message_of(all, options), "it must be ridge");
  options = by("holdout");
  options.method = "hoag";
  expect_says(message_of(all, options), "it must be my-hpo");
  options = by("holdout");
  options.penalty.lambda_per = "feature";
  expect_says(message_of(all, options), "it must be shared, target or group");
}

TEST(Targets, NamesAreSplitAtCommas) {
  EXPECT_EQ(split_targets("a,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split_targets("\"a,b\",c"), (std::vector<std::string>{"a,b", "c"}));
  EXPECT_EQ(split_targets("a"), (std::vector<std::string>{"a"}));
  EXPECT_THROW(split_targets("a,,b"), InputError);
  EXPECT_THROW(split_targets("\"a"), InputError);
}

}  // namespace
}  // namespace yosida
