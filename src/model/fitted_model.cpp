#include "yosida/model/fitted_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "yosida/error.hpp"
#include "yosida/model/loss.hpp"

namespace yosida {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;

json to_array(const Vector& v) { return std::vector<double>(v.begin(), v.end()); }

Vector to_vector(const json& array) {
  const auto values = array.get<std::vector<double>>();
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

void check_widths(const FittedModel& model) {
  Index width = model.features;
  const auto require = [&](Index size, const std::string& field) {
    if (size != width)
      throw InputError(fmt::format("field \"{}\" has {} values: must be {}", field, size, width));
  };
  if (model.pretreatment.missing_fill.size() > 0)
    require(model.pretreatment.missing_fill.size(), "missing_fill");
  for (const FittedStep& step : model.pretreatment.x) {
    if (step.shift.size() > 0) require(step.shift.size(), "pretreatment.x.shift");
    if (step.scale.size() > 0) require(step.scale.size(), "pretreatment.x.scale");
    if (step.kind == XStep::difference) --width;
  }
  require(model.weights.size(), "weights");
  if (!model.feature_names.empty() && static_cast<Index>(model.feature_names.size()) != model.features)
    throw InputError(fmt::format("field \"feature_names\" has {} values: must be {}",
                                 model.feature_names.size(), model.features));
}

}  // namespace

Vector FittedModel::predict(Dataset data) const {
  align_features(data, feature_names, features, "the model", true);
  if (data.x.is_sparse() &&
      std::any_of(pretreatment.x.begin(), pretreatment.x.end(), [](const FittedStep& step) {
        return step.shift.size() > 0 || step.kind == XStep::difference;
      }))
    data.x = to_dense(data.x);
  if (!data.x.is_sparse()) data.x = data.x.dense().unshared();
  data.y.resize(0);
  pretreatment.apply(data);
  Vector m(data.rows());
  data.x.multiply({weights.data(), static_cast<std::size_t>(weights.size())},
                  {m.data(), static_cast<std::size_t>(m.size())});
  m.array() += intercept;
  return labels ? m : Vector(m.array() * pretreatment.y_scale + pretreatment.y_shift);
}

std::string to_json(const FittedModel& model) {
  json steps = json::array();
  for (const FittedStep& step : model.pretreatment.x)
    steps.push_back(
        {{"kind", to_string(step.kind)}, {"shift", to_array(step.shift)}, {"scale", to_array(step.scale)}});
  json root = {
      {"schema", kSchema},
      {"model", model.model},
      {"method", model.method},
      {"lambda", model.lambda},
      {"weights", to_array(model.weights)},
      {"intercept", model.intercept},
      {"pretreatment",
       {{"missing_fill", to_array(model.pretreatment.missing_fill)},
        {"x", steps},
        {"y", {{"shift", model.pretreatment.y_shift}, {"scale", model.pretreatment.y_scale}}}}},
      {"features", model.features},
      {"feature_names", model.feature_names},
      {"target_name", model.target_name},
  };
  if (model.labels)
    root["labels"] = {{"negative", model.labels->negative}, {"positive", model.labels->positive}};
  return root.dump(1);
}

FittedModel load_model(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: no such model file, or it cannot be read", file.string()));
  try {
    const json root = json::parse(in);
    if (const int schema = root.at("schema").get<int>(); schema != kSchema)
      throw InputError(fmt::format("schema = {}: this version reads schema {}", schema, kSchema));
    FittedModel model;
    model.model = root.at("model");
    loss_of_model(model.model);
    model.method = root.at("method");
    model.lambda = root.at("lambda").get<std::vector<double>>();
    model.weights = to_vector(root.at("weights"));
    model.intercept = root.at("intercept");
    const json& pretreatment = root.at("pretreatment");
    model.pretreatment.missing_fill = to_vector(pretreatment.at("missing_fill"));
    for (const json& step : pretreatment.at("x"))
      model.pretreatment.x.push_back({.kind = parse_x_steps(step.at("kind").get<std::string>()).at(0),
                                      .shift = to_vector(step.at("shift")),
                                      .scale = to_vector(step.at("scale"))});
    model.pretreatment.y_shift = pretreatment.at("y").at("shift");
    model.pretreatment.y_scale = pretreatment.at("y").at("scale");
    model.features = root.at("features");
    model.feature_names = root.at("feature_names").get<std::vector<std::string>>();
    model.target_name = root.at("target_name");
    if (root.contains("labels"))
      model.labels =
          Labels{.negative = root["labels"].at("negative"), .positive = root["labels"].at("positive")};
    check_widths(model);
    return model;
  } catch (const InputError& error) {  // an unknown model or step, a field of the wrong length
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const json::exception& error) {
    throw InputError(fmt::format("{}: not a model saved by yosida ({})", file.string(), error.what()));
  }
}

double probability(double margin) {
  const double e = std::exp(-std::abs(margin));
  return (margin >= 0.0 ? 1.0 : e) / (1.0 + e);
}

}  // namespace yosida
