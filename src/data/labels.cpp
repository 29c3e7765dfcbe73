#include "yosida/data/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "linalg/row_numbers.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// "0 and 1", "1, 2 and 3"; of many the first dozen.
std::string in_words(const Labels& labels) {
  constexpr Index most_shown = 12;
  std::string text;
  for (Index i = 0; i < std::min(labels.classes(), most_shown); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == labels.classes() ? " and " : ", ", labels.name(i));
  return labels.classes() > most_shown ? text + ", ..." : text;
}

}  // namespace

std::string Labels::name(Index k) const {
  const auto at = static_cast<std::size_t>(k);
  return names.empty() ? fmt::format("{}", values[at]) : names[at];
}

Labels find_labels(const Dataset& train, ClassCode code) {
  if (train.y.size() == 0 || train.y.hasNaN())
    throw InputError(fmt::format("{}: each training row needs a target to find classes", train.source));
  Labels labels{.values = distinct_of(train.x, train.y)};
  const std::vector<double>& values = labels.values;
  if (!train.table.classes.empty())
    for (const double place : values)
      labels.names.push_back(train.table.classes.at(static_cast<std::size_t>(place)));
  if (values.size() == 1)
    throw InputError(fmt::format("{}: every training target is {}: classification needs two classes",
                                 train.source, labels.name(0)));
  const auto many = [&](const char* rule) {
    return InputError(fmt::format("{}: the training target takes {} values ({}, {}, {}{}) in {} rows: {}",
                                  train.source, values.size(), labels.name(0), labels.name(1), labels.name(2),
                                  values.size() > 3 ? ", ..." : "", train.rows(), rule));
  };
  if (code == ClassCode::signs && values.size() > 2)
    throw many(
        "logistic and svm need exactly two (0/1, -1/1 or any two numbers); for more classes use --model "
        "softmax, for a numeric target --model ridge");
  // Most classes of one row: a measured quantity, not a class.
  if (code == ClassCode::indices && values.size() > 2 && 2 * static_cast<Index>(values.size()) > train.rows())
    throw many("softmax needs classes of several rows; for a numeric target use --model ridge");
  return labels;
}

Dataset map_labels(const Labels& labels, ClassCode code, Dataset data) {
  const std::vector<std::string>& classes = data.table.classes;
  const auto name_of = [&](double y) {
    return classes.empty() ? fmt::format("{}", y) : classes.at(static_cast<std::size_t>(y));
  };
  for (double& y : data.y) {
    const auto found = std::lower_bound(labels.values.begin(), labels.values.end(), y);
    if (found == labels.values.end() || *found != y)
      throw InputError(fmt::format("{}: a row has target {}: must be one of the training labels {}",
                                   data.source, name_of(y), in_words(labels)));
    const auto index = static_cast<double>(found - labels.values.begin());
    y = code == ClassCode::indices ? index : 2.0 * index - 1.0;
  }
  return data;
}

Split map_labels(const Labels& labels, ClassCode code, Split split) {
  split.train = map_labels(labels, code, std::move(split.train));
  split.validation = map_labels(labels, code, std::move(split.validation));
  if (split.test) split.test = map_labels(labels, code, std::move(*split.test));
  if (distinct_of(split.validation.x, split.validation.y).size() < 2)
    throw InputError(
        fmt::format("{}: the validation rows hold one class only: both are needed to judge a model",
                    split.validation.source));
  return split;
}

void require_varying_target(const Dataset& train) {
  if (train.y.size() == 0) throw InputError(fmt::format("{}: there is no training target", train.source));
  if (is_constant(train.x, train.y))
    throw InputError(fmt::format("{}: every training target is {}: a constant target cannot be learned",
                                 train.source, train.y[0]));
}

void align_features(Dataset& data, const std::vector<std::string>& names, Index features,
                    const std::string& reference, bool extra_allowed) {
  if (data.feature_names.empty() || names.empty()) {
    data.x = data.x.widened(features);
    if (data.features() != features)
      throw InputError(fmt::format("{}: {} features, {} has {}: they must be the same", data.source,
                                   data.features(), reference, features));
    return;
  }
  require_whole(data);
  if (static_cast<Index>(names.size()) != features)
    throw InputError(
        fmt::format("{}: {} names of {} features: each needs one", reference, names.size(), features));
  if (data.feature_names == names) return;
  std::unordered_multimap<std::string, Index> position;
  for (std::size_t j = 0; j < data.feature_names.size(); ++j)
    position.emplace(data.feature_names[j], static_cast<Index>(j));
  std::vector<Index> source;
  for (const std::string& name : names) {
    if (position.count(name) > 1)
      throw InputError(
          fmt::format("{}: has several columns \"{}\", so they cannot be matched with those of {}",
                      data.source, name, reference));
    const auto found = position.find(name);
    if (found == position.end())
      throw InputError(fmt::format("{}: has no column \"{}\", which {} has", data.source, name, reference));
    source.push_back(found->second);
    position.erase(found);
  }
  if (!extra_allowed && data.feature_names.size() > names.size()) {
    for (const std::string& name : data.feature_names)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw InputError(fmt::format("{}: column \"{}\" is not in {}", data.source, name, reference));
  }
  data.x = data.x.with_columns(source);
  data.feature_names = names;
}

}  // namespace yosida
