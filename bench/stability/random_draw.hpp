#pragma once

#include <memory>
#include <string>

#include "yosida/problem/linear_problem.hpp"
#include "yosida/settings.hpp"

namespace yosida::bench {

enum class Spectrum { log_spaced, two_clusters, geometric };

/// A random problem of any condition with a start and step sizes.
struct Draw {
  std::uint64_t seed = 0;
  std::shared_ptr<const LinearProblem> problem;
  Spectrum spectrum = Spectrum::log_spaced;
  double condition = 1.0;  // of all rows together, before the columns are shifted
  double noise = 0.0;      // standard deviations of the signal
  double lambda0 = 0.0;
  SettingValues steps;  // for every method that has settings of these names

  bool is_logistic() const { return problem->loss().is_classification(); }
  std::string text() const;
};

Draw draw_random(std::uint64_t seed, Index largest_logistic);

}  // namespace yosida::bench
