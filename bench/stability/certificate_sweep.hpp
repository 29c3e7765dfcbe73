#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.hpp"

namespace yosida::bench {

/// What the certificate says of answers that are right, nearly right and wrong on purpose, judged by a truth
/// that shares nothing with it.
struct CertificateSweep {
  std::vector<std::string> kinds;
  CaseOptions options;
  int runs = 1000;  ///< problems of each kind
  std::uint64_t seed0 = 0;
  std::optional<std::uint64_t> seed;
  int jobs = 2;
  int worst = 0;  ///< so many false verdicts in words
  double floor = 1e-9;
};

void sweep_certificates(const CertificateSweep& flags);

}  // namespace yosida::bench
