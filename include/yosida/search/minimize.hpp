#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/search/samplers.hpp"

namespace YOSIDA_EXPORT yosida {
namespace search {

/// The function of the user, at proposal.x. May be noisy; may return what is not finite (the trial failed).
/// Called in the thread that called minimize().
using Objective = std::function<double(const Proposal&)>;

/// A search ends at the first limit it meets, or when the sampler has nothing left.
struct Limits {
  std::int64_t trials = std::numeric_limits<std::int64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

/// A proposal and what was seen there.
struct Evaluation {
  Proposal proposal;
  double value = 0.0;
};

/// The best of all trials, and the trials.
struct Result {
  Vector x;  ///< of the smallest finite value; empty where no trial gave one
  double value = std::numeric_limits<double>::infinity();
  std::vector<Evaluation> trials;  ///< in the order they were made
};

/// The smallest value of an objective that a sampler finds in a box. One limit at least must be given: throws
/// InputError for none, for trials < 1 and unless seconds > 0. What the objective throws goes through.
Result minimize(const Objective& objective, Sampler& sampler, const Limits& limits);
/// Minimises by a sampler that is named. A limit of trials must be given.
Result minimize(const Objective& objective, const Space& space, const std::string& sampler,
                const Limits& limits, std::uint64_t seed = 0);

}  // namespace search
}  // namespace yosida
