#include "yosida/problem/k_fold_problem.hpp"

#include <gtest/gtest.h>

#include "problem/counted_problem.hpp"
#include "problem/fold_data.hpp"
#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "support/threads_guard.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/gradient_check.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::random_vector;
using test::relative_error;

constexpr Index kFolds = 4;

struct Form {
  const Loss* loss;
  bool intercept;
  bool collapsed;
  Index features;
  std::string name() const {
    return std::string(loss->name()) + (intercept ? "_intercept" : "") +
           (collapsed ? "_collapsed" : "_direct") + (features > 20 ? "_wide" : "_tall");
  }
};

/// 30 rows in 4 folds: they differ in size, so do the ranks of collapsed wide ones.
class KFold : public testing::TestWithParam<Form> {
 protected:
  KFold()
      : splits(test::folds_of(test::random_split(30, 1, 0, GetParam().features, 1, *GetParam().loss).train,
                              kFolds, 2)),
        parts(test::problems_of(splits, *GetParam().loss, GetParam().intercept, GetParam().collapsed)),
        shares(test::shares_of(splits)),
        problem(parts, shares),
        random(5) {
    w = random_vector(problem.weights(), random);
    p = random_vector(problem.weights(), random);
    out.resize(problem.weights());
  }
  std::vector<Split> splits;
  std::vector<std::shared_ptr<const BilevelProblem>> parts;
  std::vector<double> shares;
  KFoldProblem problem;
  Random random;
  Vector w, p, out;
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const Index features : {Index{7}, Index{40}})
    for (const bool intercept : {false, true}) {
      all.push_back({&least_squares(), intercept, false, features});
      all.push_back({&least_squares(), intercept, true, features});
      all.push_back({&logistic(), intercept, false, features});
    }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Every, KFold, testing::ValuesIn(forms()),
                         [](const auto& each) { return each.param.name(); });

TEST_P(KFold, DerivativesMatchFiniteDifferences) {
  for (const double at : {-4.0, 0.5})
    for (const GradientCheck& check : check_gradients(problem, w, lambda_of(at), 3))
      EXPECT_LE(check.error, 1e-6) << check.name << " at lambda " << at;
}

// Every function is that of the folds, put together.
TEST_P(KFold, EqualsItsFoldsOneByOne) {
  const Vector lambda = lambda_of(-2.0);
  double train = 0.0, validation = 0.0, train_data = 0.0;
  Vector transposed = Vector::Zero(1);
  for (Index k = 0; k < kFolds; ++k) {
    SCOPED_TRACE(k);
    const BilevelProblem& fold = *parts[static_cast<std::size_t>(k)];
    const double share = shares[static_cast<std::size_t>(k)];
    const Vector w_k = problem.weights_of_fold(k, w);
    const Vector p_k = problem.weights_of_fold(k, p);
    Vector own(fold.weights()), own_transposed(1);
    train += fold.train_loss(w_k, lambda);
    validation += share * fold.validation_loss(w_k, lambda);
    train_data += fold.losses(w_k, lambda).train / kFolds;
    const auto expect = [&](const Vector& expected) { EXPECT_EQ(problem.weights_of_fold(k, out), expected); };
    problem.train_gradient(w, lambda, out);
    fold.train_gradient(w_k, lambda, own);
    expect(own);
    problem.hessian_product(w, lambda, p, out);
    fold.hessian_product(w_k, lambda, p_k, own);
    expect(own);
    problem.cross_product(w, lambda, lambda_of(0.7), out);
    fold.cross_product(w_k, lambda, lambda_of(0.7), own);
    expect(own);
    problem.validation_gradient(w, lambda, out);
    fold.validation_gradient(w_k, lambda, own);
    expect(share * own);
    problem.validation_hessian_product(w, lambda, p, out);
    fold.validation_hessian_product(w_k, lambda, p_k, own);
    expect(share * own);
    out = w;
    problem.fit_intercept(out);
    own = w_k;
    fold.fit_intercept(own);
    expect(own);
    fold.cross_product_transposed(w_k, lambda, p_k, own_transposed);
    transposed += own_transposed;
    EXPECT_EQ(problem.weights_of_fold(k, problem.traits().ones), fold.traits().ones);
  }
  Vector given(1);
  problem.cross_product_transposed(w, lambda, p, given);
  EXPECT_EQ(given, transposed);
  EXPECT_EQ(problem.train_loss(w, lambda), train);
  EXPECT_EQ(problem.validation_loss(w, lambda), validation);
  EXPECT_EQ(problem.validation_gradient(w, lambda, out), validation);
  EXPECT_EQ(problem.losses(w, lambda).train, train_data);
  EXPECT_LE(relative_error(problem.losses(w, lambda).validation, validation), 1e-12);
  EXPECT_FALSE(problem.losses(w, lambda).test);
}

TEST_P(KFold, SolvesEveryFold) {
  const Vector lambda = lambda_of(-3.0);
  const ProximalTerm proximal{w, p, 0.5};
  for (const bool with_proximal : {false, true}) {
    InnerOptions options;
    if (with_proximal) options.proximal.emplace(proximal);
    Vector solved = Vector::Zero(problem.weights());
    const InnerReport report = problem.inner_solve(lambda, options, solved);
    EXPECT_TRUE(report.converged);
    for (Index k = 0; k < kFolds; ++k) {
      Vector own = Vector::Zero(problem.fold(k).weights());
      const Vector u = problem.weights_of_fold(k, w);
      const Vector v = problem.weights_of_fold(k, p);
      InnerOptions own_options;
      if (with_proximal) own_options.proximal.emplace(ProximalTerm{u, v, 0.5});
      problem.fold(k).inner_solve(lambda, own_options, own);
      EXPECT_EQ(problem.weights_of_fold(k, solved), own);
    }
  }
  Vector x = Vector::Zero(problem.weights());
  EXPECT_TRUE(problem.hessian_solve(w, lambda, p, {}, x).converged);
  problem.hessian_product(w, lambda, x, out);
  EXPECT_LE(relative_error(out, p), 1e-9);
  Matrix many(problem.weights(), 2);
  many << p, w;
  Matrix answers = Matrix::Zero(problem.weights(), 2);
  EXPECT_TRUE(problem.hessian_solve_many(w, lambda, many, {}, answers).converged);
  EXPECT_LE(relative_error(answers.col(0), x), 1e-9);
  problem.hessian_product(w, lambda, answers.col(1), out);
  EXPECT_LE(relative_error(out, w), 1e-9);
}

// ∇h = −Cᵀ H⁻¹ ∇L_V at w*(λ) against differences of h.
// A fold that begins its solve reads all its rows at once: of many folds that would take as many passes.
TEST_P(KFold, DoesNotBeginASolveAfterAStop) {
  StopSource source;
  source.request_stop();
  const StopToken stop = source.token();
  const Vector lambda = lambda_of(-2.0), before = w;
  const InnerReport inner = problem.inner_solve(lambda, {.proximal = {}, .stop = &stop}, w);
  EXPECT_FALSE(inner.converged);
  EXPECT_EQ(inner.work.paper_count(), 0);
  EXPECT_EQ(w, before);
  out.setZero();
  const LinearReport linear = problem.hessian_solve(w, lambda, p, {.stop = &stop}, out);
  EXPECT_FALSE(linear.converged);
  EXPECT_EQ(linear.work.paper_count(), 0);
  EXPECT_EQ(out, Vector::Zero(out.size()));
}

TEST_P(KFold, HypergradientMatchesFiniteDifferences) {
  const auto h = [&](double at) {
    Vector solved = Vector::Zero(problem.weights());
    problem.inner_solve(lambda_of(at), {}, solved);
    return problem.validation_loss(solved, lambda_of(at));
  };
  for (const double at : {-4.0, -1.0}) {
    Vector solved = Vector::Zero(problem.weights()), q = solved, slope(1);
    problem.inner_solve(lambda_of(at), {}, solved);
    problem.validation_gradient(solved, lambda_of(at), out);
    problem.hessian_solve(solved, lambda_of(at), out, {}, q);
    problem.cross_product_transposed(solved, lambda_of(at), q, slope);
    const double step = 1e-3;
    const double numerical =
        (8.0 * (h(at + step) - h(at - step)) - (h(at + 2.0 * step) - h(at - 2.0 * step))) / (12.0 * step);
    EXPECT_LE(relative_error(-slope[0], numerical), 1e-6);
  }
}

TEST_P(KFold, ExpandsToTheWeightsOfDirectFolds) {
  const KFoldProblem direct(test::problems_of(splits, *GetParam().loss, GetParam().intercept, false), shares);
  const Vector full = problem.expand(w);
  ASSERT_EQ(full.size(), direct.weights());
  EXPECT_LE(relative_error(problem.validation_loss(w, lambda_of(-1.0)),
                           direct.validation_loss(full, lambda_of(-1.0))),
            1e-11);
}

// What all folds do once counts once.
TEST_P(KFold, CountsInGradientsOfItsOwn) {
  Vector solved = Vector::Zero(problem.weights());
  const InnerReport report = problem.inner_solve(lambda_of(-3.0), {}, solved);
  double mean = 0.0;
  for (Index k = 0; k < kFolds; ++k) {
    Vector own = Vector::Zero(problem.fold(k).weights());
    const Work work = problem.fold(k).inner_solve(lambda_of(-3.0), {}, own).work;
    mean += work.gradient_equivalents() / kFolds;
  }
  EXPECT_GE(report.work.gradient_equivalents(), mean * (1.0 - 1e-12));
  EXPECT_LT(report.work.gradient_equivalents(), mean + 1.0);
  const InnerReport again = problem.inner_solve(lambda_of(-3.0), {.proximal = {}, .tolerance = 1e-9}, solved);
  EXPECT_LE(again.work.paper_count(), 1);
  for (const std::int64_t limit : {1, 2, 3, 5}) {
    solved.setZero();
    EXPECT_LE(
        problem.inner_solve(lambda_of(-7.0), {.proximal = {}, .max_count = limit}, solved).work.paper_count(),
        limit);
  }
  const CountedProblem counted(problem);
  counted.train_gradient(w, lambda_of(0.0), out);
  counted.inner_solve(lambda_of(-3.0), {}, solved);
  EXPECT_EQ(counted.work().inner_solves, 1);
}

TEST_P(KFold, IsTheSameSideBySide) {
  const KFoldProblem beside(parts, shares, Index{1} << 30);
  for (const int count : {1, 2, 3}) {
    const test::ThreadsGuard guard(count);
    Vector g(problem.weights()), other(problem.weights());
    EXPECT_EQ(beside.train_loss(w, lambda_of(-1.0)), problem.train_loss(w, lambda_of(-1.0)));
    EXPECT_EQ(beside.validation_gradient(w, lambda_of(-1.0), other),
              problem.validation_gradient(w, lambda_of(-1.0), g));
    EXPECT_EQ(other, g);
    Vector found = w, wanted = w;
    const InnerReport own = problem.inner_solve(lambda_of(-1.0), {}, wanted);
    const InnerReport report = beside.inner_solve(lambda_of(-1.0), {}, found);
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(report.gradient_norm, own.gradient_norm);
    EXPECT_EQ(report.work.paper_count(), own.work.paper_count());
    EXPECT_EQ(beside.expand(w), problem.expand(w));
    EXPECT_EQ(beside.losses(w, lambda_of(-1.0)).validation, problem.losses(w, lambda_of(-1.0)).validation);
  }
}

TEST(KFoldProblem, KnowsWhatItsFoldsKnow) {
  const std::vector<Split> splits =
      test::folds_of(test::random_split(30, 1, 0, 9, 1, least_squares()).train, kFolds, 2);
  const auto collapsed = test::problems_of(splits, least_squares(), true, true);
  const KFoldProblem problem(collapsed, test::shares_of(splits));
  EXPECT_TRUE(problem.traits().has_closed_form);
  double largest = 0.0, setup = 0.0;
  for (const auto& each : collapsed) {
    largest = std::max(largest, *each->traits().largest_curvature);
    setup += each->traits().setup_work / kFolds;
  }
  EXPECT_EQ(problem.traits().largest_curvature, largest);
  EXPECT_NEAR(problem.traits().setup_work, setup, 1e-12 * setup);
  EXPECT_FALSE(problem.traits().bounds);
  Random random(1);
  const Vector w = random_vector(problem.weights(), random);
  Vector scale(1), own(1);
  problem.certificate_scale(w, lambda_of(-5.0), scale);
  double most = 1.0;
  for (Index k = 0; k < kFolds; ++k) {
    problem.fold(k).certificate_scale(problem.weights_of_fold(k, w), lambda_of(-5.0), own);
    most = std::max(most, own[0]);
  }
  EXPECT_EQ(scale[0], most);
  auto mixed = collapsed;
  mixed[1] = std::make_shared<LinearProblem>(splits[1], least_squares(), true);
  const KFoldProblem mix(mixed, test::shares_of(splits));
  EXPECT_FALSE(mix.traits().has_closed_form);
  EXPECT_FALSE(mix.traits().largest_curvature);
}

TEST(KFoldProblem, RefusesWhatDoesNotFitTogether) {
  const std::vector<Split> splits =
      test::folds_of(test::random_split(30, 1, 0, 6, 1, least_squares()).train, 2, 2);
  const auto parts = test::problems_of(splits, least_squares(), false, false);
  EXPECT_THROW(KFoldProblem({}, {}), InputError);
  EXPECT_THROW(KFoldProblem(parts, {1.0}), InputError);
  EXPECT_THROW(KFoldProblem(parts, {0.5, 0.6}), InputError);
  EXPECT_THROW(KFoldProblem(parts, {1.5, -0.5}), InputError);
  auto other = parts;
  other[1] = std::make_shared<LinearProblem>(splits[1], least_squares(), false, Penalty::per_feature(6));
  EXPECT_THROW(KFoldProblem(other, {0.5, 0.5}), InputError);
  other[1] = std::make_shared<KFoldProblem>(parts, std::vector<double>{0.5, 0.5});
  EXPECT_THROW(KFoldProblem(other, {0.5, 0.5}), InputError);
}

}  // namespace
}  // namespace yosida
