#include "yosida/solver/my_hpo.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "response/tangent.hpp"
#include "solver/basin_search.hpp"
#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/problem/cleaning_problem.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida {
namespace {

using test::BuiltProblem;
using test::lambda_of;
using test::ProblemCase;
using test::random_split;
using test::relative_error;

SolveOptions from(const Vector& lambda) {
  SolveOptions options;
  options.start.lambda = lambda;
  options.budget.iterations = 500;
  options.trace_every = 1;
  return options;
}
SolveOptions from(double lambda) { return from(lambda_of(lambda)); }

/// L_V(w*(λ)) by a tight inner solve.
double exact_validation(const BilevelProblem& problem, const Vector& lambda) {
  Vector w = Vector::Zero(problem.weights());
  problem.fit_intercept(w);
  problem.inner_solve(lambda, {}, w);
  return problem.validation_loss(w, lambda);
}

// One hyperparameter.

class OneLambda : public testing::TestWithParam<ProblemCase> {};
INSTANTIATE_TEST_SUITE_P(Every, OneLambda, testing::ValuesIn(test::all_problem_cases()),
                         [](const auto& each) { return each.param.name(); });

constexpr std::uint64_t kSeeds = 5;

// my-hpo stops at a slope of 1e-3 of L_V (scaled up further where h is flat). A basin as curved as h itself
// is then 1e-6 of h above its bottom; the flattest here have a hundredth of that curvature: 1e-4. λ is known
// to slope/curvature = 0.1 at worst. Basins apart by less than 1e-4 may be taken for each other.
TEST_P(OneLambda, FindsTheOracle) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const BuiltProblem built(GetParam(), seed);
    const BilevelProblem& problem = *built.problem;
    const Interval bounds = default_bounds(problem, -1.0);
    const Oracle oracle = find_oracle(problem, bounds.low, bounds.high);
    const Outcome outcome = solve(MyHpo{}, problem, from(-1.0));
    EXPECT_EQ(outcome.status, StopReason::converged) << outcome.message;
    const double lambda = outcome.best.lambda[0];
    // Beyond the data's own scale only where h still falls there.
    ASSERT_EQ(outcome.low.size(), 1);
    EXPECT_GE(lambda, outcome.low[0]);
    EXPECT_LE(lambda, outcome.high[0]);
    EXPECT_LE(outcome.best.loss.validation, oracle.validation * (1.0 + 1e-4));
    EXPECT_LE(exact_validation(problem, outcome.best.lambda), oracle.validation * (1.0 + 1e-4));
    if (!oracle.at_bound() && std::abs(lambda - oracle.lambda) > 0.1) {
      // Then it must be a second basin, as low.
      EXPECT_LE(exact_validation(problem, outcome.best.lambda), oracle.validation * (1.0 + 1e-6))
          << "found " << lambda << ", the oracle is at " << oracle.lambda;
    }
  }
}

TEST_P(OneLambda, IsCertified) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const BuiltProblem built(GetParam(), seed);
    const SolveOptions options = from(-1.0);
    const Outcome outcome = solve(MyHpo{}, *built.problem, options);
    const Start start = with_bounds(*built.problem, options.start);
    const Certificate certificate = certify(*built.problem, outcome.best, start);
    EXPECT_NE(certificate.verdict, Verdict::not_certified)
        << "lambda " << outcome.best.lambda[0] << ": " << certificate.reason;
  }
}

// Behind the scan the iterate is the best point so far: L_V never rises, but by what an inexact inner solve
// had it too low (τ = 0.03 in λ at first, 1 % of L_V; least squares on few features are solved exactly).
TEST_P(OneLambda, NeverRisesWhereItRefines) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const BuiltProblem built(GetParam(), seed);
    const SolveOptions options = from(-1.0);
    const Outcome outcome = solve(MyHpo{}, *built.problem, options);
    const Start start = with_bounds(*built.problem, options.start);
    const auto scan = static_cast<std::size_t>(
        BasinSearch(start.low[0], start.high[0],
                    MyHpo::Settings{}.spacing * built.problem->traits().feature_width, -1.0)
            .scan_points());
    const double slack = GetParam().loss->is_quadratic() ? 1e-12 : 1e-2;
    for (std::size_t i = scan + 2; i < outcome.trace.size(); ++i)
      EXPECT_LE(outcome.trace[i].loss.validation, outcome.trace[i - 1].loss.validation * (1.0 + slack))
          << "iteration " << outcome.trace[i].iteration;
    EXPECT_EQ(outcome.best.lambda, outcome.final.lambda);
    EXPECT_EQ(outcome.best.loss.validation, outcome.final.loss.validation);
    EXPECT_EQ(outcome.best.w, outcome.final.w);
  }
}

TEST_P(OneLambda, EndsAtTheSamePlaceFromEverywhere) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const BuiltProblem built(GetParam(), seed);
    const Oracle oracle = find_oracle(*built.problem, -20.0, 20.0);
    for (const double lambda0 : {-20.0, -1.0, 20.0}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", lambda0 " << lambda0);
      SolveOptions options = from(lambda0);
      options.start.bound(-20.0, 20.0);
      const Outcome outcome = solve(MyHpo{}, *built.problem, options);
      EXPECT_EQ(outcome.status, StopReason::converged) << outcome.message;
      EXPECT_LE(outcome.best.loss.validation, oracle.validation * (1.0 + 1e-4))
          << "found " << outcome.best.lambda[0] << ", the oracle is at " << oracle.lambda;
    }
  }
}

// The bounds a start far outside the data's own widens are searched as well as those are.
TEST_P(OneLambda, AStartFarOutsideTheDatasScaleDoesNoHarm) {
  const BuiltProblem built(GetParam());
  for (const double lambda0 : {-40.0, -20.0, 20.0, 40.0}) {
    SCOPED_TRACE(testing::Message() << "lambda0 " << lambda0);
    const Interval bounds = default_bounds(*built.problem, lambda0);
    const Oracle oracle = find_oracle(*built.problem, bounds.low, bounds.high);
    const Outcome outcome = solve(MyHpo{}, *built.problem, from(lambda0));
    EXPECT_EQ(outcome.status, StopReason::converged) << outcome.message;
    EXPECT_LE(outcome.best.loss.validation, oracle.validation * (1.0 + 1e-4))
        << "found " << outcome.best.lambda[0] << ", the oracle is at " << oracle.lambda;
  }
}

TEST_P(OneLambda, TheUnitOfTheTargetDoesNotMoveLambda) {
  if (!GetParam().loss->is_quadratic()) return;  // classes have no unit
  const BuiltProblem plain(GetParam());
  const double expected = solve(MyHpo{}, *plain.problem, from(-1.0)).best.lambda[0];
  for (const double unit : {1e-6, 1e6}) {
    Split split = GetParam().split();
    for (Dataset* data : {&split.train, &split.validation, &*split.test}) data->y *= unit;
    const BuiltProblem scaled(split, *GetParam().loss, GetParam().intercept, GetParam().collapsed);
    EXPECT_NEAR(solve(MyHpo{}, *scaled.problem, from(-1.0)).best.lambda[0], expected, 1e-3) << unit;
  }
}

// Central differences 2e-3 apart of weights solved to 1e-11: their own error is 1e-6/6 of w‴ and 1e-8.
TEST_P(OneLambda, TheTangentIsTheSlopeOfTheWeights) {
  const BuiltProblem built(GetParam());
  const BilevelProblem& problem = *built.problem;
  const auto trained = [&](double lambda) {
    Vector w = Vector::Zero(problem.weights());
    problem.fit_intercept(w);
    problem.inner_solve(lambda_of(lambda), {}, w);
    return w;
  };
  for (const double lambda : {-7.0, -3.0, -1.0, 1.0}) {
    SCOPED_TRACE(testing::Message() << "lambda " << lambda);
    Tangent tangent{.lambda = lambda, .v = trained(lambda), .phi1 = {}};
    EXPECT_TRUE(tangent.anchor(problem, 1e-10).converged);
    const double delta = 1e-3;
    const Vector slope = (trained(lambda + delta) - trained(lambda - delta)) / (2.0 * delta);
    EXPECT_LE(relative_error(tangent.phi1, slope), 1e-5);
    Vector out;
    tangent.respond(lambda, out);
    EXPECT_EQ(out, tangent.v);
    tangent.respond(lambda + 0.01, out);
    EXPECT_LE(relative_error(out, trained(lambda + 0.01)), 1e-3);
  }
}

// Larger than what is factored at low cost: inner solves are inexact and warm-started.
TEST(OneLambdaLarger, FindsTheOracle) {
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const double density : {1.0, 0.05})
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(testing::Message() << loss->name() << ", density " << density << ", seed " << seed);
        const LinearProblem problem(random_split(300, 200, 0, 150, seed, *loss, density), *loss, true);
        const Interval bounds = default_bounds(problem, -1.0);
        const Oracle oracle = find_oracle(problem, bounds.low, bounds.high);
        const Outcome outcome = solve(MyHpo{}, problem, from(-1.0));
        EXPECT_EQ(outcome.status, StopReason::converged) << outcome.message;
        EXPECT_LE(outcome.best.loss.validation, oracle.validation * (1.0 + 1e-4))
            << "found " << outcome.best.lambda[0] << ", the oracle is at " << oracle.lambda;
      }
}

TEST(Progress, IsAShareOfTheSearchAndNotOfTheMostIterations) {
  const LinearProblem problem(random_split(300, 200, 0, 150, 3, logistic(), 0.2), logistic(), true);
  std::vector<double> shares;
  SolveOptions options = from(0.0);
  options.observers.push_back([&](const TracePoint& point) {
    if (!std::isnan(point.share_done)) shares.push_back(point.share_done);
    return Watch::go_on;
  });
  const Outcome outcome = solve(MyHpo{}, problem, options);
  ASSERT_GE(shares.size(), 4U);
  EXPECT_LT(shares.front(), 0.3);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GT(shares.back(), 0.6);  // behind the scan
  EXPECT_LT(static_cast<double>(outcome.iterations) / MyHpo::default_iterations, 0.3);
}

TEST(OneLambdaAtItsBound, EndsAtTheBound) {
  const BuiltProblem built(random_split(30, 20, 0, 10, 1, least_squares()), least_squares(), true, false);
  const double optimum = find_oracle(*built.problem, -22.0, 5.0).lambda;
  for (const double away : {-1.0, 1.0}) {
    const double bound = optimum + away;
    SolveOptions options = from(bound + away);
    options.start.bound(away < 0.0 ? -22.0 : bound, away < 0.0 ? bound : 5.0);
    const Outcome outcome = solve(MyHpo{}, *built.problem, options);
    EXPECT_EQ(outcome.status, StopReason::converged);
    EXPECT_EQ(outcome.best.lambda[0], bound);
    EXPECT_EQ(certify(*built.problem, outcome.best, options.start).verdict, Verdict::at_bound);
  }
}

// Several hyperparameters.

struct SeveralCase {
  const Loss* loss;
  double density;
  bool intercept;
  bool groups;

  LinearProblem build(std::uint64_t seed) const {
    Split split = random_split(60, 40, 0, 8, seed, *loss, density);
    Penalty penalty = groups ? Penalty::by_group({0, 0, 0, 1, 1, 1, 2, 2}, 3) : Penalty::per_feature(8);
    return {std::move(split), *loss, intercept, std::move(penalty)};
  }
};

std::vector<SeveralCase> several_cases() {
  std::vector<SeveralCase> cases;
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const double density : {1.0, 0.5})
      for (const bool intercept : {false, true})
        for (const bool groups : {false, true}) cases.push_back({loss, density, intercept, groups});
  return cases;
}

class SeveralLambdas : public testing::TestWithParam<SeveralCase> {};
INSTANTIATE_TEST_SUITE_P(Every, SeveralLambdas, testing::ValuesIn(several_cases()), [](const auto& each) {
  return std::string(each.param.loss->name()) + (each.param.density < 1.0 ? "_sparse" : "_dense") +
         (each.param.intercept ? "_intercept" : "") + (each.param.groups ? "_groups" : "_features");
});

TEST_P(SeveralLambdas, ConvergesAndIsCertifiedAndNeverWorseThanItsStart) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const double lambda0 : {-8.0, -2.0, 1.0}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", lambda0 " << lambda0);
      const LinearProblem problem = GetParam().build(seed);
      const SolveOptions options = from(Vector::Constant(problem.hyperparameters(), lambda0));
      const Outcome outcome = solve(MyHpo{}, problem, options);
      EXPECT_EQ(outcome.status, StopReason::converged) << outcome.message;
      EXPECT_LE(outcome.iterations, 300);  // of which the search for the best shared λ takes up to 100
      const double before = exact_validation(problem, options.start.lambda);
      EXPECT_LE(outcome.best.loss.validation, before * (1.0 + 1e-9));
      // Inner solves end at a small share of the certificate: twice the tolerance covers it.
      Start start = options.start;
      start.low = outcome.low;  // the data's own, widened to hold the best shared λ
      start.high = outcome.high;
      const Certificate certificate = certify(problem, outcome.best, start);
      EXPECT_LE(certificate.hypergradient, 2.0 * MyHpo::Settings{}.tolerance) << certificate.reason;
      EXPECT_NE(certificate.verdict, Verdict::not_certified) << certificate.reason;
      for (const TracePoint& point : outcome.trace) {
        EXPECT_TRUE((point.lambda.array() >= start.low.array()).all());
        EXPECT_TRUE((point.lambda.array() <= start.high.array()).all());
      }
    }
}

TEST_P(SeveralLambdas, StayInsideNarrowBounds) {
  const LinearProblem problem = GetParam().build(1);
  SolveOptions options = from(Vector::Constant(problem.hyperparameters(), -3.0));
  options.start.bound(-3.5, -2.5);
  const Outcome outcome = solve(MyHpo{}, problem, options);
  EXPECT_EQ(outcome.status, StopReason::converged) << outcome.message;
  for (const TracePoint& point : outcome.trace) {
    EXPECT_GE(point.lambda.minCoeff(), -3.5);
    EXPECT_LE(point.lambda.maxCoeff(), -2.5);
  }
  const Certificate certificate = certify(problem, outcome.best, options.start);
  EXPECT_NE(certificate.verdict, Verdict::not_certified) << certificate.reason;
  EXPECT_LE(outcome.best.loss.validation, exact_validation(problem, options.start.lambda));
}

/// Two groups of five features, both with signal and noise.
LinearProblem two_groups(std::uint64_t seed) {
  return {random_split(25, 60, 0, 10, seed, least_squares()), least_squares(), false,
          Penalty::by_group({0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 2)};
}

// A grid of 33 × 33 shows one local minimum: then every start must find it. L_V to 1e-4 as with one λ.
TEST(SeveralLambdasOfOneOptimum, AllStartsAgree) {
  int shown = 0;
  for (std::uint64_t seed = 1; seed <= 20 && shown < 4; ++seed) {
    const LinearProblem problem = two_groups(seed);
    constexpr int kPoints = 33;
    const auto at = [](int i) { return -10.0 + 12.0 * i / (kPoints - 1); };
    Eigen::MatrixXd h(kPoints, kPoints);
    for (int i = 0; i < kPoints; ++i)
      for (int j = 0; j < kPoints; ++j) h(i, j) = exact_validation(problem, Eigen::Vector2d(at(i), at(j)));
    int minima = 0;
    bool inside = true;
    for (int i = 0; i < kPoints; ++i)
      for (int j = 0; j < kPoints; ++j) {
        bool lowest = true;
        for (int a = std::max(i - 1, 0); a <= std::min(i + 1, kPoints - 1); ++a)
          for (int b = std::max(j - 1, 0); b <= std::min(j + 1, kPoints - 1); ++b)
            lowest &= h(i, j) <= h(a, b);
        if (!lowest) continue;
        ++minima;
        inside &= i > 0 && j > 0 && i + 1 < kPoints && j + 1 < kPoints;
      }
    if (minima != 1 || !inside) continue;
    ++shown;
    const double grid = h.minCoeff();
    for (const double a : {-9.0, -4.0, 1.0})
      for (const double b : {-9.0, -4.0, 1.0}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", start " << a << ", " << b);
        SolveOptions options = from(Eigen::Vector2d(a, b));
        options.start.bound(-10.0, 2.0);
        const Outcome outcome = solve(MyHpo{}, problem, options);
        EXPECT_EQ(outcome.status, StopReason::converged) << outcome.message;
        EXPECT_LE(outcome.best.loss.validation, grid * (1.0 + 1e-4));
      }
  }
  EXPECT_GE(shown, 2) << "the test shows little";
}

// As L_V is a sum of squares here its unit drops out.
TEST(SeveralLambdasOfOneOptimum, TheUnitOfTheTargetDoesNotMoveLambda) {
  const Vector start = Vector::Constant(2, -2.0);
  const Vector expected = solve(MyHpo{}, two_groups(1), from(start)).best.lambda;
  for (const double unit : {1e-6, 1e6}) {
    Split split = random_split(25, 60, 0, 10, 1, least_squares());
    for (Dataset* data : {&split.train, &split.validation}) data->y *= unit;
    const LinearProblem problem(split, least_squares(), false, two_groups(1).penalty());
    EXPECT_LE((solve(MyHpo{}, problem, from(start)).best.lambda - expected).norm(), 1e-3) << unit;
  }
}

// Columns that nearly repeat each other have curvatures of their own far below those of a column: steps in
// the share of a penalty reach all of them in some dozens of iterations, where steps in λ creep.
TEST(SeveralLambdasOfNearCopies, EndCertifiedAndNoWorseThanTheBestShared) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Split split = random_split(60, 40, 0, 24, seed, least_squares());
    Random random(seed);
    for (Dataset* data : {&split.train, &split.validation}) {
      Matrix x = to_matrix(data->x);
      for (Index j = 1; j < x.cols(); j += 3)
        for (Index i = 0; i < x.rows(); ++i) x(i, j) = x(i, j - 1) + 1e-3 * random.normal();
      data->x = Design(x);
    }
    const LinearProblem shared(split, least_squares(), true);
    const LinearProblem each(split, least_squares(), true, Penalty::per_feature(24, 1));
    const Outcome one = solve(MyHpo{}, shared, from(-1.0));
    const Outcome many = solve(MyHpo{}, each, from(Vector::Constant(24, -1.0)));
    EXPECT_EQ(many.status, StopReason::converged) << many.message;
    EXPECT_LE(many.iterations, 150);
    EXPECT_LE(exact_validation(each, many.best.lambda), one.best.loss.validation * (1.0 + 1e-9));
    const Certificate certificate =
        certify(each, many.best, {.lambda = many.best.lambda, .low = many.low, .high = many.high});
    EXPECT_NE(certificate.verdict, Verdict::not_certified) << certificate.reason;
  }
}

// More than 64: by limited memory. One λ per feature, 80 of them; many end at their bounds.
TEST(ManyLambdas, LowersAndCertifies) {
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << loss->name() << ", seed " << seed);
      const LinearProblem problem(random_split(200, 150, 0, 80, seed, *loss), *loss, true,
                                  Penalty::per_feature(80));
      SolveOptions options = from(Vector::Constant(80, -3.0));
      options.start.bound(-8.0, 2.0);
      options.budget.iterations = 2000;
      const Outcome outcome = solve(MyHpo{}, problem, options);
      // Which of the two comes first is decided by the rounding of the BLAS kernels; the certificate below is
      // not.
      EXPECT_TRUE(outcome.status == StopReason::converged || outcome.status == StopReason::stalled)
          << outcome.message;
      EXPECT_LT(outcome.best.loss.validation, exact_validation(problem, options.start.lambda));
      for (const TracePoint& point : outcome.trace) {
        EXPECT_GE(point.lambda.minCoeff(), -8.0);
        EXPECT_LE(point.lambda.maxCoeff(), 2.0);
      }
      const Certificate certificate = certify(problem, outcome.best, options.start);
      EXPECT_NE(certificate.verdict, Verdict::not_certified) << certificate.reason;
    }
}

// Every fifth label of the training rows is wrong.
TEST(ManyLambdas, TwentyThousandOfThemLowerTheLoss) {
  Split split = random_split(20000, 1000, 0, 5, 1, logistic());
  for (Index i = 0; i < split.train.rows(); i += 5) split.train.y[i] *= -1.0;
  const CleaningProblem problem(split, logistic(), true, 1e-3);
  SolveOptions options = from(Vector::Zero(20000));
  options.budget.iterations = 6;
  const Outcome outcome = solve(MyHpo{}, problem, options);
  EXPECT_NE(outcome.status, StopReason::diverged) << outcome.message;
  EXPECT_TRUE(outcome.best.lambda.allFinite());
  EXPECT_LT(outcome.best.loss.validation, 0.999 * exact_validation(problem, options.start.lambda));
  // The trust in rows with wrong labels falls below that in the others.
  double wrong = 0.0, right = 0.0;
  for (Index i = 0; i < 20000; ++i) (i % 5 == 0 ? wrong : right) += outcome.best.lambda[i];
  EXPECT_LT(wrong / 4000.0, right / 16000.0);
}

}  // namespace
}  // namespace yosida
