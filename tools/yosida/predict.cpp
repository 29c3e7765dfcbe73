#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "flags.hpp"
#include "output.hpp"
#include "say.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/model/fitted_model.hpp"

namespace yosida::cli {
namespace {

struct PredictFlags {
  std::string from, data, out = "-", target, id;
  std::vector<std::string> numeric;
  bool rows = false, refuse_unseen = false;
  char decimal = '\0';
  std::uint64_t max_memory = 0;
};

int run_predict(const PredictFlags& flags) {
  require_writable({{"--out", flags.out}}, {flags.from, flags.data});
  const FittedModel model = load_model(flags.from);
  ReadOptions options = model.reading();
  options.target = flags.target;
  options.id = flags.id;
  options.numeric = flags.numeric;
  options.decimal = flags.decimal;
  options.refuse_unseen = flags.refuse_unseen;
  options.max_memory = flags.max_memory;
  const Dataset rows = read_dataset(flags.data, options);
  for (const std::string& note : rows.notes) say("yosida: {}: {}\n", printable(flags.data), printable(note));
  if (rows.feature_names.empty() && rows.y.size() == 0 && rows.features() == model.features + 1)
    throw InputError(
        fmt::format("{}: {} columns, the model has {}: --target INDEX leaves out that of the target (from 0; "
                    "-1 is the last)",
                    flags.data, rows.features(), model.features));
  const Matrix values = model.predict(rows);
  const bool names_rows = flags.rows || !flags.id.empty();
  write_file(flags.out, names_rows ? predictions_csv(model, values, rows) : predictions_csv(model, values));
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
                      "(svm) or the probability of each class (softmax, classes with names) [-]");
  command->add_option("--id", flags->id,
                      "a column of the rows to write before each prediction, after the number of the row");
  command->add_flag("--rows", flags->rows, "write the number of each row, the first being 1, before it");
  add_decimal(*command, flags->decimal);
  add_unseen(*command, flags->refuse_unseen);
  command
      ->add_option("--numeric", flags->numeric,
                   "columns of numbers in which other text is a missing value: NAME,NAME,...")
      ->delimiter(',');
  command->add_option(
      "--target", flags->target,
      "a column to leave out, where columns have no names; with names the model reads only those it knows");
  add_max_memory(*command, flags->max_memory);
  command->footer("Example:\n  yosida predict --from model.json --data new.csv --out predictions.csv");
  command->callback([flags, &exit_code] { exit_code = run_predict(*flags); });
}

}  // namespace yosida::cli
