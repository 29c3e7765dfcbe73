#include "yosida/problem/linear_problem.hpp"

#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/collapse.hpp"

namespace yosida {
namespace {

using test::random_split;
using test::random_vector;
using test::relative_error;

std::string refusal(const Split& split, const Loss& loss) {
  try {
    const LinearProblem problem(split, loss, false);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LinearProblem, SaysWhatIsWrongWithItsData) {
  const Split good = random_split(6, 4, 3, 2, 1, least_squares());
  Split bad = good;
  bad.validation = random_split(6, 4, 3, 3, 1, least_squares()).validation;
  EXPECT_EQ(
      refusal(bad, least_squares()),
      "validation rows (random validation): 3 features, the training rows have 2; they must be the same");
  bad = good;
  bad.test->y.resize(2);
  EXPECT_EQ(refusal(bad, least_squares()),
            "test rows (random test): 3 rows but 2 targets; each row needs one");
  bad = good;
  bad.train.x = Design(Matrix(0, 2));
  bad.train.y.resize(0);
  EXPECT_EQ(refusal(bad, least_squares()),
            "training rows (random train): there are none; at least 1 is needed");
  EXPECT_EQ(refusal(good, logistic()),
            "training rows (random train): targets must be −1 or +1 for a logistic problem");
  EXPECT_EQ(refusal(good, least_squares()), "accepted");
}

// Wherever it stands: among the targets or the features, first or last, of a dense or a sparse design.
TEST(LinearProblem, RefusesNumbersThatAreNotFiniteOrTooLargeToSquare) {
  for (const double density : {1.0, 0.5})
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e200})
      for (const bool in_targets : {false, true})
        for (const bool first : {true, false}) {
          Split split = random_split(6, 4, 3, 2, 1, least_squares(), density);
          Dataset& data = split.validation;
          if (in_targets) {
            data.y[first ? 0 : data.y.size() - 1] = bad;
          } else {
            Matrix x = to_matrix(data.x);
            x(first ? 0 : x.rows() - 1, first ? 0 : x.cols() - 1) = bad;
            data.x = density < 1.0 ? Design(test::sparse_of(x)) : Design(x);
          }
          const char* const words = std::isnan(bad) && !in_targets ? "has no value (NaN)" : "not finite";
          EXPECT_NE(refusal(split, least_squares()).find(words), std::string::npos)
              << bad << (density < 1.0 ? ", sparse" : ", dense") << (in_targets ? ", target" : ", feature")
              << (first ? ", first" : ", last");
        }
}

TEST(LinearProblem, RefusesDataWithoutFeatures) {
  Split bad;
  bad.train.x = Design(Matrix(3, 0));
  bad.train.y = Vector::Ones(3);
  bad.train.source = "empty.csv";
  EXPECT_EQ(refusal(bad, least_squares()), "training rows (empty.csv): no features");
}

TEST(LinearProblem, HasNoTestLossWithoutTestRows) {
  const LinearProblem problem(random_split(6, 4, 0, 2, 1, least_squares()), least_squares(), false);
  EXPECT_FALSE(problem.losses(Vector::Zero(2), test::lambda_of(0.0)).test.has_value());
}

TEST(Margins, AreProductsPlusTheIntercept) {
  Random random(2);
  const Dataset data = random_split(9, 4, 0, 3, 2, least_squares()).train;
  const Vector w = random_vector(4, random);
  const Vector expected = (test::matrix_of(data.x) * w.head(3)).array() + w[3];
  EXPECT_LE(relative_error(margins(data, true, w), expected), 1e-14);
  EXPECT_LE(relative_error(mean_loss(data, least_squares(), true, w),
                           0.5 * (data.y - expected).squaredNorm() / 9.0),
            1e-14);
}

TEST(CollapseIfCheaper, CollapsesOnlyWhatIsQuadraticAndPays) {
  const Coordinates rows = Coordinates::row_space;
  const auto ridge =
      std::make_shared<LinearProblem>(test::smooth_split(34, 17, 0, 699, 1), least_squares(), false);
  EXPECT_NE(dynamic_cast<const CollapsedLeastSquares*>(in_cheapest_form(ridge, 2500, rows).get()), nullptr);
  // A fraction of a second is always worth an exact answer; more must pay for itself.
  EXPECT_NE(dynamic_cast<const CollapsedLeastSquares*>(in_cheapest_form(ridge, 1, rows).get()), nullptr);
  const auto large =
      std::make_shared<LinearProblem>(test::smooth_split(600, 17, 0, 699, 1), least_squares(), false);
  EXPECT_EQ(in_cheapest_form(large, 1, rows), large);
  const auto logit =
      std::make_shared<LinearProblem>(random_split(9, 5, 0, 40, 1, logistic()), logistic(), false);
  EXPECT_EQ(in_cheapest_form(logit, 1e9, rows), logit);
}

/// A small problem in the basis of its rows, and the same as it is.
struct RotatedCase {
  std::shared_ptr<const LinearProblem> direct;
  std::shared_ptr<const BilevelProblem> rotated;

  RotatedCase(const Split& split, const Loss& loss, bool intercept)
      : direct(std::make_shared<LinearProblem>(split, loss, intercept)),
        rotated(in_cheapest_form(direct, 1.0, Coordinates::any)) {}
};

// Where only solves are asked for, other losses are rotated: the same w*(λ), h(λ) and its slope, in no more
// coordinates than the rows span.
TEST(CollapseIfCheaper, RotatesSmallProblemsOfOtherLosses) {
  const SharedLoss three = softmax(3);
  for (const Loss* loss : {&logistic(), &*three, &squared_hinge(), &poisson()})
    for (const bool intercept : {false, true})
      for (const auto& [n, d] : {std::pair<Index, Index>{12, 40}, {60, 9}}) {
        SCOPED_TRACE(testing::Message() << loss->name() << " " << n << " x " << d << ", " << intercept);
        Split split = random_split(n, 17, 5, d, 3, *loss);
        split.train.weight = Vector::LinSpaced(n, 0.5, 1.5);
        const RotatedCase made(split, *loss, intercept);
        ASSERT_NE(made.rotated, made.direct);
        const Index outputs = loss->outputs();
        EXPECT_LE(made.rotated->weights(), (std::min(n, d) + (intercept ? 1 : 0)) * outputs);
        EXPECT_GT(made.rotated->traits().setup_work, 0.0);
        const Vector lambda = test::lambda_of(-4.0);
        Vector a = Vector::Zero(made.rotated->weights());
        Vector w = Vector::Zero(made.direct->weights());
        ASSERT_TRUE(made.rotated->inner_solve(lambda, {}, a).converged);
        ASSERT_TRUE(made.direct->inner_solve(lambda, {}, w).converged);
        EXPECT_LE(relative_error(made.rotated->expand(a), w), 1e-7);
        EXPECT_LE(relative_error(made.rotated->train_loss(a, lambda), made.direct->train_loss(w, lambda)),
                  1e-12);
        EXPECT_LE(
            relative_error(made.rotated->validation_loss(a, lambda), made.direct->validation_loss(w, lambda)),
            1e-8);
        EXPECT_LE(relative_error(*made.rotated->losses(a, lambda).test, *made.direct->losses(w, lambda).test),
                  1e-8);
        const auto slope = [&](const BilevelProblem& problem, const Vector& at) {
          Vector g(problem.weights());
          Vector q = Vector::Zero(problem.weights());
          problem.validation_gradient(at, lambda, g);
          problem.hessian_solve(at, lambda, g, {}, q);
          Vector result(1);
          problem.cross_product_transposed(at, lambda, q, result);
          return result[0];
        };
        EXPECT_LE(relative_error(slope(*made.rotated, a), slope(*made.direct, w)), 1e-6);
      }
}

// Few rows of many columns, whose products with each other are all that is factored.
TEST(CollapseIfCheaper, RotatesWideProblemsByTheProductsOfTheirRows) {
  const SharedLoss three = softmax(3);
  constexpr Index n = 100, d = 20000;
  for (const Loss* loss : {&logistic(), &*three})
    for (const bool intercept : {false, true}) {
      SCOPED_TRACE(testing::Message() << loss->name() << ", " << intercept);
      Split split = random_split(n, 40, 5, d, 3, *loss, 0.01);
      split.train.weight = Vector::LinSpaced(n, 0.5, 1.5);
      const auto direct = std::make_shared<LinearProblem>(split, *loss, intercept);
      const auto rotated = in_cheapest_form(direct, 250.0, Coordinates::any);
      ASSERT_NE(rotated, direct);
      EXPECT_LE(rotated->weights(), (n + 1) * loss->outputs());
      EXPECT_GT(rotated->traits().setup_work, 0.0);
      for (const double level : {-2.0, -9.0}) {
        const Vector lambda = test::lambda_of(level);
        Vector a = Vector::Zero(rotated->weights());
        Vector w = Vector::Zero(direct->weights());
        ASSERT_TRUE(rotated->inner_solve(lambda, {}, a).converged);
        ASSERT_TRUE(direct->inner_solve(lambda, {}, w).converged);
        // What inner solves leave of the gradient, over the least curvature.
        EXPECT_LE(relative_error(rotated->expand(a), w), 1e-5);
        EXPECT_LE(relative_error(rotated->validation_loss(a, lambda), direct->validation_loss(w, lambda)),
                  1e-7);
        // The same weights have the same losses in both.
        const Vector full = rotated->expand(a);
        EXPECT_LE(relative_error(rotated->train_loss(a, lambda), direct->train_loss(full, lambda)), 1e-12);
        EXPECT_LE(relative_error(rotated->validation_loss(a, lambda), direct->validation_loss(full, lambda)),
                  1e-12);
        EXPECT_EQ(*rotated->losses(a, lambda).test, *direct->losses(full, lambda).test);
      }
    }
}

// Rows that repeat each other leave a direction less; rows that nearly do, one that products have lost.
TEST(CollapseIfCheaper, RotatesNoWideProblemWhoseProductsLoseDigits) {
  for (const double difference : {0.0, 1e-5, 0.1}) {
    Split split = random_split(100, 40, 0, 20000, 3, logistic(), 0.01);
    Matrix x = to_matrix(split.train.x);
    x.row(7) = x.row(8) + difference * x.row(9).reverse();  // reversed, so that no row is a sum of others
    split.train.x = Design(x);
    const auto direct = std::make_shared<LinearProblem>(split, logistic(), false);
    const auto rotated = in_form(direct, Form::rotated);
    ASSERT_EQ(rotated == nullptr, difference == 1e-5);
    if (rotated) {
      EXPECT_EQ(rotated->weights(), difference == 0.0 ? 99 : 100);
    }
    EXPECT_EQ(in_cheapest_form(direct, 1e4, Coordinates::any) == direct, difference == 1e-5);
  }
}

// Columns that nearly repeat each other: the penalty decides on singular values of 1e-9 of the largest, which
// the products of a Hessian have lost. What the rotated problem holds is held against h in closed form.
TEST(CollapseIfCheaper, KeepsWhatSmallPenaltiesDecideOn) {
  Split split = random_split(40, 30, 0, 6, 5, least_squares());
  Random random(6);
  const auto repeat = [&](Dataset& data) {
    Matrix x = to_matrix(data.x);
    x.col(5) = x.col(0) + 1e-9 * random_vector(x.rows(), random);
    data.x = Design(x);
  };
  repeat(split.train);
  repeat(split.validation);
  const auto exact = std::make_shared<LinearProblem>(split, least_squares(), false);
  const CollapsedLeastSquares closed(exact);
  split.train.weight = Vector::Ones(40);  // so that it is not collapsed but rotated
  const RotatedCase made(split, least_squares(), false);
  ASSERT_NE(made.rotated, made.direct);
  Vector a = Vector::Zero(made.rotated->weights());
  for (const double lambda : {-10.0, -30.0, -38.0, -42.0, -46.0, -60.0}) {
    made.rotated->inner_solve(test::lambda_of(lambda), {}, a);
    // Rounding of 1e-16 beside singular values of 1e-9.
    EXPECT_LE(relative_error(made.rotated->validation_loss(a, test::lambda_of(lambda)),
                             closed.closed_form(lambda).value),
              1e-6)
        << lambda;
  }
  // The least curvature is that singular value's, not that of a column.
  EXPECT_LE((*made.rotated->least_curvatures())[0], 1e-17);
}

// Rows far from 0 that vary little: what centring leaves of the direction of the means is rounding, no
// curvature that a search would have to go down to.
TEST(CollapsedLeastSquares, TakesNoRoundingOfMeansForCurvature) {
  for (const Index rows : {20, 60}) {
    Split split = random_split(rows, 15, 0, 40, 7, least_squares());
    for (Dataset* data : {&split.train, &split.validation})
      data->x = Design(Matrix((to_matrix(data->x).array() * 1e-3 + 500.0).matrix()));
    const auto direct = std::make_shared<LinearProblem>(split, least_squares(), true);
    // 40 columns of deviation 1e-3 over so many rows: the least singular value but the last is near 1e-3.
    EXPECT_GT((*CollapsedLeastSquares(direct).least_curvatures())[0], 1e-11) << rows;
    split.train.weight = Vector::Ones(rows);  // so that it is not collapsed but rotated
    const RotatedCase made(split, least_squares(), true);
    ASSERT_NE(made.rotated, made.direct);
    EXPECT_GT((*made.rotated->least_curvatures())[0], 1e-11) << rows;
  }
}

TEST(CollapsedLeastSquares, HasFewWeightsForFewRows) {
  const auto direct =
      std::make_shared<LinearProblem>(test::smooth_split(34, 17, 0, 699, 1), least_squares(), true);
  const CollapsedLeastSquares collapsed(direct);
  EXPECT_EQ(collapsed.weights(), 34 + 1 + 1);  // the rows, the ones vector, the intercept
  EXPECT_EQ(collapsed.expand(Vector::Zero(36)).size(), 700);
  EXPECT_GT(collapsed.traits().setup_work, 0.0);
}

// Smooth rows are nearly dependent (singular values fall to 1e-3 of the first): the two forms must still
// agree.
TEST(CollapsedLeastSquares, EqualsTheDirectProblemOnSmoothData) {
  for (const bool intercept : {false, true})
    for (const auto& [n, d] : {std::pair<Index, Index>{34, 699}, {60, 20}, {20, 20}, {21, 20}, {19, 20}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << d << ", intercept " << intercept);
      const test::BuiltProblem built(test::smooth_split(n, 17, 0, d, 3), least_squares(), intercept, true);
      Random random(4);
      Vector w = random_vector(built.problem->weights(), random);
      built.problem->fit_intercept(w);  // as every solver does; else the gradient leaves the basis, along x̄
      const Vector full = built.problem->expand(w);
      const Vector lambda = test::lambda_of(-3.0);
      EXPECT_LE(relative_error(built.problem->train_loss(w, lambda), built.direct->train_loss(full, lambda)),
                1e-10);
      EXPECT_LE(relative_error(built.problem->validation_loss(w, lambda),
                               built.direct->validation_loss(full, lambda)),
                1e-10);
      Vector g(w.size());
      Vector full_g(full.size());
      built.problem->train_gradient(w, lambda, g);
      built.direct->train_gradient(full, lambda, full_g);
      EXPECT_LE(relative_error(built.problem->expand(g), full_g), 1e-10);
      built.problem->validation_gradient(w, lambda, g);
      built.direct->validation_gradient(full, lambda, full_g);
      EXPECT_LE(relative_error(g, built.basis.transpose() * full_g), 1e-10);
      Vector a = w;
      Vector b = Vector::Zero(full.size());
      const Vector u = random_vector(w.size(), random);
      const Vector full_u = built.problem->expand(u);
      built.problem->inner_solve(lambda, {.proximal = ProximalTerm{u, w, 0.7}}, a);
      built.direct->inner_solve(lambda, {.proximal = ProximalTerm{full_u, full, 0.7}}, b);
      EXPECT_LE(relative_error(built.problem->expand(a), b), 1e-10);
      built.problem->inner_solve(lambda, {}, a);
      built.direct->inner_solve(lambda, {}, b);
      EXPECT_LE(relative_error(built.problem->expand(a), b), 1e-10);
    }
}

}  // namespace
}  // namespace yosida
