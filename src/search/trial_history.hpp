#pragma once

#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida::search {

/// The trials of a search on the unit cube, in the order they were proposed, kept sorted by value and by each
/// coordinate so that a model of them costs one pass. A trial that failed, or is not told of yet, has the
/// value +inf.
class TrialHistory {
 public:
  explicit TrialHistory(Index dimensions);

  void add(const Vector& unit);
  /// Sets the value of the trial that was added as number `trial`. Each trial is told once.
  void tell(Index trial, double value);

  Index size() const { return static_cast<Index>(values_.size()); }
  Index dimensions() const { return static_cast<Index>(coordinates_.size()); }
  double value(Index trial) const { return values_[static_cast<std::size_t>(trial)]; }
  double coordinate(Index dimension, Index trial) const {
    return coordinates_[static_cast<std::size_t>(dimension)][static_cast<std::size_t>(trial)];
  }
  /// Trials from the best to the worst, the older first where equal.
  const std::vector<Index>& by_value() const { return by_value_; }
  /// Trials from 0 to 1 in a dimension, the older first where equal.
  const std::vector<Index>& by_coordinate(Index dimension) const {
    return by_coordinate_[static_cast<std::size_t>(dimension)];
  }

 private:
  std::vector<double> values_;
  std::vector<std::vector<double>> coordinates_;  // by dimension
  std::vector<Index> by_value_;
  std::vector<std::vector<Index>> by_coordinate_;
};

}  // namespace yosida::search
