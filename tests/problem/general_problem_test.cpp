#include <gtest/gtest.h>

#include "problem/counted_problem.hpp"
#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/general_case.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/problem/gradient_check.hpp"

namespace yosida {
namespace {

using test::dense_hessian;
using test::dense_newton;
using test::GeneralCase;
using test::Hyper;
using test::random_split;
using test::random_vector;
using test::relative_error;

class General : public testing::TestWithParam<GeneralCase> {
 protected:
  General()
      : built(GetParam().build()),
        problem(*built),
        lambda(GetParam().lambda(problem.hyperparameters())),
        random(9),
        size(problem.weights()) {}
  std::unique_ptr<BilevelProblem> built;
  const BilevelProblem& problem;
  Vector lambda;
  Random random;
  Index size;
};
INSTANTIATE_TEST_SUITE_P(Every, General, testing::ValuesIn(test::all_general_cases()),
                         [](const auto& each) { return each.param.name(); });

/// How far the rows are from the kinks of a loss that has some.
double distance_to_kinks(const Dataset& data, const Loss& loss, bool intercept, const Vector& w) {
  const Vector m = margins(data, intercept, w, loss.outputs());
  if (loss.name() == "svm") return (m.array() * data.y.array() - 1.0).abs().minCoeff();
  if (loss.name() == "huber") return ((m - data.y).array().abs() - 1.345).abs().minCoeff();
  return HUGE_VAL;
}

// The checker moves weights by 2e-3 and so margins by some 1e-2: no kink may be nearer.
TEST_P(General, DerivativesMatchFiniteDifferences) {
  const GeneralCase& c = GetParam();
  const Split split = c.split();
  Vector w;
  do {
    w = 0.3 * random_vector(size, random);
  } while (distance_to_kinks(split.train, *c.loss, c.intercept, w) < 0.015 ||
           distance_to_kinks(split.validation, *c.loss, c.intercept, w) < 0.015);
  for (const GradientCheck& check : check_gradients(problem, w, lambda, 3))
    EXPECT_LE(check.error, 1e-6) << check.name;
}

TEST_P(General, InnerSolveEqualsADenseNewton) {
  const Vector u = 0.1 * random_vector(size, random);
  const Vector v = random_vector(size, random);
  const Vector zero = Vector::Zero(size);
  for (const bool proximal : {false, true}) {
    InnerOptions options;
    if (proximal) options.proximal.emplace(ProximalTerm{u, v, 0.3});
    Vector w = zero;
    EXPECT_TRUE(problem.inner_solve(lambda, options, w).converged);
    const Vector truth =
        proximal ? dense_newton(problem, lambda, u, v, 0.3) : dense_newton(problem, lambda, zero, zero, 0.0);
    EXPECT_LE(relative_error(w, truth), 1e-8) << "proximal " << proximal;
  }
}

// With b a gradient: softmax has directions of no curvature, and gradients have no part there.
TEST_P(General, HessianSolveEqualsADenseFactorisation) {
  const Vector w = 0.3 * random_vector(size, random);
  Vector b(size);
  problem.validation_gradient(w, lambda, b);
  Vector x = Vector::Zero(size);
  const LinearReport report = problem.hessian_solve(w, lambda, b, {}, x);
  EXPECT_LE(report.residual_norm, 1e-10 * b.norm());
  const Eigen::MatrixXd h = dense_hessian(problem, w, lambda);
  EXPECT_LE(relative_error(h * x, b), 1e-10);
  EXPECT_LE(relative_error(x, test::shortest_solution(h, b)), 1e-8);
}

TEST_P(General, FittedInterceptsHaveNoSlope) {
  if (problem.intercepts() == 0) return;
  const Vector before = random_vector(size, random);
  for (const double start : {0.0, 3.0, -20.0, 600.0, std::numeric_limits<double>::quiet_NaN()}) {
    Vector w = before;
    w.tail(problem.intercepts()).setConstant(start);
    w[size - 1] += 1.0;
    problem.fit_intercept(w);
    EXPECT_EQ(w.head(size - problem.intercepts()), before.head(size - problem.intercepts()));
    Vector g(size);
    problem.train_gradient(w, lambda, g);
    EXPECT_LE(g.tail(problem.intercepts()).norm(), 1e-12) << "from " << start;
  }
}

// κ of every group against the dense Hessian of the data term.
TEST_P(General, CertificateScalesAreOfTheCurvatureAlongTheWeights) {
  const GeneralCase& c = GetParam();
  const Vector w = 0.3 * random_vector(size, random);
  Vector scale(problem.hyperparameters());
  problem.certificate_scale(w, lambda, scale);
  if (c.hyper == Hyper::rows) {
    for (Index i = 0; i < scale.size(); ++i) {
      const double sigma = 1.0 / (1.0 + std::exp(-lambda[i]));
      EXPECT_NEAR(scale[i], static_cast<double>(scale.size()) * 0.25 / (sigma * (1.0 - sigma)),
                  1e-12 * scale[i]);
    }
    return;
  }
  const Eigen::MatrixXd h = dense_hessian(problem, w, Vector::Constant(scale.size(), -1e3));
  const Penalty penalty = c.penalty();
  for (Index g = 0; g < scale.size(); ++g) {
    Vector part = Vector::Zero(size);
    for (Index i = 0; i < penalty.weights(); ++i)
      if (penalty.group(i) == g) part[i] = w[i];
    EXPECT_LE(relative_error(scale[g], certificate_scale_of(part.dot(h * part) / part.squaredNorm(),
                                                            std::exp(lambda[g]))),
              1e-10);
  }
}

// Weights of 2 are rows that stand twice; the mean is over N rows, so weights here are 1 and 2 over their
// mean.
TEST(RowWeights, OfTwoAreDoubledRows) {
  for (const Loss* loss : test::all_losses())
    for (const bool sparse : {false, true}) {
      Split once = random_split(12, 7, 4, 5, 3, *loss, sparse ? 0.6 : 1.0);
      Split twice = once;
      const auto double_every_third = [&](Dataset& weighted, Dataset& doubled) {
        const Index n = weighted.rows();
        const Index more = (n + 2) / 3;
        Matrix x(n + more, weighted.features());
        doubled.y.resize(n + more);
        x.topRows(n) = test::matrix_of(weighted.x);
        doubled.y.head(n) = weighted.y;
        weighted.weight = Vector::Ones(n);
        for (Index i = 0; i < more; ++i) {
          x.row(n + i) = x.row(3 * i);
          doubled.y[n + i] = weighted.y[3 * i];
          weighted.weight[3 * i] = 2.0;
        }
        weighted.weight *= static_cast<double>(n) / static_cast<double>(n + more);
        doubled.x = sparse ? Design(test::sparse_of(x)) : Design(Design(x));
      };
      double_every_third(once.train, twice.train);
      double_every_third(once.validation, twice.validation);
      double_every_third(*once.test, *twice.test);
      const LinearProblem a(once, *loss, true);
      const LinearProblem b(twice, *loss, true);
      Random random(4);
      Vector w = random_vector(a.weights(), random);
      const Vector p = random_vector(a.weights(), random);
      const Vector lambda = Vector::Constant(1, -2.0);
      Vector left(w.size()), right(w.size());
      EXPECT_LE(relative_error(a.train_loss(w, lambda), b.train_loss(w, lambda)), 1e-14);
      EXPECT_LE(relative_error(a.validation_loss(w, lambda), b.validation_loss(w, lambda)), 1e-14);
      EXPECT_LE(relative_error(*a.losses(w, lambda).test, *b.losses(w, lambda).test), 1e-14);
      a.train_gradient(w, lambda, left);
      b.train_gradient(w, lambda, right);
      EXPECT_LE(relative_error(left, right), 1e-13);
      a.validation_gradient(w, lambda, left);
      b.validation_gradient(w, lambda, right);
      EXPECT_LE(relative_error(left, right), 1e-13);
      a.hessian_product(w, lambda, p, left);
      b.hessian_product(w, lambda, p, right);
      EXPECT_LE(relative_error(left, right), 1e-13);
      left = right = w;
      a.fit_intercept(left);
      b.fit_intercept(right);
      EXPECT_LE(relative_error(left, right), 1e-10) << loss->name();
      left.setZero();
      right.setZero();
      a.inner_solve(lambda, {}, left);
      b.inner_solve(lambda, {}, right);
      EXPECT_LE(relative_error(left, right), 1e-9) << loss->name();
    }
}

// Fewer rows than features, dense: one shared λ is solved in row space, the same λ in groups is not.
TEST(PenaltyGroups, OfOneLambdaEqualTheSharedOne) {
  for (const Loss* loss : test::all_losses()) {
    const Split split = random_split(9, 5, 0, 14, 5, *loss);
    const Index k = loss->outputs();
    const LinearProblem shared(split, *loss, true);
    const LinearProblem one(split, *loss, true, Penalty::by_group(std::vector<Index>(14, 0), 1, k));
    const LinearProblem many(split, *loss, true, Penalty::per_feature(14, k));
    Random random(6);
    const Vector w = random_vector(shared.weights(), random);
    const Vector lambda = Vector::Constant(1, -1.3);
    const Vector lambdas = Vector::Constant(14, -1.3);
    Vector a(w.size()), b(w.size());
    EXPECT_EQ(shared.train_loss(w, lambda), one.train_loss(w, lambda));
    EXPECT_EQ(shared.train_loss(w, lambda), many.train_loss(w, lambdas));
    shared.train_gradient(w, lambda, a);
    one.train_gradient(w, lambda, b);
    EXPECT_EQ(a, b);
    many.train_gradient(w, lambdas, b);
    EXPECT_EQ(a, b);
    a.setZero();
    b.setZero();
    shared.inner_solve(lambda, {}, a);
    one.inner_solve(lambda, {}, b);
    EXPECT_EQ(a, b);
    b.setZero();
    many.inner_solve(lambdas, {}, b);
    EXPECT_LE(relative_error(a, b), 1e-9) << loss->name();
  }
}

TEST(PenaltyGroups, WithPenaltiesFarApartAreSolvedByConjugateGradients) {
  const Split split = random_split(60, 10, 0, 20, 7, softmax(4));
  const LinearProblem problem(split, softmax(4), true, Penalty::per_feature(20, 4));
  Vector lambda(20);
  for (Index j = 0; j < 20; ++j) lambda[j] = -12.0 + static_cast<double>(j);
  Vector w = Vector::Zero(problem.weights());
  const InnerReport report = problem.inner_solve(lambda, {}, w);
  EXPECT_TRUE(report.converged);
  EXPECT_LE(report.work.paper_count(), 1500);
}

TEST(CollapseIfCheaper, LeavesGroupsAndWeightedRowsAsTheyAre) {
  Split split = test::smooth_split(34, 17, 0, 699, 1);
  const auto grouped =
      std::make_shared<LinearProblem>(split, least_squares(), false, Penalty::per_feature(699));
  EXPECT_EQ(in_cheapest_form(grouped, 1e6, Coordinates::any), grouped);
  split.train.weight = Vector::Ones(34);
  const auto weighted = std::make_shared<LinearProblem>(split, least_squares(), false);
  EXPECT_EQ(in_cheapest_form(weighted, 1e6, Coordinates::row_space), weighted);
}

TEST(LinearProblem, SaysWhatIsWrongWithWeightsTargetsAndPenalties) {
  const auto refusal = [](const Split& split, const Loss& loss, const Penalty& penalty) -> std::string {
    try {
      const LinearProblem problem(split, loss, false, penalty);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const Split good = random_split(6, 4, 0, 2, 1, softmax(3));
  Split bad = good;
  bad.train.weight = Vector::Ones(5);
  EXPECT_EQ(refusal(bad, softmax(3), Penalty::shared(6)),
            "training rows (random train): 6 rows but 5 weights; each row needs one");
  bad.train.weight = Vector::Constant(6, -1.0);
  EXPECT_EQ(
      refusal(bad, softmax(3), Penalty::shared(6)),
      "training rows (random train): row weights must be numbers >= 0, not all of them 0, with a finite sum");
  bad = good;
  bad.validation.y[0] = 3.0;
  EXPECT_EQ(refusal(bad, softmax(3), Penalty::shared(6)),
            "validation rows (random validation): targets must be class indices from 0 to 2 for a softmax "
            "problem");
  EXPECT_EQ(refusal(good, softmax(3), Penalty::shared(2)), "penalty: of 2 weights, the model has 6");
  EXPECT_EQ(refusal(good, softmax(3), Penalty::shared(6)), "accepted");
}

TEST(CleaningProblem, CountsItsCrossProductsAsGradients) {
  const CleaningProblem problem(random_split(8, 4, 0, 3, 1, logistic()), logistic(), true, 0.1);
  const CountedProblem counted(problem);
  const Vector w = Vector::Ones(4), lambda = Vector::Zero(8);
  Vector g(4), q(8);
  counted.cross_product(w, lambda, lambda, g);
  counted.cross_product_transposed(w, lambda, w, q);
  EXPECT_EQ(counted.work().paper_count(), 2);
  EXPECT_EQ(problem.intercepts(), 0);
  EXPECT_THROW(CleaningProblem(problem.split(), logistic(), true, 0.0), InputError);
}

// σ = 1 for every row is the ordinary problem with the penalty c, σ = 0 leaves a row out.
TEST(CleaningProblem, WithRowsTrustedOrNotIsTheProblemOfThoseRows) {
  const Split split = random_split(12, 5, 0, 4, 2, logistic());
  const CleaningProblem problem(split, logistic(), false, 0.1);
  Split half = split;
  half.train.x = split.train.x.row_range(0, 6);
  half.train.y = split.train.y.head(6);
  const LinearProblem rest(half, logistic(), false);
  Vector lambda = Vector::Constant(12, 800.0);
  lambda.tail(6).setConstant(-800.0);
  Vector w = Vector::Zero(4);
  Vector expected = w;
  problem.inner_solve(lambda, {}, w);
  rest.inner_solve(Vector::Constant(1, std::log(0.2)), {}, expected);  // its mean is over 6 rows, not 12
  EXPECT_LE(relative_error(w, expected), 1e-9);
}

}  // namespace
}  // namespace yosida
