#include "yosida/search/minimize.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "yosida/error.hpp"

namespace yosida::search {
namespace {

using Clock = std::chrono::steady_clock;

bool has_trials(const Limits& limits) { return limits.trials != Limits{}.trials; }

void check(const Limits& limits) {
  if (limits.trials < 1) throw InputError(fmt::format("trials = {}: must be at least 1", limits.trials));
  if (!(limits.seconds > 0.0))
    throw InputError(fmt::format("seconds = {}: must be a number > 0", limits.seconds));
  if (!has_trials(limits) && !std::isfinite(limits.seconds))
    throw InputError("trials = none, seconds = none: a search must have a limit");
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result minimize(const Objective& objective, Sampler& sampler, const Limits& limits) {
  check(limits);
  const Clock::time_point start = Clock::now();
  Result result;
  while (std::ssize(result.trials) < limits.trials && seconds_since(start) < limits.seconds) {
    const std::optional<Proposal> proposal = sampler.ask();
    if (!proposal) break;
    const double value = objective(*proposal);
    sampler.tell(*proposal, value);
    if (std::isfinite(value) && value < result.value) {
      result.x = proposal->x;
      result.value = value;
    }
    result.trials.push_back({*proposal, value});
  }
  return result;
}

Result minimize(const Objective& objective, const Space& space, const std::string& sampler,
                const Limits& limits, std::uint64_t seed) {
  if (!has_trials(limits))
    throw InputError(
        "trials = none: must be given, because a sampler by name is made for a number of trials");
  check(limits);
  return minimize(objective, *make_sampler(sampler, space, {.seed = seed, .trials = limits.trials}), limits);
}

}  // namespace yosida::search
