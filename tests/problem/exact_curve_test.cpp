#include "yosida/problem/exact_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "problem/plain_lasso.hpp"
#include "problem/shared_rows.hpp"
#include "yosida/problem/elastic_net_problem.hpp"
#include "yosida/problem/k_fold_problem.hpp"

namespace yosida {
namespace {

using Kind = ElasticNetProblem::Kind;
using test::PlainElasticNet;

struct CurveCase {
  const char* name;
  Split (*split)(std::uint64_t seed);
  bool intercept = true;
};

/// Rows of these columns with a target of a few of them and noise.
Split split_of(Index n, Index d, double noise, std::uint64_t seed,
               const std::function<void(Matrix&, Random&)>& change) {
  Random random(seed);
  Split split;
  for (Dataset* part : {&split.train, &split.validation}) {
    const Index rows = part == &split.train ? n : 40;
    Matrix x = test::random_matrix(rows, d, random);
    part->y.resize(rows);
    change(x, random);
    for (Index i = 0; i < rows; ++i)
      part->y[i] = 3.0 + x(i, 0) - 0.7 * x(i, d / 2) + 0.4 * x(i, d - 1) + noise * random.normal();
    part->x = Design(x);
    part->source = "test";
  }
  return split;
}
Split plain_split(Index n, Index d, double noise, std::uint64_t seed) {
  return split_of(n, d, noise, seed, [](Matrix&, Random&) {});
}

std::vector<CurveCase> curve_cases() {
  return {
      {"tall", [](std::uint64_t s) { return plain_split(60, 20, 1.0, s); }},
      {"tall_without_intercept", [](std::uint64_t s) { return plain_split(60, 20, 1.0, s); }, false},
      {"wide", [](std::uint64_t s) { return plain_split(25, 60, 1.0, s); }},
      {"square_without_intercept", [](std::uint64_t s) { return plain_split(30, 30, 1.0, s); }, false},
      {"noise_free", [](std::uint64_t s) { return plain_split(50, 20, 0.0, s); }},
      {"one_column", [](std::uint64_t s) { return plain_split(30, 1, 1.0, s); }},
      {"duplicates_and_zeros",
       [](std::uint64_t s) {
         return split_of(40, 16, 1.0, s, [](Matrix& x, Random&) {
           x.col(3) = x.col(0);
           x.col(5) = -x.col(0);
           x.col(6) = x.col(1) + x.col(2);
           x.col(7).setZero();
           x.col(9).setConstant(4.0);
         });
       }},
      {"binary",
       [](std::uint64_t s) {
         return split_of(24, 12, 1.0, s, [](Matrix& x, Random&) {
           x = x.unaryExpr([](double v) { return v > 0.0 ? 1.0 : 0.0; });
         });
       }},
      {"offsets",
       [](std::uint64_t s) {
         return split_of(40, 12, 1.0, s, [](Matrix& x, Random&) { x.array() += 1000.0; });
       }},
      {"correlated",
       [](std::uint64_t s) {
         return split_of(40, 30, 0.3, s, [](Matrix& x, Random&) {
           for (Index j = 1; j < x.cols(); ++j) x.col(j) = 0.97 * x.col(j - 1) + 0.25 * x.col(j);
         });
       }},
      {"scales",
       [](std::uint64_t s) {
         return split_of(50, 12, 1.0, s, [](Matrix& x, Random&) {
           for (Index j = 1; j < x.cols() - 1; ++j)
             x.col(j) *= std::pow(10.0, static_cast<double>(j % 5) - 2.0);
         });
       }},
  };
}

/// The same problem with columns and targets of mean 0, where coordinate descent is fast.
Split centred(const Split& split) {
  Split moved = split;
  const Vector mean = to_matrix(split.train.x).colwise().mean();
  for (Dataset* part : {&moved.train, &moved.validation}) {
    const Matrix x = to_matrix(part->x).rowwise() - mean.transpose();
    part->x = Design(x);
    part->y.array() -= split.train.y.mean();
  }
  return moved;
}

class ExactCurveOf : public testing::TestWithParam<CurveCase> {};
INSTANTIATE_TEST_SUITE_P(Data, ExactCurveOf, testing::ValuesIn(curve_cases()),
                         [](const auto& each) { return std::string(each.param.name); });

constexpr std::uint64_t kSeeds = 4;

/// The largest violation of the conditions of a minimum, relative to c or, where that is more, to 1e-4 of the
/// numbers that gradients are sums of: rounding.
double violation(const PlainElasticNet& plain, const Vector& w, double c, double l2) {
  const Vector g = plain.smooth_gradient(w, l2);
  const Eigen::MatrixXd& x = plain.plain.x_train;
  const double n = static_cast<double>(x.rows());
  const Vector sizes =
      x.cwiseAbs().transpose() * (x.cwiseAbs() * w.cwiseAbs() + plain.plain.y_train.cwiseAbs()) / n;
  double worst = 0.0;
  for (Index j = 0; j < w.size(); ++j) {
    const double t = c * plain.plain.penalised[j];
    const double each =
        w[j] != 0.0 ? std::abs(g[j] + std::copysign(t, w[j])) : std::max(std::abs(g[j]) - t, 0.0);
    worst = std::max(worst, each / std::max(c, 1e-4 * sizes[j]));
  }
  return worst;
}

// The weights between kinks meet the conditions of the inner problem's minimum, and h is their validation
// loss.
TEST_P(ExactCurveOf, HasTheWeightsOfMinima) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Split split = GetParam().split(seed);
    const PlainElasticNet plain(split, least_squares(), GetParam().intercept);
    const ElasticNetProblem problem(split, least_squares(), GetParam().intercept, Kind::elastic_net);
    for (const double l2 : {0.0, 0.05}) {
      const Vector at = (Vector(2) << 0.0, std::log(l2)).finished();
      const auto curve = problem.exact_curve(at, 0, nullptr);
      ASSERT_NE(curve, nullptr);
      const double high = curve->kinks().front();
      EXPECT_NEAR(high, std::log(problem.largest_slope()), 1e-9);  // that one is of rows as they are
      Random random(seed);
      for (int i = 0; i < 100; ++i) {
        const double lambda = high + 0.5 - 12.0 * random.uniform();
        if (lambda < curve->lowest()) continue;
        const Vector w = curve->weights(lambda);
        EXPECT_LE(violation(plain, w, std::exp(lambda), l2), 1e-10)
            << "seed " << seed << ", lambda " << lambda;
        const double value = curve->at(lambda).value;
        EXPECT_NEAR(value, plain.plain.validation_loss(w), 1e-10 * value + 1e-15) << "seed " << seed;
      }
    }
  }
}

// It goes as far as the data's bounds, at least: none of these has overfitting alone below.
TEST_P(ExactCurveOf, ReachesTheBounds) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ElasticNetProblem problem(GetParam().split(seed), least_squares(), GetParam().intercept,
                                    Kind::lasso);
    const auto curve = problem.exact_curve(Vector::Zero(1), 0, nullptr);
    ASSERT_NE(curve, nullptr);
    EXPECT_LE(curve->lowest(), problem.traits().bounds->low[0]) << "seed " << seed;
  }
}

// No λ of a fine scan is better than the minimum, which coordinate descent confirms.
TEST_P(ExactCurveOf, HasTheLeastOfAScan) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Split split = GetParam().split(seed);
    const ElasticNetProblem problem(split, least_squares(), GetParam().intercept, Kind::lasso);
    const auto curve = problem.exact_curve(Vector::Zero(1), 0, nullptr);
    ASSERT_NE(curve, nullptr);
    const double high = problem.traits().bounds->high[0];
    const double low = std::max(high - 9.0, curve->lowest());
    const ExactCurve::Point best = curve->minimum(low, high);
    Vector w = Vector::Zero(problem.weights());
    for (int i = 0; i < 2000; ++i) {
      const double lambda = high + (low - high) * i / 1999.0;
      ASSERT_GE(curve->at(lambda).value, best.value * (1.0 - 1e-12)) << "seed " << seed << " at " << lambda;
      if (i % 40 != 0) continue;
      const Vector at = Vector::Constant(1, lambda);
      problem.inner_solve(at, {}, w);
      ASSERT_GE(problem.validation_loss(w, at), best.value * (1.0 - 1e-7)) << "seed " << seed;
    }
    const PlainElasticNet plain(GetParam().intercept ? centred(split) : split, least_squares(),
                                GetParam().intercept);
    const double c = std::exp(best.lambda);
    EXPECT_NEAR(plain.plain.validation_loss(plain.solve(c, 0.0, 1e-9 * c)), best.value,
                1e-6 * best.value + 1e-12)
        << "seed " << seed;
  }
}

// Slopes on both sides of every kink are those of differences, and h has no jump there.
TEST(ExactCurve, HasOneSidedSlopesAtKinks) {
  const ElasticNetProblem problem(plain_split(40, 25, 1.0, 1), least_squares(), true, Kind::lasso);
  const auto curve = problem.exact_curve(Vector::Zero(1), 0, nullptr);
  ASSERT_NE(curve, nullptr);
  constexpr double kStep = 1e-6;
  int kinks = 0;
  for (const double kink : curve->kinks()) {
    if (kink < curve->kinks().front() - 6.0) break;
    const ExactCurve::Point at = curve->at(kink);
    const double below = curve->at(kink - kStep).value, above = curve->at(kink + kStep).value;
    const double size = at.value + std::abs(at.slope_below) + std::abs(at.slope_above);
    if (curve->minimum(kink - kStep, kink + kStep).value < 0.0) continue;
    EXPECT_NEAR(above - at.value, kStep * curve->at(kink + 0.5 * kStep).slope_above, 1e-3 * kStep * size);
    EXPECT_NEAR(at.value - below, kStep * curve->at(kink - 0.5 * kStep).slope_below, 1e-3 * kStep * size);
    ++kinks;
  }
  EXPECT_GE(kinks, 10);
  EXPECT_EQ(curve->at(curve->kinks().front() + 1.0).slope_above, 0.0);
}

// Row weights count as rows that are there several times.
TEST(ExactCurve, TakesRowWeights) {
  Split weighted = plain_split(30, 10, 1.0, 3);
  Split repeated = weighted;
  for (auto [to, from] :
       {std::pair{&repeated.train, &weighted.train}, {&repeated.validation, &weighted.validation}}) {
    std::vector<Index> rows;
    from->weight.resize(from->rows());
    for (Index i = 0; i < from->rows(); ++i) {
      for (Index k = 0; k <= i % 3; ++k) rows.push_back(i);
      from->weight[i] = static_cast<double>(i % 3 + 1);
    }
    from->weight *= static_cast<double>(from->rows()) / from->weight.sum();
    *to = select_rows(*to, rows);
  }
  const ElasticNetProblem one(weighted, least_squares(), true, Kind::lasso);
  const ElasticNetProblem other(repeated, least_squares(), true, Kind::lasso);
  const auto a = one.exact_curve(Vector::Zero(1), 0, nullptr),
             b = other.exact_curve(Vector::Zero(1), 0, nullptr);
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  for (double below = 0.1; below < 8.0; below += 0.3) {
    const double lambda = a->kinks().front() - below;
    EXPECT_NEAR(a->at(lambda).value, b->at(lambda).value, 1e-11 * b->at(lambda).value);
  }
}

// Of many columns all are checked: the path on a working set is that of all of them.
TEST(ExactCurve, OfManyColumnsLeavesNoneOut) {
  for (const Index rows : {20, 90}) {
    const Split split = plain_split(rows, 3000, 0.5, 2);
    const PlainElasticNet plain(split, least_squares(), true);
    const ElasticNetProblem problem(split, least_squares(), true, Kind::lasso);
    const auto curve = problem.exact_curve(Vector::Zero(1), 0, nullptr);
    ASSERT_NE(curve, nullptr);
    const double high = curve->kinks().front();
    for (double below = 0.0; below < 6.0 && high - below > curve->lowest(); below += 0.17) {
      const Vector w = curve->weights(high - below);
      EXPECT_LE(violation(plain, w, std::exp(high - below), 0.0), 1e-9) << rows << " rows, " << below;
      EXPECT_NEAR(curve->at(high - below).value, plain.plain.validation_loss(w), 1e-10);
    }
  }
}

// The curve of folds is the mean of theirs, at kinks of any of them, too.
TEST(ExactCurve, OfFoldsIsTheirMean) {
  std::vector<std::shared_ptr<const BilevelProblem>> folds;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    folds.push_back(std::make_shared<ElasticNetProblem>(plain_split(30, 15, 1.0, seed), least_squares(), true,
                                                        Kind::lasso));
  const std::vector<double> shares = {0.5, 0.3, 0.2};
  const KFoldProblem problem(folds, shares);
  const auto curve = problem.exact_curve(Vector::Zero(1), 0, nullptr);
  ASSERT_NE(curve, nullptr);
  const ExactCurve::Point best = curve->minimum(-8.0, 2.0);
  const auto check = [&](double lambda) {
    double mean = 0.0;
    for (std::size_t k = 0; k < 3; ++k)
      mean += shares[k] * folds[k]->exact_curve(Vector::Zero(1), 0, nullptr)->at(lambda).value;
    EXPECT_NEAR(curve->at(lambda).value, mean, 1e-11 * mean);
    EXPECT_GE(mean, best.value * (1.0 - 1e-12));
    const Vector w = curve->weights(lambda);
    EXPECT_NEAR(problem.validation_loss(w, Vector::Constant(1, lambda)), mean, 1e-10 * mean);
  };
  for (const double kink : curve->kinks())
    if (kink > -8.0 && kink < 2.0) check(kink);
  for (double lambda = -8.0; lambda < 2.0; lambda += 0.01) check(lambda);
}

// What folds take from the rows that they share is what each finds in its own rows: curves, weights and
// Hessians, also of columns that a fold holds nearly all of.
TEST(SharedRows, ChangeNothingButRounding) {
  constexpr Index n = 150, d = 30, count = 5;
  Random random(4);
  Matrix x = test::random_matrix(n, d, random).array() + 3.0;
  x.col(4).tail(n - n / count).setZero();
  Dataset all;
  all.y = x.col(0) - 0.5 * x.col(7) + test::random_vector(n, random);
  all.x = Design(std::move(x));
  all.source = "test";
  for (const Kind kind : {Kind::lasso, Kind::elastic_net}) {
    const auto shared = std::make_shared<SharedRows>(all.x);
    const auto penalty = kind == Kind::lasso ? SparsePenalty::lasso(d) : SparsePenalty::elastic_net(d);
    for (Index k = 0; k < count; ++k) {
      std::vector<Index> rest, left_out;
      for (Index i = 0; i < n; ++i) (i * count / n == k ? left_out : rest).push_back(i);
      const Split fold{.train = select_rows(all, rest), .validation = select_rows(all, left_out), .test = {}};
      ASSERT_TRUE(shared->gram(fold, {}));
      const SparseProblem alone(fold, least_squares(), true, penalty);
      const SparseProblem sharing(fold, least_squares(), true, penalty, shared);
      Vector lambda = Vector::Constant(alone.hyperparameters(), -4.0);
      const auto a = alone.exact_curve(lambda, 0, nullptr), b = sharing.exact_curve(lambda, 0, nullptr);
      ASSERT_TRUE(a && b);
      for (double below = 0.1; below < 8.0; below += 0.4) {
        lambda[0] = a->kinks().front() - below;
        // Products of shared rows lose at most three digits of a column's square, weights as many more as
        // the condition has: about two here.
        EXPECT_NEAR(a->at(lambda[0]).value, b->at(lambda[0]).value, 1e-10 * a->at(lambda[0]).value);
        const Vector w = a->weights(lambda[0]);
        EXPECT_LT((w - b->weights(lambda[0])).norm(), 1e-10 * w.norm()) << "fold " << k << ", " << below;
        const Vector right = Vector::LinSpaced(w.size(), -1.0, 1.0);
        Vector of_alone = Vector::Zero(w.size()), of_sharing = of_alone;
        alone.hessian_solve(w, lambda, right, {}, of_alone);
        sharing.hessian_solve(w, lambda, right, {}, of_sharing);
        EXPECT_LT((of_alone - of_sharing).norm(), 1e-10 * of_alone.norm()) << "fold " << k << ", " << below;
      }
    }
  }
}

// Other losses and other λ have none; a stop ends its computation.
TEST(ExactCurve, IsNotThereForAll) {
  const Split split = plain_split(30, 10, 1.0, 1);
  const ElasticNetProblem net(split, least_squares(), true, Kind::elastic_net);
  EXPECT_EQ(net.exact_curve(Vector::Zero(2), 1, nullptr), nullptr);
  const ElasticNetProblem robust(split, huber(), true, Kind::lasso);
  EXPECT_EQ(robust.exact_curve(Vector::Zero(1), 0, nullptr), nullptr);
  StopSource source;
  source.request_stop();
  const StopToken stop = source.token();
  EXPECT_EQ(net.exact_curve(Vector::Zero(2), 0, &stop), nullptr);
  EXPECT_NE(net.exact_curve(Vector::Zero(2), 0, nullptr), nullptr);
}

// Pieces whose minima lie inside, at kinks and at the ends of the range.
TEST(ExactCurve, FindsTheLeastOfItsPieces) {
  // h = 1 above c = 4; (c − 3)² on [2, 4]; 1 + (2 − c) − 3(2 − c)² below, down to c = 0.5
  const ExactCurve curve({{.begin = 4.0, .value = 1.0, .slope = -2.0, .curvature = 1.0},
                          {.begin = 2.0, .value = 1.0, .slope = 1.0, .curvature = -3.0}},
                         0.5, 7.0, {});
  EXPECT_DOUBLE_EQ(curve.minimum(std::log(1.0), 5.0).lambda, std::log(1.0));
  EXPECT_DOUBLE_EQ(curve.minimum(std::log(1.5), 5.0).lambda, std::log(3.0));
  EXPECT_NEAR(curve.minimum(std::log(1.5), 5.0).slope_above, 0.0, 1e-14);
  EXPECT_DOUBLE_EQ(curve.minimum(std::log(3.5), 5.0).value, 0.25);
  EXPECT_DOUBLE_EQ(curve.minimum(-10.0, 5.0).lambda, std::log(0.5));
  EXPECT_DOUBLE_EQ(curve.lowest(), std::log(0.5));
  EXPECT_DOUBLE_EQ(curve.at(std::log(2.0)).slope_above, -4.0);
  EXPECT_DOUBLE_EQ(curve.at(std::log(2.0)).slope_below, -2.0);
  EXPECT_THROW(curve.weights(-3.0), std::logic_error);
}

}  // namespace
}  // namespace yosida
