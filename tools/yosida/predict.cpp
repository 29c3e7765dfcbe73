#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/error.hpp"
#include "yosida/model/fitted_model.hpp"

namespace yosida::cli {
namespace {

struct PredictFlags {
  std::string from, data, out = "-", target;
};

int run_predict(const PredictFlags& flags) {
  require_writable({{"--out", flags.out}}, {flags.from, flags.data});
  const FittedModel model = load_model(flags.from);
  ReadOptions options;
  options.target = flags.target;
  options.only = model.feature_names;
  options.missing = model.pretreatment.missing_fill.size() > 0 ? Missing::mean : Missing::refuse;
  const Vector values = model.predict(read_dataset(flags.data, options));
  std::string text = model.labels ? "label,probability\n" : "prediction\n";
  for (const double value : values) {
    if (model.labels) {
      text += fmt::format("{},{:.17g}\n", value >= 0.0 ? model.labels->positive : model.labels->negative,
                          probability(value));
    } else {
      text += fmt::format("{:.17g}\n", value);
    }
  }
  write_file(flags.out, text);
  return kOk;
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("predict", "apply a saved model to new rows");
  auto flags = std::make_shared<PredictFlags>();
  command->add_option("--from", flags->from, "the model saved by tune --save")->required();
  command->add_option("--data", flags->data, "the rows; columns are matched by name where there are names")
      ->required();
  command->add_option("--out", flags->out,
                      "a CSV file: prediction, or label and probability of the larger label [-]");
  command->add_option(
      "--target", flags->target,
      "a column to leave out, where columns have no names; with names the model reads only those it knows");
  command->footer("Example:\n  yosida predict --from model.json --data new.csv --out predictions.csv");
  command->callback([flags, &exit_code] { exit_code = run_predict(*flags); });
}

}  // namespace yosida::cli
