#include "yosida/solver/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "problem/forwarding_problem.hpp"
#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/problem/sparse_problem.hpp"
#include "yosida/random.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida {
namespace {

using test::BuiltProblem;
using test::lambda_of;
using test::ProblemCase;
using test::random_split;
using test::relative_error;

/// λ with its own w*(λ), solved tightly.
Solution trained(const BilevelProblem& problem, const Vector& lambda) {
  Solution solution;
  solution.lambda = lambda;
  solution.point = Vector::Zero(problem.weights());
  problem.fit_intercept(solution.point);
  problem.inner_solve(lambda, {}, solution.point);
  solution.w = problem.expand(solution.point);
  solution.loss = problem.losses(solution.point, lambda);
  return solution;
}

Start unbounded(const Vector& lambda) { return {.lambda = lambda}; }

Certificate certify_at(const BilevelProblem& problem, const Vector& lambda) {
  return certify(problem, trained(problem, lambda), unbounded(lambda));
}

std::string text(const Certificate& certificate) {
  return std::string(to_string(certificate.verdict)) + ": " + certificate.reason;
}

constexpr double kLow = -25.0, kHigh = 6.0;

class CertificateOf : public testing::TestWithParam<ProblemCase> {};
INSTANTIATE_TEST_SUITE_P(Every, CertificateOf, testing::ValuesIn(test::all_problem_cases()),
                         [](const auto& each) { return each.param.name(); });

/// Of the problems whose target is a number: classes have no unit.
class CertificateOfANumber : public testing::TestWithParam<ProblemCase> {};
INSTANTIATE_TEST_SUITE_P(Every, CertificateOfANumber,
                         testing::ValuesIn(test::problem_cases([](const ProblemCase& c) {
                           return c.loss->is_quadratic();
                         })),
                         [](const auto& each) { return each.param.name(); });

TEST_P(CertificateOf, TheOraclesLambdaIsCertifiedAndNoneFarFromIt) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 20 && inside < 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const BuiltProblem built(GetParam(), seed);
    const Oracle oracle = find_oracle(*built.problem, kLow, kHigh);
    // A minimum at (within the last point of) a bound says nothing here.
    if (oracle.lambda < kLow + 0.5 || oracle.lambda > kHigh - 0.5) continue;
    ++inside;
    const Certificate best = certify_at(*built.problem, lambda_of(oracle.lambda));
    EXPECT_EQ(best.verdict, Verdict::certified) << text(best);
    EXPECT_LE(best.inner_gradient, 1e-8);
    for (const double away : {-40.0, -15.0, 15.0, 40.0}) {
      const Certificate far = certify_at(*built.problem, lambda_of(oracle.lambda + away));
      EXPECT_EQ(far.verdict, Verdict::not_certified)
          << "oracle " << oracle.lambda << " and " << away << ": " << text(far);
    }
  }
  EXPECT_GE(inside, 1) << "the test shows nothing";
}

// Central differences of L_V(w*(λ)), 1e-4 apart: their own error is about 1e-8 of h‴ and 1e-12 / 1e-4 of h.
TEST_P(CertificateOf, TheHypergradientIsAFiniteDifference) {
  const BuiltProblem built(GetParam());
  const BilevelProblem& problem = *built.problem;
  for (const double lambda : {-6.0, -3.0, -1.0, 1.0}) {
    SCOPED_TRACE(testing::Message() << "lambda " << lambda);
    const Certificate certificate = certify_at(problem, lambda_of(lambda));
    const double delta = 1e-4;
    const double slope =
        (validation_at(problem, lambda + delta) - validation_at(problem, lambda - delta)) / (2.0 * delta);
    const Solution solution = trained(problem, lambda_of(lambda));
    Vector scale(1);
    problem.certificate_scale(solution.point, solution.lambda, scale);
    EXPECT_GE(scale[0], 1.0);
    const double expected = std::abs(slope) * scale[0] / solution.loss.validation;
    EXPECT_NEAR(certificate.hypergradient, expected, 1e-5 * expected + 1e-7 * scale[0]);
  }
}

TEST_P(CertificateOfANumber, TheUnitOfTheTargetChangesNoVerdict) {
  for (const double lambda : {-30.0, -12.0, -6.0, -4.0, -3.0, -2.5, -2.0, -1.0, 2.0, 20.0}) {
    const BuiltProblem plain(GetParam());
    const Certificate expected = certify_at(*plain.problem, lambda_of(lambda));
    for (const double unit : {1e-6, 1e6}) {
      Split split = GetParam().split();
      for (Dataset* data : {&split.train, &split.validation, &*split.test}) data->y *= unit;
      const BuiltProblem scaled(split, *GetParam().loss, GetParam().intercept, GetParam().collapsed);
      const Certificate certificate = certify_at(*scaled.problem, lambda_of(lambda));
      EXPECT_EQ(certificate.verdict, expected.verdict) << lambda << " " << unit << ": " << text(certificate);
      // At −30 a direct problem with fewer rows than features is singular to rounding: the slope is noise,
      // and large, in any unit.
      if (lambda < -12.0) continue;
      EXPECT_NEAR(certificate.hypergradient, expected.hypergradient,
                  1e-6 * expected.hypergradient + expected.hypergradient_error + 1e-9)
          << lambda << " " << unit;
    }
  }
}

/// One λ per feature: the largest of the scaled components counts.
TEST(Certificate, OfSeveralHyperparametersIsTheirLargestFiniteDifference) {
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const bool intercept : {false, true}) {
      const LinearProblem problem(random_split(40, 30, 0, 6, 1, *loss), *loss, intercept,
                                  Penalty::per_feature(6));
      Vector lambda(6);
      lambda << -4.0, -2.0, -3.0, -1.0, 0.0, -5.0;
      const Solution solution = trained(problem, lambda);
      Vector scale(6);
      problem.certificate_scale(solution.point, lambda, scale);
      double expected = 0.0;
      for (Index j = 0; j < 6; ++j) {
        const double delta = 1e-4;
        const double above = trained(problem, lambda + delta * Vector(Vector::Unit(6, j))).loss.validation;
        const double below = trained(problem, lambda - delta * Vector(Vector::Unit(6, j))).loss.validation;
        expected = std::max(expected, std::abs(above - below) / (2.0 * delta) * scale[j]);
      }
      expected /= solution.loss.validation;
      const Certificate certificate = certify(problem, solution, unbounded(lambda));
      EXPECT_LE(relative_error(certificate.hypergradient, expected), 1e-5);
    }
}

/// A problem of some shape: 20 to 120 rows, 1 to 40 columns whose scales differ by up to a factor of 3000 or
/// not at all, dense or sparse, with an intercept or without, ridge or lasso, whose minima may be kinks.
/// Where scales differ, the gradient at 0 is that of the largest column, and a small share of it says little
/// of the others.
std::unique_ptr<const BilevelProblem> drawn_problem(std::uint64_t seed, const SharedLoss& loss,
                                                    bool is_lasso) {
  Random random(seed);
  const auto between = [&](double low, double high) {
    return static_cast<Index>(low + (high - low + 1.0) * random.uniform());
  };
  const Index rows = between(20, 120), judging = between(10, 60),
              cols = between(1, 1 + 39 * random.uniform());
  const double decades = random.uniform() < 0.3 ? 0.0 : 3.5 * random.uniform();
  Split split = random_split(rows, judging, 0, cols, seed, *loss, random.uniform() < 0.3 ? 0.4 : 1.0);
  for (Dataset* part : {&split.train, &split.validation}) {
    Matrix x = to_matrix(part->x);
    for (Index j = 0; j < cols; ++j)
      x.col(j) *= std::pow(10.0, decades * (static_cast<double>(j) / static_cast<double>(cols) - 0.5));
    part->x = Design(x);
  }
  const bool intercept = random.uniform() < 0.7;
  if (is_lasso)
    return std::make_unique<SparseProblem>(std::move(split), loss, intercept, SparsePenalty::lasso(cols));
  return std::make_unique<LinearProblem>(std::move(split), loss, intercept);
}

/// Answers that were certified or not, and what is wrong with these verdicts.
struct VerdictCounts {
  int answers = 0, certified = 0;
  int false_ones = 0;  // certified, though a small change of λ inside the bounds lowers h by over 0.1 %
  int weights = 0;     // certified, though the loss of the weights is over 0.1 % away from h(λ)
  int best = 0;        // the best λ with its own weights
  int alarms = 0;      // of these not certified
};

/// One answer around the best λ of a problem: right, near, wrong, overfitted, collapsed or held by a bound;
/// every other one with weights of another λ.
void judge_answer(const BilevelProblem& problem, double best, int draw, Random& random,
                  VerdictCounts& counts) {
  constexpr double kTooMuch = 1e-3;
  const double side = random.uniform() < 0.5 ? -1.0 : 1.0;
  const double size = random.uniform();
  const double aways[] = {0.0,
                          side * std::pow(10.0, -4.0 + 2.7 * size),
                          side * (0.2 + 6.0 * size),
                          -8.0 - 12.0 * size,
                          8.0 + 20.0 * size,
                          side * (0.2 + 3.0 * size)};
  const double lambda = best + aways[draw % 6];
  const double of_weights = draw < 6 ? 0.0 : side * (0.1 + 3.0 * random.uniform());
  Start start = unbounded(lambda_of(lambda));
  if (draw % 6 == 5) start.bound(side > 0.0 ? lambda : lambda - 20.0, side > 0.0 ? lambda + 20.0 : lambda);
  Solution solution = trained(problem, lambda_of(lambda + of_weights));
  solution.lambda = start.lambda;
  const Certificate certificate = certify(problem, solution, start);
  const bool is_certified = certificate.verdict != Verdict::not_certified;
  ++counts.answers;
  counts.certified += is_certified;
  counts.best += draw == 0;
  counts.alarms += draw == 0 && !is_certified;
  if (!is_certified) return;
  const double h = validation_at(problem, lambda);
  counts.weights += std::abs(problem.validation_loss(solution.point, solution.lambda) - h) > kTooMuch * h;
  double lowest = h;
  for (const double change : {-0.05, -0.02, 0.02, 0.05}) {
    const double near = lambda + change;
    if (start.is_bounded() && (near < start.low[0] || near > start.high[0])) continue;
    lowest = std::min(lowest, validation_at(problem, near));
  }
  const bool falls = lowest < (1.0 - kTooMuch) * h;
  EXPECT_FALSE(falls) << text(certificate) << " at lambda " << lambda << ", draw " << draw << ": " << h
                      << " falls to " << lowest << "; the best lambda is " << best;
  counts.false_ones += falls;
}

// Whatever is certified must be true. YOSIDA_CERTIFICATES says how many problems of each loss are drawn, in
// place of 8.
TEST(Certificate, NothingFalseIsCertified) {
  const char* const asked = std::getenv("YOSIDA_CERTIFICATES");
  const int problems = asked != nullptr ? std::atoi(asked) : 8;
  VerdictCounts counts;
  const std::pair<SharedLoss, bool> kinds[] = {
      {least_squares(), false}, {logistic(), false},     {huber(), false},
      {squared_hinge(), false}, {poisson(), false},      {softmax(3), false},
      {least_squares(), true},  {squared_hinge(), true}, {logistic(), true}};
  for (const auto& [loss, is_lasso] : kinds)
    for (int seed = 1; seed <= problems; ++seed) {
      SCOPED_TRACE(std::string(loss->name()) + (is_lasso ? ", lasso, " : ", ridge, ") + std::to_string(seed));
      const auto problem = drawn_problem(static_cast<std::uint64_t>(seed), loss, is_lasso);
      const double high = is_lasso ? problem->traits().bounds->high[0] : kHigh;
      const Oracle oracle = find_oracle(*problem, kLow, high);
      if (oracle.lambda < kLow + 0.5 || oracle.lambda > high - 0.5) continue;
      Random random(static_cast<std::uint64_t>(seed));
      for (int draw = 0; draw < 12; ++draw) judge_answer(*problem, oracle.lambda, draw, random, counts);
    }
  std::cout << counts.answers << " answers: " << counts.certified << " certified, " << counts.false_ones
            << " of them falsely, " << counts.weights << " with weights of another lambda; " << counts.alarms
            << " false alarms of " << counts.best << "\n";
  EXPECT_GT(counts.certified, counts.answers / 20) << "the test shows little";
  EXPECT_EQ(counts.false_ones, 0);
  EXPECT_EQ(counts.weights, 0);
  EXPECT_LE(counts.alarms, counts.best / 50);
}

// At the bound h rises inwards, up to a kink 5e-4 away; from there on it falls.
TEST(Certificate, ABoundHoldsNothingWhereTheLossFallsBehindTheNextKink) {
  const auto problem = drawn_problem(65, least_squares(), true);
  const double lambda = -2.4533940408526753;
  const double here = validation_at(*problem, lambda);
  ASSERT_GT(validation_at(*problem, lambda + 1e-4), here);
  ASSERT_LT(validation_at(*problem, lambda + 0.05), 0.997 * here);
  Start start = unbounded(lambda_of(lambda));
  start.bound(lambda, lambda + 20.0);
  const Certificate certificate = certify(*problem, trained(*problem, lambda_of(lambda)), start);
  EXPECT_EQ(certificate.verdict, Verdict::not_certified) << text(certificate);
  EXPECT_NE(certificate.reason.find("up to a kink"), std::string::npos) << text(certificate);
}

// Slopes of 0.004 that end at a kink within 0.05, behind which h falls.
TEST(Certificate, ASmallSlopeUpToTheNextKinkIsNoMinimum) {
  for (const auto& [seed, lambda] :
       {std::pair(1172, -3.2170698321766129), std::pair(1175, -1.7571871337422142)}) {
    const auto problem = drawn_problem(static_cast<std::uint64_t>(seed), least_squares(), true);
    const Certificate certificate = certify_at(*problem, lambda_of(lambda));
    EXPECT_EQ(certificate.verdict, Verdict::not_certified) << text(certificate);
    EXPECT_NE(certificate.reason.find("up to a kink"), std::string::npos) << text(certificate);
  }
}

/// A problem whose λ* is well inside, and λ*.
struct Known {
  BuiltProblem built{random_split(30, 20, 0, 10, 1, least_squares()), least_squares(), true, false};
  double optimum = find_oracle(*built.problem, kLow, kHigh).lambda;
};

TEST(Certificate, ABoundThatHoldsLambdaIsNamed) {
  const Known known;
  const BilevelProblem& problem = *known.built.problem;
  // Below the optimum h falls towards larger λ: an upper bound there holds it.
  for (const double away : {-1.0, 1.0}) {
    const Vector lambda = lambda_of(known.optimum + away);
    const Solution solution = trained(problem, lambda);
    Start start = unbounded(lambda);
    start.bound(away < 0.0 ? kLow : lambda[0], away < 0.0 ? lambda[0] : kHigh);
    const Certificate held = certify(problem, solution, start);
    EXPECT_EQ(held.verdict, Verdict::at_bound) << text(held);
    EXPECT_EQ(held.hypergradient, 0.0);
    EXPECT_EQ(to_string(held.verdict), "certified at a bound");
    // At the other bound the slope points inside.
    start.bound(away < 0.0 ? lambda[0] : kLow, away < 0.0 ? kHigh : lambda[0]);
    const Certificate free = certify(problem, solution, start);
    EXPECT_EQ(free.verdict, Verdict::not_certified) << text(free);
    // A bound elsewhere holds nothing.
    start.bound(kLow, kHigh);
    EXPECT_EQ(certify(problem, solution, start).verdict, Verdict::not_certified);
  }
}

/// A problem of one's own, which says nothing of the scale of its slopes.
class WithoutScale final : public ForwardingProblem {
 public:
  using ForwardingProblem::ForwardingProblem;
  void certificate_scale(const Vector&, const Vector&, Vector& out) const override { out.setOnes(); }
};

// Under so large a penalty w ≈ 0, L_V is that of w = 0 and the slope 1e-20 of it: no minimum, only no
// weights.
TEST(Certificate, WeightsPressedToZeroAreNotCertifiedUnlessABoundHoldsThem) {
  const LinearProblem linear(random_split(60, 40, 0, 5, 3, least_squares()), least_squares(), true);
  const WithoutScale problem(linear);
  const Vector lambda = lambda_of(46.0);
  const Solution pressed = trained(problem, lambda);
  ASSERT_LE(pressed.point.head(5).norm(), 1e-15);
  const Certificate free = certify(problem, pressed, unbounded(lambda));
  EXPECT_EQ(free.verdict, Verdict::not_certified) << text(free);
  EXPECT_NE(free.reason.find("pressed to 0"), std::string::npos) << text(free);
  Start held = unbounded(lambda);
  held.bound(-25.0, 46.0);
  const Certificate bound = certify(problem, pressed, held);
  EXPECT_EQ(bound.verdict, Verdict::at_bound) << text(bound);
  // A minimum inside is certified as before.
  const double optimum = find_oracle(linear, kLow, kHigh).lambda;
  EXPECT_EQ(certify_at(problem, lambda_of(optimum)).verdict, Verdict::certified);
}

TEST(Certificate, WeightsThatAreNotTrainedAreNotCertified) {
  const Known known;
  const BilevelProblem& problem = *known.built.problem;
  const Vector lambda = lambda_of(known.optimum);
  Solution solution = trained(problem, lambda);
  solution.point.setZero();
  solution.w = problem.expand(solution.point);
  const Certificate certificate = certify(problem, solution, unbounded(lambda));
  EXPECT_EQ(certificate.verdict, Verdict::not_certified);
  EXPECT_GE(certificate.inner_gradient, 0.5);
  EXPECT_NE(certificate.reason.find("not trained"), std::string::npos) << certificate.reason;
  EXPECT_LE(certificate.hypergradient, 1e-4) << "lambda itself is the optimum";
  // Almost trained: 1 % of the way is left.
  solution.point = 0.99 * trained(problem, lambda).point;
  const Certificate almost = certify(problem, solution, unbounded(lambda));
  EXPECT_EQ(almost.verdict, Verdict::not_certified) << text(almost);
}

TEST(Certificate, NumbersThatAreNotFiniteAreNotCertified) {
  const Known known;
  const BilevelProblem& problem = *known.built.problem;
  Solution solution = trained(problem, lambda_of(known.optimum));
  solution.point[0] = std::nan("");
  const Certificate certificate = certify(problem, solution, unbounded(solution.lambda));
  EXPECT_EQ(certificate.verdict, Verdict::not_certified) << text(certificate);
  EXPECT_NE(certificate.reason.find("not finite"), std::string::npos) << certificate.reason;
}

TEST(Certificate, ATargetOfZeroIsCertifiedEverywhere) {
  Split split = random_split(20, 10, 0, 4, 1, least_squares());
  split.train.y.setZero();
  split.validation.y.setZero();
  const LinearProblem problem(split, least_squares(), false);
  const Certificate certificate = certify_at(problem, lambda_of(-3.0));
  EXPECT_EQ(certificate.verdict, Verdict::certified) << text(certificate);
}

TEST(Certificate, TheToleranceIsTheCallersOwn) {
  const Known known;
  const Vector lambda = lambda_of(known.optimum + 0.02);
  const Solution solution = trained(*known.built.problem, lambda);
  const double slope = certify(*known.built.problem, solution, unbounded(lambda)).hypergradient;
  ASSERT_GT(slope, 0.0);
  EXPECT_EQ(certify(*known.built.problem, solution, unbounded(lambda), 2.0 * slope).verdict,
            Verdict::certified);
  EXPECT_EQ(certify(*known.built.problem, solution, unbounded(lambda), 0.5 * slope).verdict,
            Verdict::not_certified);
}

/// Its first linear solve stops at the residual given, by conjugate gradients; later ones are the problem's
/// own.
class LooseSolves : public ForwardingProblem {
 public:
  LooseSolves(const BilevelProblem& problem, double tolerance)
      : ForwardingProblem(problem), tolerance_(tolerance) {}
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override {
    if (solves_++ > 0) return problem_.hessian_solve(w, lambda, b, options, x);
    LinearOptions loose = options;
    loose.tolerance = tolerance_;
    return BilevelProblem::hessian_solve(w, lambda, b, loose, x);
  }

 private:
  double tolerance_;
  mutable int solves_ = 0;
};

TEST(Certificate, TheErrorCoversALooseLinearSolve) {
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const double tolerance : {1e-3, 1e-2, 0.1, 0.5, 1.0})
      for (const double lambda : {-8.0, -5.0, -3.0, -1.0}) {
        SCOPED_TRACE(testing::Message()
                     << loss->name() << ", tolerance " << tolerance << ", lambda " << lambda);
        const LinearProblem problem(random_split(40, 30, 0, 12, 1, *loss), *loss, true);
        const Certificate exact = certify_at(problem, lambda_of(lambda));
        const Certificate loose = certify_at(LooseSolves(problem, tolerance), lambda_of(lambda));
        const double error = std::abs(loose.hypergradient - exact.hypergradient);
        EXPECT_LE(error, loose.hypergradient_error * (1.0 + 1e-6) + 1e-9);
      }
}

// A curve of one's own: w*(λ) = e^λ, so that L_V is any function of λ.
class Curve : public BilevelProblem {
 public:
  Curve(double (*value)(double), double (*slope)(double), double width) : value_(value), slope_(slope) {
    traits_.feature_width = width;
  }
  Index weights() const override { return 1; }
  Index hyperparameters() const override { return 1; }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return 0.5 * std::pow(w[0] - std::exp(lambda[0]), 2);
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g[0] = w[0] - std::exp(lambda[0]);
  }
  void hessian_product(const Vector&, const Vector&, const Vector& p, Vector& out) const override { out = p; }
  void cross_product(const Vector&, const Vector& lambda, const Vector& q, Vector& out) const override {
    out[0] = -std::exp(lambda[0]) * q[0];
  }
  void cross_product_transposed(const Vector&, const Vector& lambda, const Vector& p,
                                Vector& out) const override {
    out[0] = -std::exp(lambda[0]) * p[0];
  }
  double validation_loss(const Vector& w, const Vector&) const override {
    return 1.0 + value_(std::log(std::max(w[0], 1e-30)));
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g[0] = slope_(std::log(std::max(w[0], 1e-30))) / std::max(w[0], 1e-30);
    return validation_loss(w, lambda);
  }
  InnerReport inner_solve(const Vector& lambda, const InnerOptions&, Vector& w) const override {
    w[0] = std::exp(lambda[0]);
    InnerReport report;
    report.converged = true;
    return report;
  }
  /// As where e^λ is far below the curvature it works on.
  void certificate_scale(const Vector&, const Vector&, Vector& out) const override { out.setConstant(1e6); }

 private:
  double (*value_)(double);
  double (*slope_)(double);
};

TEST(CertificateBeside, AKinkIsCertifiedWhereTheLossRisesOnBothSides) {
  const Curve problem([](double x) { return std::abs(x); }, [](double x) { return x < 0.0 ? -1.0 : 1.0; },
                      0.1);
  EXPECT_EQ(certify_at(problem, lambda_of(0.0)).verdict, Verdict::at_kink);
  for (const double away : {-3.0, -0.1, -1e-3, 1e-3, 0.1, 3.0})
    EXPECT_EQ(certify_at(problem, lambda_of(away)).verdict, Verdict::not_certified) << away;
}

TEST(CertificateBeside, AFlatMinimumIsCertifiedAtWorkingPrecision) {
  const Curve problem([](double x) { return x * x; }, [](double x) { return 2.0 * x; },
                      ProblemTraits::kSmoothWidth);
  EXPECT_EQ(certify_at(problem, lambda_of(0.0)).verdict, Verdict::certified);
  // 1e-8 of the loss is to be gained: nobody can see it, though the scaled slope is 200.
  EXPECT_EQ(certify_at(problem, lambda_of(1e-4)).verdict, Verdict::at_precision);
  for (const double away : {-1.0, -0.01, 0.01, 1.0})
    EXPECT_EQ(certify_at(problem, lambda_of(away)).verdict, Verdict::not_certified) << away;
}

TEST(CertificateBeside, AnEndIsCertifiedWhereALargerPenaltyRaisesTheLoss) {
  const auto rising = [](double x) { return std::max(x + 3.0, 0.0); };
  const auto falling = [](double x) { return std::max(-3.0 - x, 0.0); };
  // A slope of 1e-7 that is no slope: rounding of this size is what the scale magnifies.
  const auto noise = [](double) { return 1e-7; };
  EXPECT_EQ(certify_at(Curve(rising, noise, 1.9), lambda_of(-10.0)).verdict, Verdict::at_end);
  EXPECT_EQ(certify_at(Curve(falling, noise, 1.9), lambda_of(-10.0)).verdict, Verdict::not_certified);
  EXPECT_EQ(certify_at(Curve(falling, noise, 1.9), lambda_of(10.0)).verdict, Verdict::not_certified);
}

}  // namespace
}  // namespace yosida
