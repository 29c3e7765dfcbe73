#pragma once

#include <string>

#include "yosida/tune/data_files.hpp"
#include "yosida/tune/method_text.hpp"
#include "yosida/tune/options.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace yosida::cli {

// Each adds a group of flags that commands share; what is said on the command line lands in the structs
// given.

/// --max-memory of a command that reads data files.
CLI::Option* add_max_memory(CLI::App& command, std::uint64_t& bytes);
/// --decimal of a command that reads data files.
CLI::Option* add_decimal(CLI::App& command, char& mark);
/// --unseen of a command that reads rows for a model or beside training rows.
CLI::Option* add_unseen(CLI::App& command, bool& refuse);
/// Where the rows are, the model, and what is done to rows.
void add_data_flags(CLI::App& command, DataFiles& files, TuneOptions& options);
/// Cross-validation.
void add_fold_flags(CLI::App& command, DataFiles& files, TuneOptions& options);
/// How sure an answer is, and what is done for many λ.
void add_trust_flags(CLI::App& command, TrustOptions& trust);
/// Which weights share a λ.
void add_penalty_flags(CLI::App& command, PenaltyOptions& penalty);
/// What a run may cost and where it may look.
void add_run_flags(CLI::App& command, TuneOptions& options, std::optional<int>& threads);
/// "--train-steps" of "train_steps".
std::string flag_of_setting(std::string name);
/// What a method is, its settings and what they mean, on standard output.
void print_method(const Method& method);
/// One flag for each setting of any method; the method decides whether it knows it.
void add_setting_flags(CLI::App& command, SettingValues& values);

/// All files that are read; empty names among them.
std::vector<std::string> input_paths(const DataFiles& files, const PenaltyOptions& penalty);

}  // namespace yosida::cli
