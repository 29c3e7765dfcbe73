#include "yosida/data/pretreatment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "yosida/error.hpp"
#include "yosida/random.hpp"

namespace yosida {
namespace {

Dataset random_data(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Dataset data;
  DenseDesign x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x.row(i)[j] = 3.0 * static_cast<double>(j) + random.normal();
  data.x = x;
  data.y.resize(rows);
  for (double& value : data.y) value = 5.0 + 2.0 * random.normal();
  data.source = "random";
  return data;
}

Matrix values(const Dataset& data) { return to_dense(data.x).dense().matrix(); }

TEST(Pretreatment, StandardizeMakesMeanZeroAndVarianceOneOnTrainingRowsOnly) {
  Dataset train = random_data(40, 4, 1);
  Dataset other = random_data(10, 4, 2);
  const Matrix raw_train = values(train);
  const Matrix raw_other = values(other);
  const Pretreatment fitted = fit_pretreatment(train, {XStep::standardize}, YStep::center);
  fitted.apply(other);
  const Eigen::RowVectorXd mean = raw_train.colwise().mean();
  const Eigen::RowVectorXd deviation = (raw_train.rowwise() - mean).array().square().colwise().mean().sqrt();
  EXPECT_LT((values(train).colwise().mean()).norm(), 1e-13);
  const Matrix expected = (raw_other.rowwise() - mean).array().rowwise() / deviation.array();
  EXPECT_LT((values(other) - expected).norm(), 1e-12);
  EXPECT_NEAR(train.y.mean(), 0.0, 1e-14);
}

TEST(Pretreatment, MinMaxMapsTheTrainingRangeToTheUnitInterval) {
  Dataset train = random_data(30, 3, 3);
  fit_pretreatment(train, {XStep::minmax}, YStep::standardize);
  EXPECT_EQ(values(train).colwise().minCoeff(), Eigen::RowVectorXd::Zero(3));
  EXPECT_EQ(values(train).colwise().maxCoeff(), Eigen::RowVectorXd::Ones(3));
  EXPECT_NEAR(train.y.squaredNorm(), 30.0, 1e-12);
}

TEST(Pretreatment, DifferencesHaveOneColumnFewerAndChainWithOthers) {
  Dataset train = random_data(12, 5, 4);
  train.feature_names = {"a", "b", "c", "d", "e"};
  const Matrix raw = values(train);
  Dataset copy = train;
  copy.x = DenseDesign(raw);
  fit_pretreatment(copy, {XStep::difference}, YStep::raw);
  EXPECT_EQ(values(copy), Matrix(raw.rightCols(4) - raw.leftCols(4)));
  EXPECT_EQ(copy.feature_names, (std::vector<std::string>{"b - a", "c - b", "d - c", "e - d"}));
  fit_pretreatment(train, {XStep::difference, XStep::minmax}, YStep::raw);
  EXPECT_EQ(train.features(), 4);
  EXPECT_EQ(values(train).maxCoeff(), 1.0);
}

TEST(Pretreatment, AConstantColumnIsDividedByOne) {
  for (const XStep step : {XStep::standardize, XStep::minmax}) {
    Dataset train = random_data(100000, 2, 5);         // many rows: the rounding of a plain sum would show
    train.x.dense().matrix().col(1).setConstant(0.1);  // not exact in binary: its deviation is rounding only
    const Pretreatment fitted = fit_pretreatment(train, {step}, YStep::raw);
    EXPECT_EQ(fitted.x[0].scale[1], 1.0);
    EXPECT_TRUE(values(train).col(1).isZero(1e-15));
  }
}

TEST(Pretreatment, SparseStandardizeScalesByTheSameDeviationWithoutCentring) {
  // x = [1 0; 0 0; 3 2]: column means 4/3, 2/3; population deviations √(14/9), √(8/9)
  SparseDesign x;
  x.columns = 2;
  x.row_start = {0, 1, 1, 3};
  x.column = {0, 0, 1};
  x.value = {1.0, 3.0, 2.0};
  Dataset train;
  train.x = x;
  train.y = Eigen::Vector3d(1, 2, 3);
  fit_pretreatment(train, {XStep::standardize}, YStep::raw);
  EXPECT_NEAR(train.x.sparse().value[0], 1.0 / std::sqrt(14.0 / 9.0), 1e-15);
  EXPECT_NEAR(train.x.sparse().value[2], 2.0 / std::sqrt(8.0 / 9.0), 1e-15);
  for (const XStep step : {XStep::center, XStep::minmax, XStep::difference})
    EXPECT_THROW(fit_pretreatment(train, {step}, YStep::raw), InputError);
}

TEST(Pretreatment, MissingValuesGetTheTrainingMean) {
  Dataset train = random_data(4, 2, 6);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  train.x.dense().matrix() << 1, 2, nan, 4, 3, nan, 5, 6;
  Dataset other = random_data(1, 2, 7);
  other.x.dense().matrix() << nan, nan;
  const Pretreatment fitted = fit_pretreatment(train, {XStep::raw}, YStep::raw, true);
  fitted.apply(other);
  EXPECT_EQ(values(train).row(1)[0], 3.0);
  EXPECT_EQ(values(train).row(2)[1], 4.0);
  EXPECT_EQ(values(other), (Matrix(1, 2) << 3.0, 4.0).finished());
  train.x.dense().matrix().col(0).setConstant(nan);
  EXPECT_THROW(fit_pretreatment(train, {XStep::raw}, YStep::raw, true), InputError);
}

TEST(Pretreatment, NamesRoundTripAndUnknownOnesAreRefused) {
  EXPECT_EQ(parse_x_steps("difference,minmax"), (std::vector<XStep>{XStep::difference, XStep::minmax}));
  for (const char* name : {"raw", "center", "standardize", "minmax", "difference"})
    EXPECT_EQ(to_string(parse_x_steps(name)[0]), name);
  EXPECT_THROW(parse_x_steps("whiten"), InputError);
  EXPECT_THROW(parse_x_steps("center,"), InputError);
  EXPECT_THROW(parse_y_step("minmax"), InputError);
}

}  // namespace
}  // namespace yosida
