#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/study/experiments.hpp"
#include "yosida/tune/data_files.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// What a run is to do: everything that decides its result. Paths are not in it: files may move, their
/// contents count.
struct RunSpec {
  /// The code that does it, as this_build() says it. Empty: a version that did not say.
  std::string build;
  /// One of experiments(), whose rows are drawn by its `partition`; empty where the rows are of `files` that
  /// somebody named.
  std::string experiment;
  /// The sha256 of each file that is read, by the flag that names it; under "built-in" the name of a data
  /// set.
  std::map<std::string, std::string> files;
  Partition partition = {};
  DataFiles columns =
      {};  ///< which columns are what, and what becomes of missing values; its paths do not count
  TuneOptions options = {};  ///< of the run; what it watches and what comes after it does not count
};

/// A spec as a store keeps it. Two runs are the same run where their texts are equal.
struct SpecText {
  std::string method;  // with its settings, as a person would write it: "sho:alpha=0.05"
  std::uint64_t seed = 0;
  std::string json;  // its names in order

  /// sha256 of json: the name of the run in a store.
  std::string key() const;
};

/// The text that a store keeps. Settings must be all of the method's, written as Method::all_settings does.
SpecText text_of(const RunSpec& spec);
/// The spec of such a text. A study may come from anyone: what is not there or of another type is left empty.
RunSpec spec_of(const SpecText& text);

/// Names and values as a person would write them, in the order of the spec.
using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// The budget of gradients among SpecInWords::others.
inline constexpr const char* kBudgetOfRow = "run.budget_gradients";

/// What a spec says in words, known to us or not: for whoever shows runs side by side.
struct SpecInWords {
  RunSpec spec;
  /// One text for all that the run was done on, and one for how it was done, seed and build apart: runs with
  /// equal texts belong together.
  std::string problem, row;
  TextPairs about;               ///< the model and its data, what matters most first
  TextPairs files;               ///< RunSpec::files, of whatever form
  SettingValues settings;        ///< of the method, of whatever form
  SettingValues others;          ///< all else that tells a row from another: "run.lambda0"
  std::optional<double> budget;  ///< gradients
};
SpecInWords in_words(const SpecText& text);

/// The spec without its build: equal for runs that differ by the code alone.
std::string text_without_build(const SpecText& text);

}  // namespace study
}  // namespace yosida
