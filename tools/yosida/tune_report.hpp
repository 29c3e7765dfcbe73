#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "yosida/tune/data_files.hpp"
#include "yosida/tune/targets.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida::cli {

/// What the user asked of `yosida tune`.
struct TuneFlags {
  DataFiles files;
  TuneOptions options;
  std::optional<int> threads;
  bool quiet = false;
  bool explain = false;
  std::string json_file, trace_file, save_file, split_file, checkpoint_file;
  std::vector<std::string> measures = {"usual"};
  std::int64_t trace_every = 1;
};

/// "34 training, 17 validation, 19 test rows"
std::string rows_in_words(const TuneProblem& problem);
/// "1 feature", "8 features"
std::string features_in_words(Index features);
/// Runs every form of the problem and prints what it was expected to take and what it took.
void print_forms(std::FILE* out, const TuneProblem& problem, const TuneOptions& options);
/// Everything for people; `measures` are places in the table of these.
void print_result(std::FILE* out, const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned,
                  const std::vector<std::size_t>& measures);
/// The same of several targets.
void print_targets(std::FILE* out, const std::string& source, const TunedTargets& tuned,
                   const std::vector<std::size_t>& measures);

}  // namespace yosida::cli
