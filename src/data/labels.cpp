#include "yosida/data/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "yosida/error.hpp"

namespace yosida {
namespace {

std::set<double> distinct(const Vector& y) { return {y.begin(), y.end()}; }

}  // namespace

void map_labels(const Labels& labels, Dataset& data) {
  for (Index i = 0; i < data.y.size(); ++i) {
    if (data.y[i] != labels.negative && data.y[i] != labels.positive)
      throw InputError(fmt::format("{}: a row has target {}: must be one of the training labels {} and {}",
                                   data.source, data.y[i], labels.negative, labels.positive));
    data.y[i] = data.y[i] == labels.positive ? 1.0 : -1.0;
  }
}

Labels map_labels(Split& split) {
  const std::set<double> values = distinct(split.train.y);
  if (values.size() == 1)
    throw InputError(fmt::format("{}: every training target is {}: classification needs two classes",
                                 split.train.source, *values.begin()));
  if (values.size() > 2)
    throw InputError(
        fmt::format("{}: the training target takes {} values ({}, {}, {}, ...): logistic needs exactly two "
                    "(0/1, -1/1 or any "
                    "two numbers); for a numeric target use --model ridge",
                    split.train.source, values.size(), *values.begin(), *std::next(values.begin()),
                    *std::next(values.begin(), 2)));
  const Labels labels{.negative = *values.begin(), .positive = *values.rbegin()};
  map_labels(labels, split.train);
  map_labels(labels, split.validation);
  if (split.test) map_labels(labels, *split.test);
  if (distinct(split.validation.y).size() < 2)
    throw InputError(
        fmt::format("{}: the validation rows hold one class only: both are needed to judge a model",
                    split.validation.source));
  return labels;
}

void require_varying_target(const Dataset& train) {
  if ((train.y.array() == train.y[0]).all())
    throw InputError(fmt::format("{}: every training target is {}: a constant target cannot be learned",
                                 train.source, train.y[0]));
}

void align_features(Dataset& data, const std::vector<std::string>& names, Index features,
                    const std::string& reference, bool extra_allowed) {
  if (data.feature_names.empty() || names.empty()) {
    if (data.x.is_sparse() && data.features() < features) data.x.sparse().columns = features;
    if (data.features() != features)
      throw InputError(fmt::format("{}: {} features, {} has {}: they must be the same", data.source,
                                   data.features(), reference, features));
    return;
  }
  if (data.feature_names == names) return;
  std::unordered_map<std::string, Index> position;
  for (std::size_t j = 0; j < data.feature_names.size(); ++j)
    position[data.feature_names[j]] = static_cast<Index>(j);
  std::vector<Index> source;
  for (const std::string& name : names) {
    const auto found = position.find(name);
    if (found == position.end())
      throw InputError(fmt::format("{}: has no column \"{}\", which {} has", data.source, name, reference));
    source.push_back(found->second);
  }
  if (!extra_allowed && data.feature_names.size() > names.size()) {
    for (const std::string& name : data.feature_names)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw InputError(fmt::format("{}: column \"{}\" is not in {}", data.source, name, reference));
  }
  const DenseDesign& old = data.x.dense();
  DenseDesign x(old.rows(), features);
  for (Index i = 0; i < old.rows(); ++i)
    for (Index j = 0; j < features; ++j) x.row(i)[j] = old.row(i)[source[static_cast<std::size_t>(j)]];
  data.x = x;
  data.feature_names = names;
}

}  // namespace yosida
