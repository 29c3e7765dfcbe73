#include "yosida/model/fitted_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "yosida/error.hpp"
#include "yosida/model/models.hpp"
#include "yosida/whole_file.hpp"

namespace yosida {
namespace {

using nlohmann::json;

// Schema 1 knew one output, and wrote two labels as {"negative", "positive"}.
constexpr int kSchema = 2;

json to_array(const Vector& v) { return std::vector<double>(v.begin(), v.end()); }

Vector to_vector(const json& array) {
  const auto values = array.get<std::vector<double>>();
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

/// d numbers for one output, d arrays of K numbers for several.
json to_array(const Matrix& weights) {
  if (weights.cols() == 1) return to_array(Vector(weights.col(0)));
  json rows = json::array();
  for (Index j = 0; j < weights.rows(); ++j) rows.push_back(to_array(Vector(weights.row(j))));
  return rows;
}

Matrix to_matrix(const json& array) {
  if (array.empty() || !array.at(0).is_array()) return to_vector(array);
  Matrix matrix(static_cast<Index>(array.size()), static_cast<Index>(array.at(0).size()));
  for (Index j = 0; j < matrix.rows(); ++j) {
    const Vector row = to_vector(array.at(static_cast<std::size_t>(j)));
    if (row.size() != matrix.cols())
      throw InputError(
          fmt::format("field \"weights\" has rows of {} and {} values", matrix.cols(), row.size()));
    matrix.row(j) = row.transpose();
  }
  return matrix;
}

Labels to_labels(const json& labels) {
  Labels result;
  if (labels.is_object()) {
    result.values = {labels.at("negative").get<double>(), labels.at("positive").get<double>()};
  } else {
    result.values = labels.get<std::vector<double>>();
  }
  if (result.classes() < 2 || !std::is_sorted(result.values.begin(), result.values.end()))
    throw InputError("field \"labels\": must be two or more values in rising order");
  return result;
}

/// As many outputs as the model has for these labels.
void check_outputs(const FittedModel& fitted) {
  const Model& known = model(fitted.model);
  if (known.code.has_value() != fitted.labels.has_value())
    throw InputError(
        fmt::format("field \"labels\": must be there for a classification only, not for {}", fitted.model));
  if (known.code == ClassCode::signs && fitted.labels->classes() != 2)
    throw InputError(fmt::format("field \"labels\" has {} values: must be 2 for {}", fitted.labels->classes(),
                                 known.name));
  const Index outputs = known.code == ClassCode::indices ? fitted.labels->classes() : 1;
  if (fitted.weights.cols() != outputs)
    throw InputError(
        fmt::format("field \"weights\" has {} columns: must be {}", fitted.weights.cols(), outputs));
  if (fitted.intercept.size() != outputs)
    throw InputError(
        fmt::format("field \"intercept\" has {} values: must be {}", fitted.intercept.size(), outputs));
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
  require(model.weights.rows(), "weights");
  if (!model.feature_names.empty() && static_cast<Index>(model.feature_names.size()) != model.features)
    throw InputError(fmt::format("field \"feature_names\" has {} values: must be {}",
                                 model.feature_names.size(), model.features));
}

/// No number of a model may be infinite or NaN, nor a divisor 0: JSON has no such numbers, and no prediction
/// would mean anything.
void check_finite(const FittedModel& model) {
  const auto require = [](const auto& values, const char* field, bool is_divisor = false) {
    for (const double value : values)
      if (!std::isfinite(value) || (is_divisor && value == 0.0))
        throw InputError(fmt::format("field \"{}\" holds {}: must be finite{}", field, value,
                                     is_divisor ? " and not 0" : ""));
  };
  require(model.lambda, "lambda");
  require(model.weights.reshaped(), "weights");
  require(model.intercept, "intercept");
  const Pretreatment& pretreatment = model.pretreatment;
  require(pretreatment.missing_fill, "missing_fill");
  for (const FittedStep& step : pretreatment.x) {
    require(step.shift, "pretreatment.x.shift");
    require(step.scale, "pretreatment.x.scale", true);
  }
  require(Vector::Constant(1, pretreatment.y_shift), "pretreatment.y.shift");
  require(Vector::Constant(1, pretreatment.y_scale), "pretreatment.y.scale", true);
  if (model.labels) require(model.labels->values, "labels");
}

/// Names the first row whose prediction is not finite, and its largest feature.
void require_finite(const Matrix& predictions, const Dataset& data) {
  for (Index i = 0; i < predictions.rows(); ++i) {
    if (predictions.row(i).allFinite()) continue;
    std::string culprit = "it has no features";
    double largest = -1.0;
    const auto look = [&](Index feature, double value) {
      if (std::abs(value) <= largest) return;
      largest = std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value);
      culprit = fmt::format("{} is {:.3g} after pretreatment", feature_in_words(data, feature), value);
    };
    Vector row(data.features());
    data.x.copy_rows(i, 1, row.data(), row.size());
    for (Index j = 0; j < row.size(); ++j) look(j, row[j]);
    throw InputError(fmt::format(
        "{}: the prediction of row {} is not finite: a feature of it is too large for this model: {}",
        data.source, i + 1, culprit));
  }
}

}  // namespace

Link FittedModel::link() const { return yosida::model(model).loss(labels ? labels->classes() : 0)->link(); }

Matrix FittedModel::predict(Dataset data) const {
  check_outputs(*this);
  check_widths(*this);
  align_features(data, feature_names, features, "the model", true);
  data.y.resize(0);
  data = pretreatment.apply(std::move(data));
  Matrix m(data.rows(), weights.cols());
  // Rows are read once: copies of a few at a time cost nothing, and lose no digits as a view might.
  constexpr Index kBlock = 4096;
  for (Index begin = 0; begin < data.rows(); begin += kBlock) {
    const Index count = std::min(kBlock, data.rows() - begin);
    data.x.row_range(begin, count)
        .packed()
        .multiply({weights.data(), static_cast<std::size_t>(weights.size())},
                  {m.row(begin).data(), static_cast<std::size_t>(count * m.cols())}, weights.cols());
  }
  m.rowwise() += intercept.transpose();
  m = expected_target(link(), std::move(m));
  if (!labels) m = m.array() * pretreatment.y_scale + pretreatment.y_shift;
  require_finite(m, data);
  return m;
}

Matrix FittedModel::predict_proba(Dataset data) const {
  if (!labels || link() == Link::sign)
    throw InputError(fmt::format("model = {}: has no probabilities: must be logistic or softmax", model));
  const Matrix m = predict(std::move(data));
  Matrix shares(m.rows(), labels->classes());
  for (Index i = 0; i < m.rows(); ++i) {
    if (m.cols() == 1) {
      shares.row(i) << probability(-m(i, 0)), probability(m(i, 0));
    } else {
      shares.row(i) = probabilities(m.row(i)).transpose();
    }
  }
  return shares;
}

Coefficients FittedModel::coefficients() const {
  check_outputs(*this);
  check_widths(*this);
  Coefficients own{.names = feature_names, .weights = weights, .intercept = intercept};
  for (auto step = pretreatment.x.rbegin(); step != pretreatment.x.rend(); ++step) {
    if (step->kind == XStep::difference) {
      // Σ_j w_j (x_{j+1} − x_j): each feature is added by the difference before it, taken off by its own.
      const Index d = own.weights.rows();
      Matrix wider = Matrix::Zero(d + 1, own.weights.cols());
      wider.bottomRows(d) += own.weights;
      wider.topRows(d) -= own.weights;
      own.weights = std::move(wider);
      continue;
    }
    if (step->scale.size() > 0) own.weights.array().colwise() /= step->scale.array();
    if (step->shift.size() > 0) own.intercept -= own.weights.transpose() * step->shift;
  }
  if (!labels) {
    own.weights *= pretreatment.y_scale;
    own.intercept = (own.intercept.array() * pretreatment.y_scale + pretreatment.y_shift).matrix();
  }
  if (own.names.empty())
    for (Index j = 0; j < features; ++j) own.names.push_back(std::to_string(j));
  return own;
}

std::string to_json(const FittedModel& model) {
  check_finite(model);
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
      {"intercept", model.intercept.size() == 1 ? json(model.intercept[0]) : to_array(model.intercept)},
      {"pretreatment",
       {{"missing_fill", to_array(model.pretreatment.missing_fill)},
        {"x", steps},
        {"y", {{"shift", model.pretreatment.y_shift}, {"scale", model.pretreatment.y_scale}}}}},
      {"features", model.features},
      {"feature_names", model.feature_names},
      {"target_name", model.target_name},
  };
  if (model.labels) root["labels"] = model.labels->values;
  return root.dump(1);
}

void save_model(const FittedModel& model, const std::filesystem::path& file) {
  const std::string text = to_json(model);
  WholeFile whole(file);
  whole.write(text);
  whole.finish();
}

FittedModel load_model(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: no such model file, or it cannot be read", file.string()));
  return read_model(in, file.string());
}

FittedModel read_model(std::istream& in, const std::string& source) {
  try {
    const json root = json::parse(in);
    if (const int schema = root.at("schema").get<int>(); schema < 1 || schema > kSchema)
      throw InputError(fmt::format("schema = {}: this version reads schema 1 to {}", schema, kSchema));
    FittedModel model;
    model.model = root.at("model");
    yosida::model(model.model);
    model.method = root.at("method");
    model.lambda = root.at("lambda").get<std::vector<double>>();
    model.weights = to_matrix(root.at("weights"));
    const json& intercept = root.at("intercept");
    model.intercept = intercept.is_array() ? to_vector(intercept) : Vector::Constant(1, intercept);
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
    if (root.contains("labels")) model.labels = to_labels(root["labels"]);
    check_outputs(model);
    check_widths(model);
    check_finite(model);
    return model;
  } catch (const InputError& error) {  // an unknown model or step, a field of the wrong length
    throw InputError(fmt::format("{}: {}", source, error.what()));
  } catch (const json::exception& error) {
    throw InputError(fmt::format("{}: not a model saved by yosida ({})", source, error.what()));
  }
}

std::string predictions_csv(const FittedModel& model, const Matrix& values) {
  std::string text;
  if (!model.labels) {
    text = "prediction\n";
    for (Index i = 0; i < values.rows(); ++i) text += fmt::format("{:.17g}\n", values(i, 0));
    return text;
  }
  const Labels& labels = *model.labels;
  const Link link = model.link();
  if (link == Link::softmax) {
    text = "label";
    for (const double label : labels.values) text += fmt::format(",probability_{}", label);
    text += "\n";
    for (Index i = 0; i < values.rows(); ++i) {
      Index largest = 0;
      values.row(i).maxCoeff(&largest);
      text += fmt::format("{}", labels.values[static_cast<std::size_t>(largest)]);
      for (const double share : probabilities(values.row(i))) text += fmt::format(",{:.17g}", share);
      text += "\n";
    }
    return text;
  }
  const bool has_probability = link == Link::probability;
  text = has_probability ? "label,probability\n" : "label,margin\n";
  for (Index i = 0; i < values.rows(); ++i) {
    const double margin = values(i, 0);
    text += fmt::format("{},{:.17g}\n", margin >= 0.0 ? labels.positive() : labels.negative(),
                        has_probability ? probability(margin) : margin);
  }
  return text;
}

double probability(double margin) {
  const double e = std::exp(-std::abs(margin));
  return (margin >= 0.0 ? 1.0 : e) / (1.0 + e);
}

Vector probabilities(const Vector& margins) {
  const double largest = margins.maxCoeff();
  const Vector shares = margins.unaryExpr([=](double m) { return std::exp(m - largest); });
  return shares / shares.sum();
}

}  // namespace yosida
