#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "commands.hpp"
#include "flags.hpp"
#include "output.hpp"
#include "yosida/error.hpp"
#include "yosida/number_text.hpp"
#include "yosida/tune/tune_problem.hpp"

namespace yosida::cli {
namespace {

constexpr double kTolerance = 1e-6;

struct CheckFlags {
  DataFiles files;
  TuneOptions options;
  double lambda = -1.0;
};

int run_check(const CheckFlags& flags) {
  if (!std::isfinite(flags.lambda))
    throw InputError(fmt::format("lambda = {}: must be finite", flags.lambda));
  const TuneProblem problem(read_rows(flags.files, flags.options), flags.options);
  const Prepared& data = problem.data();
  fmt::print("{} on {}: relative error against finite differences (at most {} is ok)\n", data.model->name,
             problem.split().train.source, number_text(kTolerance));
  for (const std::string& note : data.notes) fmt::print("note: {}\n", printable(note));
  bool good = true;
  for (const auto& [form, checks] : problem.check_gradients(flags.lambda, flags.options.seed))
    for (const GradientCheck& check : checks) {
      const bool passed = check.error <= kTolerance;
      good &= passed;
      fmt::print("  {:<10} {:<28} {:>10}  {}\n", form, check.name, number_text(check.error, 3),
                 passed ? "ok" : "WRONG");
    }
  return good ? kOk : kInternal;
}

}  // namespace

void add_check_grad(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("check-grad", "every gradient and product against finite differences, on your data");
  auto flags = std::make_shared<CheckFlags>();
  add_data_flags(*command, flags->files, flags->options);
  add_penalty_flags(*command, flags->options.penalty);
  command->add_option("--lambda", flags->lambda, "where to check [-1]");
  command->footer("Example:\n  yosida check-grad --train train.csv --target price");
  command->callback([flags, &exit_code] { exit_code = run_check(*flags); });
}

}  // namespace yosida::cli
