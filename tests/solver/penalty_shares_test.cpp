// θ = e^λ/(e^λ + κ), by its formula and its differences.
#include "solver/penalty_shares.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace yosida {
namespace {

Vector numbers(std::initializer_list<double> values) {
  Vector all(static_cast<Index>(values.size()));
  Index j = 0;
  for (const double value : values) all[j++] = value;
  return all;
}

const Vector kKappa = numbers({1e-3, 1.0, 50.0});
const Vector kLambda = numbers({-2.0, 0.5, 1.0});
const Start kRange{.lambda = kLambda, .low = Vector::Constant(3, -30.0), .high = Vector::Constant(3, 30.0)};

TEST(PenaltyShares, AreTheFormulaAndItsDerivative) {
  const PenaltyShares shares{kKappa};
  const double step = 1e-5;
  const Vector up = shares.of(kLambda.array() + step), down = shares.of(kLambda.array() - step);
  for (Index j = 0; j < 3; ++j) {
    const double penalty = std::exp(kLambda[j]);
    EXPECT_NEAR(shares.of(kLambda)[j], penalty / (penalty + kKappa[j]), 1e-15);
    // A central difference is good to step², and rounding leaves 1e-16/step of θ.
    EXPECT_NEAR(shares.rate(kLambda)[j] * (up[j] - down[j]) / (2.0 * step), 1.0, 1e-7);
  }
}

// Also where 1 − θ is far below rounding.
TEST(PenaltyShares, AMoveLeadsToWhereItsDifferenceWasTaken) {
  const PenaltyShares shares{kKappa};
  for (const double to : {-20.0, -2.0, 0.4, 3.0, 25.0}) {
    const Vector wanted = Vector::Constant(3, to);
    const Vector move = shares.difference(kLambda, wanted);
    const Vector found = shares.moved(kLambda, move, kRange);
    // θ is known to rounding, which is worth so much of λ at its far end.
    const Vector allowed = 1e-15 * shares.rate(wanted) + Vector::Constant(3, 1e-12);
    for (Index j = 0; j < 3; ++j) EXPECT_NEAR(found[j], to, 4.0 * allowed[j]) << j;
  }
}

TEST(PenaltyShares, AMoveToABoundOrBeyondEndsThereExactly) {
  const PenaltyShares shares{kKappa};
  EXPECT_EQ(shares.moved(kLambda, Vector::Constant(3, 2.0), kRange), kRange.high);
  EXPECT_EQ(shares.moved(kLambda, Vector::Constant(3, -2.0), kRange), kRange.low);
  EXPECT_EQ(shares.moved(kLambda, Vector::Zero(3), kRange), kLambda);
}

TEST(PenaltyShares, AreLambdaItselfWhereNoCurvatureIsKnown) {
  const Vector none;
  const PenaltyShares shares{none};
  EXPECT_EQ(shares.of(kLambda), kLambda);
  EXPECT_EQ(shares.rate(kLambda), Vector::Ones(3));
  EXPECT_EQ(shares.difference(kLambda, kRange.high), kRange.high - kLambda);
  EXPECT_EQ(shares.moved(kLambda, Vector::Constant(3, 100.0), kRange), kRange.high);
}

}  // namespace
}  // namespace yosida
