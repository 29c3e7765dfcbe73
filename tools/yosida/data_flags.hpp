#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/data/labels.hpp"
#include "yosida/data/pretreatment.hpp"
#include "yosida/data/split.hpp"
#include "yosida/model/models.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace yosida::cli {

/// The flag --max-memory of a command that reads data files.
CLI::Option* add_max_memory(CLI::App& command, std::uint64_t& bytes);

/// Where the data is and what is done to it: the flags that tune and check-grad share.
struct DataFlags {
  std::string data;
  std::string train, validation, test;
  std::string train_target, validation_target, test_target;
  std::string target;
  std::vector<std::string> ignore;
  std::optional<double> validation_fraction;
  double test_fraction = 0.0;
  std::optional<Index> folds;
  std::string fold_column;
  std::string weights, class_weights;
  std::string model = "ridge";
  std::string x = "standardize";
  std::optional<std::string> y;
  std::string missing = "refuse";
  bool dense = false;
  std::uint64_t max_memory = 0;  // 0: by the rule of ReadOptions
  bool with_intercept = false;   // said aloud; it is the default
  bool no_intercept = false;
  std::uint64_t seed = 0;

  void add_to(CLI::App& command);
  /// The flags of cross-validation, which only tune has.
  void add_folds_to(CLI::App& command);
  bool has_folds() const { return folds || !fold_column.empty(); }
  /// That are read; empty names among them.
  std::vector<std::string> files() const {
    return {train, validation, test, train_target, validation_target, test_target};
  }
};

/// The data, read, split, labelled, weighted and pretreated, with all a saved model must remember of it.
struct Prepared {
  const Model* model = nullptr;
  const Loss* loss = nullptr;
  /// With folds, the training and the validation rows are all rows: for the refit.
  Split split;
  std::vector<Split> folds;  // each pretreated by its own training rows; empty without cross-validation
  Index fold_count = 0;
  Pretreatment pretreatment;
  YStep y_step = YStep::raw;
  std::optional<Labels> labels;
  Index features = 0;                      // as read
  std::vector<std::string> feature_names;  // as read
  std::string note;                        // what a person should know of the pretreatment
};
Prepared prepare(const DataFlags& flags);
/// Parts that are read already, without weights or folds. `y` is empty for a classification.
Prepared prepare(Split split, const std::string& model, const std::string& x, const std::string& y);

}  // namespace yosida::cli
