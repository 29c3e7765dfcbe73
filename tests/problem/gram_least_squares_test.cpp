#include "problem/gram_least_squares.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/problem_case.hpp"
#include "support/random_split.hpp"
#include "support/threads_guard.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/problem/gradient_check.hpp"

namespace yosida {
namespace {

using test::random_matrix;
using test::random_vector;
using test::relative_error;

/// h by singular values of the centred rows in Eigen: nothing of the library.
class PlainRidge {
 public:
  PlainRidge(const Split& split, bool intercept) {
    Eigen::MatrixXd x = to_matrix(split.train.x);
    v_ = to_matrix(split.validation.x);
    Vector y = split.train.y;
    z_ = split.validation.y;
    n_ = static_cast<double>(x.rows());
    if (intercept) {
      const Eigen::RowVectorXd mean = x.colwise().mean();
      x.rowwise() -= mean;
      v_.rowwise() -= mean;
      const double shift = y.mean();
      y.array() -= shift;
      z_.array() -= shift;
    }
    svd_ = test::singular_values(x);
    right_ = svd_.u.transpose() * y;
  }
  Vector weights(double lambda) const {
    const auto s = svd_.s.array();
    return svd_.v * (s * right_.array() / (s.square() + 2.0 * std::exp(lambda) * n_)).matrix();
  }
  double h(double lambda) const {
    return 0.5 * (v_ * weights(lambda) - z_).squaredNorm() / static_cast<double>(z_.size());
  }

 private:
  Eigen::MatrixXd v_;
  Vector z_, right_;
  double n_ = 0.0;
  test::SingularValues svd_;
};

/// Rows whose singular values fall geometrically from 1 to 1/condition, with columns that have means.
Split with_condition(Index n, Index m, Index d, double condition, double noise, std::uint64_t seed) {
  Random random(seed);
  const Index rank = std::min(n, d);
  const auto orthonormal = [&](Index rows, Index cols) {
    const Eigen::MatrixXd a = random_matrix(rows, cols, random);
    return test::orthogonal_factors(a).q;
  };
  const Eigen::MatrixXd v = orthonormal(d, rank);
  const Vector s = Vector::NullaryExpr(rank, [&](Index i) {
    return std::pow(condition, -static_cast<double>(i) / static_cast<double>(std::max<Index>(rank - 1, 1)));
  });
  const Vector mean = random_vector(d, random);
  const Vector w = v * random_vector(rank, random);
  const auto part = [&](Index rows) {
    Matrix x = std::sqrt(static_cast<double>(rows)) * random_matrix(rows, rank, random) * s.asDiagonal() *
               v.transpose();
    Dataset data;
    data.y = x * w;
    data.y += noise * data.y.norm() / std::sqrt(static_cast<double>(rows)) * random_vector(rows, random);
    x.rowwise() += mean.transpose();
    data.x = Design(std::move(x));
    return data;
  };
  Split split;
  split.train = part(n);
  split.validation = part(m);
  return split;
}

std::shared_ptr<const LinearProblem> ridge(const Split& split, bool intercept) {
  return std::make_shared<const LinearProblem>(split, least_squares(), intercept);
}

TEST(GramLeastSquares, HasTheCurveOfPlainRidge) {
  for (const bool intercept : {true, false})
    for (const auto& [n, d] : {std::pair<Index, Index>{60, 12}, {30, 12}, {9, 40}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << d << ", intercept " << intercept);
      const Split split = with_condition(n, 50, d, 30.0, 0.2, 3);
      const auto direct = ridge(split, intercept);
      const auto made = GramLeastSquares::of(direct);
      ASSERT_NE(made, nullptr);
      const PlainRidge plain(split, intercept);
      std::vector<double> lambdas;
      for (double lambda = -24.0; lambda < 6.0; lambda += 1.7) lambdas.push_back(lambda);
      std::vector<CurvePoint> points(lambdas.size());
      made->closed_forms(lambdas, points);
      for (std::size_t i = 0; i < lambdas.size(); ++i) {
        const double lambda = lambdas[i];
        // Products square a condition of 30 (of 40 rows and 12 columns nearly 1e3): some 1e6 ε.
        EXPECT_LE(relative_error(points[i].value, plain.h(lambda)), 1e-9) << lambda;
        const double step = 1e-4;
        const double slope = (plain.h(lambda + step) - plain.h(lambda - step)) / (2.0 * step);
        EXPECT_NEAR(points[i].slope, slope, 1e-6 * plain.h(lambda)) << lambda;
        EXPECT_LE(relative_error(made->closed_form(lambda).value, points[i].value), 1e-12);
        Vector a = Vector::Zero(made->weights());
        made->inner_solve(Vector::Constant(1, lambda), {}, a);
        EXPECT_LE(relative_error(made->expand(a).head(d), plain.weights(lambda)), 1e-8) << lambda;
        EXPECT_LE(relative_error(made->validation_loss(a, Vector::Constant(1, lambda)), points[i].value),
                  1e-10);
        EXPECT_LE(relative_error(direct->validation_loss(made->expand(a), Vector::Constant(1, lambda)),
                                 points[i].value),
                  1e-9);
      }
    }
}

TEST(GramLeastSquares, HasTheDerivativesOfItsLosses) {
  for (const bool intercept : {true, false})
    for (const auto& [n, d] : {std::pair<Index, Index>{40, 9}, {9, 30}}) {
      const auto made = GramLeastSquares::of(ridge(with_condition(n, 20, d, 10.0, 0.3, 5), intercept));
      ASSERT_NE(made, nullptr);
      Random random(6);
      const Vector w = random_vector(made->weights(), random);
      for (const GradientCheck& check : check_gradients(*made, w, Vector::Constant(1, -2.0), 7))
        EXPECT_LE(check.error, 1e-6) << check.name << " " << n << " x " << d;
    }
}

// Curvatures near to each other: the weights of all λ lie in a space of few dimensions.
TEST(GramLeastSquares, IsSmallWhereRowsAreManyTimesWiderThanMany) {
  for (const bool intercept : {true, false}) {
    Random random(8);
    Split split;
    for (Dataset* part : {&split.train, &split.validation}) {
      part->x = Design(random_matrix(60, 20000, random));
      part->y = random_vector(60, random);
    }
    const auto direct = ridge(split, intercept);
    const auto made = GramLeastSquares::of(direct);
    ASSERT_NE(made, nullptr);
    EXPECT_LT(made->weights(), 20);
    const PlainRidge plain(split, intercept);
    for (const double lambda : {-30.0, 0.0, 4.0, 8.0, 12.0}) {
      EXPECT_LE(relative_error(made->closed_form(lambda).value, plain.h(lambda)), 1e-12) << lambda;
      Vector a = Vector::Zero(made->weights());
      made->inner_solve(Vector::Constant(1, lambda), {}, a);
      EXPECT_LE(relative_error(made->expand(a).head(20000), plain.weights(lambda)), 1e-11) << lambda;
    }
    for (const GradientCheck& check :
         check_gradients(*made, random_vector(made->weights(), random), Vector::Constant(1, 3.0), 7))
      EXPECT_LE(check.error, 1e-6) << check.name;
  }
}

// The form is refused or right, whatever the condition and the noise: never silently wrong.
TEST(GramLeastSquares, IsRefusedWhereProductsLoseDigits) {
  int taken = 0, refused = 0;
  for (const auto& [n, d] : {std::pair<Index, Index>{120, 24}, {20, 60}})
    for (const double noise : {0.3, 1e-3, 1e-8, 0.0})
      for (double condition = 1.0; condition <= 1e16; condition *= 10.0)
        for (const bool intercept : {true, false}) {
          const Split split = with_condition(n, 60, d, condition, noise, 11);
          const auto made = GramLeastSquares::of(ridge(split, intercept));
          ++(made ? taken : refused);
          if (!made) {
            EXPECT_GT(condition, n >= d && noise >= 1e-3 ? 1e3 : 0.5) << noise << ", " << n << " x " << d;
            continue;
          }
          const PlainRidge plain(split, intercept);
          for (double lambda = -40.0; lambda < 5.0; lambda += 0.9) {
            // Below 1e-12 of the largest curvature nothing is left to be told: h is that of this penalty.
            const double least = std::log(0.5e-12 * *made->traits().largest_curvature);
            EXPECT_LE(relative_error(made->closed_form(lambda).value, plain.h(std::max(lambda, least))), 1e-5)
                << lambda << ", condition " << condition << ", noise " << noise << ", " << n << " x " << d;
          }
        }
  EXPECT_GE(taken, 40);
  EXPECT_GE(refused, 100);
}

// Columns that are constant, repeated or sums of others have no curvature, and no weight of rounding.
TEST(GramLeastSquares, LeavesOutDirectionsWithoutRows) {
  Split split = with_condition(80, 40, 10, 5.0, 0.2, 2);
  for (Dataset* data : {&split.train, &split.validation}) {
    Matrix x = to_matrix(data->x);
    x.col(3).setConstant(7.0);
    x.col(5) = x.col(1);
    x.col(8) = x.col(0) + x.col(2);
    data->x = Design(std::move(x));
  }
  const auto made = GramLeastSquares::of(ridge(split, true));
  ASSERT_NE(made, nullptr);
  const PlainRidge plain(split, true);
  for (const double lambda : {-20.0, -10.0, -3.0, 0.0})
    EXPECT_LE(relative_error(made->closed_form(lambda).value, plain.h(lambda)), 1e-8) << lambda;
  EXPECT_GT((*made->least_curvatures())[0], 1e-4);
}

TEST(GramLeastSquares, IsTheSameForAnyNumberOfThreads) {
  for (const auto& [n, d] : {std::pair<Index, Index>{3000, 40}, {800, 600}, {40, 3000}}) {
    const Split split = with_condition(n, 300, d, 3.0, 0.2, 4);
    std::vector<CurvePoint> points;
    for (const int threads : {1, 2, 5}) {
      const test::ThreadsGuard guard(threads);
      points.push_back(GramLeastSquares::of(ridge(split, true))->closed_form(-2.5));
    }
    EXPECT_EQ(points[0].value, points[1].value);
    EXPECT_EQ(points[0].value, points[2].value);
    EXPECT_EQ(points[0].slope, points[1].slope);
    EXPECT_EQ(points[0].slope, points[2].slope);
  }
}

TEST(GramLeastSquares, IsMadeOfSparseRowsToo) {
  for (const auto& [n, d] : {std::pair<Index, Index>{200, 30}, {25, 60}}) {
    const Split split = test::random_split(n, 60, 0, d, 9, least_squares(), 0.3);
    ASSERT_TRUE(split.train.x.omits_zeros());
    for (const bool intercept : {true, false}) {
      const auto made = GramLeastSquares::of(ridge(split, intercept));
      ASSERT_NE(made, nullptr);
      const PlainRidge plain(split, intercept);
      for (const double lambda : {-12.0, -4.0, 0.0})
        EXPECT_LE(relative_error(made->closed_form(lambda).value, plain.h(lambda)), 1e-9) << lambda;
    }
  }
}

// Predictions need not be exact, but their order decides.
TEST(FormsOf, AreOrderedAsTheyAreInSeconds) {
  const auto first = [](Index n, Index m, Index d, double iterations, Coordinates coordinates) {
    Split split;
    const auto rows = [&](Index count) {
      Dataset data;
      data.x = Design(Matrix(Matrix::NullaryExpr(
          count, d, [](Index i, Index j) { return std::sin(static_cast<double>(i * 31 + j * 17 + 1)); })));
      data.y = Vector::LinSpaced(count, -1.0, 1.0);
      return data;
    };
    split.train = rows(n);
    split.validation = rows(m);
    return forms_of(*ridge(split, true), iterations, coordinates).front().form;
  };
  constexpr double kSearch = 250.0;  // gradients that a search over one λ takes
  EXPECT_EQ(first(50, 20, 10, kSearch, Coordinates::any), Form::factors);
  EXPECT_EQ(first(1000, 500, 600, kSearch, Coordinates::any), Form::direct);
  EXPECT_EQ(first(1000, 500, 600, 10.0 * kSearch, Coordinates::any), Form::products);
  EXPECT_EQ(first(150, 150, 20000, kSearch, Coordinates::any), Form::products);
  EXPECT_EQ(first(100000, 1000, 60, kSearch, Coordinates::any), Form::products);
  EXPECT_EQ(first(900, 500, 600, 10.0, Coordinates::row_space), Form::direct);
  EXPECT_EQ(first(60000, 1000, 20, 1e6, Coordinates::row_space), Form::factors);
  EXPECT_EQ(first(50, 20, 10, kSearch, Coordinates::features), Form::direct);
}

}  // namespace
}  // namespace yosida
