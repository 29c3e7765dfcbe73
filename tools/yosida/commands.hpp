#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace yosida::cli {

/// Exit codes, the same for every command.
enum Exit : int {
  kOk = 0,
  kInternal = 1,  ///< a fault of the program, or a check that failed
  kBadInput = 2,
  kDiverged = 3,    ///< the best finite iterate is still printed
  kNotWritten = 4,  ///< the result stands on the terminal
  kStopped = 5      ///< a study was interrupted before all its runs were done
};

// Each adds its command to `app`; its callback sets `exit_code`.
void add_tune(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_coefficients(CLI::App& app, int& exit_code);
void add_methods(CLI::App& app, int& exit_code);
void add_check_grad(CLI::App& app, int& exit_code);
void add_data(CLI::App& app, int& exit_code);
void add_study(CLI::App& app, int& exit_code);
void add_reproduce(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_dashboard(CLI::App& app, int& exit_code);
/// help, version and completion, the last of all: they know the others.
void add_help(CLI::App& app, int& exit_code);

/// What is wrong with words that the parser did not expect, with the nearest flag there is.
std::string unexpected_in_words(const CLI::App& app, const std::vector<std::string>& words);
/// Throws InputError for an unknown command, naming the nearest known one.
void require_known_command(const CLI::App& app, std::span<const std::string> words);

/// The command that this process was started with, as one could type it again.
const std::string& this_command();

/// A check for options that count something: digits only.
CLI::Validator whole_number();
/// The same for those that check their own range: a number of 64 bits, with a sign or not.
CLI::Validator signed_number();

}  // namespace yosida::cli
