#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "yosida/data/split.hpp"
#include "yosida/export.hpp"
#include "yosida/settings.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// A method with its settings and what it may cost.
struct Contestant {
  std::string method;
  SettingValues settings;  // those that are not the method's defaults
  std::optional<std::int64_t> gradients, iterations;
  std::int64_t trace_every = 1;
  std::vector<int> tables = {};  // of the paper that show it; empty: the paper has no such row
};

/// How rows become the parts of a seed.
struct Partition {
  Index train, validation, test;     // rows, or rows of each class
  std::vector<double> classes = {};  // values of y that are drawn in equal numbers; empty: all rows alike
};

/// An experiment of the paper, or of ours in its form: a data set, its pretreatment, and who competes.
struct Experiment {
  std::string name;
  std::string title;
  std::string data;  // of the catalog
  std::string model;
  std::string x, y;  // pretreatment; y is empty for classes
  Partition partition;
  std::vector<int> tables;    // of the paper; empty: ours
  std::optional<int> figure;  // of the paper
  std::vector<Contestant> contestants;
};

/// The experiments of the paper in the order of its tables, then ours.
const std::vector<Experiment>& experiments();
/// Null where there is no such experiment.
const Experiment* find_experiment(const std::string& name);
/// The name of an experiment with this pretreatment: its own name, or with what is not its own behind it.
std::string variant_name(const Experiment& experiment, const std::string& x, const std::string& y);

/// All rows of an experiment's data, as the paper takes them; the files are verified. For built-in data there
/// are none: each seed makes its own. `tell` hears of what takes seconds. Throws InputError where a file is
/// missing, with how to get it.
Dataset rows_of(const Experiment& experiment, const std::vector<std::filesystem::path>& folders,
                const std::function<void(const std::string&)>& tell = {});
/// The parts of a seed, not yet pretreated; `rows` stay as they are. Throws InputError where a class has too
/// few.
Split partition(const Experiment& experiment, const Dataset& rows, std::uint64_t seed);

}  // namespace study
}  // namespace yosida
