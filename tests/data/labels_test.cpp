#include "yosida/data/labels.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "linalg/factor.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

Dataset with_targets(std::initializer_list<double> y) {
  Dataset data;
  data.x = Design(Matrix::Ones(static_cast<Index>(y.size()), 2));
  data.y = Eigen::Map<const Vector>(y.begin(), static_cast<Index>(y.size()));
  data.source = "file";
  return data;
}

TEST(Labels, AnyTwoNumbersAreMappedTheSmallerToMinusOne) {
  Split split{with_targets({7, 3, 3}), with_targets({3, 7}), with_targets({7})};
  const Labels labels = find_labels(split.train, ClassCode::signs);
  split = map_labels(labels, ClassCode::signs, split);
  EXPECT_EQ(labels.negative(), 3.0);
  EXPECT_EQ(labels.positive(), 7.0);
  EXPECT_EQ(split.train.y, Vector(Eigen::Vector3d(1, -1, -1)));
  EXPECT_EQ(split.test->y, Vector::Ones(1));
}

TEST(Labels, SeveralClassesAreNumberedInRisingOrder) {
  Split split{with_targets({7, -1, 2.5, 7, -1, 2.5}), with_targets({2.5, 7}), with_targets({-1})};
  const Labels labels = find_labels(split.train, ClassCode::indices);
  EXPECT_EQ(labels.values, (std::vector<double>{-1, 2.5, 7}));
  split = map_labels(labels, ClassCode::indices, split);
  EXPECT_EQ(split.train.y.head(3), Eigen::Vector3d(2, 0, 1));
  EXPECT_EQ(split.validation.y, Vector(Eigen::Vector2d(1, 2)));
  EXPECT_EQ(split.test->y, Vector::Zero(1));
  EXPECT_THROW(find_labels(with_targets({0, 1, 2, 3}), ClassCode::indices), InputError);  // a number
  EXPECT_EQ(find_labels(with_targets({0, 1}), ClassCode::indices).classes(), 2);
}

TEST(Labels, OneClassThreeClassesAndStrangersAreRefused) {
  EXPECT_THROW(find_labels(with_targets({1, 1}), ClassCode::signs), InputError);
  EXPECT_THROW(find_labels(with_targets({0, 1, 2}), ClassCode::signs), InputError);
  const Labels labels = find_labels(with_targets({0, 1}), ClassCode::signs);
  const Split stranger{with_targets({0, 1}), with_targets({1, 5}), {}};
  EXPECT_THROW(std::ignore = map_labels(labels, ClassCode::signs, stranger), InputError);
  const Split lopsided{with_targets({0, 1}), with_targets({1, 1}), {}};
  EXPECT_THROW(std::ignore = map_labels(labels, ClassCode::signs, lopsided), InputError);
  EXPECT_THROW(require_varying_target(with_targets({4, 4, 4})), InputError);
}

TEST(AlignFeatures, MatchesColumnsByName) {
  Dataset data;
  data.x = Design((Matrix(1, 3) << 1, 2, 3).finished());
  data.feature_names = {"c", "a", "b"};
  data.source = "new.csv";
  Dataset extra = data;
  align_features(data, {"a", "b", "c"}, 3, "train.csv", false);
  EXPECT_EQ(Matrix(to_matrix(data.x)), (Matrix(1, 3) << 2, 3, 1).finished());
  align_features(extra, {"a", "b"}, 2, "the model", true);
  EXPECT_EQ(Matrix(to_matrix(extra.x)), (Matrix(1, 2) << 2, 3).finished());
  EXPECT_THROW(align_features(data, {"a", "z", "c"}, 3, "train.csv", false), InputError);
  EXPECT_THROW(align_features(data, {"a", "b"}, 2, "train.csv", false), InputError);
}

TEST(AlignFeatures, RefusesNamesThatSeveralColumnsHave) {
  Dataset data;
  data.x = Design((Matrix(1, 3) << 1, 2, 3).finished());
  data.feature_names = {"b", "a", "a"};
  data.source = "new.csv";
  EXPECT_THROW(align_features(data, {"a", "b"}, 2, "the model", true), InputError);
  data.feature_names = {"b", "c", "a"};
  EXPECT_THROW(align_features(data, {"a", "a", "b"}, 3, "the model", true), InputError);
  data.feature_names = {"b", "c", "c"};  // nobody asks for these
  align_features(data, {"b"}, 1, "the model", true);
  EXPECT_EQ(to_matrix(data.x)(0, 0), 1.0);
}

TEST(AlignFeatures, WithoutNamesTheCountMustAgreeAndSparseIsWidened) {
  Dataset data;
  data.x = Design(Matrix::Ones(1, 3));
  EXPECT_THROW(align_features(data, {}, 4, "train.npy", false), InputError);
  SparseRows sparse;
  sparse.columns = 3;
  data.x = sparse;
  align_features(data, {}, 5, "train.libsvm", false);
  EXPECT_EQ(data.features(), 5);
  EXPECT_THROW(align_features(data, {}, 4, "train.libsvm", false), InputError);
}

TEST(Spectra, IsWhatItSaysAndIllConditioned) {
  const Split split = built_in("spectra", 0);
  EXPECT_EQ(split.train.rows(), 34);
  EXPECT_EQ(split.validation.rows(), 17);
  EXPECT_EQ(split.test->rows(), 19);
  EXPECT_EQ(split.train.features(), 699);
  EXPECT_EQ(split.train.y, built_in("spectra", 0).train.y);
  EXPECT_NE(split.train.y, built_in("spectra", 1).train.y);
  Matrix x = to_matrix(split.train.x);
  x.rowwise() -= x.colwise().mean().eval();
  const Vector s = svd(x, false).s;
  EXPECT_GT(s[0] / s[32], 1e2);  // of what 34 centred rows span; squared in every gradient
  EXPECT_GT(s.head(7).squaredNorm() / s.squaredNorm(), 0.999);  // seven causes explain nearly all
  EXPECT_THROW(built_in("tecator", 0), InputError);
}

TEST(Labels, NeedATarget) {
  Dataset data;
  data.x = Design(Matrix::Ones(2, 1));
  EXPECT_THROW(find_labels(data, ClassCode::signs), InputError);
  EXPECT_THROW(require_varying_target(data), InputError);
}

TEST(AlignFeatures, RefusesNamesThatAreNotOnePerColumn) {
  Dataset data;
  data.x = Design(Matrix::Ones(1, 3));
  data.feature_names = {"a", "b"};
  EXPECT_THROW(align_features(data, {"b", "a"}, 2, "train.csv", false), InputError);
  data.feature_names = {"a", "b", "c"};
  EXPECT_THROW(align_features(data, {"b", "a"}, 3, "train.csv", true), InputError);
  data.x = SparseRows{.row_start = {0, 2}, .column = {0, 2}, .value = {5.0, 7.0}, .columns = 3};
  align_features(data, {"c", "b", "a"}, 3, "train.libsvm", false);
  EXPECT_TRUE(data.x.omits_zeros());
  EXPECT_EQ(to_matrix(data.x), (Matrix(1, 3) << 7.0, 0.0, 5.0).finished());
}

}  // namespace
}  // namespace yosida
