#include "search/trial_history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace yosida::search {
namespace {

/// Orders trials by key, then by age.
auto order_of(const std::vector<double>& keys) {
  return [&keys](Index a, Index b) {
    const double key_a = keys[static_cast<std::size_t>(a)], key_b = keys[static_cast<std::size_t>(b)];
    return key_a < key_b || (key_a == key_b && a < b);
  };
}

void insert(std::vector<Index>& order, Index trial, const std::vector<double>& keys) {
  order.insert(std::upper_bound(order.begin(), order.end(), trial, order_of(keys)), trial);
}

}  // namespace

TrialHistory::TrialHistory(Index dimensions)
    : coordinates_(static_cast<std::size_t>(dimensions)),
      by_coordinate_(static_cast<std::size_t>(dimensions)) {}

void TrialHistory::add(const Vector& unit) {
  const Index trial = size();
  values_.push_back(std::numeric_limits<double>::infinity());
  by_value_.push_back(trial);
  for (std::size_t j = 0; j < coordinates_.size(); ++j) {
    coordinates_[j].push_back(unit[static_cast<Index>(j)]);
    insert(by_coordinate_[j], trial, coordinates_[j]);
  }
}

void TrialHistory::tell(Index trial, double value) {
  if (!std::isfinite(value)) return;  // as bad as one that is open
  by_value_.erase(std::lower_bound(by_value_.begin(), by_value_.end(), trial, order_of(values_)));
  values_[static_cast<std::size_t>(trial)] = value;
  insert(by_value_, trial, values_);
}

}  // namespace yosida::search
