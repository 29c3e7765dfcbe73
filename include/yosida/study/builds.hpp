#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/study/store.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// The code that runs: its version and a hash of all sources that decide results, "0.2.0+1a2b3c4d5e6f". Runs
/// of different builds are different runs.
const std::string& this_build();

/// What the build of a spec is called: "unknown" where it does not say, as before there were builds.
std::string build_in_words(const std::string& build);

/// Runs that are asked for, and what a store has of them by other builds than this one.
struct PlannedRuns {
  /// In the order they were asked for; with others accepted, a run that only another build has done is named
  /// as that build named it, so that it is there.
  std::vector<SpecText> specs;
  /// How many of them only other builds have done, by build_in_words.
  std::map<std::string, std::int64_t> of_others;
};

/// Where several other builds have done a run, the one that finished last counts.
PlannedRuns plan_runs(const Store& store, std::vector<SpecText> specs, bool accepts_builds);

/// "9 by 0.2.0+1a2b3c4d5e6f, 2 by an unknown build"
std::string in_words(const std::map<std::string, std::int64_t>& of_builds);

}  // namespace study
}  // namespace yosida
