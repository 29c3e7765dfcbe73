#pragma once

#include <cmath>
#include <cstdint>
#include <set>

#include "report/curves.hpp"

namespace yosida::report {

/// The cell of one value over all runs that have it as a finite number.
template <typename Value>
std::optional<Cell> cell_over(const Runs& runs, const Value& value) {
  std::vector<double> values;
  for (const RunDigest* run : runs)
    if (const double each = value(*run); std::isfinite(each)) values.push_back(each);
  return cell_of(std::move(values));
}

/// The runs of each row that it is compared by: those of the seeds that all rows have, or all of them where
/// there is no such seed.
struct Compared {
  explicit Compared(const std::vector<Runs>& rows);
  CommonSeeds seeds;
  std::vector<Runs> rows;
};

/// Everything of a row that its runs decide; label, method and settings are left to the caller. `shown` are
/// places in measures().
MethodRow summary_of(const Runs& runs, const Runs& compared, const std::vector<std::size_t>& shown);

}  // namespace yosida::report
