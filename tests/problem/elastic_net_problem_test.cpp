#include "yosida/problem/elastic_net_problem.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "problem/newton.hpp"
#include "problem/plain_lasso.hpp"
#include "support/compare.hpp"
#include "support/dense.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/gradient_check.hpp"

namespace yosida {
namespace {

using test::PlainElasticNet;
using test::random_vector;
using test::relative_error;
using Kind = ElasticNetProblem::Kind;

struct Form {
  const Loss* loss;
  bool intercept;
  bool sparse;
  bool wide;
  Kind kind;
  std::string name() const {
    return std::string(loss->name()) + (kind == Kind::lasso ? "_lasso" : "_elastic") +
           (intercept ? "_intercept" : "") + (sparse ? "_sparse" : "_dense") + (wide ? "_wide" : "_tall");
  }
  Split split() const {
    return test::random_split(wide ? 25 : 60, 20, 0, wide ? 50 : 20, 3, *loss, sparse ? 0.3 : 1.0);
  }
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const bool intercept : {false, true})
      for (const bool sparse : {false, true})
        for (const bool wide : {false, true})
          for (const Kind kind : {Kind::lasso, Kind::elastic_net})
            all.push_back({loss, intercept, sparse, wide, kind});
  return all;
}

class ElasticNet : public testing::TestWithParam<Form> {
 protected:
  ElasticNet()
      : problem(GetParam().split(), *GetParam().loss, GetParam().intercept, GetParam().kind),
        plain(GetParam().split(), *GetParam().loss, GetParam().intercept),
        random(7),
        size(problem.weights()),
        out(size) {}
  /// λ₁ so far below the smallest that leaves w = 0.
  Vector lambda(double below, double second = -4.0) const {
    Vector value = Vector::Constant(problem.hyperparameters(), second);
    value[0] = std::log(problem.largest_slope()) - below;
    return value;
  }
  double l2(const Vector& at) const { return GetParam().kind == Kind::lasso ? 0.0 : std::exp(at[1]); }
  Vector solved(const Vector& at) const {
    Vector w = Vector::Zero(size);
    EXPECT_TRUE(problem.inner_solve(at, {}, w).converged);
    return w;
  }
  Index zeros(const Vector& w) const { return (w.head(size - problem.intercepts()).array() == 0.0).count(); }
  ElasticNetProblem problem;
  PlainElasticNet plain;
  Random random;
  Index size;
  Vector out;
};
INSTANTIATE_TEST_SUITE_P(Every, ElasticNet, testing::ValuesIn(forms()),
                         [](const auto& each) { return each.param.name(); });

// Where no weight is 0 there are no kinks.
TEST_P(ElasticNet, DerivativesMatchFiniteDifferences) {
  Vector w = random_vector(size, random);
  for (double& value : w) value += value > 0.0 ? 0.1 : -0.1;
  for (const double below : {4.0, 1.0})
    for (const GradientCheck& check : check_gradients(problem, w, lambda(below), 3))
      EXPECT_LE(check.error, 1e-6) << check.name;
}

TEST_P(ElasticNet, InnerSolveEqualsCoordinateDescent) {
  for (const double below : {0.5, 2.0, 4.0}) {
    const Vector at = lambda(below);
    const Vector w = solved(at);
    const Vector expected = plain.solve(std::exp(at[0]), l2(at), 1e-14);
    EXPECT_LE(relative_error(w, expected), 1e-9) << below << " below";
    EXPECT_EQ((w.array() != 0.0).cast<int>().matrix(), (expected.array() != 0.0).cast<int>().matrix());
    EXPECT_LE(plain.violation(w, std::exp(at[0]), l2(at)), 1e-11 * problem.largest_slope() * std::sqrt(size));
    EXPECT_TRUE(below > 1.0 || zeros(w) > 0);
  }
}

// At w*(λ) the gradient is 0, and a solve from there says so at once.
TEST_P(ElasticNet, OptimumIsAFixedPoint) {
  const Vector at = lambda(2.0);
  Vector w = solved(at);
  problem.train_gradient(w, at, out);
  EXPECT_LE(out.norm(), 1e-11 * problem.largest_slope() * std::sqrt(size));
  const Vector before = w;
  const InnerReport again = problem.inner_solve(at, {.proximal = {}, .tolerance = 1e-9}, w);
  EXPECT_TRUE(again.converged);
  EXPECT_EQ(again.work.paper_count(), 1);
  EXPECT_EQ(w, before);
  Vector from_afar = 10.0 * random_vector(size, random);
  EXPECT_TRUE(problem.inner_solve(at, {}, from_afar).converged);
  EXPECT_LE(relative_error(from_afar, before), 1e-8);
}

TEST_P(ElasticNet, IsZeroFromTheLargestSlopeOn) {
  for (const double above : {1e-12, 0.1, 5.0}) {
    Vector w = random_vector(size, random);
    EXPECT_TRUE(problem.inner_solve(lambda(-above), {}, w).converged);
    EXPECT_EQ(zeros(w), size - problem.intercepts());
  }
  EXPECT_LT(zeros(solved(lambda(1e-3))), size - problem.intercepts());
}

TEST_P(ElasticNet, SolvesWithAProximalTerm) {
  const Vector u = random_vector(size, random);
  const Vector v = random_vector(size, random);
  for (const double rho : {0.01, 1.0}) {
    const Vector at = lambda(1.0);
    Vector w = Vector::Zero(size);
    EXPECT_TRUE(problem.inner_solve(at, {.proximal = ProximalTerm{u, v, rho}}, w).converged);
    Vector g = plain.smooth_gradient(w, l2(at)) + (u + rho * (w - v)).cwiseProduct(plain.plain.penalised);
    for (Index j = 0; j < size; ++j) {
      const double t = std::exp(at[0]) * plain.plain.penalised[j];
      EXPECT_LE(w[j] != 0.0 ? std::abs(g[j] + std::copysign(t, w[j])) : std::max(std::abs(g[j]) - t, 0.0),
                1e-9);
    }
  }
}

// ∇h = −Cᵀ H⁻¹ ∇L_V on the support against differences of tight solves, where the support is the same.
TEST_P(ElasticNet, HypergradientMatchesFiniteDifferences) {
  int compared = 0;
  for (const double below : {0.8, 1.6, 2.4, 3.2}) {
    const Vector at = lambda(below);
    const Vector w = solved(at);
    Vector q = Vector::Zero(size), slope(at.size());
    problem.validation_gradient(w, at, out);
    EXPECT_TRUE(problem.hessian_solve(w, at, out, {}, q).converged);
    problem.cross_product_transposed(w, at, q, slope);
    for (Index j = 0; j < at.size(); ++j) {
      const double step = 1e-5;
      const Vector above = solved(at + step * Vector::Unit(at.size(), j));
      const Vector under = solved(at - step * Vector::Unit(at.size(), j));
      if (((above.array() == 0.0) != (under.array() == 0.0)).any()) continue;
      const double numerical =
          (problem.validation_loss(above, at) - problem.validation_loss(under, at)) / (2.0 * step);
      EXPECT_LE(std::abs(-slope[j] - numerical),
                1e-5 * (std::abs(numerical) + 1e-2 * problem.validation_loss(w, at)))
          << "lambda " << j << ", " << below << " below";
      ++compared;
    }
    // Many right-hand sides at once; the product undoes the solve.
    Matrix right(size, 2);
    right << random_vector(size, random), out;
    Matrix left = Matrix::Zero(size, 2);
    EXPECT_TRUE(problem.hessian_solve_many(w, at, right, {}, left).converged);
    EXPECT_LE(relative_error(left.col(1), q), 1e-12);
    problem.hessian_product(w, at, left.col(0), out);
    EXPECT_LE(relative_error(out, right.col(0)), 1e-9);
  }
  EXPECT_GE(compared, 3);
}

TEST_P(ElasticNet, HoldsTheLimitOnItsWork) {
  for (const std::int64_t limit : {1, 2, 3, 5}) {
    Vector w = Vector::Zero(size);
    const InnerReport report = problem.inner_solve(lambda(6.0), {.proximal = {}, .max_count = limit}, w);
    EXPECT_LE(report.work.paper_count(), limit);
    EXPECT_TRUE(w.allFinite());
  }
}

/// Nearly equal neighbouring columns and many decades of singular values: coordinate descent alone would take
/// millions of sweeps.
class CorrelatedElasticNet : public testing::TestWithParam<std::tuple<const Loss*, bool, Kind>> {};
INSTANTIATE_TEST_SUITE_P(Every, CorrelatedElasticNet,
                         testing::Combine(testing::Values(&least_squares(), &logistic()), testing::Bool(),
                                          testing::Values(Kind::lasso, Kind::elastic_net)));

TEST_P(CorrelatedElasticNet, SolvesTightly) {
  const auto& [loss, from_file, kind] = GetParam();
  for (const std::uint64_t seed : {1, 2, 3}) {
    Split split = from_file ? built_in("spectra", seed) : test::smooth_split(80, 20, 0, 60, seed);
    split.test.reset();
    if (loss->is_classification())
      for (Dataset* part : {&split.train, &split.validation}) {
        const double mean = part->y.mean();
        for (double& y : part->y) y = y < mean ? -1.0 : 1.0;
      }
    const ElasticNetProblem problem(split, *loss, true, kind);
    const PlainElasticNet plain(split, *loss, true);
    Vector w = Vector::Zero(problem.weights());
    problem.fit_intercept(w);
    const double top = std::log(problem.largest_slope());
    Vector at =
        Vector::Constant(problem.hyperparameters(), std::log(*problem.traits().largest_curvature) - 20.0);
    for (double below = 0.5; below <= 9.0; below += 0.5) {
      at[0] = top - below;
      const InnerReport report = problem.inner_solve(at, {}, w);
      EXPECT_TRUE(report.converged) << below << " below: " << report.gradient_norm;
      EXPECT_LE(plain.violation(w, std::exp(at[0]), kind == Kind::lasso ? 0.0 : std::exp(at[1])),
                2e-11 * problem.largest_slope() * std::sqrt(problem.weights()));
    }
  }
}

// Supports beyond kMaxCholesky: proximal gradient steps and conjugate gradients.
TEST(ElasticNetProblem, SolvesOnLargeSupports) {
  for (const Loss* loss : {&least_squares(), &logistic()}) {
    const Split split = test::random_split(4500, 10, 0, kMaxCholesky + 500, 6, *loss, 0.01);
    const ElasticNetProblem problem(split, *loss, true, Kind::elastic_net);
    Vector at(2);
    at << std::log(problem.largest_slope()) - 7.0, std::log(*problem.traits().largest_curvature) - 5.0;
    Vector w = Vector::Zero(problem.weights());
    const InnerReport report = problem.inner_solve(at, {.proximal = {}, .tolerance = 1e-9}, w);
    EXPECT_TRUE(report.converged) << loss->name() << ": " << report.gradient_norm;
    EXPECT_GT((w.array() != 0.0).count(), kMaxCholesky);
    EXPECT_LT((w.array() != 0.0).count(), w.size());
    Vector g(w.size());
    problem.train_gradient(w, at, g);
    EXPECT_LE(g.norm(), 1.1e-9 * problem.largest_slope() * std::sqrt(w.size()));
    Vector x = Vector::Zero(w.size()), back(w.size());
    EXPECT_TRUE(problem.hessian_solve(w, at, g, {.tolerance = 1e-8}, x).converged);
    problem.hessian_product(w, at, x, back);
    EXPECT_LE(relative_error(back, g), 1e-7);
  }
}

// Few rows and wide supports: Newton's steps in the space of rows, at a price that does not grow with the
// cube of the support. A row of weight 0 must not be divided by its curvature.
TEST(ElasticNetProblem, SolvesFewRowsInTheirOwnSpace) {
  constexpr double kMostWork = 2000.0;  // a tenth of one factor of a support of 1000
  for (const bool intercept : {false, true})
    for (const bool sparse : {false, true})
      for (const bool weighted : {false, true})
        for (const double second : {-5.0, -15.0}) {
          Split split =
              test::random_split(weighted ? 9 : 8, 3, 0, 4000, 6, least_squares(), sparse ? 0.3 : 1.0);
          const PlainElasticNet plain(
              [&] {
                Split counted = split;
                if (weighted) counted.train = split_rows(split.train, {0, 1, 2, 3, 4, 5, 6, 7}, 8, 0).train;
                return counted;
              }(),
              least_squares(), intercept);
          if (weighted) {  // the mean over 8 rows, as one over 9
            split.train.weight = Vector::Constant(9, 9.0 / 8.0);
            split.train.weight[8] = 0.0;
          }
          const ElasticNetProblem problem(split, least_squares(), intercept, Kind::elastic_net);
          SCOPED_TRACE(testing::Message() << "intercept " << intercept << ", sparse " << sparse
                                          << ", weighted " << weighted << ", second " << second);
          Vector at(2);
          at[1] = std::log(*problem.traits().largest_curvature) + second;
          Vector w = Vector::Zero(problem.weights());
          Index largest_support = 0;
          for (const double below : {1.0, 5.0, 9.0, 12.0}) {
            at[0] = std::log(problem.largest_slope()) - below;
            const InnerReport report = problem.inner_solve(at, {}, w);
            EXPECT_TRUE(report.converged) << report.gradient_norm;
            EXPECT_LE(plain.violation(w, std::exp(at[0]), std::exp(at[1])),
                      2e-11 * problem.largest_slope() * std::sqrt(w.size()));
            EXPECT_LT(report.work.gradient_equivalents(), kMostWork);
            largest_support = std::max(largest_support, (w.array() != 0.0).count());
            Vector b(w.size()), x = Vector::Zero(w.size()), back(w.size());
            problem.validation_gradient(w, at, b);
            const LinearReport solve = problem.hessian_solve(w, at, b, {.tolerance = 1e-8}, x);
            EXPECT_TRUE(solve.converged) << solve.residual_norm;
            EXPECT_LT(solve.work.gradient_equivalents(), kMostWork);
            problem.hessian_product(w, at, x, back);
            EXPECT_LE(relative_error(back, b), 1e-8);
          }
          EXPECT_GT(largest_support, second == -5.0 ? 1000 : 50);
        }
}

TEST(ElasticNetProblem, TakesEveryLossOfOneOutput) {
  for (const Loss* loss : {&squared_hinge(), &huber(), &poisson()}) {
    Split split = test::random_split(60, 20, 0, 25, 4, *loss);
    for (Dataset* part : {&split.train, &split.validation})
      if (loss == &poisson()) part->y = part->y.array().abs().round();
    const ElasticNetProblem problem(split, *loss, true, Kind::lasso);
    Vector w = Vector::Zero(problem.weights()), g(problem.weights());
    for (const double below : {0.5, 2.0, 4.0}) {
      const Vector at = Vector::Constant(1, std::log(problem.largest_slope()) - below);
      EXPECT_TRUE(problem.inner_solve(at, {}, w).converged) << loss->name();
      problem.train_gradient(w, at, g);
      EXPECT_LE(g.norm(), 1e-10 * problem.largest_slope());
    }
  }
}

TEST(ElasticNetProblem, HasBoundsOfItsOwn) {
  const Split split = test::random_split(30, 10, 0, 8, 1, least_squares());
  const ElasticNetProblem lasso(split, least_squares(), true, Kind::lasso);
  const ElasticNetProblem net(split, least_squares(), true, Kind::elastic_net);
  ASSERT_TRUE(lasso.traits().bounds);
  EXPECT_EQ(lasso.traits().bounds->high.size(), 1);
  // At the upper bound the first weight has left 0: there is a slope.
  EXPECT_NEAR(lasso.traits().bounds->high[0], std::log(lasso.largest_slope()), 2e-3);
  Vector w = Vector::Zero(lasso.weights());
  lasso.inner_solve(lasso.traits().bounds->high, {}, w);
  EXPECT_EQ((w.head(8).array() != 0.0).count(), 1);
  const Eigen::MatrixXd x = test::matrix_of(split.train.x);
  const Eigen::MatrixXd centred = x.rowwise() - x.colwise().mean();
  const double curvature = std::pow(test::singular_values(centred).s[0], 2) / 30.0;
  EXPECT_NEAR(net.traits().bounds->high[1], std::log(10.0 * curvature), 0.2);
  // Further down by the ratio of the columns' curvatures, for an ℓ₁ penalty by that of their scales.
  const Eigen::VectorXd columns = centred.colwise().squaredNorm();
  const double spread = std::log(columns.maxCoeff() / columns.minCoeff());
  EXPECT_NEAR(net.traits().bounds->low[0], std::log(lasso.largest_slope()) - 14.0 - 0.5 * spread, 1e-12);
  EXPECT_NEAR(net.traits().bounds->low[1], std::log(1e-12 * curvature) - spread, 0.2);
}

TEST(ElasticNetProblem, RefusesSeveralOutputs) {
  const Split split = test::random_split(30, 10, 0, 8, 1, logistic());
  EXPECT_THROW(ElasticNetProblem(split, softmax(3), true, Kind::lasso), InputError);
}

}  // namespace
}  // namespace yosida
