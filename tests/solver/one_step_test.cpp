// The first steps of every solver of the paper against the equations of algorithms.md §3–5, written out on
// plain expressions of a problem with three features. Nothing here calls solver code of the library.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <functional>

#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/plain_problem.hpp"
#include "support/problem_case.hpp"
#include "yosida/solver/my_hpo_bt.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/my_hpo_full.hpp"
#include "yosida/solver/sho.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::PlainProblem;
using test::random_split;
using test::relative_error;

constexpr Index kFeatures = 3;
constexpr int kSteps = 4;

/// A few hundred operations on numbers of size 1: 1e-12 leaves room for rounding and for nothing else.
constexpr double kTolerance = 1e-12;

struct Case {
  const Loss* loss;
  bool intercept;
  WGradient w_gradient = WGradient::shared;
};

class OneStep : public testing::TestWithParam<Case> {
 protected:
  OneStep()
      : split(random_split(8, 6, 0, kFeatures, 21, *GetParam().loss)),
        problem(split, *GetParam().loss, GetParam().intercept),
        plain(split, *GetParam().loss, GetParam().intercept) {}

  /// Weights 0, the intercept fitted.
  Vector zero() const { return with_intercept(Vector::Zero(problem.weights())); }
  /// b = argmin L_T for the other weights, by bisection of its increasing derivative.
  Vector with_intercept(Vector w) const {
    if (!GetParam().intercept) return w;
    double low = -100.0;
    double high = 100.0;
    for (int i = 0; i < 200; ++i) {
      w[kFeatures] = 0.5 * (low + high);
      (plain.train_gradient(w, 0.0)[kFeatures] > 0.0 ? high : low) = w[kFeatures];
    }
    return w;
  }
  /// Directions leave the intercept alone.
  Vector weights_only(Vector g) const { return g.cwiseProduct(plain.penalised); }
  /// φ₀ = v̄ 1; the intercept is a constant of the response.
  Vector anchor(const Vector& v) const {
    Vector phi0 = Vector::Constant(v.size(), v.head(kFeatures).mean());
    if (GetParam().intercept) phi0[kFeatures] = v[kFeatures];
    return phi0;
  }

  Split split;
  LinearProblem problem;
  PlainProblem plain;
  Start start{.lambda = lambda_of(-1.0), .seed = 5};
};

std::string name_of(const testing::TestParamInfo<Case>& each) {
  return std::string(each.param.loss->name()) + (each.param.intercept ? "_intercept" : "") +
         (each.param.w_gradient == WGradient::own ? "_own" : "");
}

const auto kLosses = testing::Values(Case{&least_squares(), false}, Case{&least_squares(), true},
                                     Case{&logistic(), false}, Case{&logistic(), true});
const auto kLossesAndGradients =
    testing::Values(Case{&least_squares(), false}, Case{&least_squares(), true}, Case{&logistic(), false},
                    Case{&logistic(), true}, Case{&least_squares(), false, WGradient::own},
                    Case{&least_squares(), true, WGradient::own}, Case{&logistic(), false, WGradient::own},
                    Case{&logistic(), true, WGradient::own});

class ShoStep : public OneStep {};
INSTANTIATE_TEST_SUITE_P(Losses, ShoStep, kLosses, name_of);

// §3: λ̂ = λ + σε;  g = ∇_w L_T(λ̂φ₁ + φ₀, λ̂);  φ₁ −= α λ̂ g, φ₀ −= α g;  λ −= β φ₁ᵀ∇L_V(λφ₁ + φ₀)
TEST_P(ShoStep, FollowsTheAlgorithm) {
  const double alpha = 0.2, beta = 0.3, sigma = 0.1;
  const Sho sho{{.alpha = alpha, .beta = beta, .sigma = sigma}};
  Sho::State state = sho.init(problem, start);

  Random noise(start.seed);
  double lambda = -1.0;
  Vector phi0 = Vector::Zero(problem.weights());
  Vector phi1 = phi0;
  for (int k = 0; k < kSteps; ++k) {
    const double lambda_hat = lambda + sigma * noise.normal();
    const Vector g = weights_only(plain.train_gradient(with_intercept(lambda_hat * phi1 + phi0), lambda_hat));
    phi1 -= alpha * lambda_hat * g;
    phi0 -= alpha * g;
    lambda -= beta * phi1.dot(plain.validation_gradient(with_intercept(lambda * phi1 + phi0)));

    sho.step(problem, state);
    EXPECT_LE(relative_error(state.phi1, phi1), kTolerance);
    EXPECT_LE(relative_error(state.phi0, phi0), kTolerance);
    EXPECT_LE(relative_error(state.lambda[0], lambda), kTolerance);
    EXPECT_LE(relative_error(state.w, with_intercept(lambda * phi1 + phi0)), kTolerance);
  }
  EXPECT_GT(std::abs(lambda + 1.0), 1e-3) << "lambda did not move: the test shows little";
}

// The authors' code: φ ~ 0.01 N(0, 1), no noise, Adam (0.9, 0.999, 1e-8) on λ.
TEST_P(ShoStep, FollowsItsAuthorsCode) {
  const double alpha = 0.1, beta = 0.01;
  const Sho sho{{.alpha = alpha,
                 .beta = beta,
                 .sigma = 0.0,
                 .phi_scale = 0.01,
                 .lambda_optimizer = Sho::Optimizer::adam}};
  start.lambda = lambda_of(-3.5);
  Sho::State state = sho.init(problem, start);

  double lambda = -3.5;
  Vector phi0 = state.phi0;
  Vector phi1 = state.phi1;
  EXPECT_GT(phi1.head(kFeatures).norm(), 0.0);
  double m = 0.0, v = 0.0;
  for (int k = 1; k <= kSteps; ++k) {
    const Vector g = weights_only(plain.train_gradient(with_intercept(lambda * phi1 + phi0), lambda));
    phi1 -= alpha * lambda * g;
    phi0 -= alpha * g;
    const double slope = phi1.dot(plain.validation_gradient(with_intercept(lambda * phi1 + phi0)));
    m = 0.9 * m + 0.1 * slope;
    v = 0.999 * v + 0.001 * slope * slope;
    lambda -= beta * (m / (1.0 - std::pow(0.9, k))) / (std::sqrt(v / (1.0 - std::pow(0.999, k))) + 1e-8);

    sho.step(problem, state);
    EXPECT_LE(relative_error(state.phi1, phi1), kTolerance);
    EXPECT_LE(relative_error(state.lambda[0], lambda), kTolerance);
  }
}

class MyHpoFullStep : public OneStep {
 protected:
  /// argmin_w L_T(w, λ) + uᵀ(w − v) + ρ/2 ‖w − v‖², by Newton's method (the penalty e^{−1} keeps it from
  /// overshooting).
  Vector minimise(double lambda, const Vector& u, const Vector& v, double rho) const {
    Vector w = v;
    for (int i = 0; i < 40; ++i) {
      const Vector g = plain.train_gradient(w, lambda) + weights_only(u + rho * (w - v));
      Eigen::MatrixXd h = plain.train_hessian(w, lambda);
      h.diagonal() += rho * plain.penalised;
      w -= test::symmetric_solution(h, g);
    }
    return w;
  }
};
INSTANTIATE_TEST_SUITE_P(Losses, MyHpoFullStep, kLosses, name_of);

// §4, Steps 1 to 4.
TEST_P(MyHpoFullStep, FollowsTheAlgorithm) {
  const double rho = 0.7;
  // Inner solves end at 1e-11 of the first gradient; for least squares they are exact before that.
  const double tolerance = GetParam().loss->is_quadratic() ? kTolerance : 1e-9;
  const MyHpoFull full{{.rho = rho, .epsilon = 0.0}};
  MyHpoFull::State state = full.init(problem, start);

  double lambda = -1.0;
  Vector u = Vector::Zero(problem.weights());
  for (int k = 0; k < kSteps; ++k) {
    const Vector v = minimise(lambda, Vector::Zero(u.size()), zero(), 0.0);
    const Vector phi0 = anchor(v);
    const Vector phi1 = (v - phi0) / lambda;
    const Vector w = minimise(lambda, u, v, rho);
    // λ⁺ is the root of the increasing derivative of Step 3's objective.
    const auto slope = [&](double at) {
      const Vector response = at * phi1 + phi0;
      return phi1.dot(plain.validation_gradient(response) - u - rho * weights_only(w - response));
    };
    double low = -1e3, high = 1e3;
    for (int i = 0; i < 200; ++i) (slope(0.5 * (low + high)) > 0.0 ? high : low) = 0.5 * (low + high);
    const double next = 0.5 * (low + high);
    const Vector r = weights_only(w - next * phi1 - phi0);
    u += rho * r;

    full.step(problem, state);
    EXPECT_LE(relative_error(state.v, v), tolerance);
    EXPECT_LE(relative_error(state.w, w), tolerance);
    EXPECT_LE(relative_error(state.lambda[0], next), tolerance);
    EXPECT_LE(relative_error(state.u, u), tolerance);
    EXPECT_LE(relative_error(state.primal_residual, r.norm()), tolerance);
    EXPECT_LE(relative_error(state.dual_residual, rho * std::abs(next - lambda) * phi1.norm()), tolerance);
    lambda = next;
  }
}

class SimplifiedStep : public OneStep {};
INSTANTIATE_TEST_SUITE_P(Losses, SimplifiedStep, kLossesAndGradients, name_of);

// §5 with constant steps.
TEST_P(SimplifiedStep, WithConstantStepsFollowsTheAlgorithm) {
  const double alpha = 0.2, beta = 0.15, delta = 0.4, rho = 0.6;
  const bool own = GetParam().w_gradient == WGradient::own;
  const MyHpoC c{{alpha, beta, delta, rho, 0.0, GetParam().w_gradient}};
  MyHpoC::State state = c.init(problem, start);

  double lambda = -1.0;
  Vector v = zero(), w = zero();
  Vector u = Vector::Zero(v.size());
  for (int k = 0; k < kSteps; ++k) {
    const Vector g = weights_only(plain.train_gradient(v, lambda));
    v = with_intercept(v - alpha * g);
    const Vector phi0 = anchor(v);
    const Vector phi1 = (v - phi0) / lambda;
    const Vector g_w = own ? weights_only(plain.train_gradient(w, lambda)) : g;
    w = with_intercept(w - beta * (g_w + u + rho * weights_only(w - v)));
    const double next =
        lambda - delta * phi1.dot(plain.validation_gradient(v) - u - rho * weights_only(w - v));
    const Vector r = weights_only(w - next * phi1 - phi0);
    u += rho * r;

    c.step(problem, state);
    EXPECT_LE(relative_error(state.v, v), kTolerance);
    EXPECT_LE(relative_error(state.w, w), kTolerance);
    EXPECT_LE(relative_error(state.lambda[0], next), kTolerance);
    EXPECT_LE(relative_error(state.u, u), kTolerance);
    EXPECT_LE(relative_error(state.primal_residual, r.norm()), kTolerance);
    EXPECT_LE(relative_error(state.dual_residual, rho * std::abs(next - lambda) * phi1.norm()), kTolerance);
    lambda = next;
  }
  EXPECT_GT(std::abs(lambda + 1.0), 1e-3) << "lambda did not move: the test shows little";
}

/// The first of t, t/2, …, t/2³⁰ with f(t) ≤ f(0) − t/2 ‖direction‖² (+ 4e-16 |f(0)|); 0 where none is.
double backtrack(const std::function<double(double)>& f, double t, double square, int& halvings) {
  const double f0 = f(0.0);
  for (int i = 0; i <= 30; ++i, t /= 2.0) {
    if (f(t) <= f0 - 0.5 * t * square + 4e-16 * std::abs(f0)) return t;
    ++halvings;
  }
  return 0.0;
}

// §5 with backtracking, from first steps so large that they must be halved.
TEST_P(SimplifiedStep, WithBacktrackingFollowsTheAlgorithm) {
  const double alpha = 16.0, beta = 8.0, delta = 64.0, rho = 0.6;
  const bool own = GetParam().w_gradient == WGradient::own;
  const MyHpoBt bt{{alpha, beta, delta, rho, 0.0, GetParam().w_gradient}};
  MyHpoBt::State state = bt.init(problem, start);

  double lambda = -1.0;
  Vector v = zero(), w = zero();
  Vector u = Vector::Zero(v.size());
  int halvings[3] = {};
  std::int64_t skipped = 0;
  for (int k = 0; k < kSteps; ++k) {
    const Vector g = weights_only(plain.train_gradient(v, lambda));
    const double t_v = backtrack([&](double t) { return plain.train_loss(v - t * g, lambda); }, alpha,
                                 g.squaredNorm(), halvings[0]);
    v = with_intercept(v - t_v * g);
    const Vector phi0 = anchor(v);
    const Vector phi1 = (v - phi0) / lambda;

    const auto augmentation = [&](const Vector& gap) {
      const Vector penalised = weights_only(gap);
      return u.dot(penalised) + 0.5 * rho * penalised.squaredNorm();
    };
    const Vector p =
        (own ? weights_only(plain.train_gradient(w, lambda)) : g) + u + rho * weights_only(w - v);
    const double t_w =
        backtrack([&](double t) { return plain.train_loss(w - t * p, lambda) + augmentation(w - t * p - v); },
                  beta, p.squaredNorm(), halvings[1]);
    w = with_intercept(w - t_w * p);

    const double slope = phi1.dot(plain.validation_gradient(v) - u - rho * weights_only(w - v));
    const double t_lambda = backtrack(
        [&](double t) {
          const Vector response = (lambda - t * slope) * phi1 + phi0;
          return plain.validation_loss(response) + augmentation(w - response);
        },
        delta, slope * slope, halvings[2]);
    const double next = lambda - t_lambda * slope;
    u += rho * weights_only(w - next * phi1 - phi0);
    for (const double t : {t_v, t_w, t_lambda}) skipped += t == 0.0;

    bt.step(problem, state);
    EXPECT_LE(relative_error(state.v, v), kTolerance);
    EXPECT_LE(relative_error(state.w, w), kTolerance);
    EXPECT_LE(relative_error(state.lambda[0], next), kTolerance);
    EXPECT_LE(relative_error(state.u, u), kTolerance);
    EXPECT_EQ(state.skipped_steps, skipped);
    lambda = next;
  }
  for (const int count : halvings) EXPECT_GT(count, 0) << "a step that never had to be halved shows little";
}

// Bounds put λ back before u sees it: r = w − λ⁺φ₁ − φ₀ with the λ⁺ that stands.
TEST_P(SimplifiedStep, KeepsLambdaInsideBounds) {
  const MyHpoC c{{.alpha = 0.2, .beta = 0.15, .delta = 100.0, .rho = 0.6}};
  start.bound(-1.01, -0.99);
  MyHpoC::State state = c.init(problem, start);
  for (int k = 0; k < kSteps; ++k) {
    const Vector u = state.u;
    c.step(problem, state);
    EXPECT_TRUE(state.lambda[0] == start.low[0] || state.lambda[0] == start.high[0]) << state.lambda[0];
    const Vector r = weights_only(state.w - state.lambda[0] * state.phi.phi1 - state.phi.phi0);
    EXPECT_LE(relative_error(state.u, u + 0.6 * r), kTolerance);
  }
}

}  // namespace
}  // namespace yosida
