// Problems of one's own: a validation loss that depends on λ, defaults that end, requests to stop.
#include "support/own_problem.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "problem/forwarding_problem.hpp"
#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/gradient_check.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/forward.hpp"
#include "yosida/solver/hoag.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/oracle.hpp"
#include "yosida/solver/reverse.hpp"
#include "yosida/solver/sho.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::OwnProblem;
using test::random_split;
using test::relative_error;

/// The least h on a fine grid of λ, and where.
std::pair<double, double> least_on_grid(const OwnProblem& problem) {
  std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0.0};
  for (double at = -8.0; at <= 4.0; at += 0.02) least = std::min(least, {problem.h(lambda_of(at)), at});
  return least;
}

SolveOptions from(const Vector& lambda) {
  SolveOptions options;
  options.start.lambda = lambda;
  options.start.bound(-8.0, 4.0);
  return options;
}

// ---- ∂L_V/∂λ ----

TEST(DirectTerm, MovesTheMinimum) {
  const double with = least_on_grid(OwnProblem(6, 1, 0.3)).second;
  const double without = least_on_grid(OwnProblem(6, 1, 0.0)).second;
  EXPECT_GT(std::abs(with - without), 0.5) << "or the tests below show nothing";
}

TEST(DirectTerm, JoinsUnrolledHypergradients) {
  const OwnProblem problem(6, 3, 0.3);
  const Vector lambda = Vector::LinSpaced(3, -2.0, 0.0);
  for (const auto way : {&reverse_hypergradient, &forward_hypergradient}) {
    Vector w = Vector::Zero(6), gradient(3);
    way(problem, lambda, 0.1, 2000, w, gradient);
    EXPECT_LE(relative_error(gradient, problem.hypergradient(lambda)), 1e-6);
  }
}

class UsesTheDirectTerm : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, UsesTheDirectTerm,
                         testing::Values("my-hpo", "my-hpo-consensus", "my-hpo-1", "hoag", "reverse",
                                         "forward", "penalty", "stn", "soba", "saba", "meha", "grid",
                                         "gp-ei"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Methods that follow a hypergradient, or the loss itself, end at the minimum of h, which is not that of L_V
// at a fixed λ.
TEST_P(UsesTheDirectTerm, EndsAtTheMinimum) {
  const OwnProblem problem(6, 1, 0.3);
  const Method& chosen = method(GetParam());
  // The step on λ of these two is meant for penalties, which L_V does not depend on itself: here it circles
  // the minimum.
  SettingValues settings;
  if (chosen.name == "reverse" || chosen.name == "forward") settings["beta"] = "0.3";
  const auto solver = chosen.make(settings);
  SolveOptions options = from(lambda_of(-2.0));
  options.budget.iterations = chosen.name == "grid" ? 121 : chosen.counts_trials ? 41 : 600;
  const Outcome outcome = solve(*solver, problem, options);
  const auto [least, at] = least_on_grid(problem);
  // Weights on their way may have a lower L_V than any that are trained: the last λ counts too.
  const double h = std::min(problem.h(outcome.best.lambda), problem.h(outcome.final.lambda));
  const double elsewhere = problem.h(lambda_of(least_on_grid(OwnProblem(6, 1, 0.0)).second));
  EXPECT_LT(h - least, 0.02 * (elsewhere - least))
      << outcome.message << " at " << outcome.best.lambda << ", " << at;
}

TEST(DirectTerm, JoinsTheStepsOfSeveralLambdas) {
  for (const Index lambdas : {3, 70}) {
    const OwnProblem problem(70, lambdas, 0.3);
    const Outcome outcome = solve(*method("my-hpo").make({}), problem, from(Vector::Constant(lambdas, -2.0)));
    const Vector slope = problem.hypergradient(outcome.best.lambda);
    EXPECT_LE(slope.lpNorm<Eigen::Infinity>(), 3e-3 * std::abs(outcome.best.loss.validation))
        << outcome.message;
  }
}

// One step of the paper's methods: λ moves by the direct term more than it would without.
TEST(DirectTerm, JoinsTheStepsOfThePaper) {
  const OwnProblem with(6, 1, 0.3);
  struct Without : OwnProblem {
    Without() : OwnProblem(6, 1, 0.3) { traits_.validation_depends_on_lambda = false; }
  };
  const Without without;
  SolveOptions options = from(lambda_of(-1.5));
  options.budget.iterations = 1;
  const auto moved = [&](const auto& algorithm, const BilevelProblem& problem) {
    return solve(algorithm, problem, options).final.lambda[0];
  };
  const MyHpoC c{{.alpha = 0.05, .beta = 0.05, .delta = 0.1, .rho = 0.1}};
  Vector v(6);
  with.train_gradient(Vector::Zero(6), options.start.lambda, v);
  v *= -0.05;
  EXPECT_NEAR(moved(c, with) - moved(c, without), -0.1 * with.validation_direct(v, options.start.lambda)[0],
              1e-8);
  const Sho sho{{.alpha = 0.01, .beta = 0.1, .sigma = 0.0, .phi_scale = 0.0}};
  EXPECT_NEAR(moved(sho, with) - moved(sho, without),
              -0.1 * with.validation_direct(Vector::Zero(6), options.start.lambda)[0], 0.05);
}

TEST(DirectTerm, IsInTheCertificate) {
  const OwnProblem problem(6, 2, 0.3);
  const Outcome outcome = solve(*method("my-hpo").make({}), problem, from(Vector::Constant(2, -2.0)));
  EXPECT_EQ(certify(problem, outcome.best, {}).verdict, Verdict::certified);
  Solution away = outcome.best;
  away.lambda.array() += 0.5;
  away.point = problem.trained(away.lambda);
  const Certificate refused = certify(problem, away, {});
  EXPECT_EQ(refused.verdict, Verdict::not_certified);
  const double expected = problem.hypergradient(away.lambda).cwiseAbs().maxCoeff() / problem.h(away.lambda);
  EXPECT_LE(relative_error(refused.hypergradient, expected), 1e-6);
}

TEST(DirectTerm, IsInTheOracle) {
  const OwnProblem problem(6, 1, 0.3);
  const Oracle oracle = find_oracle(problem, -8.0, 4.0);
  const auto [least, at] = least_on_grid(problem);
  EXPECT_LE(oracle.validation, least);
  EXPECT_NEAR(oracle.lambda, at, 0.02);
}

// ---- a criterion of w*(λ) alone ----

struct Criterion : OwnProblem {
  Criterion() : OwnProblem(6, 1, 0.3) { traits_.validation_needs_optimum = true; }
};

TEST(NeedsOptimum, IsRefusedByMethodsThatLookElsewhere) {
  const Criterion problem;
  for (const char* name : {"my-hpo-c", "my-hpo-bt", "my-hpo-full", "my-hpo-consensus", "my-hpo-1", "sho",
                           "sho-code", "reverse", "forward", "penalty", "stn", "meha", "agils", "bic-gaffa",
                           "bome", "f2sa", "soba", "saba", "hyperband"}) {
    try {
      solve(*method(name).make({}), problem, from(lambda_of(-2.0)));
      ADD_FAILURE() << name << " took it";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("w*(lambda)"), std::string::npos) << error.what();
    }
  }
}

TEST(NeedsOptimum, IsTakenByTheOthers) {
  const Criterion problem;
  const double least = least_on_grid(problem).first;
  for (const char* name : {"my-hpo", "hoag", "grid"}) {
    const Outcome outcome = solve(*method(name).make({}), problem, from(lambda_of(-2.0)));
    EXPECT_LT(outcome.best.loss.validation / least - 1.0, 0.05) << name;
    EXPECT_GE(outcome.best.iteration, 1) << name << ": the start is not trained";
  }
}

// ---- every method, with nothing but defaults ----

class EveryMethod : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Is, EveryMethod, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Method& each : methods()) names.push_back(each.name);
                           return names;
                         }()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(BicGaffa, TakesNothingButPenalties) {
  struct WithoutPenalties : OwnProblem {
    WithoutPenalties() : OwnProblem(4, 1, 0.0) { traits_.has_penalties = false; }
  };
  const OwnProblem direct(4, 1, 0.3);
  const WithoutPenalties without;
  for (const BilevelProblem* problem :
       {static_cast<const BilevelProblem*>(&direct), static_cast<const BilevelProblem*>(&without)}) {
    try {
      solve(*method("bic-gaffa").make({}), *problem, from(lambda_of(-1.0)));
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("bic-gaffa: "), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find("must be a method"), std::string::npos) << error.what();
    }
  }
}

void expect_finite(const Outcome& outcome) {
  for (const Solution* solution : {&outcome.best, &outcome.final}) {
    EXPECT_TRUE(solution->w.allFinite());
    EXPECT_TRUE(solution->lambda.allFinite());
    EXPECT_TRUE(std::isfinite(solution->loss.validation));
  }
}

TEST_P(EveryMethod, EndsByItselfWithEmptyOptions) {
  const auto solver = method(GetParam()).make({});
  const OwnProblem own(4, 1, GetParam() == "bic-gaffa" ? 0.0 : 0.1);  // it refuses a direct term
  const LinearProblem ridge(random_split(20, 10, 0, 4, 1, least_squares()), least_squares(), true);
  for (const BilevelProblem* problem :
       {static_cast<const BilevelProblem*>(&own), static_cast<const BilevelProblem*>(&ridge)}) {
    const Outcome outcome = solve(*solver, *problem, {});
    expect_finite(outcome);
    EXPECT_GT(outcome.iterations, 0) << outcome.message;
    EXPECT_LE(outcome.iterations, 2500);
  }
}

struct NotANumber : OwnProblem {
  NotANumber() : OwnProblem(4, 1, 0.0) {}
  void train_gradient(const Vector&, const Vector&, Vector& g) const override { g.setConstant(std::nan("")); }
};

TEST_P(EveryMethod, EndsWhereGradientsAreNotNumbers) {
  const NotANumber problem;
  const Outcome outcome = solve(*method(GetParam()).make({}), problem, from(lambda_of(-1.0)));
  expect_finite(outcome);
  EXPECT_NE(outcome.status, StopReason::converged) << outcome.message;
}

// A search that could make nothing of any λ has not come to a minimum that rounding hides.
TEST(MyHpo, DivergesWhereGradientsAreNotNumbers) {
  struct Nowhere : OwnProblem {
    bool in_training;
    Nowhere(Index lambdas_, bool in_training_) : OwnProblem(4, lambdas_, 0.0), in_training(in_training_) {}
    void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
      OwnProblem::train_gradient(w, lambda, g);
      if (in_training) g[0] = std::nan("");
    }
    double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
      const double loss = OwnProblem::validation_gradient(w, lambda, g);
      if (!in_training) g[0] = std::nan("");
      return loss;
    }
  };
  for (const Index lambdas : {1, 3})
    for (const bool in_training : {true, false}) {
      const Nowhere problem(lambdas, in_training);
      const Outcome outcome = solve(MyHpo{}, problem, from(Vector::Constant(lambdas, -1.0)));
      expect_finite(outcome);
      EXPECT_EQ(outcome.status, StopReason::diverged) << lambdas << ", " << outcome.message;
      EXPECT_NE(
          outcome.message.find(in_training ? "the training gradient" : "the gradient of the validation"),
          std::string::npos)
          << outcome.message;
    }
}

TEST(MyHpo, NamesNoTargetsWhereThereAreNone) {
  struct NoLoss : OwnProblem {
    NoLoss() : OwnProblem(4, 1, 0.0) {}
    double validation_loss(const Vector&, const Vector&) const override { return std::nan(""); }
  };
  try {
    solve(MyHpo{}, NoLoss{}, {});
    ADD_FAILURE() << "taken";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("the validation loss of w = 0 is nan: must be finite"), 0U);
    EXPECT_EQ(std::string(error.what()).find("targets"), std::string::npos) << error.what();
  }
}

struct NotANumberWhereItIsJudged : OwnProblem {
  NotANumberWhereItIsJudged() : OwnProblem(4, 1, 0.0) {}
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    const double loss = OwnProblem::validation_gradient(w, lambda, g);
    g.setConstant(std::nan(""));
    return loss;
  }
};

TEST_P(EveryMethod, EndsWhereGradientsOfTheValidationLossAreNotNumbers) {
  const NotANumberWhereItIsJudged problem;
  const Outcome outcome = solve(*method(GetParam()).make({}), problem, from(lambda_of(-1.0)));
  expect_finite(outcome);
}

/// A problem whose every gradient takes its time.
struct Slow : OwnProblem {
  Slow() : OwnProblem(4, 1, 0.0) {}
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    OwnProblem::train_gradient(w, lambda, g);
  }
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_P(EveryMethod, ReturnsTheStartWhereItIsStoppedBeforeIt) {
  StopSource source;
  source.request_stop();
  SolveOptions options = from(lambda_of(-1.0));
  options.stop = source.token();
  const Outcome outcome = solve(*method(GetParam()).make({}), OwnProblem(4, 1, 0.0), options);
  EXPECT_EQ(outcome.status, StopReason::stopped);
  EXPECT_EQ(outcome.iterations, 0);
  expect_finite(outcome);
}

// From another thread, inside an inner solve or between gradients.
TEST_P(EveryMethod, StopsWithinAFewGradients) {
  StopSource source;
  SolveOptions options = from(lambda_of(-1.0));
  options.stop = source.token();
  options.budget.iterations = 1000000;
  const Slow problem;
  const auto solver = method(GetParam()).make({});
  Outcome outcome;
  std::jthread asking([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  const double seconds = seconds_of([&] { outcome = solve(*solver, problem, options); });
  expect_finite(outcome);
  if (outcome.status != StopReason::converged) {
    EXPECT_EQ(outcome.status, StopReason::stopped) << outcome.message;
  }
  EXPECT_LT(seconds, 2.0);  // generous: the machine may be busy
}

TEST_P(EveryMethod, KeepsItsTimeInsideAStep) {
  SolveOptions options = from(lambda_of(-1.0));
  options.budget.seconds = 0.05;
  const Slow problem;
  Outcome outcome;
  const double seconds = seconds_of([&] { outcome = solve(*method(GetParam()).make({}), problem, options); });
  expect_finite(outcome);
  if (outcome.status != StopReason::converged && outcome.status != StopReason::exhausted) {
    EXPECT_EQ(outcome.status, StopReason::time_limit) << outcome.message;
  }
  EXPECT_LT(seconds, 2.0);
}

TEST(Sizes, AreCheckedBySolversAndCertificates) {
  const OwnProblem problem(4, 2, 0.0);
  SolveOptions options;
  options.start.lambda = Vector::Zero(3);
  EXPECT_THROW(solve(Hoag{}, problem, options), InputError);
  options.start.lambda = Vector::Zero(2);
  options.start.low = Vector::Constant(1, -1.0);
  options.start.high = Vector::Constant(1, 1.0);
  EXPECT_THROW(solve(Hoag{}, problem, options), InputError);
  Solution solution;
  solution.lambda = Vector::Zero(2);
  solution.point = Vector::Zero(3);
  EXPECT_THROW(certify(problem, solution, {}), InputError);
  solution.point = Vector::Zero(4);
  solution.lambda = Vector::Zero(1);
  EXPECT_THROW(certify(problem, solution, {}), InputError);
  EXPECT_THROW(with_bounds(problem, {.lambda = Vector::Zero(1)}), InputError);
  EXPECT_THROW(validation_at(problem, 0.0), InputError);
  Vector w = Vector::Zero(3), gradient(2);
  EXPECT_THROW(reverse_hypergradient(problem, Vector::Zero(2), 0.1, 1, w, gradient), InputError);
  EXPECT_THROW(forward_hypergradient(problem, Vector::Zero(2), 0.1, 1, w, gradient), InputError);
}

// ---- a validation loss whose minimum is 0 ----

/// The problem of docs/howto-own-model.md: w*(λ) = 2 / (1 + 2e^λ), so at λ = −log 2 the loss is 0.
struct NoLossAtBest : BilevelProblem {
  double size;  // of the loss
  explicit NoLossAtBest(double size_) : size(size_) {}
  Index weights() const override { return 3; }
  Index hyperparameters() const override { return 1; }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return 0.5 * (w.array() - 2.0).square().sum() + std::exp(lambda[0]) * w.squaredNorm();
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = w.array() - 2.0 + 2.0 * std::exp(lambda[0]) * w.array();
  }
  double validation_loss(const Vector& w, const Vector&) const override {
    return 0.5 * size * (w.array() - 1.0).square().sum();
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = size * (w.array() - 1.0);
    return validation_loss(w, lambda);
  }
};

TEST(NoLoss, IsFoundAndCertified) {
  for (const double size : {1e-6, 1.0, 1e6})
    for (const double from_lambda : {-4.0, -1.0, 0.0, 0.7, 3.0}) {
      const NoLossAtBest problem(size);
      SolveOptions options;
      options.start.lambda = lambda_of(from_lambda);
      const Outcome outcome = solve(MyHpo{}, problem, options);
      EXPECT_EQ(outcome.status, StopReason::converged)
          << size << ", " << from_lambda << ": " << outcome.message;
      EXPECT_NEAR(outcome.best.lambda[0], -std::log(2.0), 1e-8) << size << ", " << from_lambda;
      const Certificate proof = certify(problem, outcome.best, {});
      EXPECT_EQ(proof.verdict, Verdict::certified) << size << ", " << from_lambda << ": " << proof.reason;
    }
}

// As far from the minimum as its loss shows, it is none.
TEST(NoLoss, IsNotCertifiedBesideIt) {
  const NoLossAtBest problem(1.0);
  for (const double away : {-1e-3, -1e-4, 1e-4, 1e-3}) {
    const double lambda = away - std::log(2.0);
    const Vector w = Vector::Constant(3, 2.0 / (1.0 + 2.0 * std::exp(lambda)));
    const Solution beside{.lambda = lambda_of(lambda), .w = w, .point = w, .loss = {}, .iteration = 0};
    EXPECT_EQ(certify(problem, beside, {}).verdict, Verdict::not_certified) << away;
  }
}

// ---- sizes of what a user's own functions give ----

/// One of whose functions gives its vector a size of its own.
struct WrongSize : OwnProblem {
  std::string wrong;
  Index size;
  WrongSize(std::string which, Index size_) : OwnProblem(4, 1, 0.0), wrong(std::move(which)), size(size_) {}
  void spoil(const char* name, Vector& out) const {
    if (wrong == name) out = Vector::Constant(size, 0.5);
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    OwnProblem::train_gradient(w, lambda, g);
    spoil("train_gradient", g);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    const double loss = OwnProblem::validation_gradient(w, lambda, g);
    spoil("validation_gradient", g);
    return loss;
  }
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override {
    OwnProblem::hessian_product(w, lambda, p, out);
    spoil("hessian_product", out);
  }
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override {
    OwnProblem::cross_product(w, lambda, q, out);
    spoil("cross_product", out);
  }
};

void expect_refused(const WrongSize& problem, const std::string& where, const std::function<void()>& use) {
  const std::string rule = ": returned " + std::to_string(problem.size) +
                           (problem.size == 1 ? " number: must be 4" : " numbers: must be 4");
  try {
    use();
    ADD_FAILURE() << where << " took it: " << problem.wrong << rule;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(problem.wrong), std::string::npos) << where << ": " << message;
    EXPECT_NE(message.find(rule), std::string::npos) << where << ": " << message;
  }
}

TEST_P(EveryMethod, RefusesTrainingGradientsOfTheWrongSize) {
  for (const Index size : {1, 5}) {
    const WrongSize problem("train_gradient", size);
    expect_refused(problem, GetParam(),
                   [&] { solve(*method(GetParam()).make({}), problem, from(lambda_of(-1.0))); });
  }
}

TEST(Sizes, OfDerivativesAreCheckedWhereTheyAreUsed) {
  for (const char* name : {"train_gradient", "validation_gradient", "hessian_product", "cross_product"})
    for (const Index size : {0, 1, 5}) {
      const WrongSize problem(name, size);
      const Vector w = OwnProblem(4, 1, 0.0).trained(lambda_of(-1.0));
      const Solution solution{.lambda = lambda_of(-1.0), .w = w, .point = w, .loss = {}, .iteration = 0};
      expect_refused(problem, "my-hpo", [&] { solve(MyHpo{}, problem, from(lambda_of(-1.0))); });
      expect_refused(problem, "certify", [&] { certify(problem, solution, {}); });
      expect_refused(problem, "check_gradients", [&] { check_gradients(problem, w, lambda_of(-1.0)); });
    }
}

TEST(Sizes, MustBePositive) {
  const OwnProblem without_weights(0, 1, 0.0), without_lambdas(4, 0, 0.0);
  const auto message = [](const BilevelProblem& problem) {
    try {
      solve(MyHpo{}, problem, {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(message(without_weights), "weights() = 0: must be >= 1");
  EXPECT_EQ(message(without_lambdas), "hyperparameters() = 0: must be >= 1");
}

}  // namespace
}  // namespace yosida
