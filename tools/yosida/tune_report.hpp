#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "yosida/tune/data_files.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida::cli {

/// What the user asked of `yosida tune`.
struct TuneFlags {
  DataFiles files;
  TuneOptions options;
  std::optional<int> threads;
  bool quiet = false;
  bool explain = false;
  std::string json_file, trace_file, save_file, split_file;
  std::int64_t trace_every = 1;
};

/// "34 training, 17 validation, 19 test rows"
std::string rows_in_words(const TuneProblem& problem);
/// Runs every form of the problem and prints what it was expected to take and what it took.
void print_forms(std::FILE* out, const TuneProblem& problem, const TuneOptions& options);
void print_result(std::FILE* out, const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned);
}  // namespace yosida::cli
