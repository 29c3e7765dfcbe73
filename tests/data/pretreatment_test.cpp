#include "yosida/data/pretreatment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
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

/// From the least to the largest numbers that keep all their digits, both ends of what squares can hold among
/// them.
constexpr double kScales[] = {1e-300, 1e-200, 1e-155, 1e-100, 1e100, 1e154, 1e200, 1e300};
/// The columns of a mixture are each times one of these.
constexpr double kMixture[] = {1e300, 1.0, 1e-300, 1e154};

/// Decimal scales are no powers of 2: both the data and its statistics are rounded.
constexpr double kRounding = 1e-13;

Dataset scaled(const Dataset& data, const std::function<double(Index)>& scale) {
  Dataset result = data;
  Matrix x = values(data);
  for (Index j = 0; j < x.cols(); ++j) x.col(j) *= scale(j);
  result.x = DenseDesign(x);
  return result;
}

TEST(Pretreatment, OfAnyMagnitudeIsThatOfRescaledData) {
  const Dataset plain = random_data(200, 4, 8);
  const Dataset plain_other = random_data(20, 4, 9);
  std::vector<std::function<double(Index)>> scalings = {[](Index j) { return kMixture[j]; }};
  for (const double scale : kScales) scalings.emplace_back([scale](Index) { return scale; });
  for (const XStep step : {XStep::standardize, XStep::minmax})
    for (const auto& scaling : scalings) {
      Dataset train = scaled(plain, scaling), other = scaled(plain_other, scaling);
      Dataset expected = scaled(plain, [](Index) { return 1.0; });
      Dataset expected_other = scaled(plain_other, [](Index) { return 1.0; });
      fit_pretreatment(train, {step}, YStep::raw).apply(other);
      fit_pretreatment(expected, {step}, YStep::raw).apply(expected_other);
      EXPECT_LT((values(train) - values(expected)).cwiseAbs().maxCoeff(), kRounding) << scaling(0);
      EXPECT_LT((values(other) - values(expected_other)).cwiseAbs().maxCoeff(), kRounding) << scaling(0);
    }
}

TEST(Pretreatment, CentersAndDifferencesOfAnyMagnitudeAreThoseOfRescaledData) {
  const Dataset plain = random_data(200, 4, 8);
  for (const std::vector<XStep>& steps :
       {std::vector<XStep>{XStep::center}, {XStep::difference}, {XStep::difference, XStep::standardize}})
    for (const double scale : kScales) {
      Dataset train = scaled(plain, [&](Index) { return scale; });
      Dataset expected = scaled(plain, [](Index) { return 1.0; });
      fit_pretreatment(train, steps, YStep::raw);
      fit_pretreatment(expected, steps, YStep::raw);
      const double back = steps.back() == XStep::standardize ? 1.0 : scale;
      EXPECT_LT((values(train) / back - values(expected)).cwiseAbs().maxCoeff(), kRounding) << scale;
    }
}

TEST(Pretreatment, TargetsOfAnyMagnitudeAreStandardised) {
  Dataset plain = random_data(200, 2, 10);
  const Vector y = plain.y;
  fit_pretreatment(plain, {XStep::raw}, YStep::standardize);
  for (const double scale : kScales) {
    Dataset train = random_data(200, 2, 10);
    train.y = scale * y;
    const Pretreatment fitted = fit_pretreatment(train, {XStep::raw}, YStep::standardize);
    EXPECT_LT((train.y - plain.y).cwiseAbs().maxCoeff(), kRounding) << scale;
    EXPECT_LT((train.y * fitted.y_scale / scale + Vector::Constant(200, fitted.y_shift / scale) - y).norm(),
              1e-12);
  }
}

TEST(Pretreatment, SparseColumnsOfAnyMagnitudeAreScaled) {
  const auto standardised = [](double scale) {
    SparseDesign x;
    x.columns = 2;
    x.row_start = {0, 1, 1, 3};
    x.column = {0, 0, 1};
    x.value = {1.0 * scale, 3.0 * scale, 2.0 / scale};
    Dataset train;
    train.x = x;
    train.y = Eigen::Vector3d(1, 2, 3);
    fit_pretreatment(train, {XStep::standardize}, YStep::raw);
    return train.x.sparse().value;
  };
  const std::vector<double> expected = standardised(1.0);
  for (const double scale : kScales) {
    const std::vector<double> found = standardised(scale);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected[k], kRounding) << scale;
  }
}

// 2000 numbers of 1e307 overflow when they are summed, and so do their squares.
TEST(Pretreatment, MeansOfTheLargestNumbersDoNotOverflow) {
  Dataset train = random_data(2000, 2, 11);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  train.x.dense().matrix().col(0).setConstant(1e307);
  train.x.dense().row(7)[0] = nan;
  train.x.dense().row(8)[0] = 3e307;
  train.y.setConstant(1e307);
  train.y[0] = -1e307;
  const Pretreatment fitted = fit_pretreatment(train, {XStep::standardize}, YStep::standardize, true);
  EXPECT_NEAR(fitted.missing_fill[0] / 1e307, (1998 + 3) / 1999.0, 1e-13);
  EXPECT_NEAR(fitted.x[0].shift[0] / 1e307, (1998 + 3) / 1999.0, 1e-13);
  EXPECT_NEAR(fitted.y_shift / 1e307, 1998 / 2000.0, 1e-13);
  EXPECT_TRUE(values(train).allFinite());
  EXPECT_NEAR(train.y.squaredNorm(), 2000.0, 1e-9);
}

// Their deviation has few digits, or none.
TEST(Pretreatment, NamesAColumnThatVariesByTheLeastNumbersOnly) {
  for (const XStep step : {XStep::minmax, XStep::standardize}) {
    Dataset train = random_data(4, 2, 12);
    train.x.dense().matrix().col(1) << 0.0, 5e-324, 5e-324, 0.0;
    try {
      fit_pretreatment(train, {step}, YStep::raw);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("feature 2 (counted from 1)"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Pretreatment, NamesAColumnWhoseDifferencesOverflow) {
  for (const XStep step : {XStep::minmax, XStep::standardize}) {
    Dataset train = random_data(4, 2, 13);
    train.feature_names = {"a", "huge"};
    train.x.dense().matrix().col(1) << 1.7e308, -1.7e308, 0.0, 1.0;
    try {
      fit_pretreatment(train, {step}, YStep::raw);
      EXPECT_EQ(step, XStep::standardize);  // whose deviation is finite; the problem refuses what it divides
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("column \"huge\""), std::string::npos) << error.what();
    }
  }
}

TEST(Pretreatment, RefusesDataItWasNotFittedTo) {
  Dataset train = random_data(10, 3, 14);
  for (const XStep step : {XStep::standardize, XStep::center, XStep::minmax}) {
    Dataset fresh = random_data(10, 3, 14);
    const Pretreatment fitted = fit_pretreatment(fresh, {step}, YStep::raw);
    Dataset wide = random_data(2, 4, 15), narrow = random_data(2, 2, 15);
    EXPECT_THROW(fitted.apply(wide), InputError);
    EXPECT_THROW(fitted.apply(narrow), InputError);
    Dataset sparse = random_data(1, 3, 15);
    sparse.x = SparseDesign{.row_start = {0, 1}, .column = {0}, .value = {1.0}, .columns = 3};
    EXPECT_THROW(fitted.apply(sparse), InputError);
  }
  const Pretreatment filled = fit_pretreatment(train, {XStep::raw}, YStep::raw, true);
  Dataset narrow = random_data(2, 2, 15);
  EXPECT_THROW(filled.apply(narrow), InputError);
  Dataset short_of_targets = random_data(10, 3, 14);
  short_of_targets.y.conservativeResize(9);
  EXPECT_THROW(filled.apply(short_of_targets), InputError);
  EXPECT_THROW(fit_pretreatment(short_of_targets, {XStep::raw}, YStep::raw), InputError);
  Dataset empty = random_data(0, 3, 14);
  EXPECT_THROW(fit_pretreatment(empty, {XStep::standardize}, YStep::center), InputError);
}

}  // namespace
}  // namespace yosida
