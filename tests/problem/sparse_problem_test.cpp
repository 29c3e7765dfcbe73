#include "yosida/problem/sparse_problem.hpp"

#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "support/random_split.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/k_fold_problem.hpp"

namespace yosida {
namespace {

using test::random_vector;

constexpr Index kFeatures = 8;
constexpr Index kClasses = 3;
/// Features 0–2, 3–5 and 6–7.
const std::vector<Index> kGroups = {0, 0, 0, 1, 1, 1, 2, 2};

struct Case {
  const char* loss_name;
  const char* penalty_name;
  bool intercept = true;
  bool weighted = false;

  SharedLoss loss() const { return loss_of_model(loss_name, kClasses); }
  Index outputs() const { return loss()->outputs(); }
  SparsePenalty penalty() const {
    const std::string name = penalty_name;
    const Penalty shared = Penalty::shared(kFeatures * outputs());
    const Penalty each = Penalty::per_feature(kFeatures, outputs());
    const Penalty groups = Penalty::by_group(kGroups, 3, outputs());
    // Features 0 and 1 in no group, feature 7 without any penalty.
    const Penalty some = Penalty::by_group({-1, -1, 0, 1, 1, 1, 0, -1}, 2, outputs());
    const Penalty not_last = Penalty::by_group({0, 0, 0, 0, 0, 0, 0, -1}, 1, outputs());
    if (name == "l1") return {shared, {}, {}};
    if (name == "l1_feature") return {each, {}, {}};
    if (name == "l1_group") return {groups, {}, {}};
    if (name == "elastic_net") return {shared, {}, shared};
    if (name == "elastic_net_feature") return {each, {}, each};
    if (name == "group") return {{}, GroupNorms{groups}, {}};
    if (name == "group_shared") return {{}, GroupNorms{groups, true, true}, {}};
    if (name == "sparse_group") return {shared, GroupNorms{groups}, {}};
    if (name == "sparse_group_shared") return {shared, GroupNorms{groups, true, false}, shared};
    return {not_last, GroupNorms{some}, {}};  // partial
  }
  Split split() const {
    Split split = test::random_split(60, 40, 0, kFeatures, 5, *loss());
    if (weighted) {
      Random random(3);
      for (Dataset* part : {&split.train, &split.validation}) {
        part->weight.resize(part->rows());
        for (double& s : part->weight) s = 0.5 + random.uniform();
        part->weight[0] = 0.0;
      }
    }
    return split;
  }
  std::string name() const {
    return std::string(loss_name) + "_" + penalty_name + (intercept ? "" : "_plain") +
           (weighted ? "_weighted" : "");
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* loss : {"ridge", "logistic", "svm", "huber", "poisson", "softmax"}) {
    for (const char* penalty : {"l1", "l1_feature", "l1_group", "elastic_net", "elastic_net_feature", "group",
                                "group_shared", "sparse_group", "sparse_group_shared", "partial"})
      all.push_back({loss, penalty});
    all.push_back({loss, "sparse_group", false, true});
  }
  return all;
}

class Sparse : public testing::TestWithParam<Case> {
 protected:
  Sparse()
      : problem(GetParam().split(), GetParam().loss(), GetParam().intercept, GetParam().penalty()),
        size(problem.weights()),
        count(problem.hyperparameters()) {}
  /// So far below what leaves all weights at 0, each λ a little elsewhere; squares far smaller.
  Vector lambda(double below) const {
    Vector at(count);
    for (Index k = 0; k < count; ++k)
      at[k] = problem.traits().bounds->high[k] - below - 0.13 * std::sin(3.0 * static_cast<double>(k));
    const Index squares = problem.penalty().first_l2_lambda();
    at.tail(count - squares).array() -= 4.0;
    return at;
  }
  Vector solved(const Vector& at) const {
    Vector w = Vector::Zero(size);
    const InnerReport report = problem.inner_solve(at, {.proximal = {}, .tolerance = 1e-13}, w);
    EXPECT_LE(report.gradient_norm, 1e-10 * (1.0 + problem.largest_slope()));
    return w;
  }
  /// −Cᵀ H⁻¹ ∇L_V
  Vector hypergradient(const Vector& at, const Vector& w) const {
    Vector g(size), q = Vector::Zero(size), slope(count);
    problem.validation_gradient(w, at, g);
    EXPECT_TRUE(problem.hessian_solve(w, at, g, {.tolerance = 1e-9}, q).converged);
    problem.cross_product_transposed(w, at, q, slope);
    return -slope;
  }
  /// What must be the same on both sides of a difference: the support, and the rows of a loss whose curvature
  /// jumps.
  std::vector<double> piece(const Vector& w) const {
    std::vector<double> all;
    for (Index j = 0; j < size - problem.intercepts(); ++j)
      all.push_back(w[j] > 0.0 ? 1.0 : w[j] < 0.0 ? -1.0 : 0.0);
    if (problem.loss().has_jumps()) {
      const Dataset& train = problem.split().train;
      Vector m = margins(train, problem.intercepts() > 0, w);
      problem.loss().curvatures({m.data(), static_cast<std::size_t>(m.size())},
                                {train.y.data(), static_cast<std::size_t>(m.size())},
                                {m.data(), static_cast<std::size_t>(m.size())});
      all.insert(all.end(), m.begin(), m.end());
    }
    return all;
  }
  SparseProblem problem;
  Index size, count;
};
INSTANTIATE_TEST_SUITE_P(Every, Sparse, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name(); });

// A gap of 0 proves the minimum, whatever the solver did; it is never below what w is above it.
TEST_P(Sparse, InnerSolvesCloseTheDualityGap) {
  Random random(2);
  for (const double below : {0.5, 1.5, 3.0}) {
    const Vector at = lambda(below);
    Vector w = solved(at);
    const double least = problem.train_loss(w, at);
    // What has no penalty at all is no part of the dual.
    if (std::string(GetParam().penalty_name) != "partial") {
      EXPECT_LE(std::abs(problem.duality_gap(w, at)), 1e-9 * (1.0 + least)) << below << " below";
      Vector other = w + 0.01 * random_vector(size, random);
      problem.fit_intercept(other);
      EXPECT_GE(problem.duality_gap(other, at), problem.train_loss(other, at) - least - 1e-12);
    }
    for (int i = 0; i < 20; ++i) {
      const Vector beside = w + 1e-3 * random_vector(size, random);
      EXPECT_GE(problem.train_loss(beside, at), least);
    }
  }
}

TEST_P(Sparse, IsZeroAboveItsBounds) {
  Vector at = problem.traits().bounds->high.array() + 0.01;
  const Vector w = solved(at);
  const SparsePenalty& penalty = problem.penalty();
  for (Index j = 0; j < penalty.weights(); ++j) {
    const bool has_norm = (penalty.l1() && penalty.l1()->group(j) >= 0) || penalty.group(j) >= 0;
    EXPECT_TRUE(!has_norm || w[j] == 0.0) << j << ": " << w[j];
  }
}

TEST_P(Sparse, HypergradientMatchesDifferencesOfFullSolves) {
  constexpr double kStep = 1e-4;  // its square is the error
  int compared = 0;
  for (const double below : {0.7, 1.2, 1.9, 2.6, 3.5}) {
    const Vector at = lambda(below);
    const Vector w = solved(at);
    const Vector slope = hypergradient(at, w);
    Vector numerical(count);
    bool is_one_piece = true;
    for (Index k = 0; k < count && is_one_piece; ++k) {
      const auto h = [&](double away) {
        const Vector moved = at + away * Vector::Unit(count, k);
        const Vector own = solved(moved);
        is_one_piece &= piece(own) == piece(w);
        return problem.validation_loss(own, moved);
      };
      // Richardson's: the error is of the fourth order.
      numerical[k] = (8.0 * (h(kStep) - h(-kStep)) - (h(2.0 * kStep) - h(-2.0 * kStep))) / (12.0 * kStep);
    }
    if (!is_one_piece) continue;
    ++compared;
    EXPECT_LE((slope - numerical).lpNorm<Eigen::Infinity>(),
              1e-6 * std::max(slope.lpNorm<Eigen::Infinity>(), 1e-3 * problem.validation_loss(w, at)))
        << below << " below: " << slope.transpose() << " against " << numerical.transpose();
  }
  EXPECT_GE(compared, 2);
}

// The Hessian undoes its solves, and one factorisation serves many right-hand sides.
TEST_P(Sparse, HessianSolvesAreUndoneByProducts) {
  const Vector at = lambda(1.5);
  const Vector w = solved(at);
  Vector b(size), x = Vector::Zero(size), back(size);
  problem.validation_gradient(w, at, b);
  problem.hessian_solve(w, at, b, {}, x);
  problem.hessian_product(w, at, x, back);
  EXPECT_LE((back - b).norm(), 1e-8 * b.norm());
  Matrix many(size, 1), left = Matrix::Zero(size, 1);
  many.col(0) = b;
  problem.hessian_solve_many(w, at, many, {}, left);
  EXPECT_LE((left.col(0) - x).norm(), 1e-12 * x.norm());
}

// At a kink the slopes of both sides are those of differences on these sides.
TEST_P(Sparse, OneSidedSlopesAreThoseBesideTheKink) {
  const auto support = [&](double t) {
    std::vector<bool> is_zero;
    const Vector w = solved(lambda(t));
    for (Index j = 0; j < size - problem.intercepts(); ++j) is_zero.push_back(w[j] == 0.0);
    return is_zero;
  };
  const auto h = [&](double t) {
    const Vector at = lambda(t);
    return problem.validation_loss(solved(at), at);
  };
  int kinks = 0;
  std::vector<bool> last = support(0.3);
  for (double t = 0.4; t < 2.5 && kinks < 3; t += 0.1) {
    std::vector<bool> now = support(t);
    if (now == last) continue;
    double low = t - 0.1, high = t;
    const std::vector<bool> begin = last;
    last = now;
    while (high - low > 1e-9) {
      const double middle = 0.5 * (low + high);
      (support(middle) == begin ? low : high) = middle;
    }
    const double kink = 0.5 * (low + high);
    const Vector at = lambda(kink);
    Matrix directions(count, 2);
    // t falls as λ rises.
    directions << Vector::Ones(count), -Vector::Ones(count);
    Vector slopes;
    EXPECT_TRUE(problem.one_sided_slopes(solved(at), at, directions, 1e-5, slopes));
    constexpr double kStep = 1e-5;
    const double here = h(kink);
    const double above = (h(kink - kStep) - here) / kStep, under = (h(kink + kStep) - here) / kStep;
    EXPECT_NEAR(slopes[0], above, 1e-4 * (1.0 + std::abs(above))) << "kink at " << kink;
    EXPECT_NEAR(slopes[1], under, 1e-4 * (1.0 + std::abs(under))) << "kink at " << kink;
    ++kinks;
  }
  EXPECT_GE(kinks, 1);
  // Away from kinks both are the slope.
  const Vector at = lambda(0.9);
  const Vector w = solved(at);
  Matrix directions(count, 2);
  directions << Vector::Ones(count), -Vector::Ones(count);
  Vector slopes;
  if (!problem.one_sided_slopes(w, at, directions, 1e-9, slopes)) {
    const double slope = hypergradient(at, w).sum();
    EXPECT_NEAR(slopes[0], slope, 1e-9 * (1.0 + std::abs(slope)));
    EXPECT_NEAR(slopes[1], -slope, 1e-9 * (1.0 + std::abs(slope)));
  }
}

// Four classes: with all weights of a feature in the support an ℓ₁ penalty may leave their shift free.
TEST(SparseProblem, SoftmaxOfFourClassesIsSolved) {
  const SharedLoss loss = softmax(4);
  const SparseProblem problem(test::random_split(120, 60, 0, 5, 9, *loss), loss, true,
                              SparsePenalty::lasso(20));
  Vector w = Vector::Zero(problem.weights());
  for (const double below : {1.0, 3.0, 6.0}) {
    const Vector at = problem.traits().bounds->high.array() - below;
    EXPECT_TRUE(problem.inner_solve(at, {}, w).converged);
    EXPECT_LE(std::abs(problem.duality_gap(w, at)), 1e-9);
  }
}

TEST(SparseProblem, RefusesWhatDoesNotFit) {
  const SharedLoss two = softmax(2);
  const Split split = test::random_split(20, 10, 0, 4, 1, *two);
  EXPECT_THROW(SparseProblem(split, two, true, SparsePenalty::lasso(8)), InputError);
  EXPECT_THROW(SparseProblem(split, two, true, SparsePenalty::lasso(7)), InputError);
  EXPECT_THROW(SparsePenalty({}, {}, Penalty::shared(3)), InputError);
  EXPECT_THROW(SparsePenalty(Penalty::shared(3), {}, Penalty::shared(4)), InputError);
}

}  // namespace
}  // namespace yosida
