#include "yosida/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace yosida {
namespace {

// Computed with a Python implementation written from the authors' reference C (xoshiro256plusplus.c,
// splitmix64.c).
TEST(Random, GivesTheKnownNumbersOfXoshiro256PlusPlus) {
  const struct {
    std::uint64_t seed;
    std::uint64_t outputs[5];
  } known[] = {
      {0,
       {0x53175d61490b23df, 0x61da6f3dc380d507, 0x5c0fdf91ec9a7bfc, 0x02eebf8c3bbe5e1a, 0x7eca04ebaf4a5eea}},
      {1,
       {0xcfc5d07f6f03c29b, 0xbf424132963fe08d, 0x19a37d5757aaf520, 0xbf08119f05cd56d6, 0x2f47184b86186fa4}},
      {42,
       {0xd0764d4f4476689f, 0x519e4174576f3791, 0xfbe07cfb0c24ed8c, 0xb37d9f600cd835b8, 0xcb231c3874846a73}},
      {~0ULL,
       {0x56ccf8ce948e27b2, 0xe68588432e5a5b90, 0xe3e9b5a48119ca8b, 0x460f19495532ae73, 0xa7d62040ea9263e1}},
  };
  for (const auto& [seed, outputs] : known) {
    Random random(seed);
    for (const std::uint64_t output : outputs) EXPECT_EQ(random.next(), output) << "seed " << seed;
  }
}

TEST(Random, UniformIsTheUpper53Bits) {
  Random random(7);
  for (const double value :
       {0.05536043647833311, 0.17211585444811772, 0.7175761283586594, 0.42720981929150526})
    EXPECT_EQ(random.uniform(), value);
}

// Box and Muller from the four uniforms above. The tolerance allows another libm's last bit.
TEST(Random, NormalIsBoxMullerCosineFirst) {
  Random random(7);
  for (const double value :
       {0.15864398364230053, 0.29788548717637203, -1.4267532562805325, 0.7021877504972655})
    EXPECT_NEAR(random.normal(), value, 1e-15);
}

TEST(Random, BelowGivesTheKnownNumbers) {
  Random random(3);
  for (const std::uint64_t value : {0, 6, 8, 8, 6, 1, 1, 6, 5, 0, 5, 1}) EXPECT_EQ(random.below(10), value);
}

TEST(Random, BelowStaysInRangeAndReachesBothEnds) {
  Random random(5);
  for (const std::uint64_t bound : {1, 2, 3, 10}) {
    std::vector<int> seen(bound, 0);
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t value = random.below(bound);
      ASSERT_LT(value, bound);
      ++seen[value];
    }
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 0);
  }
}

// For bound = 3·2^62, a product without rejection maps two in four 64-bit words to values ≡ 0 (mod 3):
// a half of all instead of a third. 30000 draws put the third within 5 standard deviations, ± 0.0136.
TEST(Random, BelowIsUnbiasedWhereTheBoundIsHuge) {
  Random random(11);
  constexpr int kDraws = 30000;
  int count[3] = {};
  for (int i = 0; i < kDraws; ++i) ++count[random.below(3ULL << 62) % 3];
  for (const int each : count) EXPECT_NEAR(static_cast<double>(each) / kDraws, 1.0 / 3.0, 0.0136);
}

TEST(Random, ShuffleIsTheKnownPermutation) {
  Random random(3);
  std::vector<Index> values(8);
  std::iota(values.begin(), values.end(), Index{0});
  random.shuffle(values);
  EXPECT_EQ(values, (std::vector<Index>{1, 3, 7, 2, 6, 5, 4, 0}));
}

TEST(Random, ShuffleKeepsEveryValue) {
  Random random(4);
  std::vector<Index> values(1001);
  std::iota(values.begin(), values.end(), Index{0});
  const std::vector<Index> before = values;
  random.shuffle(values);
  EXPECT_NE(values, before);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, before);
}

// Each value should stand in each place a sixth of the time: 60000 shuffles, 5 standard deviations ± 0.0076.
TEST(Random, ShuffleIsUniform) {
  Random random(8);
  constexpr int kShuffles = 60000;
  int count[6][6] = {};
  for (int repeat = 0; repeat < kShuffles; ++repeat) {
    Index values[6] = {0, 1, 2, 3, 4, 5};
    random.shuffle(values);
    for (int place = 0; place < 6; ++place) ++count[place][values[place]];
  }
  for (const auto& place : count)
    for (const int each : place) EXPECT_NEAR(static_cast<double>(each) / kShuffles, 1.0 / 6.0, 0.0076);
}

// Moments of 200000 draws, each within 5 of its own standard deviations: √(1, 2, 15, 96)/√n for powers 1
// to 4.
TEST(Random, NormalHasTheMomentsOfAStandardNormal) {
  Random random(12);
  constexpr int kDraws = 200000;
  double sum[4] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    double power = 1.0;
    for (double& each : sum) each += (power *= x);
  }
  const double expected[4] = {0.0, 1.0, 0.0, 3.0};
  const double deviation[4] = {1.0, std::sqrt(2.0), std::sqrt(15.0), std::sqrt(96.0)};
  for (int k = 0; k < 4; ++k)
    EXPECT_NEAR(sum[k] / kDraws, expected[k], 5.0 * deviation[k] / std::sqrt(kDraws)) << "power " << k + 1;
}

}  // namespace
}  // namespace yosida
