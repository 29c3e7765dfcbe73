#pragma once

#include <string>

#include "case.hpp"
#include "yosida/solver/certificate.hpp"

namespace yosida::bench {

/// What a method answered.
struct Answer {
  bool is_error = false;  ///< refused to start, or threw
  std::string status;
  std::string message;
  std::string verdict;
  std::string reason;
  Vector lambda0;
  Vector lambda;
  double validation = 0.0;  ///< L_V of the weights returned
  double start_loss = 0.0;  ///< L_V of the first iterate
  double work = 0.0;        ///< gradient equivalents
  double seconds = 0.0;     ///< of the processor, without the certificate

  /// Also at a kink or at working precision.
  bool is_certified() const {
    return verdict != to_string(Verdict::not_certified) && !verdict.empty() && !is_at_bound();
  }
  bool is_at_bound() const { return verdict == to_string(Verdict::at_bound); }
};

/// As `yosida tune` does it: the cheapest form of the problem, the start and the budget of the method, and
/// the certificate inside the same bounds.
Answer answer(const Case& drawn, const std::string& method_name);

/// The problem in the form that `yosida tune` takes by default.
std::shared_ptr<const BilevelProblem> problem_of(const Case& drawn);

}  // namespace yosida::bench
