#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/study/record.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// Which weights of a run are shown: the last, as the paper does, or those of the smallest validation loss.
enum class Which { final, best };

/// A quantity over the runs of a method.
struct Cell {
  double mean = 0.0;
  double deviation = 0.0;  // of a sample (n − 1); 0 for one run
  double median = 0.0;
  std::int64_t count = 0;
};

/// Of finite numbers; nothing of none.
std::optional<Cell> cell_of(std::vector<double> values);

/// A method with its settings over its runs. Cells are of the runs that ended well, empty where there is
/// none.
struct Row {
  std::string method;
  std::int64_t runs = 0;
  std::int64_t diverged = 0;
  std::int64_t failed = 0;
  std::optional<Cell> train, validation, test;
  std::optional<Cell> lambda_gap;  // where the runs know their oracle
  std::optional<Cell> gradients;   // the paper's count
  std::optional<Cell> work;        // gradient equivalents
  std::optional<Cell> seconds;
};

/// One row for each method, in the order of their first records. `measure` is loss, scaled_loss, r_squared,
/// accuracy or area_under_roc; throws InputError where no run has it.
std::vector<Row> summarise(const std::vector<study::Record>& records, const std::string& measure,
                           Which which);

/// Whether more of a measure is better.
bool larger_is_better(const std::string& measure);

}  // namespace report
}  // namespace yosida
