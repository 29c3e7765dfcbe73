#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "yosida/report/contents.hpp"

namespace yosida::report {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A point of a trace, small: a study may have tens of millions.
struct Sample {
  double validation;
  float work, seconds;
  std::int32_t iteration;
  float lambda;  // not finite where there are several
};

/// What the weights of a run do: train, validation and test of every measure.
struct Measured {
  std::array<std::array<double, 3>, kMeasures.size()> values;
  double gap = kMissing, lambda_gap = kMissing;

  double validation(std::size_t measure) const { return values[measure][1]; }
};

inline constexpr std::size_t kScaledLoss = 0, kLoss = 1;  // places in kMeasures
inline constexpr std::array<double, 2> kGaps = {0.01, 0.001};

/// What a report needs of a run.
struct RunDigest {
  std::string problem;  // JSON text of what it was done on: `problem`, `data` and `model` of its spec
  std::string row;      // JSON text of how: `method`, `settings` and whatever else but the seed
  std::string data_sha256;
  std::uint64_t seed = 0;
  std::string status;
  State state = State::ok;
  Measured final, best;
  double lambda = kMissing;
  double seconds = kMissing, gradients = kMissing, work = kMissing, iterations = kMissing;
  double oracle_lambda = kMissing, oracle_validation = kMissing;
  std::array<double, kGaps.size()> work_to = {kMissing, kMissing};  // not finite where it was not reached
  std::string certificate = "none";
  double residual = kMissing;
  std::string sentence;
  std::vector<Sample> samples;
  bool is_search = false;
  std::vector<ResponsePoint> trials;  // of a search that trains exactly: λ and L_V(w*(λ))

  /// What L_V is multiplied by to be the scaled loss; not finite where the run does not say.
  double scale() const;
};

/// Of a run of a Store, whose spec and outcome are JSON; what they have in them may be anything.
RunDigest digest(const study::Record& record);

}  // namespace yosida::report
