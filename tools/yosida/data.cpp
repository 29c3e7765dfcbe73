#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "commands.hpp"
#include "output.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/error.hpp"

namespace yosida::cli {
namespace {

struct ExportFlags {
  std::string name, out;
  std::uint64_t seed = 0;
};

std::string to_csv(const Dataset& data) {
  std::string text = data.target_name;
  for (const std::string& name : data.feature_names) text += "," + name;
  text += "\n";
  for (Index i = 0; i < data.rows(); ++i) {
    text += fmt::format("{:.17g}", data.y[i]);
    for (Index j = 0; j < data.features(); ++j) text += fmt::format(",{:.17g}", data.x.dense().row(i)[j]);
    text += "\n";
  }
  return text;
}

int run_export(const ExportFlags& flags) {
  const Split split = built_in(flags.name, flags.seed);
  std::error_code error;
  std::filesystem::create_directories(flags.out, error);
  if (error) throw InputError(fmt::format("--out {}: {}", flags.out, error.message()));
  const std::string folder = flags.out + "/";
  write_file(folder + "train.csv", to_csv(split.train));
  write_file(folder + "valid.csv", to_csv(split.validation));
  if (split.test) write_file(folder + "test.csv", to_csv(*split.test));
  fmt::print("wrote {0}train.csv, {0}valid.csv and {0}test.csv; the target is \"{1}\"\n", folder,
             split.train.target_name);
  return kOk;
}

}  // namespace

void add_data(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("data", "the built-in data sets");
  command->require_subcommand(1);
  command->footer("Example:\n  yosida data export spectra --seed 3 --out spectra3");
  auto* write =
      command->add_subcommand("export", "write a built-in data set as CSV files, split as tune splits it");
  auto flags = std::make_shared<ExportFlags>();
  write->add_option("name", flags->name, "spectra")->required();
  write->add_option("--out", flags->out, "the folder for train.csv, valid.csv and test.csv")->required();
  write->add_option("--seed", flags->seed, "the seed [0]")->check(whole_number());
  write->footer("Example:\n  yosida data export spectra --seed 3 --out spectra3");
  write->callback([flags, &exit_code] { exit_code = run_export(*flags); });
}

}  // namespace yosida::cli
