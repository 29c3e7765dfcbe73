#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "coefficient_table.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "yosida/error.hpp"
#include "yosida/model/model_code.hpp"

namespace yosida::cli {
namespace {

struct CoefficientFlags {
  std::string model, csv, language, name, out = "-";
  std::optional<std::size_t> most;
};

int run_coefficients(const CoefficientFlags& flags) {
  require_writable({{"--csv", flags.csv}, {"--out", flags.language.empty() ? "" : flags.out}}, {flags.model});
  const FittedModel model = load_model(flags.model);
  if (flags.language.empty() && (!flags.name.empty() || flags.out != "-"))
    throw InputError("--name and --out: go with --export");
  if (flags.language == "python" && !flags.name.empty())
    throw InputError("--name: goes with --export c, sql or onnx: functions of Python stand in a module");
  if (flags.most == 0U) throw InputError("most = 0: must be >= 1");
  if (!flags.csv.empty()) write_file(flags.csv, coefficients_csv(model));
  if (!flags.language.empty()) {
    const CodeLanguage language = parse_code_language(flags.language);
    const std::string name = !flags.name.empty()             ? flags.name
                             : language == CodeLanguage::sql ? "rows"
                                                             : "predict";
    write_file(flags.out, model_code(model, language, name));
  }
  if (flags.csv.empty() && flags.language.empty())
    fmt::print("{}", coefficients_text(model, flags.most.value_or(kAllCoefficients)));
  return kOk;
}

}  // namespace

void add_coefficients(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("coefficients", "the weights of a saved model by name, or the model as code");
  auto flags = std::make_shared<CoefficientFlags>();
  command->add_option("model", flags->model, "the model saved by tune --save")->required();
  command->add_option("--most", flags->most, "show so many at most [all]")->check(whole_number());
  command->add_option("--csv", flags->csv, "all of them as CSV, in full precision; - is standard output");
  command->add_option("--export", flags->language,
                      "the model as code that predicts the same numbers: python, c, sql or onnx");
  command->add_option("--out", flags->out, "where the code goes [-]");
  command->add_option(
      "--name", flags->name,
      "what the function (c), the graph (onnx) or the table of rows (sql) is called [predict; "
      "sql: rows]");
  command->footer(
      "Examples:\n"
      "  yosida coefficients model.json\n"
      "  yosida coefficients model.json --csv weights.csv\n"
      "  yosida coefficients model.json --export python --out model.py\n"
      "  yosida coefficients model.json --export sql --name customers");
  command->callback([flags, &exit_code] { exit_code = run_coefficients(*flags); });
}

}  // namespace yosida::cli
