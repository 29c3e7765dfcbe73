#pragma once

#include <optional>
#include <string>

#include "yosida/data/labels.hpp"
#include "yosida/data/pretreatment.hpp"
#include "yosida/data/split.hpp"
#include "yosida/model/loss.hpp"

namespace CLI {
class App;
}

namespace yosida::cli {

/// Where the data is and what is done to it: the flags that tune and check-grad share.
struct DataFlags {
  std::string data;
  std::string train, validation, test;
  std::string train_target, validation_target, test_target;
  std::string target;
  std::vector<std::string> ignore;
  std::optional<double> validation_fraction;
  double test_fraction = 0.0;
  std::string model = "ridge";
  std::string x = "standardize";
  std::optional<std::string> y;
  std::string missing = "refuse";
  bool dense = false;
  bool with_intercept = false;  // said aloud; it is the default
  bool no_intercept = false;
  std::uint64_t seed = 0;

  void add_to(CLI::App& command);
};

/// The data, read, split, labelled and pretreated, with all a saved model must remember of it.
struct Prepared {
  Split split;
  Pretreatment pretreatment;
  std::optional<Labels> labels;
  Index features = 0;                      // as read
  std::vector<std::string> feature_names;  // as read
  std::string note;                        // what a person should know of the pretreatment
};
Prepared prepare(const DataFlags& flags, const Loss& loss);

}  // namespace yosida::cli
