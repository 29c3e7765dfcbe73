#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "yosida/data/split.hpp"
#include "yosida/export.hpp"
#include "yosida/settings.hpp"
#include "yosida/tune/options.hpp"
#include "yosida/tune/prepare.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// A method with its settings and what it may cost.
struct Contestant {
  std::string method;
  SettingValues settings;  // those that are not the method's defaults
  std::optional<std::int64_t> gradients, iterations;
  std::int64_t trace_every = 1;
  std::vector<int> tables = {};  // of the paper that show it; empty: the paper has no such row
  std::string lambda_per = {};   // which weights share a λ; empty: as the experiment has it
};

/// How rows become the parts of a seed.
struct Partition {
  Index train, validation, test;     // rows, or rows of each class
  std::vector<double> classes = {};  // values of y that are drawn in equal numbers; empty: all rows alike
};

/// A figure of somebody else's: the least objective that a method has reached.
struct Published {
  const char* method;
  double objective;
};

/// An experiment of the paper, of ours in its form, or a problem of one of the field's benchmarks: a data
/// set, its pretreatment, and who competes.
struct Experiment {
  std::string name;
  std::string title;
  std::string data;  // of the catalog; empty: the experiment makes its rows
  std::string model;
  std::string x, y;  // pretreatment; y is empty for classes
  Partition partition;
  std::vector<int> tables;    // of the paper; empty: ours
  std::optional<int> figure;  // of the paper
  std::vector<Contestant> contestants;
  std::string suite = {};       // a name of suites(); empty: it is none of theirs
  std::string objective = {};   // of a suite: what its authors compare, in words
  PenaltyOptions penalty = {};  // of a suite
  std::optional<Interval> bounds = {};
  std::optional<double> lambda0 = {};
  std::int64_t seeds = 10;  // unless somebody says how many
  std::vector<Published> published = {};
};

/// The experiments of the paper in the order of its tables, then ours, then those of the suites.
const std::vector<Experiment>& experiments();
/// The field's benchmarks by name: lassobench, bilevel, groups.
const std::vector<std::string>& suites();
/// Null where there is no such experiment.
const Experiment* find_experiment(const std::string& name);
/// The name of an experiment with these options: its own name, or with what is not its own behind it.
std::string variant_name(const Experiment& experiment, const std::string& x, const std::string& y,
                         const std::string& lambda_per = {});

/// All rows of an experiment's data, as the paper takes them; the files are verified. For built-in data there
/// are none: each seed makes its own. `tell` hears of what takes seconds. Throws InputError where a file is
/// missing, with how to get it.
Dataset rows_of(const Experiment& experiment, const std::vector<std::filesystem::path>& folders,
                const std::function<void(const std::string&)>& tell = {});
/// The parts of a seed, not yet pretreated; `rows` stay as they are. Throws InputError where a class has too
/// few.
Split partition(const Experiment& experiment, const Dataset& rows, std::uint64_t seed);

/// What is tuned on with a seed.
struct Drawn {
  Rows rows;
  std::optional<Interval> bounds = {};  ///< of each λ, where these follow from the rows
  double factor = 1.0;                  ///< the suite's objective is the validation loss times this
};
/// Draws for any experiment: its parts, or, where a suite has folds, these.
Drawn draw(const Experiment& experiment, const Dataset& rows, std::uint64_t seed);

}  // namespace study
}  // namespace yosida
