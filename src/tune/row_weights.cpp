#include "tune/row_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "linalg/row_numbers.hpp"
#include "linalg/unit_scale.hpp"
#include "yosida/error.hpp"
#include "yosida/settings.hpp"

namespace yosida {
namespace {

/// Returns the mean of the weights, as they are given times those of the classes.
double weigh(Dataset& data, const char* part, const ClassWeights* classes,
             const std::vector<double>& weight_of_class) {
  // Neither the products nor the sum of weights as large, or as small, as numbers can be may leave their
  // range.
  const double scale = data.weight.size() > 0 ? unit_scale(largest_of(data.x, data.weight)) : 1.0;
  if (data.weight.size() > 0) data.weight *= scale;
  if (classes != nullptr) {
    if (data.weight.size() == 0) data.weight = Vector::Ones(data.rows());
    for (Index i = 0; i < data.rows(); ++i)
      data.weight[i] *= weight_of_class[static_cast<std::size_t>(classes->class_of(data.y[i]))];
  }
  if (data.weight.size() == 0) return 1.0;
  if (const double first = data.weight[0]; first > 0.0 && is_constant(data.x, data.weight)) {
    data.weight.resize(0);  // as if there were none
    return first / scale;
  }
  const double sum = sum_of(data.x, data.weight);
  if (!(sum > 0.0))
    throw InputError(fmt::format("{}: {}the weights of all {} {} rows are 0: one must be > 0", data.source,
                                 data.weight_name.empty() ? "" : fmt::format("column {}: ", data.weight_name),
                                 data.rows(), part));
  const double mean = sum / static_cast<double>(data.rows());
  data.weight /= mean;
  return mean / scale;
}

}  // namespace

ClassWeights::ClassWeights(const std::string& text, Labels labels, ClassCode code)
    : labels_(std::move(labels)), code_(code) {
  if (text == "balanced") return;
  const auto refuse = [&](std::string_view item, const std::string& rule) {
    throw InputError(fmt::format("class-weights = {}: {}: {}", text, item, rule));
  };
  given_.assign(labels_.values.size(), 1.0);
  std::vector<bool> named(labels_.values.size(), false);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::size_t equals = item.find('=');
    double label = 0.0, weight = 0.0;
    const LowerLimit any{-std::numeric_limits<double>::infinity(), false};
    const std::string_view name = item.substr(0, std::min(equals, item.size()));
    const bool is_number = settings::parse_real(name, any, label);
    if (equals == std::string_view::npos || (labels_.names.empty() && !is_number))
      refuse(item, "must be balanced or LABEL=W,LABEL=W,...");
    std::vector<std::string> known;
    std::size_t k = labels_.values.size();
    for (Index each = 0; each < labels_.classes(); ++each) {
      const auto at = static_cast<std::size_t>(each);
      known.push_back(labels_.name(each));
      if (labels_.names.empty() ? labels_.values[at] == label : labels_.names[at] == name) k = at;
    }
    if (k == known.size()) refuse(item, fmt::format("no such label; they are {}", fmt::join(known, ", ")));
    if (named[k]) refuse(item, "a label is named twice");
    if (!settings::parse_real(item.substr(equals + 1), LowerLimit::positive(), weight))
      refuse(item, "a weight must be a finite number > 0");
    named[k] = true;
    given_[k] = weight;
  }
}

Index ClassWeights::class_of(double mapped) const {
  return code_ == ClassCode::indices ? static_cast<Index>(mapped) : (mapped > 0.0 ? 1 : 0);
}

std::vector<double> ClassWeights::of(const Dataset& train) const {
  if (!given_.empty()) return given_;
  std::vector<double> weight;
  for (const Index rows :
       counts_of(train.x, labels_.classes(), [&](Index i) { return class_of(train.y[i]); }))
    weight.push_back(static_cast<double>(train.rows()) /
                     (static_cast<double>(labels_.classes()) * static_cast<double>(rows)));
  return weight;
}

MeanWeights weigh_rows(Split& split, const std::optional<ClassWeights>& classes) {
  const ClassWeights* given = classes ? &*classes : nullptr;
  std::vector<double> weight_of_class = classes ? classes->of(split.train) : std::vector<double>();
  double scale = 1.0;
  if (classes) {
    scale = unit_scale(*std::max_element(weight_of_class.begin(), weight_of_class.end()));
    for (double& weight : weight_of_class) weight *= scale;
  }
  const double train = weigh(split.train, "training", given, weight_of_class) / scale;
  const double validation = weigh(split.validation, "validation", given, weight_of_class) / scale;
  if (split.test) weigh(*split.test, "test", given, weight_of_class);
  return {.train = train, .validation = validation};
}

}  // namespace yosida
