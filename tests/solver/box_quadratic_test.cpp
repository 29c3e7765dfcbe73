#include "solver/box_quadratic.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <vector>

#include "support/dense.hpp"
#include "support/random_split.hpp"

namespace yosida {
namespace {

using test::random_matrix;
using test::random_vector;

struct Quadratic {
  Vector g;
  Eigen::MatrixXd b;
  Vector low, high;

  double value(const Vector& x) const { return g.dot(x) + 0.5 * x.dot(b * x); }
};

/// Eigenvalues spread over `spread` decades; the box holds 0, where the search for a move starts, unless
/// `away`.
Quadratic random_quadratic(Index p, double spread, bool away, Random& random) {
  Quadratic q;
  Eigen::MatrixXd basis = test::orthogonal_factors(random_matrix(p, p, random)).q;
  Vector values(p);
  for (double& each : values) each = std::pow(10.0, spread * (random.uniform() - 0.5));
  q.b = basis * values.asDiagonal() * basis.transpose();
  q.b = 0.5 * (q.b + q.b.transpose()).eval();
  q.g = random_vector(p, random);
  q.low.resize(p);
  q.high.resize(p);
  for (Index j = 0; j < p; ++j) {
    const double shift = away ? 2.0 * random.normal() : 0.0;
    q.low[j] = shift - 2.0 * random.uniform();
    q.high[j] = shift + 2.0 * random.uniform();
  }
  return q;
}

/// Each component at its low bound, at its high one or free: of all 3^p choices that stay inside the box the
/// lowest.
double brute_force(const Quadratic& q) {
  const Index p = q.g.size();
  const int choices = static_cast<int>(std::lround(std::pow(3.0, static_cast<double>(p))));
  double best = std::numeric_limits<double>::infinity();
  for (int choice = 0; choice < choices; ++choice) {
    Vector x = Vector::Zero(p);
    std::vector<Index> free;
    int rest = choice;
    for (Index j = 0; j < p; ++j, rest /= 3) {
      if (rest % 3 == 0) x[j] = q.low[j];
      if (rest % 3 == 1) x[j] = q.high[j];
      if (rest % 3 == 2) free.push_back(j);
    }
    if (!free.empty()) {
      const Vector slope = q.g + q.b * x;
      const Eigen::MatrixXd part = q.b(free, free);
      const Vector right = -slope(free);
      x(free) = test::symmetric_solution(part, right);
    }
    if ((x - q.low).minCoeff() < -1e-12 || (q.high - x).minCoeff() < -1e-12) continue;
    best = std::min(best, q.value(x));
  }
  return best;
}

void expect_inside(const Quadratic& q, const Vector& x) {
  EXPECT_TRUE((x.array() >= q.low.array()).all());
  EXPECT_TRUE((x.array() <= q.high.array()).all());
}

/// How far x is from its Karush–Kuhn–Tucker conditions: ‖x − P(x − (g + Bx))‖, 0 at the minimum alone.
double kkt_error(const Quadratic& q, const Vector& x) {
  const Vector slope = q.g + q.b * x;
  return (x - (x - slope).cwiseMax(q.low).cwiseMin(q.high)).norm();
}

TEST(BoxQuadratic, AgreesWithEveryChoiceOfActiveBounds) {
  Random random(1);
  for (Index p = 1; p <= 6; ++p)
    for (const double spread : {1.0, 4.0})
      for (const bool away : {false, true})
        for (int repeat = 0; repeat < 20; ++repeat) {
          SCOPED_TRACE(testing::Message()
                       << "p " << p << ", spread " << spread << ", away " << away << ", repeat " << repeat);
          const Quadratic q = random_quadratic(p, spread, away, random);
          const Vector x = minimise_in_box(q.g, q.b, q.low, q.high);
          expect_inside(q, x);
          const double best = brute_force(q);
          EXPECT_LE(q.value(x), best + 1e-10 * (1.0 + std::abs(best)));
        }
}

// Rounding: slopes are sums of 40 products of size 100 at most.
TEST(BoxQuadratic, MeetsTheKktConditionsOf40Variables) {
  Random random(2);
  for (const double spread : {1.0, 4.0})
    for (const bool away : {false, true})
      for (int repeat = 0; repeat < 50; ++repeat) {
        SCOPED_TRACE(testing::Message() << "spread " << spread << ", away " << away << ", repeat " << repeat);
        const Quadratic q = random_quadratic(40, spread, away, random);
        const Vector x = minimise_in_box(q.g, q.b, q.low, q.high);
        expect_inside(q, x);
        EXPECT_LE(kkt_error(q, x), 1e-7 * (1.0 + q.g.norm()));
      }
}

TEST(BoxQuadratic, IsTheNewtonStepWhereTheBoxIsWide) {
  Random random(3);
  Quadratic q = random_quadratic(20, 2.0, false, random);
  q.low.setConstant(-1e6);
  q.high.setConstant(1e6);
  const Vector x = minimise_in_box(q.g, q.b, q.low, q.high);
  EXPECT_LE((x + test::symmetric_solution(q.b, q.g)).norm(), 1e-10 * x.norm());
}

TEST(BoxQuadratic, StaysWhereTheBoxIsAPoint) {
  Random random(4);
  Quadratic q = random_quadratic(5, 2.0, true, random);
  q.high = q.low;
  EXPECT_EQ(minimise_in_box(q.g, q.b, q.low, q.high), q.low);
}

TEST(BoxQuadratic, AComponentHeldByItsBoundStaysThere) {
  // Where λ_j is at its low bound and its slope is up, the box of moves starts at 0.
  Vector g(2), low(2), high(2);
  g << 1.0, -1.0;
  low << 0.0, -4.0;
  high << 4.0, 4.0;
  const Eigen::MatrixXd b = Eigen::MatrixXd::Identity(2, 2);
  const Vector x = minimise_in_box(g, b, low, high);
  EXPECT_EQ(x[0], 0.0);
  EXPECT_NEAR(x[1], 1.0, 1e-14);
}

TEST(BoxQuadratic, NoSlopeNoMove) {
  const Vector zero = Vector::Zero(3);
  const Vector one = Vector::Ones(3);
  EXPECT_EQ(minimise_in_box(zero, Eigen::MatrixXd::Identity(3, 3), -one, one), zero);
}

}  // namespace
}  // namespace yosida
