#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "problem/leave_one_out_problem.hpp"
#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/general_case.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida {
namespace {

using test::all_losses;
using test::Hyper;
using test::relative_error;
using Kind = LeaveOneOutProblem::Kind;

Vector constant(Index size, double value) { return Vector::Constant(size, value); }

/// w*(λ), to the last digits that solves give.
Vector trained(const BilevelProblem& problem, const Vector& lambda) {
  Vector w = starting_weights(problem);
  problem.inner_solve(lambda, {.proximal = {}, .tolerance = 1e-13}, w);
  return w;
}

double h(const BilevelProblem& problem, const Vector& lambda) {
  return problem.validation_loss(trained(problem, lambda), lambda);
}

/// ∂F/∂λ − Cᵀq, H q = ∂F/∂w
Vector hypergradient(const BilevelProblem& problem, const Vector& lambda) {
  const Vector w = trained(problem, lambda);
  Vector g(problem.weights()), q = Vector::Zero(problem.weights()), of_w, direct;
  problem.validation_gradient(w, lambda, g);
  problem.hessian_solve(w, lambda, g, {.tolerance = 1e-13}, q);
  problem.cross_product_transposed(w, lambda, q, of_w);
  problem.validation_gradient_lambda(w, lambda, direct);
  return direct - of_w;
}

/// Central differences of two steps, extrapolated: the error is of the fourth power of the step. Where ℓ″
/// jumps, h does, too, wherever a row passes the place: the steps are so small that none does here.
Vector differences(const BilevelProblem& problem, const Vector& lambda, bool has_jumps) {
  const double kStep = has_jumps ? 2e-5 : 2e-3;
  Vector out(lambda.size());
  for (Index j = 0; j < lambda.size(); ++j) {
    const auto along = [&](double step) {
      const Vector move = step * Vector::Unit(lambda.size(), j);
      return (h(problem, lambda + move) - h(problem, lambda - move)) / (2.0 * step);
    };
    out[j] = (4.0 * along(0.5 * kStep) - along(kStep)) / 3.0;
  }
  return out;
}

/// A criterion of a loss and a kind of λ, on rows that are more or fewer than the features.
struct Case {
  const Loss* loss;
  Kind kind;
  Hyper hyper;
  bool intercept, weighted, wide;

  std::string name() const {
    const char* const hypers[] = {"shared", "groups", "per_feature", "per_class"};
    return std::string(loss->name()) + (kind == Kind::generalised ? "_gcv_" : "_loo_") +
           hypers[static_cast<int>(hyper)] + (intercept ? "_intercept" : "") + (weighted ? "_weighted" : "") +
           (wide ? "_wide" : "_tall");
  }
  Split split() const {
    Split split = test::random_split(wide ? 24 : 26, 1, 0, features(), 3, *loss);
    Random random(5);
    if (weighted) {
      split.train.weight.resize(split.train.rows());
      for (double& s : split.train.weight) s = 0.3 + 1.4 * random.uniform();
    }
    return split;
  }
  Index features() const { return wide ? 30 : 6; }
  Penalty penalty() const {
    const Index k = loss->outputs();
    if (hyper == Hyper::per_feature) return Penalty::per_feature(features(), k);
    if (hyper == Hyper::per_class) return Penalty::per_class(features(), k);
    if (hyper == Hyper::shared) return Penalty::shared(features() * k);
    std::vector<Index> group(static_cast<std::size_t>(features()));
    for (std::size_t j = 0; j < group.size(); ++j) group[j] = static_cast<Index>(j % 3);
    if (!wide) group.back() = Penalty::kNone;
    return Penalty::by_group(group, 3, k);
  }
  std::shared_ptr<const LeaveOneOutProblem> build() const {
    return LeaveOneOutProblem::of(std::make_shared<const LinearProblem>(split(), *loss, intercept, penalty()),
                                  kind);
  }
};

/// A criterion, a loss and a kind of λ: one test, with and without intercept and row weights, tall and wide.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Loss* loss : all_losses())
    for (const Kind kind : {Kind::leave_one_out, Kind::generalised})
      for (const Hyper hyper : {Hyper::shared, Hyper::groups, Hyper::per_feature, Hyper::per_class})
        if ((kind == Kind::leave_one_out || loss->is_quadratic()) &&
            (hyper != Hyper::per_class || loss->outputs() > 1))
          all.push_back({loss, kind, hyper, false, false, false});
  return all;
}

std::vector<Case> forms_of(Case each) {
  std::vector<Case> all;
  for (const bool intercept : {false, true})
    for (const bool weighted : {false, true})
      for (const bool wide : {false, true}) {
        if (each.loss->outputs() > 1 && intercept != weighted) continue;  // enough of what takes long
        each.intercept = intercept;
        each.weighted = weighted;
        each.wide = wide;
        all.push_back(each);
      }
  return all;
}

class LeaveOneOut : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, LeaveOneOut, testing::ValuesIn(cases()), [](const auto& each) {
  const std::string name = each.param.name();
  return name.substr(0, name.rfind('_'));
});

// Small penalties leave many rows to refits, large ones none. Where ℓ″ jumps, h has a kink wherever one row
// passes the place while another is left out: of three λ near each other at most one may lie on such a kink.
TEST_P(LeaveOneOut, GradientIsThatOfFullResolves) {
  for (const Case& form : forms_of(GetParam())) {
    const auto problem = form.build();
    const bool has_jumps = form.loss->has_jumps();
    for (const double at : {-1.0, -3.5}) {
      int agree = 0;
      const int looks = has_jumps ? 3 : 1;
      for (int look = 0; look < looks; ++look) {
        Vector lambda(problem->hyperparameters());
        for (Index j = 0; j < lambda.size(); ++j)
          lambda[j] = at + 0.013 * look + 0.7 * std::cos(2.0 * static_cast<double>(j));
        const Vector truth = differences(*problem, lambda, has_jumps);
        const Vector exact = hypergradient(*problem, lambda);
        agree += (exact - truth).cwiseAbs().maxCoeff() <= 1e-6 * truth.cwiseAbs().maxCoeff() ? 1 : 0;
      }
      EXPECT_GE(agree, looks == 1 ? 1 : looks - 1) << form.name() << " at " << at;
    }
  }
}

TEST_P(LeaveOneOut, CurvatureIsPositiveAndFinite) {
  for (const Case& form : forms_of(GetParam())) {
    const auto problem = form.build();
    const Vector lambda = constant(problem->hyperparameters(), -2.0);
    const Vector w = trained(*problem, lambda);
    Matrix phi1(problem->weights(), problem->hyperparameters()), c(phi1.rows(), phi1.cols());
    Vector column(problem->weights());
    for (Index j = 0; j < c.cols(); ++j) {
      problem->cross_product(w, lambda, Vector::Unit(c.cols(), j), column);
      c.col(j) = -column;
    }
    phi1.setZero();
    problem->hessian_solve_many(w, lambda, c, {}, phi1);
    Eigen::MatrixXd b;
    problem->validation_curvature(w, lambda, phi1, b);
    ASSERT_TRUE(b.allFinite()) << form.name();
    EXPECT_LE((b - b.transpose()).norm(), 1e-12 * b.norm()) << form.name();
    EXPECT_GE(test::symmetric_eigen(b).values.minCoeff(), -1e-12 * b.norm()) << form.name();
  }
}

/// Each row by the weights of all others, 1/(N − 1) and all.
double by_refits(const Split& split, const Loss& loss, bool intercept, const Penalty& penalty,
                 const Vector& lambda) {
  const Index n = split.train.rows();
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) {
    std::vector<Index> others;
    for (Index k = 0; k < n; ++k)
      if (k != i) others.push_back(k);
    const Index own[] = {i};
    const LinearProblem without(
        {.train = select_rows(split.train, others), .validation = select_rows(split.train, own), .test = {}},
        loss, intercept, penalty);
    sum += without.validation_loss(trained(without, lambda), lambda);
  }
  return sum / static_cast<double>(n);
}

TEST(LeaveOneOutCases, OfLeastSquaresAreThoseOfRefits) {
  for (const Hyper hyper : {Hyper::shared, Hyper::groups, Hyper::per_feature})
    for (const Case& form : forms_of({&least_squares(), Kind::leave_one_out, hyper, false, false, false})) {
      const auto problem = form.build();
      for (const double at : {0.0, -2.0, -5.0}) {
        const Vector lambda = constant(problem->hyperparameters(), at);
        const double truth = by_refits(form.split(), *form.loss, form.intercept, form.penalty(), lambda);
        EXPECT_LE(relative_error(h(*problem, lambda), truth), 1e-12) << form.name() << " at " << at;
        if (!problem->traits().has_closed_form) continue;
        EXPECT_LE(relative_error(problem->closed_form(at).value, truth), 1e-12)
            << form.name() << " at " << at;
      }
    }
}

TEST(LeaveOneOutCases, ClosedFormsAreThoseOfSolves) {
  int forms = 0;
  for (const Kind kind : {Kind::leave_one_out, Kind::generalised})
    for (const Case& form : forms_of({&least_squares(), kind, Hyper::shared, false, false, false})) {
      const auto problem = form.build();
      if (!problem->traits().has_closed_form) continue;
      ++forms;
      for (const double at : {2.0, -1.0, -4.0}) {
        const CurvePoint point = problem->closed_form(at);
        const Vector lambda = constant(1, at);
        EXPECT_LE(relative_error(point.value, h(*problem, lambda)), 1e-11) << form.name();
        const double slope = hypergradient(*problem, lambda)[0];
        EXPECT_NEAR(point.slope, slope, 1e-9 * std::abs(slope) + 1e-13 * point.value) << form.name();
      }
    }
  EXPECT_EQ(forms, 8);
}

TEST(LeaveOneOutCases, HaveClosedFormsAndRefits) {
  const Case plain{&least_squares(), Kind::leave_one_out, Hyper::shared, true, false, false};
  EXPECT_TRUE(plain.build()->traits().has_closed_form);
  const Case separable{&logistic(), Kind::leave_one_out, Hyper::shared, true, false, false};
  const auto problem = separable.build();
  const Vector low = constant(1, -8.0);
  EXPECT_GT(problem->left_out_at(trained(*problem, low), low)->refits, 0);
}

/// Labels of a strong signal: at small penalties the step alone is far off, and refits are needed.
Split nearly_separable() {
  Split split = test::random_split(240, 1, 0, 12, 4, logistic());
  const Matrix x = test::matrix_of(split.train.x);
  Random random(8);
  for (Index i = 0; i < x.rows(); ++i)
    split.train.y[i] = x.row(i).head(6).sum() + 0.5 * random.normal() > 0.0 ? 1.0 : -1.0;
  return split;
}

/// The logistic loss. It asks to stop when it is asked for the loss of a single row, as a refit does at its
/// end.
class StopsAtFirstRefit final : public Loss {
 public:
  std::string_view name() const override { return "stops"; }
  Link link() const override { return logistic().link(); }
  bool accepts(double y) const override { return logistic().accepts(y); }
  std::string targets() const override { return logistic().targets(); }
  double sum(std::span<const double> m, std::span<const double> y) const override {
    return logistic().sum(m, y);
  }
  void values(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    logistic().values(m, y, out);
    if (m.size() > 1) return;
    ++refits;
    source.request_stop();
  }
  void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    logistic().slopes(m, y, out);
  }
  void curvatures(std::span<const double> m, std::span<const double> y,
                  std::span<double> out) const override {
    logistic().curvatures(m, y, out);
  }
  void apply_curvatures(std::span<const double> state, std::span<const double> dm,
                        std::span<double> out) const override {
    logistic().apply_curvatures(state, dm, out);
  }
  void diagonal_curvatures(std::span<const double> state, std::span<double> out) const override {
    logistic().diagonal_curvatures(state, out);
  }
  void add_curvatures(std::span<const double> state, std::span<const double> s,
                      std::span<double> out) const override {
    logistic().add_curvatures(state, s, out);
  }

  mutable StopSource source;
  mutable std::atomic<int> refits = 0;
};

TEST(LeaveOneOutCases, ARequestToStopEndsItBetweenRefits) {
  const StopsAtFirstRefit loss;
  const auto rows = std::make_shared<const LinearProblem>(nearly_separable(), loss, true);
  const auto problem = LeaveOneOutProblem::of(rows, Kind::leave_one_out);
  const Vector lambda = constant(1, -10.0);
  const Vector w = trained(*problem, lambda);
  const StopToken token = loss.source.token();
  Vector again = w;
  EXPECT_THROW(problem->inner_solve(lambda, {.proximal = {}, .tolerance = 1e-13, .stop = &token}, again),
               RunEnded);
  EXPECT_LE(loss.refits, threads()) << "each thread ends with the refit that it has begun";
  loss.refits = 0;
  EXPECT_GT(problem->left_out_at(w, lambda)->refits, threads())
      << "without a token nothing is left out early";
  EXPECT_GT(loss.refits, threads());
}

// `bench_criteria left-out` does the same with 569 real rows.
TEST(LeaveOneOutCases, WithRefitsIsWithinAThousandthOfExact) {
  const Split split = nearly_separable();
  const auto rows = std::make_shared<const LinearProblem>(split, logistic(), true);
  const auto problem = LeaveOneOutProblem::of(rows, Kind::leave_one_out);
  double worst = 0.0, without = 0.0;
  for (const double at : {-12.0, -10.0, -8.0, -6.0, -4.0, 0.0}) {
    const Vector lambda = constant(1, at);
    const double truth = by_refits(split, logistic(), true, rows->penalty(), lambda);
    const auto left = problem->left_out_at(trained(*problem, lambda), lambda);
    worst = std::max(worst, std::abs(left->value / truth - 1.0));
    without = std::max(without, std::abs((left->value - left->change_by_refits) / truth - 1.0));
  }
  EXPECT_LE(worst, 1e-3);
  EXPECT_GT(without, 20.0 * worst);
}

TEST(LeaveOneOutCases, GeneralisedIsThatOfPlainAlgebra) {
  const Case plain{&least_squares(), Kind::generalised, Hyper::groups, true, false, false};
  const Split split = plain.split();
  const Matrix x = test::matrix_of(split.train.x);
  Eigen::MatrixXd ones(x.rows(), x.cols() + 1);
  ones << x, Eigen::VectorXd::Ones(x.rows());
  Vector lambda(3);
  lambda << -1.0, -2.0, -3.0;
  const auto n = static_cast<double>(x.rows());
  Eigen::MatrixXd hessian = ones.transpose() * ones / n;
  for (Index j = 0; j < x.cols(); ++j)
    if (const Index g = plain.penalty().group(j); g != Penalty::kNone)
      hessian(j, j) += 2.0 * std::exp(lambda[g]);
  const Eigen::MatrixXd hat = ones * test::pseudo_inverse(hessian) * ones.transpose() / n;
  const Vector r = split.train.y - hat * split.train.y;
  const double free = 1.0 - hat.trace() / n;
  EXPECT_LE(relative_error(h(*plain.build(), lambda), 0.5 * r.squaredNorm() / n / (free * free)), 1e-12);
}

TEST(LeaveOneOutCases, RefuseWhatTheyAreNotDefinedFor) {
  EXPECT_THROW(LeaveOneOutProblem::require_fits(logistic(), 50, 5, Kind::generalised), InputError);
  EXPECT_THROW(LeaveOneOutProblem::require_fits(least_squares(), 2, 5, Kind::leave_one_out), InputError);
  EXPECT_THROW(LeaveOneOutProblem::require_fits(least_squares(), 1000000, 4500, Kind::leave_one_out),
               InputError);
}

}  // namespace
}  // namespace yosida
