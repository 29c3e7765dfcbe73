// Reads a Gaussian process as JSON and prints what the library makes of it, for check_gp.py.
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "search/gaussian_process.hpp"

namespace {

using namespace yosida;
using nlohmann::json;

Vector vector_of(const json& numbers) {
  const auto values = numbers.get<std::vector<double>>();
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

/// A list of points, one a column.
Matrix columns_of(const json& points, Index dimensions) {
  Matrix columns(dimensions, static_cast<Index>(points.size()));
  for (Index i = 0; i < columns.cols(); ++i) columns.col(i) = vector_of(points[static_cast<std::size_t>(i)]);
  return columns;
}

}  // namespace

int main() {
  const json input = json::parse(std::cin);
  json output = json::array();
  for (const json& each : input) {
    const search::GpHyperparameters hyperparameters{.mean = each["mean"],
                                                    .amplitude = each["amplitude"],
                                                    .noise = each["noise"],
                                                    .lengths = vector_of(each["lengths"])};
    const Index dimensions = hyperparameters.lengths.size();
    const Matrix candidates = columns_of(each["candidates"], dimensions);
    const double best = each["best"];
    const search::GaussianProcess process(columns_of(each["points"], dimensions), vector_of(each["values"]),
                                          hyperparameters);
    Vector mean, variance;
    process.predict(candidates, 0, candidates.cols(), mean, variance);
    std::vector<double> improvement, at_point;
    for (Index i = 0; i < candidates.cols(); ++i) {
      Vector gradient = Vector::Zero(dimensions);
      improvement.push_back(search::expected_improvement(best, mean[i], variance[i]).value);
      at_point.push_back(process.add_improvement(best, candidates.col(i), gradient));
    }
    output.push_back({{"log_likelihood", process.log_likelihood()},
                      {"mean", std::vector<double>(mean.begin(), mean.end())},
                      {"variance", std::vector<double>(variance.begin(), variance.end())},
                      {"improvement", improvement},
                      {"improvement_at_point", at_point}});
  }
  std::cout << output.dump() << "\n";
}
