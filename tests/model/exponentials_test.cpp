#include "model/exponentials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "linalg/instruction_set.hpp"
#include "yosida/random.hpp"

namespace yosida {
namespace {

/// Those that this machine can run.
std::vector<std::pair<const char*, Exponentials*>> kernels() {
  std::vector<std::pair<const char*, Exponentials*>> found{{"chosen", &exponentials},
                                                           {"baseline", &exponentials_baseline}};
#ifdef __x86_64__
  if (linalg::instruction_set() >= 1) found.emplace_back("v3", &exponentials_v3);
  if (linalg::instruction_set() >= 2) found.emplace_back("v4", &exponentials_v4);
#endif
  return found;
}

TEST(Exponentials, AreThoseOfLongNumbersToTwoUnitsOfTheLastPlace) {
  std::vector<double> x = {0.0, -0.0, 1.0, -1.0, 709.78, -708.3, -708.4, 1e-300, 0.34657359, -0.34657360};
  Random random(5);
  for (int i = 0; i < 20000; ++i) x.push_back(1400.0 * random.uniform() - 700.0);
  for (int i = 0; i < 20000; ++i) x.push_back(4.0 * random.uniform() - 2.0);
  for (const auto& [name, kernel] : kernels()) {
    std::vector<double> out(x.size());
    kernel(x.data(), std::ssize(x), out.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double expected = std::exp(static_cast<long double>(x[i]));
      EXPECT_LE(std::abs(out[i] - expected), 2.0L * 1.12e-16L * expected) << name << ", x = " << x[i];
    }
  }
}

TEST(Exponentials, HaveTheirEnds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {-kInfinity, -1e300, -746.0, 709.79, 1e300, kInfinity, std::nan(""), -740.0};
  for (const auto& [name, kernel] : kernels()) {
    std::vector<double> out(x.size(), 7.0);
    kernel(x.data(), std::ssize(x), out.data());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], 0.0) << name;
    for (int i = 3; i < 6; ++i) EXPECT_EQ(out[i], kInfinity) << name;
    EXPECT_TRUE(std::isnan(out[6])) << name;
    EXPECT_NEAR(out[7], std::exp(-740.0), 2.0 * std::numeric_limits<double>::denorm_min()) << name;
  }
}

TEST(Exponentials, DoNotDependOnWhatStandsBesideThem) {
  std::vector<double> x(70);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i)) * 30.0;
  for (const auto& [name, kernel] : kernels()) {
    std::vector<double> all(x.size());
    kernel(x.data(), std::ssize(x), all.data());
    for (long count = 1; count < std::ssize(x); ++count) {
      std::vector<double> some(x.end() - count, x.end());
      kernel(some.data(), count, some.data());
      for (long i = 0; i < count; ++i)
        EXPECT_EQ(some[static_cast<std::size_t>(i)], all[all.size() - static_cast<std::size_t>(count - i)])
            << name << ", " << count;
    }
  }
}

}  // namespace
}  // namespace yosida
