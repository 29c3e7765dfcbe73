#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida::search::test {

/// A function of one number whose extremes on [low, high] are known (to all digits: found by Newton's method
/// in 30 digits, and compared with a fine scan by functions_test.cpp).
struct TestFunction {
  const char* name;
  double low, high;
  double minimum, maximum;
  double (*value)(double);

  /// Within 1 % of the function's range of its minimum.
  bool is_near_minimum(double found) const { return found - minimum <= 0.01 * (maximum - minimum); }
};

/// Eleven valleys; the target is 0.9 % of the interval.
inline double rastrigin(double x) { return 10.0 + x * x - 10.0 * std::cos(2.0 * std::numbers::pi * x); }
/// Its best valley where no centre, no end and no grid point is.
inline double shifted_rastrigin(double x) { return rastrigin(x - 1.7); }
/// Forrester, Sobester and Keane (2008).
inline double forrester(double x) { return std::pow(6.0 * x - 2.0, 2) * std::sin(12.0 * x - 4.0); }
/// Gramacy and Lee (2012): many valleys, the best one next to the lower end.
inline double gramacy_lee(double x) {
  return std::sin(10.0 * std::numbers::pi * x) / (2.0 * x) + std::pow(x - 1.0, 4);
}

inline const std::vector<TestFunction>& test_functions() {
  static const std::vector<TestFunction> all = {
      {"rastrigin", -5.12, 5.12, 0.0, 40.353290193838954, rastrigin},
      {"shifted-rastrigin", -5.12, 5.12, 0.0, 62.465920465026069, shifted_rastrigin},
      {"forrester", 0.0, 1.0, -6.0207400557670825, 15.829731945974107, forrester},
      {"gramacy-lee", 0.5, 2.5, -0.86901113498949982, 5.0625, gramacy_lee},
  };
  return all;
}

/// A function of several numbers on [low, high]^dimensions, its minimum inside and apart from the centre.
struct BoxFunction {
  const char* name;
  int dimensions;
  double low, high;
  double minimum;
  double (*value)(const Vector&);
};

/// Branin's box, [−5, 10] × [0, 15], seen as the unit square.
inline double branin(const Vector& unit) {
  constexpr double pi = std::numbers::pi;
  const double a = 15.0 * unit[0] - 5.0, b = 15.0 * unit[1];
  return std::pow(b - 5.1 / (4.0 * pi * pi) * a * a + 5.0 / pi * a - 6.0, 2) +
         10.0 * (1.0 - 1.0 / (8.0 * pi)) * std::cos(a) + 10.0;
}
inline double rosenbrock(const Vector& x) {
  return 100.0 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1.0 - x[0], 2);
}
inline double sphere(const Vector& x) { return (x.array() - 0.2).square().sum(); }
inline double box_rastrigin(const Vector& x) {
  double sum = 0.0;
  for (const double each : x) sum += rastrigin(each - 0.7);
  return sum;
}

inline const std::vector<BoxFunction>& box_functions() {
  static const std::vector<BoxFunction> all = {
      {"branin", 2, 0.0, 1.0, 0.39788735772973816, branin},
      {"rosenbrock", 2, -2.0, 2.0, 0.0, rosenbrock},
      {"sphere", 5, -1.0, 1.0, 0.0, sphere},
      {"box-rastrigin", 5, -5.12, 5.12, 0.0, box_rastrigin},
  };
  return all;
}

}  // namespace yosida::search::test
