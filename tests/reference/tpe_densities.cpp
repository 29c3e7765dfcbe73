// What TPE makes of a history, for check_tpe.py: reads cases from stdin and prints log l and log g of every
// dimension at points of the unit interval.
//
//   [{"points": [[t, …] per trial], "values": [number or null per trial], "at": [t, …]}, …]
//   → [{"below": [[log l per point] per dimension], "above": [[log g …] …]}, …]
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "search/tpe.hpp"

namespace {

using namespace yosida::search;
using nlohmann::json;

TrialHistory history_of(const json& one) {
  const auto points = one["points"].get<std::vector<std::vector<double>>>();
  TrialHistory history(std::ssize(points.at(0)));
  for (const auto& point : points)
    history.add(Eigen::Map<const yosida::Vector>(point.data(), std::ssize(point)));
  // Told from the newest to the oldest: the order must not matter.
  for (yosida::Index trial = history.size(); trial-- > 0;) {
    const json& value = one["values"][static_cast<std::size_t>(trial)];
    history.tell(trial, value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  return history;
}

json log_densities(const TrialHistory& history, bool below, const std::vector<double>& at) {
  const Tpe::Settings settings;
  const Split split = split_trials(history, tpe_below(history.size(), settings), settings.forgetting);
  json all = json::array();
  for (yosida::Index j = 0; j < history.dimensions(); ++j) {
    const ParzenMixture mixture = hyperopt_mixture(history, j, split, below, settings.prior_weight);
    json of_dimension = json::array();
    for (const double t : at) of_dimension.push_back(mixture.log_density(t));
    all.push_back(of_dimension);
  }
  return all;
}

}  // namespace

int main() {
  json result = json::array();
  for (const json& one : json::parse(std::cin)) {
    const TrialHistory history = history_of(one);
    const auto at = one["at"].get<std::vector<double>>();
    result.push_back(
        {{"below", log_densities(history, true, at)}, {"above", log_densities(history, false, at)}});
  }
  std::cout << result << "\n";
}
