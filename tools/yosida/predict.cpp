#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "flags.hpp"
#include "output.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/model/models.hpp"

namespace yosida::cli {
namespace {

struct PredictFlags {
  std::string from, data, out = "-", target;
  std::uint64_t max_memory = 0;
};

/// The label of the largest margin and what is known of its certainty, or the number predicted.
std::string to_csv(const FittedModel& fitted, const Matrix& values) {
  std::string text;
  if (!fitted.labels) {
    text = "prediction\n";
    for (Index i = 0; i < values.rows(); ++i) text += fmt::format("{:.17g}\n", values(i, 0));
    return text;
  }
  const std::vector<double>& labels = fitted.labels->values;
  if (model(fitted.model).code == ClassCode::indices) {
    text = "label";
    for (const double label : labels) text += fmt::format(",probability_{}", label);
    text += "\n";
    for (Index i = 0; i < values.rows(); ++i) {
      Index largest = 0;
      values.row(i).maxCoeff(&largest);
      text += fmt::format("{}", labels[static_cast<std::size_t>(largest)]);
      for (const double share : probabilities(values.row(i))) text += fmt::format(",{:.17g}", share);
      text += "\n";
    }
    return text;
  }
  const bool has_probability = fitted.model == "logistic";
  text = has_probability ? "label,probability\n" : "label,margin\n";
  for (Index i = 0; i < values.rows(); ++i) {
    const double margin = values(i, 0);
    text += fmt::format("{},{:.17g}\n", margin >= 0.0 ? fitted.labels->positive() : fitted.labels->negative(),
                        has_probability ? probability(margin) : margin);
  }
  return text;
}

int run_predict(const PredictFlags& flags) {
  require_writable({{"--out", flags.out}}, {flags.from, flags.data});
  const FittedModel model = load_model(flags.from);
  ReadOptions options;
  options.target = flags.target;
  options.only = model.feature_names;
  options.missing = model.pretreatment.missing_fill.size() > 0 ? Missing::mean : Missing::refuse;
  options.max_memory = flags.max_memory;
  write_file(flags.out, to_csv(model, model.predict(read_dataset(flags.data, options))));
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
                      "a CSV file: prediction; label and probability of the larger label (logistic), margin "
                      "(svm) or the probability of each class (softmax) [-]");
  command->add_option(
      "--target", flags->target,
      "a column to leave out, where columns have no names; with names the model reads only those it knows");
  add_max_memory(*command, flags->max_memory);
  command->footer("Example:\n  yosida predict --from model.json --data new.csv --out predictions.csv");
  command->callback([flags, &exit_code] { exit_code = run_predict(*flags); });
}

}  // namespace yosida::cli
