#include "yosida/data/pretreatment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "yosida/data/split.hpp"
#include "yosida/error.hpp"
#include "yosida/random.hpp"

namespace yosida {
namespace {

Dataset random_data(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Dataset data;
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = 3.0 * static_cast<double>(j) + random.normal();
  data.x = Design(x);
  data.y.resize(rows);
  for (double& value : data.y) value = 5.0 + 2.0 * random.normal();
  data.source = "random";
  return data;
}

Matrix values(const Dataset& data) { return to_matrix(data.x); }

/// The data with its features changed by `change`.
Dataset with(Dataset data, const std::function<void(Matrix&)>& change) {
  Matrix x = values(data);
  change(x);
  data.x = Design(x);
  return data;
}

/// The data pretreated by what is fitted to it.
Dataset treated(const Dataset& train, const std::vector<XStep>& steps, YStep y_step = YStep::raw) {
  return fit_pretreatment(train, steps, y_step).apply(train);
}

TEST(Pretreatment, StandardizeMakesMeanZeroAndVarianceOneOnTrainingRowsOnly) {
  Dataset train = random_data(40, 4, 1);
  Dataset other = random_data(10, 4, 2);
  const Matrix raw_train = values(train);
  const Matrix raw_other = values(other);
  const Pretreatment fitted = fit_pretreatment(train, {XStep::standardize}, YStep::center);
  train = fitted.apply(train);
  other = fitted.apply(other);
  const Eigen::RowVectorXd mean = raw_train.colwise().mean();
  const Eigen::RowVectorXd deviation = (raw_train.rowwise() - mean).array().square().colwise().mean().sqrt();
  EXPECT_LT((values(train).colwise().mean()).norm(), 1e-13);
  const Matrix expected = (raw_other.rowwise() - mean).array().rowwise() / deviation.array();
  EXPECT_LT((values(other) - expected).norm(), 1e-12);
  EXPECT_NEAR(train.y.mean(), 0.0, 1e-14);
}

TEST(Pretreatment, MinMaxMapsTheTrainingRangeToTheUnitInterval) {
  const Dataset train = treated(random_data(30, 3, 3), {XStep::minmax}, YStep::standardize);
  EXPECT_EQ(values(train).colwise().minCoeff(), Eigen::RowVectorXd::Zero(3));
  EXPECT_EQ(values(train).colwise().maxCoeff(), Eigen::RowVectorXd::Ones(3));
  EXPECT_NEAR(train.y.squaredNorm(), 30.0, 1e-12);
}

TEST(Pretreatment, DifferencesHaveOneColumnFewerAndChainWithOthers) {
  Dataset train = random_data(12, 5, 4);
  train.feature_names = {"a", "b", "c", "d", "e"};
  const Matrix raw = values(train);
  const Dataset copy = treated(train, {XStep::difference});
  EXPECT_EQ(values(copy), Matrix(raw.rightCols(4) - raw.leftCols(4)));
  EXPECT_EQ(copy.feature_names, (std::vector<std::string>{"b - a", "c - b", "d - c", "e - d"}));
  train = treated(train, {XStep::difference, XStep::minmax});
  EXPECT_EQ(train.features(), 4);
  EXPECT_EQ(values(train).maxCoeff(), 1.0);
}

TEST(Pretreatment, AConstantColumnIsDividedByOne) {
  for (const XStep step : {XStep::standardize, XStep::minmax}) {
    // Many rows: the rounding of a plain sum would show. 0.1 is not exact in binary: its deviation is
    // rounding.
    const Dataset train = with(random_data(100000, 2, 5), [](Matrix& x) { x.col(1).setConstant(0.1); });
    const Pretreatment fitted = fit_pretreatment(train, {step}, YStep::raw);
    EXPECT_EQ(fitted.x[0].scale[1], 1.0);
    EXPECT_TRUE(values(fitted.apply(train)).col(1).isZero(1e-15));
  }
}

TEST(Pretreatment, SparseStandardizeScalesByTheSameDeviationWithoutCentring) {
  // x = [1 0; 0 0; 3 2]: column means 4/3, 2/3; population deviations √(14/9), √(8/9)
  SparseRows x;
  x.columns = 2;
  x.row_start = {0, 1, 1, 3};
  x.column = {0, 0, 1};
  x.value = {1.0, 3.0, 2.0};
  Dataset train;
  train.x = x;
  train.y = Eigen::Vector3d(1, 2, 3);
  const Dataset scaled = treated(train, {XStep::standardize});
  EXPECT_TRUE(scaled.x.omits_zeros());
  EXPECT_NEAR(values(scaled)(0, 0), 1.0 / std::sqrt(14.0 / 9.0), 1e-15);
  EXPECT_NEAR(values(scaled)(2, 1), 2.0 / std::sqrt(8.0 / 9.0), 1e-15);
  EXPECT_EQ(values(scaled)(1, 0), 0.0);
  EXPECT_THROW(std::ignore = fit_pretreatment(train, {XStep::difference}, YStep::raw), InputError);
}

TEST(Pretreatment, MissingValuesGetTheTrainingMean) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Dataset train = with(random_data(4, 2, 6), [&](Matrix& x) { x << 1, 2, nan, 4, 3, nan, 5, 6; });
  const Dataset other = with(random_data(1, 2, 7), [&](Matrix& x) { x << nan, nan; });
  const Pretreatment fitted = fit_pretreatment(train, {XStep::raw}, YStep::raw, true);
  EXPECT_EQ(values(fitted.apply(train)).row(1)[0], 3.0);
  EXPECT_EQ(values(fitted.apply(train)).row(2)[1], 4.0);
  EXPECT_EQ(values(fitted.apply(other)), (Matrix(1, 2) << 3.0, 4.0).finished());
  const Dataset without = with(train, [&](Matrix& x) { x.col(0).setConstant(nan); });
  EXPECT_THROW(std::ignore = fit_pretreatment(without, {XStep::raw}, YStep::raw, true), InputError);
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
  result.x = Design(x);
  return result;
}

TEST(Pretreatment, OfAnyMagnitudeIsThatOfRescaledData) {
  const Dataset plain = random_data(200, 4, 8);
  const Dataset plain_other = random_data(20, 4, 9);
  std::vector<std::function<double(Index)>> scalings = {[](Index j) { return kMixture[j]; }};
  for (const double scale : kScales) scalings.emplace_back([scale](Index) { return scale; });
  for (const XStep step : {XStep::standardize, XStep::minmax})
    for (const auto& scaling : scalings) {
      const Dataset train = scaled(plain, scaling), other = scaled(plain_other, scaling);
      const Pretreatment fitted = fit_pretreatment(train, {step}, YStep::raw);
      const Pretreatment expected = fit_pretreatment(plain, {step}, YStep::raw);
      const auto differ = [&](const Dataset& found, const Dataset& wanted) {
        return (values(fitted.apply(found)) - values(expected.apply(wanted))).cwiseAbs().maxCoeff();
      };
      EXPECT_LT(differ(train, plain), kRounding) << scaling(0);
      EXPECT_LT(differ(other, plain_other), kRounding) << scaling(0);
    }
}

TEST(Pretreatment, CentersAndDifferencesOfAnyMagnitudeAreThoseOfRescaledData) {
  const Dataset plain = random_data(200, 4, 8);
  for (const std::vector<XStep>& steps :
       {std::vector<XStep>{XStep::center}, {XStep::difference}, {XStep::difference, XStep::standardize}})
    for (const double scale : kScales) {
      const Dataset train = treated(scaled(plain, [&](Index) { return scale; }), steps);
      const Dataset expected = treated(plain, steps);
      const double back = steps.back() == XStep::standardize ? 1.0 : scale;
      EXPECT_LT((values(train) / back - values(expected)).cwiseAbs().maxCoeff(), kRounding) << scale;
    }
}

TEST(Pretreatment, TargetsOfAnyMagnitudeAreStandardised) {
  const Vector y = random_data(200, 2, 10).y;
  const Dataset plain = treated(random_data(200, 2, 10), {XStep::raw}, YStep::standardize);
  for (const double scale : kScales) {
    Dataset train = random_data(200, 2, 10);
    train.y = scale * y;
    const Pretreatment fitted = fit_pretreatment(train, {XStep::raw}, YStep::standardize);
    train = fitted.apply(train);
    EXPECT_LT((train.y - plain.y).cwiseAbs().maxCoeff(), kRounding) << scale;
    EXPECT_LT((train.y * fitted.y_scale / scale + Vector::Constant(200, fitted.y_shift / scale) - y).norm(),
              1e-12);
  }
}

TEST(Pretreatment, SparseColumnsOfAnyMagnitudeAreScaled) {
  const auto standardised = [](double scale) {
    SparseRows x;
    x.columns = 2;
    x.row_start = {0, 1, 1, 3};
    x.column = {0, 0, 1};
    x.value = {1.0 * scale, 3.0 * scale, 2.0 / scale};
    Dataset train;
    train.x = x;
    train.y = Eigen::Vector3d(1, 2, 3);
    return values(treated(train, {XStep::standardize}));
  };
  const Matrix expected = standardised(1.0);
  for (const double scale : kScales)
    EXPECT_LT((standardised(scale) - expected).cwiseAbs().maxCoeff(), kRounding) << scale;
}

TEST(Pretreatment, NamesTheColumnThatHasMissingValues) {
  Dataset train = with(random_data(20, 3, 5), [](Matrix& x) { x(3, 1) = x(6, 1) = std::nan(""); });
  train.feature_names = {"a", "b", "c"};
  for (const XStep step : {XStep::standardize, XStep::center}) {
    try {
      std::ignore = fit_pretreatment(train, {step}, YStep::raw, false);
      ADD_FAILURE() << to_string(step);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("column \"b\" has no value (NaN) in 2 of 20 rows"),
                std::string::npos)
          << error.what();
    }
  }
}

// 2000 numbers of 1e307 overflow when they are summed, and so do their squares.
TEST(Pretreatment, MeansOfTheLargestNumbersDoNotOverflow) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Dataset train = with(random_data(2000, 2, 11), [&](Matrix& x) {
    x.col(0).setConstant(1e307);
    x(7, 0) = nan;
    x(8, 0) = 3e307;
  });
  train.y.setConstant(1e307);
  train.y[0] = -1e307;
  const Pretreatment fitted = fit_pretreatment(train, {XStep::standardize}, YStep::standardize, true);
  EXPECT_NEAR(fitted.missing_fill[0] / 1e307, (1998 + 3) / 1999.0, 1e-13);
  EXPECT_NEAR(fitted.x[0].shift[0] / 1e307, (1998 + 3) / 1999.0, 1e-13);
  EXPECT_NEAR(fitted.y_shift / 1e307, 1998 / 2000.0, 1e-13);
  train = fitted.apply(train);
  EXPECT_TRUE(values(train).allFinite());
  EXPECT_NEAR(train.y.squaredNorm(), 2000.0, 1e-9);
}

// Their deviation has few digits, or none.
TEST(Pretreatment, NamesAColumnThatVariesByTheLeastNumbersOnly) {
  for (const XStep step : {XStep::minmax, XStep::standardize}) {
    const Dataset train =
        with(random_data(4, 2, 12), [](Matrix& x) { x.col(1) << 0.0, 5e-324, 5e-324, 0.0; });
    try {
      std::ignore = fit_pretreatment(train, {step}, YStep::raw);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("feature 2 (counted from 1)"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Pretreatment, NamesAColumnWhoseDifferencesOverflow) {
  for (const XStep step : {XStep::minmax, XStep::standardize}) {
    Dataset train = with(random_data(4, 2, 13), [](Matrix& x) { x.col(1) << 1.7e308, -1.7e308, 0.0, 1.0; });
    train.feature_names = {"a", "huge"};
    try {
      std::ignore = fit_pretreatment(train, {step}, YStep::raw);
      EXPECT_EQ(step, XStep::standardize);  // whose deviation is finite; the problem refuses what it divides
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("column \"huge\""), std::string::npos) << error.what();
    }
  }
}

TEST(Pretreatment, RefusesDataItWasNotFittedTo) {
  Dataset train = random_data(10, 3, 14);
  for (const XStep step : {XStep::standardize, XStep::center}) {
    Dataset fresh = random_data(10, 3, 14);
    const Pretreatment fitted = fit_pretreatment(fresh, {step}, YStep::raw);
    Dataset wide = random_data(2, 4, 15), narrow = random_data(2, 2, 15);
    EXPECT_THROW(std::ignore = fitted.apply(wide), InputError);
    EXPECT_THROW(std::ignore = fitted.apply(narrow), InputError);
  }
  const Pretreatment filled = fit_pretreatment(train, {XStep::raw}, YStep::raw, true);
  Dataset narrow = random_data(2, 2, 15);
  EXPECT_THROW(std::ignore = filled.apply(narrow), InputError);
  Dataset short_of_targets = random_data(10, 3, 14);
  short_of_targets.y.conservativeResize(9);
  EXPECT_THROW(std::ignore = filled.apply(short_of_targets), InputError);
  EXPECT_THROW(std::ignore = fit_pretreatment(short_of_targets, {XStep::raw}, YStep::raw), InputError);
  Dataset empty = random_data(0, 3, 14);
  EXPECT_THROW(std::ignore = fit_pretreatment(empty, {XStep::standardize}, YStep::center), InputError);
}

/// Few values, many zeros, and a column (the last) that has a value in every row.
Dataset sparse_data(Index rows, std::uint64_t seed, double last_mean = 2.0) {
  Random random(seed);
  SparseRows x;
  x.columns = 4;
  Dataset data;
  data.y.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < 4; ++j) {
      if (j < 3 && random.uniform() < 0.6) continue;
      x.column.push_back(j);
      x.value.push_back((j == 3 ? last_mean : 1.0) + random.normal());
    }
    x.row_start.push_back(static_cast<std::int64_t>(x.value.size()));
    data.y[i] = random.normal();
  }
  data.x = x;
  data.source = "sparse";
  return data;
}

const std::vector<XStep> kOfSparse[] = {{XStep::raw},
                                        {XStep::center},
                                        {XStep::minmax},
                                        {XStep::center, XStep::standardize},
                                        {XStep::minmax, XStep::center, XStep::standardize}};

// Zeros that are not stored move with the others, and yet are not stored.
TEST(Pretreatment, SparseRowsAreThoseOfTheSameDenseData) {
  const Dataset sparse = sparse_data(40, 16), other = sparse_data(9, 17);
  for (const auto& steps : kOfSparse) {
    Dataset dense = sparse;
    dense.x = Design(values(sparse));
    const Pretreatment fitted = fit_pretreatment(sparse, steps, YStep::raw);
    const Pretreatment expected = fit_pretreatment(dense, steps, YStep::raw);
    for (const Dataset& data : {sparse, other}) {
      const Dataset found = fitted.apply(data);
      EXPECT_TRUE(found.x.omits_zeros());
      EXPECT_EQ(found.x.product_flops(), data.x.product_flops());
      EXPECT_LT((values(found) - values(expected.apply(data))).cwiseAbs().maxCoeff(), 1e-14);
      EXPECT_LT((to_matrix(found.x.packed()) - values(expected.apply(data))).cwiseAbs().maxCoeff(), 1e-14)
          << "a packed copy";
    }
  }
}

// Standardising a sparse design leaves zeros; after centring there is nothing left to take out.
TEST(Pretreatment, CenterThenStandardizeOfSparseRowsIsStandardizeOfDenseOnes) {
  const Dataset sparse = sparse_data(50, 18);
  Dataset dense = sparse;
  dense.x = Design(values(sparse));
  const Matrix expected = values(treated(dense, {XStep::standardize}));
  EXPECT_LT((values(treated(sparse, {XStep::center, XStep::standardize})) - expected).cwiseAbs().maxCoeff(),
            1e-14);
}

// Products of a view add up numbers before the shift and subtract it after: with a mean of 1e6 deviations
// they would keep ten digits. Copies keep all, and are made for no other reason.
TEST(Pretreatment, CopiesWhereAViewWouldLoseDigits) {
  for (const XStep step : {XStep::center, XStep::standardize, XStep::minmax})
    for (const double mean : {0.0, 30.0, 1e6}) {
      const Dataset train = with(random_data(300, 3, 19), [&](Matrix& x) { x.col(1).array() += mean; });
      const Pretreatment fitted = fit_pretreatment(train, {step}, YStep::raw);
      EXPECT_EQ(fitted.needs_copy, mean > 1e3) << to_string(step);
      const Design x = fitted.apply(train).x;
      Vector w(3), m(300);
      w << 1.0, -2.0, 0.5;
      x.multiply(as_span(w), as_span(m));
      EXPECT_LT((m - to_matrix(x) * w).cwiseAbs().maxCoeff(), 1e-12) << to_string(step) << mean;
    }
  // A column of ones, of which centring leaves nothing: exactly nothing.
  const Dataset ones = with(random_data(300, 3, 20), [](Matrix& x) { x.col(1).setOnes(); });
  const Design x = treated(ones, {XStep::standardize}).x;
  Vector w = Vector::Unit(3, 1), m(300);
  x.multiply(as_span(w), as_span(m));
  EXPECT_TRUE(m.isZero(0.0));
  // Scales alone lose nothing.
  EXPECT_FALSE(fit_pretreatment(sparse_data(300, 21, 1e9), {XStep::standardize}, YStep::raw).needs_copy);
  // A sparse copy has the columns without zeros done, and stays sparse.
  const Dataset sparse = sparse_data(300, 22, 1e9);
  const Pretreatment centred = fit_pretreatment(sparse, {XStep::center}, YStep::raw);
  EXPECT_TRUE(centred.needs_copy);
  const Design copy = centred.apply(sparse).x;
  EXPECT_TRUE(copy.omits_zeros());
  const Vector v = Vector::Unit(4, 3);
  copy.multiply(as_span(v), as_span(m));
  EXPECT_LT((m - to_matrix(copy).col(3)).cwiseAbs().maxCoeff(), 1e-15);
}

/// Each row as often as its weight says, in place of the weights.
Dataset repeated(const Dataset& data) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i)
    rows.insert(rows.end(), static_cast<std::size_t>(data.weight[i]), i);
  Dataset result = select_rows(data, rows);
  result.weight.resize(0);
  return result;
}

// Rounding alone differs: 300 rows of numbers near 1.
TEST(Pretreatment, AWeightCountsAsSoManyRows) {
  for (const bool sparse : {false, true}) {
    Dataset data = sparse ? sparse_data(100, 5) : random_data(100, 5, 3);
    data.weight.resize(100);
    for (Index i = 0; i < 100; ++i) data.weight[i] = static_cast<double>(i % 4);
    const Dataset often = repeated(data);
    for (const std::vector<XStep>& steps : {std::vector{XStep::standardize}, std::vector{XStep::center},
                                            std::vector{XStep::center, XStep::standardize}}) {
      const Pretreatment weighted = fit_pretreatment(data, steps, YStep::standardize);
      const Pretreatment plain = fit_pretreatment(often, steps, YStep::standardize);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_LT((weighted.x[i].shift - plain.x[i].shift).norm(), 1e-13);
        EXPECT_LT((weighted.x[i].scale - plain.x[i].scale).norm(), 1e-13);
      }
      EXPECT_NEAR(weighted.y_shift, plain.y_shift, 1e-13);
      EXPECT_NEAR(weighted.y_scale, plain.y_scale, 1e-13);
    }
  }
  Dataset holey = with(random_data(100, 2, 4), [](Matrix& x) { x(3, 1) = x(6, 0) = std::nan(""); });
  holey.weight = Vector::Constant(100, 1.0);
  holey.weight[7] = 5.0;
  const Vector fill = fit_pretreatment(holey, {XStep::raw}, YStep::raw, true).missing_fill;
  EXPECT_LT((fill - fit_pretreatment(repeated(holey), {XStep::raw}, YStep::raw, true).missing_fill).norm(),
            1e-13);
}

}  // namespace
}  // namespace yosida
