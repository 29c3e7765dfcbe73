// dL_V(w*(λ))/dλ by every way the library has, against each other and against finite differences; and what
// the solvers built on it reach.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/problem_case.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/forward.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"
#include "yosida/solver/reverse.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::random_split;
using test::relative_error;

/// Ridge with one λ for each weight, L_T = 1/(2N) ‖Xw − y‖² + Σ e^λj w_j², in plain expressions.
class RidgePerWeight final : public BilevelProblem {
 public:
  explicit RidgePerWeight(const Split& split)
      : x_(test::matrix_of(split.train.x)),
        x_valid_(test::matrix_of(split.validation.x)),
        y_(split.train.y),
        y_valid_(split.validation.y) {
    traits_.has_penalties = true;
  }

  Index weights() const override { return x_.cols(); }
  Index hyperparameters() const override { return x_.cols(); }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return half_mean(x_, y_, w) + (lambda.array().exp() * w.array().square()).sum();
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = gradient(x_, y_, w) + penalty(lambda).cwiseProduct(w);
  }
  void hessian_product(const Vector&, const Vector& lambda, const Vector& p, Vector& out) const override {
    out = hessian(lambda) * p;
  }
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override {
    out = penalty(lambda).cwiseProduct(w).cwiseProduct(q);
  }
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override {
    out = penalty(lambda).cwiseProduct(w).cwiseProduct(p);
  }
  double validation_loss(const Vector& w, const Vector&) const override {
    return half_mean(x_valid_, y_valid_, w);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = gradient(x_valid_, y_valid_, w);
    return validation_loss(w, lambda);
  }
  void validation_hessian_product(const Vector&, const Vector&, const Vector& p, Vector& out) const override {
    out = x_valid_.transpose() * (x_valid_ * p) / static_cast<double>(x_valid_.rows());
  }
  InnerReport inner_solve(const Vector& lambda, const InnerOptions&, Vector& w) const override {
    w = test::symmetric_solution(hessian(lambda), x_.transpose() * y_ / static_cast<double>(x_.rows()));
    return {.converged = true, .work = {.train_gradients = 1}};
  }
  Losses losses(const Vector& w, const Vector& lambda) const override {
    return {.train = half_mean(x_, y_, w), .validation = validation_loss(w, lambda), .test = {}};
  }

 private:
  static Vector penalty(const Vector& lambda) { return 2.0 * lambda.array().exp(); }
  static double half_mean(const Eigen::MatrixXd& x, const Vector& y, const Vector& w) {
    return 0.5 * (x * w - y).squaredNorm() / static_cast<double>(x.rows());
  }
  static Vector gradient(const Eigen::MatrixXd& x, const Vector& y, const Vector& w) {
    return x.transpose() * (x * w - y) / static_cast<double>(x.rows());
  }
  Eigen::MatrixXd hessian(const Vector& lambda) const {
    Eigen::MatrixXd h = x_.transpose() * x_ / static_cast<double>(x_.rows());
    h.diagonal() += penalty(lambda);
    return h;
  }

  Eigen::MatrixXd x_, x_valid_;
  Vector y_, y_valid_;
};

struct Case {
  std::string name;
  std::shared_ptr<const BilevelProblem> problem;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const bool intercept : {false, true})
      all.push_back(
          {std::string(loss->name()) + (intercept ? "_intercept" : ""),
           std::make_shared<LinearProblem>(random_split(60, 40, 0, 10, 8, *loss), *loss, intercept)});
  all.push_back({"ridge_intercept_collapsed",
                 std::make_shared<CollapsedLeastSquares>(std::make_shared<LinearProblem>(
                     random_split(60, 40, 0, 10, 8, least_squares()), least_squares(), true))});
  all.push_back({"ridge_per_weight",
                 std::make_shared<RidgePerWeight>(random_split(60, 40, 0, 10, 8, least_squares()))});
  return all;
}

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class Hypergradient : public testing::TestWithParam<Case> {
 protected:
  const BilevelProblem& problem = *GetParam().problem;
  Vector lambda = Vector::LinSpaced(problem.hyperparameters(), -2.0, -1.0);
  const double alpha = 0.2;  // the largest curvature is about 3

  Vector zero() const { return Vector::Zero(problem.weights()); }
  Vector by(decltype(reverse_hypergradient)* way, std::int64_t steps) const {
    Vector w = zero();
    Vector gradient(problem.hyperparameters());
    const double validation = way(problem, lambda, alpha, steps, w, gradient);
    EXPECT_LE(relative_error(validation, problem.validation_loss(w, lambda)), 1e-13);
    return gradient;
  }
};
INSTANTIATE_TEST_SUITE_P(Every, Hypergradient, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

TEST_P(Hypergradient, IsTheSameByEveryWay) {
  const Vector reverse = by(reverse_hypergradient, 20000);
  const Vector forward = by(forward_hypergradient, 20000);
  // −Cᵀ H⁻¹ ∇L_V
  Vector w = zero(), g = zero(), q = zero();
  Vector implicit(problem.hyperparameters());
  ASSERT_TRUE(problem.inner_solve(lambda, {}, w).converged);
  problem.validation_gradient(w, lambda, g);
  ASSERT_TRUE(problem.hessian_solve(w, lambda, g, {}, q).converged);
  problem.cross_product_transposed(w, lambda, q, implicit);
  implicit *= -1.0;
  EXPECT_LE(relative_error(reverse, implicit), 1e-8);
  EXPECT_LE(relative_error(forward, implicit), 1e-8);
  EXPECT_LE(relative_error(forward, reverse), 1e-8);

  // Central differences of L_V(w*(λ)): their own error is of the order of the square of the step.
  constexpr double kStep = 1e-4;
  Vector differences(problem.hyperparameters());
  for (Index j = 0; j < lambda.size(); ++j) {
    double value[2];
    for (const int side : {0, 1}) {
      Vector moved = lambda;
      moved[j] += side == 0 ? -kStep : kStep;
      ASSERT_TRUE(problem.inner_solve(moved, {}, w).converged);
      value[side] = problem.validation_loss(w, moved);
    }
    differences[j] = (value[1] - value[0]) / (2.0 * kStep);
  }
  EXPECT_LE(relative_error(implicit, differences), 1e-5);
}

TEST_P(Hypergradient, ForwardEqualsReverseAfterAnyNumberOfSteps) {
  for (const std::int64_t steps : {1, 2, 3, 10, 100})
    EXPECT_LE(relative_error(by(forward_hypergradient, steps), by(reverse_hypergradient, steps)), 1e-10)
        << steps;
}

// Truncated: the derivative of what T steps from this w reach, not of w*(λ).
TEST_P(Hypergradient, IsThatOfTheStepsTaken) {
  constexpr std::int64_t kSteps = 7;
  constexpr double kStep = 1e-5;
  const Vector reverse = by(reverse_hypergradient, kSteps);
  for (Index j = 0; j < lambda.size(); ++j) {
    double value[2];
    for (const int side : {0, 1}) {
      Vector moved = lambda;
      moved[j] += side == 0 ? -kStep : kStep;
      Vector w = zero(), unused(lambda.size());
      value[side] = reverse_hypergradient(problem, moved, alpha, kSteps, w, unused);
    }
    EXPECT_NEAR(reverse[j], (value[1] - value[0]) / (2.0 * kStep), 1e-8);
  }
}

struct Reached : testing::TestWithParam<const char*> {
  Outcome run(const BilevelProblem& problem, double lambda0) const {
    const Method& used = method(GetParam());
    SolveOptions options;
    options.start.lambda = Vector::Constant(problem.hyperparameters(), lambda0);
    options.budget.iterations = used.default_iterations;
    return solve(*used.make({}), problem, options);
  }
};

class ReachesTheOptimum : public Reached {};
INSTANTIATE_TEST_SUITE_P(Every, ReachesTheOptimum, testing::Values("hoag", "reverse", "forward"),
                         [](const auto& each) { return each.param; });

TEST_P(ReachesTheOptimum, OfOneLambda) {
  for (const Case& c : cases()) {
    if (c.problem->hyperparameters() != 1) continue;
    for (const double lambda0 : {-1.0, -4.0, 1.0}) {
      const Interval bounds = default_bounds(*c.problem, lambda0);
      const Oracle oracle = find_oracle(*c.problem, bounds.low, bounds.high);
      const Outcome outcome = run(*c.problem, lambda0);
      EXPECT_EQ(outcome.status, StopReason::iteration_limit) << c.name;
      EXPECT_LE(outcome.final.loss.validation, 1.01 * oracle.validation) << c.name << " from " << lambda0;
      EXPECT_LE(validation_at(*c.problem, outcome.final.lambda[0]), 1.01 * oracle.validation)
          << c.name << " from " << lambda0;
    }
  }
}

// Nothing to learn and nothing lost: a loss of 0 is no divergence.
TEST_P(ReachesTheOptimum, WhereAllTargetsAreZero) {
  Split split = random_split(20, 10, 0, 4, 8, least_squares());
  split.train.y.setZero();
  split.validation.y.setZero();
  const Outcome outcome = run(LinearProblem(split, least_squares(), true), -1.0);
  EXPECT_EQ(outcome.status, StopReason::iteration_limit) << outcome.message;
  EXPECT_EQ(outcome.final.loss.validation, 0.0);
}

// Many λ can do what one can, and more.
TEST_P(ReachesTheOptimum, OfManyLambdas) {
  const Split split = random_split(60, 40, 0, 10, 8, least_squares());
  const LinearProblem one(split, least_squares(), false);
  const Interval bounds = default_bounds(one, -1.0);
  const double best_of_one = find_oracle(one, bounds.low, bounds.high).validation;
  const Outcome outcome = run(RidgePerWeight(split), -1.0);
  EXPECT_LT(outcome.final.loss.validation, best_of_one);
}

// Their weights are not those of an inner solve, so what counts is where λ has gone.
class LowersTheLoss : public Reached {};
INSTANTIATE_TEST_SUITE_P(Every, LowersTheLoss, testing::Values("penalty", "stn"),
                         [](const auto& each) { return each.param; });

TEST_P(LowersTheLoss, FromFarAway) {
  for (const Case& c : cases()) {
    const auto at = [&](const Vector& lambda) {
      Vector w = Vector::Zero(c.problem->weights());
      c.problem->inner_solve(lambda, {}, w);
      return c.problem->validation_loss(w, lambda);
    };
    for (const double lambda0 : {-1.0, 1.0}) {
      const Outcome outcome = run(*c.problem, lambda0);
      const double before = at(Vector::Constant(c.problem->hyperparameters(), lambda0));
      EXPECT_EQ(outcome.status, StopReason::iteration_limit) << c.name;
      EXPECT_LT(at(outcome.final.lambda), 0.95 * before) << c.name << " from " << lambda0;
      EXPECT_LT(outcome.final.loss.validation, 0.95 * before) << c.name << " from " << lambda0;
    }
  }
}

}  // namespace
}  // namespace yosida
