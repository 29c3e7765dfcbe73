#include "yosida/model/fitted_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "yosida/error.hpp"

namespace yosida {
namespace {

std::string write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "fitted_model_" + name;
  std::ofstream(path) << text;
  return path;
}

FittedModel example() {
  FittedModel model;
  model.model = "ridge";
  model.method = "my-hpo-bt";
  model.lambda = {-1.5};
  model.weights = Eigen::Vector2d(2.0, -1.0);
  model.intercept = Vector::Constant(1, 0.5);
  model.pretreatment.x = {
      {.kind = XStep::difference, .shift = {}, .scale = {}},
      {.kind = XStep::standardize, .shift = Eigen::Vector2d(1, 2), .scale = Eigen::Vector2d(2, 4)}};
  model.pretreatment.y_shift = 10.0;
  model.pretreatment.y_scale = 3.0;
  model.features = 3;
  model.feature_names = {"a", "b", "c"};
  model.target_name = "y";
  return model;
}

Dataset row(double a, double b, double c) {
  Dataset data;
  data.x = Design((Matrix(1, 3) << a, b, c).finished());
  return data;
}

TEST(FittedModel, PredictsThroughPretreatmentInTheTargetsUnits) {
  // differences (3, 8) → ((3 − 1)/2, (8 − 2)/4) = (1, 1.5) → 2·1 − 1.5 + 0.5 = 1 → 3·1 + 10
  const Dataset data = row(1, 4, 12);
  EXPECT_DOUBLE_EQ(example().predict(data)(0, 0), 13.0);
  EXPECT_EQ(to_matrix(data.x)(0, 0), 1.0);  // the caller's data is left alone
}

TEST(FittedModel, CoefficientsAreInTheUnitsOfTheData) {
  // (2, −1)/(2, 4) = (1, −¼) on the differences: −1, 1 + ¼, −¼ on the columns; times 3 in the target's units.
  // Intercept: ½ − 1·1 + ¼·2 = 0, times 3, + 10.
  const Coefficients own = example().coefficients();
  EXPECT_EQ(own.names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(own.weights, Matrix(Eigen::Vector3d(-3.0, 3.75, -0.75)));
  EXPECT_EQ(own.intercept, Vector::Constant(1, 10.0));

  FittedModel unnamed = example();
  unnamed.feature_names.clear();
  EXPECT_EQ(unnamed.coefficients().names, (std::vector<std::string>{"0", "1", "2"}));
  unnamed.features = 4;
  EXPECT_THROW(unnamed.coefficients(), InputError);
}

TEST(FittedModel, CoefficientsOfAClassificationAreThoseOfItsMargin) {
  FittedModel model = example();
  model.model = "logistic";
  model.labels = Labels{{3, 7}};
  model.pretreatment.y_shift = 0.0;
  model.pretreatment.y_scale = 1.0;
  EXPECT_EQ(model.coefficients().weights, Matrix(Eigen::Vector3d(-1.0, 1.25, -0.25)));
  const Matrix shares = model.predict_proba(row(1, 4, 12));  // the margin is 1
  EXPECT_DOUBLE_EQ(shares(0, 1), 1.0 / (1.0 + std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(shares(0, 0) + shares(0, 1), 1.0);
}

TEST(FittedModel, SurvivesBeingSavedToTheLastBit) {
  FittedModel model = example();
  model.weights(0, 0) = std::nextafter(0.1, 1.0);
  model.labels = Labels{{3, 7}};
  model.model = "logistic";
  const FittedModel loaded = load_model(write("round_trip.json", to_json(model)));
  EXPECT_EQ(loaded.weights, model.weights);
  EXPECT_EQ(loaded.predict(row(1, 4, 12)), model.predict(row(1, 4, 12)));
  EXPECT_EQ(loaded.labels->positive(), 7.0);
  EXPECT_EQ(loaded.feature_names, model.feature_names);
  EXPECT_EQ(loaded.lambda, model.lambda);
}

TEST(FittedModel, SoftmaxHasWeightsAndInterceptsOfEachClass) {
  FittedModel model = example();
  model.model = "softmax";
  model.weights = (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished();
  model.intercept = Eigen::Vector3d(0.1, 0.2, 0.3);
  model.labels = Labels{{-1, 4, 9}};
  const FittedModel loaded = load_model(write("softmax.json", to_json(model)));
  EXPECT_EQ(loaded.weights, model.weights);
  EXPECT_EQ(loaded.labels->values, model.labels->values);
  const Matrix m = loaded.predict(row(1, 4, 12));  // of the pretreated row (1, 1.5)
  EXPECT_DOUBLE_EQ(m(0, 0), 1 + 6 + 0.1);
  EXPECT_DOUBLE_EQ(m(0, 2), 3 + 9 + 0.3);
  model.labels = Labels{{4, 9}};
  EXPECT_THROW(load_model(write("class_too_few.json", to_json(model))), InputError);
  model.labels.reset();
  EXPECT_THROW(load_model(write("no_classes.json", to_json(model))), InputError);
}

TEST(FittedModel, PoissonPredictsTheMean) {
  FittedModel model = example();
  model.model = "poisson";
  model.pretreatment.y_shift = 0.0;
  model.pretreatment.y_scale = 1.0;
  EXPECT_DOUBLE_EQ(model.predict(row(1, 4, 12))(0, 0), std::exp(1.0));
}

TEST(FittedModel, FilesOfTheFirstSchemaAreStillRead) {
  FittedModel model = example();
  model.model = "logistic";
  model.labels = Labels{{3, 7}};
  auto old = nlohmann::json::parse(to_json(model));
  old["schema"] = 1;
  old["labels"] = {{"negative", 3}, {"positive", 7}};
  const FittedModel loaded = load_model(write("old.json", old.dump()));
  EXPECT_EQ(loaded.labels->values, model.labels->values);
  EXPECT_EQ(loaded.predict(row(1, 4, 12)), model.predict(row(1, 4, 12)));
}

TEST(FittedModel, RefusesWhatIsNotAModel) {
  EXPECT_THROW(load_model("/no/such/file.json"), InputError);
  EXPECT_THROW(load_model(write("text.json", "hello")), InputError);
  EXPECT_THROW(load_model(write("empty.json", "{}")), InputError);
  auto newer = nlohmann::json::parse(to_json(example()));
  newer["schema"] = 99;
  EXPECT_THROW(load_model(write("newer.json", newer.dump())), InputError);
  auto short_weights = nlohmann::json::parse(to_json(example()));
  short_weights["weights"] = {1.0};
  EXPECT_THROW(load_model(write("short.json", short_weights.dump())), InputError);
}

TEST(FittedModel, ProbabilityIsTheLogisticFunctionWithoutOverflow) {
  EXPECT_DOUBLE_EQ(probability(0.0), 0.5);
  EXPECT_DOUBLE_EQ(probability(2.0) + probability(-2.0), 1.0);
  EXPECT_EQ(probability(1e4), 1.0);
  EXPECT_EQ(probability(-1e4), 0.0);
  EXPECT_EQ(probabilities(Eigen::Vector3d(1e4, 0, -1e4)), Vector(Eigen::Vector3d(1, 0, 0)));
  EXPECT_DOUBLE_EQ(probabilities(Eigen::Vector2d(2, 0))[0], probability(2.0));
}

TEST(FittedModel, WithANumberThatIsNotFiniteIsNeitherSavedNorLoaded) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NO_THROW(to_json(example()));
  for (const double value : {infinity, -infinity, nan}) {
    for (const auto& damage : std::vector<std::function<void(FittedModel&)>>{
             [=](FittedModel& model) { model.lambda[0] = value; },
             [=](FittedModel& model) { model.weights(1, 0) = value; },
             [=](FittedModel& model) { model.intercept[0] = value; },
             [=](FittedModel& model) { model.pretreatment.x[1].shift[0] = value; },
             [=](FittedModel& model) { model.pretreatment.x[1].scale[1] = value; },
             [=](FittedModel& model) { model.pretreatment.y_shift = value; },
             [=](FittedModel& model) { model.pretreatment.y_scale = value; },
             [=](FittedModel& model) { model.pretreatment.missing_fill = Vector::Constant(3, value); }}) {
      FittedModel model = example();
      damage(model);
      EXPECT_THROW(to_json(model), InputError);
    }
  }
  auto zero = nlohmann::json::parse(to_json(example()));
  zero["pretreatment"]["x"][1]["scale"] = {0.0, 1.0};
  EXPECT_THROW(load_model(write("zero.json", zero.dump())), InputError);
  auto null = nlohmann::json::parse(to_json(example()));
  null["pretreatment"]["x"][1]["scale"] = {nullptr, 1.0};
  EXPECT_THROW(load_model(write("null.json", null.dump())), InputError);
}

TEST(FittedModel, RefusesRowsItCannotPredict) {
  const FittedModel model = example();
  Dataset narrow;
  narrow.x = Design(Matrix::Ones(1, 2));
  EXPECT_THROW(model.predict(narrow), InputError);
  Dataset wide;
  wide.x = Design(Matrix::Ones(1, 4));
  EXPECT_THROW(model.predict(wide), InputError);
  FittedModel broken = model;
  broken.weights = Eigen::Vector3d(1, 2, 3);
  EXPECT_THROW(broken.predict(row(1, 2, 3)), InputError);
  broken = model;
  broken.pretreatment.x[1].scale.resize(1);
  EXPECT_THROW(broken.predict(row(1, 2, 3)), InputError);
  Dataset huge = row(1, 2, 1.7e308);
  huge.feature_names = {"a", "b", "c"};
  huge.source = "huge.csv";
  broken = model;
  broken.weights *= 1e10;
  try {
    broken.predict(huge);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("row 1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("column \"c - b\""), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace yosida
