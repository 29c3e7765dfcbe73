// The first steps of the hypergradient solvers against their equations (algorithms.md §9), written out on
// plain expressions of a problem with three features. Nothing here calls solver code of the library.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/plain_problem.hpp"
#include "support/problem_case.hpp"
#include "yosida/solver/forward.hpp"
#include "yosida/solver/hoag.hpp"
#include "yosida/solver/penalty_method.hpp"
#include "yosida/solver/reverse.hpp"
#include "yosida/solver/stn.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::PlainProblem;
using test::random_split;
using test::relative_error;

constexpr Index kFeatures = 3;

struct Case {
  const Loss* loss;
  bool intercept;
};

class HypergradientStep : public testing::TestWithParam<Case> {
 protected:
  HypergradientStep()
      : split(random_split(16, 12, 0, kFeatures, 21, *GetParam().loss)),
        problem(split, *GetParam().loss, GetParam().intercept),
        plain(split, *GetParam().loss, GetParam().intercept) {
    start.bound(-8.0, 3.0);
  }

  /// argmin L_T(·, λ), by Newton's method: the problem is small and starts near.
  Vector solved(double lambda, Vector w) const {
    for (int i = 0; i < 50; ++i)
      w -= test::symmetric_solution(plain.train_hessian(w, lambda), plain.train_gradient(w, lambda));
    return w;
  }
  /// −Cᵀ H⁻¹ ∇L_V
  double hypergradient(double lambda, const Vector& w) const {
    return -plain.cross(w, lambda).dot(
        test::symmetric_solution(plain.train_hessian(w, lambda), plain.validation_gradient(w)));
  }
  Vector first() const {
    Vector w = Vector::Zero(problem.weights());
    problem.fit_intercept(w);
    return w;
  }

  Split split;
  LinearProblem problem;
  PlainProblem plain;
  Start start{.lambda = lambda_of(-1.0), .seed = 5};
};
INSTANTIATE_TEST_SUITE_P(Losses, HypergradientStep,
                         testing::Values(Case{&least_squares(), false}, Case{&least_squares(), true},
                                         Case{&logistic(), false}, Case{&logistic(), true}),
                         [](const auto& each) {
                           return std::string(each.param.loss->name()) +
                                  (each.param.intercept ? "_intercept" : "");
                         });

// With solves as tight as they come, so that what is compared is exact on both sides.
TEST_P(HypergradientStep, OfHoagFollowsTheAlgorithm) {
  const double epsilon = 1e-11;
  const Hoag hoag{{.tolerance = epsilon, .decrease = 0.9}};
  Hoag::State state = hoag.init(problem, start);

  double lambda = -1.0;
  double p = 0.0;
  double lipschitz = 0.0;
  double before = 0.0;
  int successes = 0, failures = 0;
  Vector w = first();
  for (int k = 0; k < 12; ++k) {
    const double next = k == 0 ? lambda : std::clamp(lambda - p / lipschitz, -8.0, 3.0);
    const double move = std::abs(next - lambda);
    lambda = next;
    w = solved(lambda, w);
    p = hypergradient(lambda, w);
    const double now = plain.validation_loss(w);
    if (k == 0) {
      lipschitz = std::abs(p);
    } else if (now <= before + epsilon * (2.0 + move) * before - 0.5 * lipschitz * move * move) {
      lipschitz *= 0.95;
      ++successes;
    } else if (now > before) {
      lipschitz *= 2.0;
      ++failures;
    }
    before = now;

    hoag.step(problem, state);
    if (k == 1) {  // far too long a step, to see it fail
      state.lipschitz *= 1e-3;
      lipschitz *= 1e-3;
    }
    ASSERT_LE(relative_error(state.w, w), 1e-8) << k;
    ASSERT_LE(relative_error(state.lambda[0], lambda), 1e-8) << k;
    ASSERT_NEAR(state.hypergradient[0], p, 1e-9) << k;
    ASSERT_LE(relative_error(state.lipschitz, lipschitz), 1e-8) << k;
  }
  EXPECT_GT(successes, 0);
  EXPECT_GT(failures, 0) << "a step that never had to be made smaller shows little";
  EXPECT_GT(std::abs(lambda + 1.0), 1e-3) << "lambda did not move: the test shows little";
}

// The tolerance shrinks from its first value to the tightest there is.
TEST_P(HypergradientStep, OfHoagTightensItsTolerance) {
  const Hoag hoag{{.tolerance = 1e-2, .decrease = 0.1}};
  Hoag::State state = hoag.init(problem, start);
  for (int k = 0; k < 12; ++k) {
    EXPECT_LE(relative_error(state.tolerance, std::max(1e-11, std::pow(10.0, -2.0 - k))), 1e-12);
    hoag.step(problem, state);
    EXPECT_EQ(state.inexact_solves, 0);
  }
}

// Both against the chain rule written out: dw_{t+1}/dλ = dw_t/dλ − α (H dw_t/dλ + C).
TEST_P(HypergradientStep, OfReverseAndForwardFollowTheAlgorithm) {
  const double alpha = 0.1, beta = 0.7;
  const int steps = 5;
  const Reverse reverse{{.steps = steps, .alpha = alpha, .beta = beta}};
  const Forward forward{{.steps = steps, .alpha = alpha, .beta = beta}};
  UnrolledState by_reverse = reverse.init(problem, start);
  UnrolledState by_forward = forward.init(problem, start);

  double lambda = -1.0;
  double gradient = 0.0;
  double validation = 1.0;
  Vector w = first();
  for (int k = 0; k < 4; ++k) {
    lambda = std::clamp(lambda - beta * gradient / validation, -8.0, 3.0);
    Vector dw = Vector::Zero(w.size());
    for (int t = 0; t < steps; ++t) {
      dw -= alpha * (plain.train_hessian(w, lambda) * dw + plain.cross(w, lambda));
      w -= alpha * plain.train_gradient(w, lambda);
    }
    gradient = plain.validation_gradient(w).dot(dw);
    validation = plain.validation_loss(w);

    reverse.step(problem, by_reverse);
    forward.step(problem, by_forward);
    for (const UnrolledState* state : {&by_reverse, &by_forward}) {
      ASSERT_LE(relative_error(state->w, w), 1e-12) << k;
      ASSERT_LE(relative_error(state->lambda[0], lambda), 1e-12) << k;
      ASSERT_LE(relative_error(state->hypergradient[0], gradient), 1e-11) << k;
    }
  }
  EXPECT_GT(std::abs(lambda + 1.0), 1e-3) << "lambda did not move: the test shows little";
}

TEST_P(HypergradientStep, OfPenaltyFollowsTheAlgorithm) {
  const double alpha = 0.1, beta = 0.7, growth = 1.5, shrink = 0.8;
  double rho = 2.0, mu = 0.1, epsilon = 0.5;
  const int steps = 6;
  const PenaltyMethod penalty{{.steps = steps,
                               .alpha = alpha,
                               .beta = beta,
                               .growth = growth,
                               .mu = mu,
                               .epsilon = epsilon,
                               .shrink = shrink}};
  PenaltyMethod::State state = penalty.init(problem, start);
  state.rho = rho;  // whatever the curvature

  double lambda = -1.0;
  Vector w = first();
  Vector nu = Vector::Zero(w.size());
  int raised = 0;
  for (int k = 0; k < 60; ++k) {
    Vector w_slope(w.size()), validation_slope(w.size());
    double validation = 0.0;
    for (int t = 0; t < steps; ++t) {
      const Vector train = plain.train_gradient(w, lambda);
      validation = plain.validation_loss(w);
      validation_slope = plain.validation_gradient(w);
      w_slope = validation_slope + plain.train_hessian(w, lambda) * (nu + rho * train) + mu * train;
      w -= alpha * w_slope;
    }
    const Vector multiplier = nu + rho * plain.train_gradient(w, lambda);
    const double slope = plain.cross(w, lambda).dot(multiplier);
    lambda = std::clamp(lambda - beta * slope / validation, -8.0, 3.0);
    if (w_slope.norm() <= epsilon * validation_slope.norm() && std::abs(slope) <= epsilon * validation) {
      nu = multiplier;
      rho *= growth;
      mu *= shrink;
      epsilon *= shrink;
      ++raised;
    }

    penalty.step(problem, state);
    ASSERT_LE(relative_error(state.w, w), 1e-10) << k;
    ASSERT_LE(relative_error(state.lambda[0], lambda), 1e-10) << k;
    ASSERT_LE(relative_error(state.nu, nu), 1e-9) << k;
    ASSERT_LE(relative_error(state.rho, rho), 1e-14) << k;
  }
  EXPECT_GT(raised, 1);
  EXPECT_GT(std::abs(lambda + 1.0), 1e-3) << "lambda did not move: the test shows little";
}

TEST_P(HypergradientStep, OfStnFollowsTheAlgorithm) {
  const double alpha = 0.1, beta = 0.7, gamma = 0.2, sigma = 0.4, tau = 0.01;
  const int steps = 3;
  const Stn stn{{.steps = steps, .alpha = alpha, .beta = beta, .gamma = gamma, .sigma = sigma, .tau = tau}};
  Stn::State state = stn.init(problem, start);

  Random random(start.seed);
  double lambda = -1.0;
  double s = std::log(sigma);
  Vector phi0 = first();
  Vector phi1 = Vector::Zero(phi0.size());
  for (int k = 0; k < 20; ++k) {
    for (int t = 0; t < steps; ++t) {
      const double epsilon = std::exp(s) * random.normal();
      const Vector g = plain.train_gradient(phi0 + epsilon * phi1, lambda + epsilon);
      phi0 -= alpha * g;
      phi1 -= alpha * epsilon * g;
    }
    const double epsilon = std::exp(s) * random.normal();
    const Vector response = phi0 + epsilon * phi1;
    const double slope = phi1.dot(plain.validation_gradient(response)) / plain.validation_loss(response);
    const double next = std::clamp(lambda - beta * slope, -8.0, 3.0);
    s -= gamma * (slope * epsilon - tau);
    phi0 += (next - lambda) * phi1;
    lambda = next;

    stn.step(problem, state);
    ASSERT_LE(relative_error(state.w, phi0), 1e-11) << k;
    ASSERT_LE(relative_error(state.phi1.col(0), phi1), 1e-10) << k;
    ASSERT_LE(relative_error(state.lambda[0], lambda), 1e-11) << k;
    ASSERT_LE(relative_error(state.log_scale[0], s), 1e-11) << k;
  }
  EXPECT_GT(std::abs(lambda + 1.0), 1e-3) << "lambda did not move: the test shows little";
}

}  // namespace
}  // namespace yosida
