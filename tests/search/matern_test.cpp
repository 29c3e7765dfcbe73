#include "search/matern.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "linalg/instruction_set.hpp"
#include "yosida/random.hpp"

namespace yosida::search {
namespace {

/// Those that this machine can run.
std::vector<std::pair<const char*, Matern52*>> kernels() {
  std::vector<std::pair<const char*, Matern52*>> found{{"chosen", &matern52},
                                                       {"baseline", &matern52_baseline}};
#ifdef __x86_64__
  if (linalg::instruction_set() >= 1) found.emplace_back("v3", &matern52_v3);
  if (linalg::instruction_set() >= 2) found.emplace_back("v4", &matern52_v4);
#endif
  return found;
}

// The argument √5 r is rounded a few times, which e^(−√5 r) multiplies by √5 r; the rest is a few roundings
// more.
TEST(Matern, EqualsItsFormulaInLongNumbers) {
  constexpr long kCount = 1003, kDimensions = 3, kStride = kCount + 2;
  const double point[kDimensions] = {0.25, 0.5, 0.75};
  const double inverse_lengths[kDimensions] = {0.5, 3.0, 20.0};
  std::vector<double> others(kDimensions * kStride);
  Random random(3);
  for (double& each : others) each = std::pow(random.uniform(), 4.0) * 4.0;
  for (long d = 0; d < kDimensions; ++d) others[d * kStride] = point[d];
  for (const auto& [name, kernel] : kernels()) {
    std::vector<double> out(kCount);
    kernel(point, others.data(), kStride, kDimensions, kCount, inverse_lengths, 1.5, out.data());
    EXPECT_EQ(out[0], 1.5) << name;
    for (long j = 0; j < kCount; ++j) {
      long double square = 0.0L;
      for (long d = 0; d < kDimensions; ++d)
        square +=
            std::pow((static_cast<long double>(point[d]) - others[d * kStride + j]) * inverse_lengths[d], 2);
      const long double t = std::sqrt(5.0L * square);
      const long double expected = 1.5L * (1.0L + t + t * t / 3.0L) * std::exp(-t);
      EXPECT_LE(std::abs(out[j] - expected), (4.0L * t + 16.0L) * 1.2e-16L * expected)
          << name << ", t = " << t;
    }
  }
}

TEST(Matern, IsZeroFarAway) {
  const double point = 0.0, inverse_length = 1e6;
  const std::vector<double> others = {1e-4, 1.0, 1e300};
  for (const auto& [name, kernel] : kernels()) {
    std::vector<double> out(3, 7.0);
    kernel(&point, others.data(), 3, 1, 3, &inverse_length, 1.0, out.data());
    for (const double value : out) EXPECT_EQ(value, 0.0) << name;
  }
}

}  // namespace
}  // namespace yosida::search
