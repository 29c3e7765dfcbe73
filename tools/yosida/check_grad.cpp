#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "data_flags.hpp"
#include "penalty_flags.hpp"
#include "problems.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/collapsed_least_squares.hpp"
#include "yosida/problem/gradient_check.hpp"
#include "yosida/random.hpp"

namespace yosida::cli {
namespace {

constexpr double kTolerance = 1e-6;
/// A collapsed form of a larger problem than this takes longer to build than a check is worth.
constexpr double kMaxCollapse = 1e11;

struct CheckFlags {
  DataFlags data;
  PenaltyFlags penalty;
  double lambda = -1.0;
};

bool report(const char* form, const BilevelProblem& problem, double lambda, std::uint64_t seed) {
  Random random(seed);
  Vector w(problem.weights());
  for (double& value : w) value = random.normal() / std::sqrt(static_cast<double>(w.size()));
  bool good = true;
  for (const GradientCheck& check :
       check_gradients(problem, w, Vector::Constant(problem.hyperparameters(), lambda), seed)) {
    const bool passed = check.error <= kTolerance;
    good &= passed;
    fmt::print("  {:<10} {:<28} {:>10.2e}  {}\n", form, check.name, check.error, passed ? "ok" : "WRONG");
  }
  return good;
}

int run_check(const CheckFlags& flags) {
  if (!std::isfinite(flags.lambda))
    throw InputError(fmt::format("lambda = {}: must be finite", flags.lambda));
  const Prepared data = prepare(flags.data);
  const Penalty penalty = make_penalty(flags.penalty, data, flags.data.x).penalty;
  fmt::print("{} on {}: relative error against finite differences (at most {:g} is ok)\n", flags.data.model,
             data.split.train.source, kTolerance);
  if (!data.note.empty()) fmt::print("note: {}\n", data.note);
  const ModelProblem model = make_problem(data.split, data, penalty, !flags.data.no_intercept);
  bool good = report("direct", *model.problem, flags.lambda, flags.data.seed);
  const auto& linear = model.linear;
  if (linear && CollapsedLeastSquares::collapses(*linear) &&
      CollapsedLeastSquares::cost(*linear).setup < kMaxCollapse)
    good &= report("collapsed", CollapsedLeastSquares(linear), flags.lambda, flags.data.seed);
  return good ? kOk : kInternal;
}

}  // namespace

void add_check_grad(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("check-grad", "every gradient and product against finite differences, on your data");
  auto flags = std::make_shared<CheckFlags>();
  flags->data.add_to(*command);
  flags->penalty.add_to(*command);
  command->add_option("--lambda", flags->lambda, "where to check [-1]");
  command->footer("Example:\n  yosida check-grad --train train.csv --target price");
  command->callback([flags, &exit_code] { exit_code = run_check(*flags); });
}

}  // namespace yosida::cli
