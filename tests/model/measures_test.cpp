#include "yosida/model/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "yosida/error.hpp"
#include "yosida/model/models.hpp"

namespace yosida {
namespace {

std::set<std::string_view> names_for(const Loss& loss) {
  std::set<std::string_view> names;
  for (const Measure& measure : measures())
    if (measure.exists(loss)) names.insert(measure.name);
  return names;
}

TEST(Measures, ExistWhereTheirFormulasMeanSomething) {
  using Names = std::set<std::string_view>;
  const Names numbers = {"loss", "r_squared", "rmse", "mae"};
  const auto with = [](Names names, const Names& more) {
    names.insert(more.begin(), more.end());
    return names;
  };
  EXPECT_EQ(names_for(least_squares()), with(numbers, {"scaled_loss", "deviance_explained"}));
  EXPECT_EQ(names_for(huber()), numbers);
  EXPECT_EQ(names_for(poisson()), with(numbers, {"deviance_explained"}));
  const Names classes = {"loss", "accuracy", "balanced_accuracy", "f1", "precision", "recall"};
  EXPECT_EQ(names_for(logistic()), with(classes, {"area_under_roc", "log_loss", "deviance_explained"}));
  EXPECT_EQ(names_for(squared_hinge()), with(classes, {"area_under_roc"}));
  EXPECT_EQ(names_for(softmax(3)), with(classes, {"log_loss", "deviance_explained"}));
}

TEST(Measures, AreFoundByTheirNames) {
  for (std::size_t i = 0; i < measures().size(); ++i) {
    EXPECT_EQ(find_measure(measures()[i].name), i);
    EXPECT_NE(measure_names().find(measures()[i].name), std::string::npos);
    EXPECT_FALSE(measures()[i].title.empty());
  }
  EXPECT_FALSE(find_measure("no such measure"));
  EXPECT_FALSE(measures()[find_measure(kLoss).value()].larger_is_better);
  EXPECT_FALSE(measures()[find_measure(kScaledLoss).value()].larger_is_better);
  EXPECT_TRUE(measures()[find_measure("r_squared").value()].larger_is_better);
}

TEST(Measures, ByHand) {
  Dataset data;
  data.x = Design(Matrix(Matrix::Ones(4, 1)));
  data.y = Eigen::Vector4d(1, 2, 3, 6);          // mean 3, variance 3.5
  const Vector m = Eigen::Vector4d(1, 2, 4, 6);  // one error of 1
  const auto value = [&](const char* name, const Loss& loss, const Vector& margins) {
    return measures()[find_measure(name).value()].value(
        {.data = data, .loss = loss, .margins = margins, .mean_loss = 0.125});
  };
  EXPECT_DOUBLE_EQ(*value("loss", least_squares(), m), 0.125);
  EXPECT_DOUBLE_EQ(*value("scaled_loss", least_squares(), m), 0.125 / 3.5);
  EXPECT_DOUBLE_EQ(*value("r_squared", least_squares(), m), 1.0 - 0.25 / 3.5);
  EXPECT_NEAR(*value("r_squared", poisson(), m.array().log()), 1.0 - 0.25 / 3.5, 1e-14)
      << "of means, by the link";
  EXPECT_DOUBLE_EQ(*value("rmse", least_squares(), m), 0.5);
  EXPECT_DOUBLE_EQ(*value("mae", least_squares(), m), 0.25);
  EXPECT_DOUBLE_EQ(*value("deviance_explained", least_squares(), m), 1.0 - 0.25 / 3.5);
  data.weight = Eigen::Vector4d(0.5, 0.5, 2, 1);  // of mean 1, and the error has weight 2
  EXPECT_DOUBLE_EQ(*value("rmse", least_squares(), m), std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(*value("mae", least_squares(), m), 0.5);
  data.weight.resize(0);
  data.y = Vector::Constant(4, 2.0);
  EXPECT_FALSE(value("scaled_loss", least_squares(), m)) << "y does not vary";
}

double measured(const char* name, const Predicted& rows) {
  return measures()[find_measure(name).value()].value(rows).value();
}

Vector of(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), static_cast<Index>(values.size()));
}

// Figures by hand: of the second class 2 rows are found, 1 is missed, and 1 is taken for it wrongly.
TEST(Measures, OfTwoClasses) {
  Dataset data;
  data.y = of({1, 1, 1, -1, -1, -1, -1});
  data.x = Design(Matrix::Zero(data.y.size(), 1));
  const Vector m = of({2, 0, -1, 1, -1, -1, -2});
  const double mean_loss = 0.6;
  const Predicted rows{.data = data, .loss = logistic(), .margins = m, .mean_loss = mean_loss};
  const Matrix confusion = confusion_of(rows);
  EXPECT_EQ(confusion(0, 0), 3);
  EXPECT_EQ(confusion(0, 1), 1);
  EXPECT_EQ(confusion(1, 0), 1);
  EXPECT_EQ(confusion(1, 1), 2);
  EXPECT_DOUBLE_EQ(measured("precision", rows), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(measured("recall", rows), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(measured("f1", rows), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(measured("balanced_accuracy", rows), 0.5 * (2.0 / 3.0 + 3.0 / 4.0));
  EXPECT_DOUBLE_EQ(measured("log_loss", rows), mean_loss);
  const double share = 3.0 / 7.0;
  const double entropy = -(share * std::log(share) + (1.0 - share) * std::log(1.0 - share));
  EXPECT_NEAR(measured("deviance_explained", rows), 1.0 - mean_loss / entropy, 1e-14);
}

// Class 2 has no rows and is never said; class 1 is said once and wrongly: the mean is over classes 0, 1, 3.
TEST(Measures, OfSeveralClassesAreMeansOverThoseThatAreThere) {
  Dataset data;
  data.y = of({0, 0, 3, 3});
  data.x = Design(Matrix::Zero(data.y.size(), 1));
  const Vector m = of({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1});
  const SharedLoss loss = softmax(4);
  const Predicted rows{.data = data, .loss = *loss, .margins = m, .mean_loss = std::log(2.0) / 2.0};
  EXPECT_DOUBLE_EQ(measured("precision", rows), (1.0 + 0.0 + 1.0) / 3.0);
  EXPECT_DOUBLE_EQ(measured("recall", rows), (0.5 + 0.0 + 1.0) / 3.0);
  EXPECT_DOUBLE_EQ(measured("f1", rows), (2.0 / 3.0 + 0.0 + 1.0) / 3.0);
  EXPECT_DOUBLE_EQ(measured("balanced_accuracy", rows), (0.5 + 1.0) / 2.0);
  EXPECT_NEAR(measured("deviance_explained", rows), 0.5, 1e-14) << "two classes of equal shares: log 2";
}

TEST(Measures, OfCountsExplainDeviance) {
  Dataset data;
  data.y = of({1, 3});
  data.x = Design(Matrix::Zero(data.y.size(), 1));
  const Vector m = of({std::log(1.0), std::log(3.0)});
  EXPECT_DOUBLE_EQ(
      measured("deviance_explained", {.data = data, .loss = poisson(), .margins = m, .mean_loss = 0.0}), 1.0);
  // Half the deviance of the mean 2, by hand.
  const double of_mean = 0.5 * ((2.0 - 1.0 + std::log(0.5)) + (2.0 - 3.0 + 3.0 * std::log(1.5)));
  EXPECT_NEAR(
      measured("deviance_explained", {.data = data, .loss = poisson(), .margins = m, .mean_loss = of_mean}),
      0.0, 1e-14);
}

TEST(Measures, AreChosenByName) {
  EXPECT_EQ(parse_measures({"accuracy", "f1"}, logistic(), "logistic").size(), 2);
  EXPECT_EQ(parse_measures({"all"}, huber(), "huber").size(), names_for(huber()).size());
  EXPECT_LT(parse_measures({"usual"}, logistic(), "logistic").size(), names_for(logistic()).size());
  EXPECT_THROW(parse_measures({"accuracy"}, huber(), "huber"), InputError);
  try {
    parse_measures({"acuracy"}, logistic(), "logistic");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean accuracy?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace yosida
