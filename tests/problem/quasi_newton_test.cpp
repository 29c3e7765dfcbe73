#include "problem/quasi_newton.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/random_split.hpp"
#include "support/threads_guard.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida {
namespace {

using test::random_split;
using test::relative_error;

/// Inner solves end at this share of the gradient at 0, penalties are at least e^−8, and no loss here has a
/// curvature that differs by more than some hundreds between weights: weights are right to five digits.
constexpr double kTolerance = 1e-8 * 1.01;
constexpr double kSameWeights = 1e-5;

struct Case {
  std::string name;
  SharedLoss loss;
  bool scaled = false;  // columns of scales from 1e-3 to 1e4
  bool sparse = false;
  Index rows = 300;
  KeptHessian::Kind kind = KeptHessian::Kind::whole;
};

std::vector<Case> cases() {
  using enum KeptHessian::Kind;
  return {{"logistic", logistic()},
          {"logistic_scaled", logistic(), true},
          {"logistic_sparse", logistic(), false, true},
          {"logistic_wide", logistic(), false, false, 15},
          {"squared_hinge", squared_hinge()},
          {"huber", huber()},
          {"huber_scaled", huber(), true},
          {"poisson", poisson()},
          {"softmax", softmax(4), false, false, 300, product},
          {"softmax_sparse", softmax(3), false, true, 300, product},
          {"softmax_wide", softmax(3), false, false, 15, product},
          {"softmax_whole", softmax(4)},
          {"softmax_whole_scaled", softmax(3), true},
          {"softmax_whole_sparse", softmax(3), false, true},
          {"softmax_whole_wide", softmax(3), false, false, 15},
          // So many that a Hessian is taken from some of them.
          {"logistic_of_many", logistic(), false, false, 6000},
          {"logistic_scaled_of_many", logistic(), true, false, 6000},
          {"squared_hinge_of_many", squared_hinge(), false, false, 6000},
          {"poisson_of_many", poisson(), false, false, 6000},
          {"softmax_of_many", softmax(3), false, false, 6000, product}};
}

Split split_of(const Case& each) {
  Split split = random_split(each.rows, 60, 0, 20, 7, each.loss, each.sparse ? 0.3 : 1.0);
  if (!each.scaled) return split;
  Matrix train = test::matrix_of(split.train.x), validation = test::matrix_of(split.validation.x);
  for (Index j = 0; j < train.cols(); ++j) {
    const double scale = std::pow(10.0, -3.0 + 7.0 * static_cast<double>(j) / 19.0);
    train.col(j) *= scale;
    validation.col(j) *= scale;
  }
  split.train.x = Design(train);
  split.validation.x = Design(validation);
  return split;
}

class QuasiNewtonSolves : public testing::TestWithParam<Case> {
 protected:
  QuasiNewtonSolves() : problem(split_of(GetParam()), GetParam().loss, true) {}
  Vector exact(double lambda) const {
    Vector w = starting_weights(problem);
    EXPECT_TRUE(problem.inner_solve(Vector::Constant(1, lambda), {}, w).converged);
    return w;
  }
  LinearProblem problem;
};
INSTANTIATE_TEST_SUITE_P(Every, QuasiNewtonSolves, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// L_T is what is compared: where columns are of different scales, weights of the small ones hardly matter.
TEST_P(QuasiNewtonSolves, EndAtTheMinimumForOneLambdaAfterAnother) {
  QuasiNewton memory(GetParam().kind);
  Vector w = starting_weights(problem);
  for (const double lambda : {2.0, 0.0, -2.0, -4.0, -6.0, -8.0, -3.0, 1.0}) {
    const Vector at = Vector::Constant(1, lambda);
    const InnerReport report =
        problem.inner_solve(at, {.proximal = {}, .tolerance = kTolerance, .memory = &memory}, w);
    ASSERT_TRUE(report.converged) << lambda;
    EXPECT_EQ(report.work.hessian_products, 0) << "Newton's method has done it, lambda " << lambda;
    const Vector truth = exact(lambda);
    const double lowest = problem.train_loss(truth, at);
    EXPECT_LE(problem.train_loss(w, at) - lowest, 1e-11 * std::abs(lowest)) << lambda;
    if (!GetParam().scaled) {
      EXPECT_LE(relative_error(w, truth), kSameWeights) << lambda;
    }
  }
}

TEST_P(QuasiNewtonSolves, SolveSystemsWithTheHessianOfToday) {
  QuasiNewton memory(GetParam().kind);
  Vector w = starting_weights(problem);
  for (const double lambda : {1.0, -1.0, -5.0}) {
    const Vector at = Vector::Constant(1, lambda);
    problem.inner_solve(at, {.proximal = {}, .tolerance = 1e-6, .memory = &memory}, w);
    Vector b(problem.weights());
    problem.cross_product(w, at, Vector::Ones(1), b);
    Vector x = Vector::Zero(problem.weights());
    const LinearReport report = problem.hessian_solve(w, at, b, {.tolerance = 1e-9, .memory = &memory}, x);
    ASSERT_TRUE(report.converged) << lambda;
    Vector product(problem.weights());
    problem.hessian_product(w, at, x, product);
    // In the units of the columns where these differ: their gradients do, too.
    const Vector unit = problem.units() != nullptr ? Vector(problem.units()->cwiseSqrt().cwiseInverse())
                                                   : Vector(Vector::Ones(b.size()));
    EXPECT_LE((product - b).cwiseProduct(unit).norm(), 1e-7 * b.cwiseProduct(unit).norm()) << lambda;
  }
}

TEST_P(QuasiNewtonSolves, GiveTheSameBitsAgain) {
  std::vector<Vector> runs;
  for (int run = 0; run < 2; ++run) {
    QuasiNewton memory(GetParam().kind);
    Vector w = starting_weights(problem);
    for (const double lambda : {1.0, -2.0, -3.0})
      problem.inner_solve(Vector::Constant(1, lambda), {.proximal = {}, .tolerance = 1e-5, .memory = &memory},
                          w);
    runs.push_back(w);
  }
  EXPECT_EQ(runs[0], runs[1]);
}

// The first Hessian of a large problem takes seconds, which nobody waits for who has stopped the run.
TEST_P(QuasiNewtonSolves, TakeNoHessianWhereTheyAreToldToStop) {
  StopSource source;
  const StopToken stop = source.token();
  source.request_stop();
  QuasiNewton memory(GetParam().kind);
  Work work;
  memory.stop_by(&stop);
  EXPECT_FALSE(problem.largest_curvature(memory, work).has_value());
  memory.stop_by(nullptr);
  EXPECT_TRUE(problem.largest_curvature(memory, work).has_value());
}

TEST_P(QuasiNewtonSolves, KnowTheLargestCurvature) {
  QuasiNewton memory(GetParam().kind);
  Work work;
  const auto largest = problem.largest_curvature(memory, work);
  ASSERT_TRUE(largest.has_value());
  // The Hessian at 0 column by column, intercepts eliminated.
  const Index size = problem.weights(), own = size - problem.intercepts();
  const Vector none = without_penalties(problem, Vector::Zero(1));
  const Vector zero = starting_weights(problem);
  Eigen::MatrixXd hessian(size, size);
  Vector column(size);
  for (Index j = 0; j < size; ++j) {
    problem.hessian_product(zero, none, Vector::Unit(size, j), column);
    hessian.col(j) = column;
  }
  const Eigen::MatrixXd border = hessian.topRightCorner(own, size - own);
  const Eigen::MatrixXd corner = hessian.bottomRightCorner(size - own, size - own);
  const Eigen::MatrixXd refitted =
      hessian.topLeftCorner(own, own) - border * test::pseudo_inverse(corner) * border.transpose();
  const double truth = test::symmetric_eigen(refitted).values.maxCoeff();
  // Some of many rows tell it less exactly.
  EXPECT_NEAR(*largest / truth, 1.0, GetParam().rows > 1000 ? 0.3 : 0.02);
}

TEST(QuasiNewton, NeedsNoPassWhereItHasBeen) {
  const LinearProblem problem(random_split(400, 50, 0, 20, 3, logistic()), logistic(), true);
  QuasiNewton memory(KeptHessian::Kind::whole);
  Vector w = starting_weights(problem);
  const auto solve = [&](double lambda, Vector& at) {
    return problem.inner_solve(Vector::Constant(1, lambda),
                               {.proximal = {}, .tolerance = 1e-6, .memory = &memory}, at);
  };
  solve(-2.0, w);
  Vector other = w;
  solve(-5.0, other);
  EXPECT_EQ(solve(-2.0, w).work.train_gradients, 0);
  Vector g(problem.weights());
  problem.train_gradient(w, Vector::Constant(1, -2.0), g);
  Vector at_zero(problem.weights());
  problem.train_gradient(starting_weights(problem), Vector::Constant(1, -2.0), at_zero);
  EXPECT_LE(g.norm(), 1e-6 * at_zero.norm());
}

TEST(QuasiNewton, NeedsNoPassWhereOnlyLambdaHasChanged) {
  const LinearProblem problem(random_split(400, 50, 0, 20, 3, logistic()), logistic(), true);
  QuasiNewton memory(KeptHessian::Kind::whole);
  Vector w = starting_weights(problem);
  const auto solve = [&](double lambda, double tolerance) {
    return problem.inner_solve(Vector::Constant(1, lambda),
                               {.proximal = {}, .tolerance = tolerance, .memory = &memory}, w);
  };
  solve(-2.0, 1e-6);
  EXPECT_EQ(solve(-2.0, 1e-5).work.train_gradients, 0);
  // One step from the Hessian of a λ nearby, and its one pass, is what a small change takes.
  EXPECT_LE(solve(-2.01, 1e-4).work.train_gradients, 1);
}

TEST(QuasiNewton, TakesFewerPassesThanConjugateGradientsOnAnIllConditionedDesign) {
  Split split = random_split(2000, 50, 0, 60, 5, logistic());
  Matrix x = test::matrix_of(split.train.x);
  for (Index j = 1; j < x.cols(); ++j) x.col(j) = x.col(j - 1) + 0.2 * x.col(j);
  split.train.x = Design(x);
  const LinearProblem problem(split, logistic(), true);
  QuasiNewton memory(KeptHessian::Kind::whole);
  Vector w = starting_weights(problem);
  std::int64_t passes = 0;
  for (double lambda = 2.0; lambda > -12.0; lambda -= 1.9)
    passes += problem
                  .inner_solve(Vector::Constant(1, lambda),
                               {.proximal = {}, .tolerance = 1e-3, .blur = 0.1, .memory = &memory}, w)
                  .work.paper_count();
  EXPECT_LE(passes, 60);
}

TEST(QuasiNewton, StopsWhereItIsTold) {
  const LinearProblem problem(random_split(400, 50, 0, 20, 3, logistic()), logistic(), true);
  QuasiNewton memory(KeptHessian::Kind::whole);
  Vector w = starting_weights(problem);
  const InnerReport report = problem.inner_solve(
      Vector::Constant(1, -6.0), {.proximal = {}, .tolerance = 1e-7, .max_count = 3, .memory = &memory}, w);
  EXPECT_FALSE(report.converged);
  EXPECT_LE(report.work.paper_count(), 3);
}

/// Two folds, each large enough for threads and for a Hessian to be kept.
KFoldProblem two_folds() {
  std::vector<std::shared_ptr<const BilevelProblem>> folds;
  for (const std::uint64_t seed : {1, 2})
    folds.push_back(
        std::make_shared<LinearProblem>(random_split(30000, 50, 0, 100, seed, logistic()), logistic(), true));
  return KFoldProblem(folds, {0.5, 0.5});
}

TEST(QuasiNewton, IsOneForEachFold) {
  const KFoldProblem problem = two_folds();
  const auto memory = problem.solve_memory();
  ASSERT_NE(memory, nullptr);
  const Vector at = Vector::Constant(1, -4.0);
  Vector w = starting_weights(problem);
  ASSERT_TRUE(
      problem.inner_solve(at, {.proximal = {}, .tolerance = 1e-6, .memory = memory.get()}, w).converged);
  Vector g(problem.weights());
  problem.train_gradient(w, at, g);
  Vector at_zero(problem.weights());
  problem.train_gradient(starting_weights(problem), at, at_zero);
  EXPECT_LE(g.norm(), 2e-6 * at_zero.norm());
}

/// Of a few columns, which factor at once: what takes time there is to read many rows.
TEST(QuasiNewton, IsThereForManyRowsOfFewColumnsOfOneScale) {
  const auto keeps = [](Index rows, double scale_of_first, const SharedLoss& loss) {
    Split split = random_split(rows, 50, 0, 5, 1, loss);
    for (Dataset* each : {&split.train, &split.validation}) {
      Matrix x = test::matrix_of(each->x);
      x.col(0) *= scale_of_first;
      each->x = Design(std::move(x));
    }
    const LinearProblem problem(split, loss, true);
    EXPECT_TRUE(problem.traits().factors_cheaply || problem.solve_memory() != nullptr);
    return !problem.traits().factors_cheaply;
  };
  EXPECT_TRUE(keeps(40000, 1.0, logistic()));
  EXPECT_TRUE(keeps(40000, 1.0, poisson()));
  EXPECT_FALSE(keeps(4000, 1.0, logistic()));
  EXPECT_FALSE(keeps(40000, 1e4, logistic()));       // each scale may have a valley of its own
  EXPECT_FALSE(keeps(40000, 1.0, squared_hinge()));  // whose valleys may be narrow
}

TEST(QuasiNewton, DoesNotDependOnTheNumberOfThreads) {
  const test::ThreadsGuard guard;
  const KFoldProblem problem = two_folds();
  const auto run = [&](int count) {
    set_threads(count);
    const auto memory = problem.solve_memory();
    Vector w = starting_weights(problem);
    Vector x = Vector::Zero(problem.weights());
    for (const double lambda : {1.0, -3.0, -5.0}) {
      const Vector at = Vector::Constant(1, lambda);
      problem.inner_solve(at, {.proximal = {}, .tolerance = 1e-5, .memory = memory.get()}, w);
      problem.hessian_solve(w, at, w, {.tolerance = 1e-4, .memory = memory.get()}, x);
    }
    return std::pair(w, x);
  };
  EXPECT_EQ(run(1), run(3));
}

}  // namespace
}  // namespace yosida
