#include "search/sobol.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <utility>

#include "search/joe_kuo.hpp"
#include "yosida/error.hpp"

namespace yosida::search {
namespace {

// Bratley and Fox (Algorithm 659) list the first; the others are printed by the generator Joe and Kuo
// publish.
TEST(Sobol, BeginsAsPublished) {
  Matrix expected(10, 3);
  expected << 0, 0, 0,         //
      0.5, 0.5, 0.5,           //
      0.75, 0.25, 0.25,        //
      0.25, 0.75, 0.75,        //
      0.375, 0.375, 0.625,     //
      0.875, 0.875, 0.125,     //
      0.625, 0.125, 0.875,     //
      0.125, 0.625, 0.375,     //
      0.1875, 0.3125, 0.9375,  //
      0.6875, 0.8125, 0.4375;
  EXPECT_EQ(sobol_points(3, 10), expected);
}

TEST(Sobol, FirstTwoPointsAreTheLowerEndsAndTheCentreInEveryDimension) {
  const Matrix points = sobol_points(kSobolDimensions, 2);
  EXPECT_EQ(points.row(0), Vector::Zero(kSobolDimensions).transpose());
  EXPECT_EQ(points.row(1), Vector::Constant(kSobolDimensions, 0.5).transpose());
}

// A wrong direction number breaks it: each dimension is a (0, 1)-sequence in base 2.
TEST(Sobol, PutsOnePointIntoEachIntervalOfEveryDimension) {
  constexpr Index kCount = 4096;
  const Matrix points = sobol_points(kSobolDimensions, kCount);
  for (Index j = 0; j < kSobolDimensions; ++j) {
    std::set<Index> intervals;
    for (Index i = 0; i < kCount; ++i) intervals.insert(static_cast<Index>(points(i, j) * kCount));
    EXPECT_EQ(intervals.size(), kCount) << "dimension " << j + 1;
  }
}

// Degrees 0 and 1 make the first two dimensions a (0, 2)-sequence: one point in each of 2^m boxes of any
// shape.
TEST(Sobol, FillsBoxesOfEveryShapeInTwoDimensions) {
  constexpr int kBits = 10;
  const Matrix points = sobol_points(2, 1 << kBits);
  for (int bits = 0; bits <= kBits; ++bits) {
    std::set<std::pair<int, int>> boxes;
    for (Index i = 0; i < points.rows(); ++i)
      boxes.emplace(static_cast<int>(points(i, 0) * (1 << bits)),
                    static_cast<int>(points(i, 1) * (1 << (kBits - bits))));
    EXPECT_EQ(boxes.size(), 1U << kBits) << bits << " bits of the first dimension";
  }
}

std::uint64_t times_x(std::uint64_t element, std::uint32_t polynomial, int degree) {
  element <<= 1;
  return (element >> degree) & 1U ? element ^ polynomial : element;
}

// x generates the field where the polynomial is primitive; initial numbers are odd and m_k < 2^k.
TEST(Sobol, DirectionNumbersAreWhatTheTheoryAsksFor) {
  std::set<std::uint32_t> seen;
  for (const DirectionNumbers& numbers : kJoeKuo) {
    const int degree = std::bit_width(numbers.polynomial) - 1;
    std::uint64_t power = times_x(1, numbers.polynomial, degree);
    int order = 1;
    for (; power != 1; ++order) power = times_x(power, numbers.polynomial, degree);
    EXPECT_EQ(order, (1 << degree) - 1) << numbers.polynomial;
    EXPECT_TRUE(seen.insert(numbers.polynomial).second) << numbers.polynomial;
    for (int k = 0; k < 9; ++k) {
      if (k < degree) {
        EXPECT_EQ(numbers.initial[k] % 2, 1U);
        EXPECT_LT(numbers.initial[k], 2U << k);
      } else {
        EXPECT_EQ(numbers.initial[k], 0U);
      }
    }
  }
}

TEST(Sobol, RefusesDimensionsItHasNoNumbersFor) {
  EXPECT_THROW(sobol_points(0, 4), InputError);
  EXPECT_THROW(sobol_points(kSobolDimensions + 1, 4), InputError);
}

}  // namespace
}  // namespace yosida::search
