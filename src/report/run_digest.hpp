#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "yosida/model/measures.hpp"
#include "yosida/report/contents.hpp"
#include "yosida/study/record.hpp"
#include "yosida/study/run_outcome.hpp"

namespace yosida::report {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A point of a trace, small: a study may have tens of millions.
struct Sample {
  double validation;
  float work, seconds;
  std::int32_t iteration;
  float lambda;  // not finite where there are several
};

/// Train, validation and test.
using PartValues = std::array<double, 3>;

/// What the weights of a run do.
struct Measured {
  std::vector<PartValues> values;  // one for each of measures()
  double gap = kMissing, lambda_gap = kMissing;
  double lambda = kMissing;  // not finite where there are several

  double validation(std::size_t measure) const { return values[measure][1]; }
};

inline constexpr std::array<double, 2> kGaps = {0.01, 0.001};

/// What a report needs of a run.
struct RunDigest {
  std::shared_ptr<const study::SpecInWords> spec;  // runs of one row may share it
  std::map<std::string, std::string> file_names;
  std::string data_sha256;
  std::string finished;
  std::uint64_t seed = 0;
  std::string status;
  State state = State::ok;
  Measured final, best;
  double seconds = kMissing, gradients = kMissing, work = kMissing, iterations = kMissing;
  double oracle_lambda = kMissing, oracle_validation = kMissing;
  double low = kMissing, high = kMissing;                           // the bounds of λ
  std::array<double, kGaps.size()> work_to = {kMissing, kMissing};  // not finite where it was not reached
  std::optional<Trust> trust;                                       // of one λ
  std::string certificate = "none";
  double residual = kMissing;
  std::string sentence;
  std::vector<Sample> samples;
  bool is_search = false;
  std::vector<ResponsePoint> trials;  // of a search that trains exactly: λ and L_V(w*(λ))

  /// How far a validation loss is above the oracle's, as a share of that.
  double gap_of(double validation) const;
  /// What L_V is multiplied by to be the scaled loss; not finite where the run does not say.
  double scale() const;
};

/// The digest of a run of a Store. Its spec and outcome are JSON, which may hold anything. Both are parsed
/// here and nowhere else.
RunDigest digest(const study::Record& record);

}  // namespace yosida::report
