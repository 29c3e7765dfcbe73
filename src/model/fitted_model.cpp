#include "yosida/model/fitted_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "csv_field.hpp"
#include "data/field.hpp"
#include "model/code_text.hpp"
#include "yosida/error.hpp"
#include "yosida/model/models.hpp"
#include "yosida/utf8.hpp"
#include "yosida/whole_file.hpp"

namespace yosida {
namespace {

using nlohmann::json;

// Schema 1 knew one output, and wrote two labels as {"negative", "positive"}. Schema 3 has columns of text
// and names of classes, schema 4 several targets; a model without these is written as 2.
constexpr int kPlainSchema = 2, kTextSchema = 3, kSchema = 4;
constexpr std::array<std::string_view, 4> kKindNames = {"number", "boolean", "date", "category"};

template <typename Enum, std::size_t N>
Enum by_name(const std::array<std::string_view, N>& names, const std::string& name, const char* field) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw InputError(
        fmt::format("field \"{}\" is \"{}\": must be one of {}", field, name, fmt::join(names, ", ")));
  return static_cast<Enum>(found - names.begin());
}

json to_object(const TableForm& table) {
  json columns = json::array();
  for (const TableColumn& column : table.columns) {
    json one = {{"name", column.name}, {"kind", kKindNames[static_cast<std::size_t>(column.kind)]}};
    if (column.kind == ColumnKind::category) one["levels"] = column.levels;
    if (column.kind == ColumnKind::date)
      one["order"] = field::kOrderNames[static_cast<std::size_t>(column.order)];
    if (const std::string unit = field::unit_of(column); !unit.empty()) one["unit"] = unit;
    if (column.ignores_text) one["ignores_text"] = true;
    columns.push_back(std::move(one));
  }
  return {{"columns", columns},
          {"drop_first", table.drop_first},
          {"decimal", std::string(1, table.decimal)},
          {"from_zero", table.from_zero}};
}

TableForm to_table(const json& root) {
  TableForm table;
  for (const json& one : root.at("columns")) {
    TableColumn column{.name = one.at("name"),
                       .kind = by_name<ColumnKind>(kKindNames, one.at("kind"), "kind")};
    if (column.kind == ColumnKind::category) column.levels = one.at("levels").get<std::vector<std::string>>();
    if (column.kind == ColumnKind::date)
      column.order = by_name<DateOrder>(field::kOrderNames, one.at("order"), "order");
    column.ignores_text = one.value("ignores_text", false);
    if (one.contains("unit")) column.levels = {one["unit"].get<std::string>()};
    table.columns.push_back(std::move(column));
  }
  table.drop_first = root.at("drop_first");
  const std::string decimal = root.at("decimal");
  if (decimal != "." && decimal != ",")
    throw InputError(fmt::format("field \"decimal\" is \"{}\": must be . or ,", decimal));
  table.decimal = decimal[0];
  table.from_zero = root.at("from_zero");
  return table;
}

/// What the features of a table are called, from its columns.
std::vector<std::string> names_of_features(const TableForm& table) {
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns) {
    if (column.kind != ColumnKind::category) {
      names.push_back(column.name);
      continue;
    }
    for (std::size_t k = table.drop_first ? 1 : 0; k < column.levels.size(); ++k)
      names.push_back(fmt::format("{}={}", column.name, column.levels[k]));
  }
  return names;
}

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
  } else if (!labels.empty() && labels.at(0).is_string()) {
    result.names = labels.get<std::vector<std::string>>();
    for (std::size_t k = 0; k < result.names.size(); ++k) result.values.push_back(static_cast<double>(k));
  } else {
    result.values = labels.get<std::vector<double>>();
  }
  if (result.classes() < 2 || !std::is_sorted(result.values.begin(), result.values.end()))
    throw InputError("field \"labels\": must be two or more values in rising order");
  return result;
}

/// Throws InputError unless the weights have as many outputs as the model needs for these labels.
void check_outputs(const FittedModel& fitted) {
  const Model& known = model(fitted.model);
  if (known.code.has_value() != fitted.labels.has_value())
    throw InputError(
        fmt::format("field \"labels\": must be there for a classification only, not for {}", fitted.model));
  if (known.code == ClassCode::signs && fitted.labels->classes() != 2)
    throw InputError(fmt::format("field \"labels\" has {} values: must be 2 for {}", fitted.labels->classes(),
                                 known.name));
  const auto targets = static_cast<Index>(fitted.target_names.size());
  if (targets > 0 && (known.code || fitted.link() != Link::identity))
    throw InputError(fmt::format("field \"target_names\": {} has one target", fitted.model));
  const Index outputs = known.code == ClassCode::indices ? fitted.labels->classes()
                        : targets > 0                    ? targets
                                                         : 1;
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
  if (!model.table.columns.empty() && names_of_features(model.table) != model.feature_names)
    throw InputError("field \"feature_names\": must be those of the columns and levels of \"table\"");
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

/// The probabilities of two classes that are numbers are one column, that of the larger label.
bool names_each_class(const FittedModel& model, Link link) {
  return link == Link::softmax || (link == Link::probability && !model.labels->names.empty());
}

std::string header_of(const FittedModel& model) {
  if (!model.target_names.empty()) {
    std::string text;
    for (const std::string& name : model.target_names) text += (text.empty() ? "" : ",") + csv_field(name);
    return text;
  }
  if (!model.labels) return "prediction";
  std::string text = "label";
  for (const std::string& name : probability_names(model)) text += "," + csv_field(name);
  return model.link() == Link::sign ? text + ",margin" : text;
}

/// A line of predictions, without its end.
std::string prediction_of(const FittedModel& model, Link link, const Vector& values) {
  if (!model.labels) return fmt::format("{:.17g}", fmt::join(values, ","));
  const Labels& labels = *model.labels;
  if (link == Link::softmax) {
    Index largest = 0;
    values.maxCoeff(&largest);
    std::string text = csv_field(labels.name(largest));
    for (const double share : probabilities(values)) text += fmt::format(",{:.17g}", share);
    return text;
  }
  const double margin = values[0];
  std::string text = csv_field(labels.name(margin >= 0.0 ? 1 : 0));
  if (names_each_class(model, link)) text += fmt::format(",{:.17g}", probability(-margin));
  return text + fmt::format(",{:.17g}", link == Link::probability ? probability(margin) : margin);
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
    const char* why = row.hasNaN() ? "the model was trained on rows without missing values"
                                   : "a feature of it is too large for this model";
    throw InputError(
        fmt::format("{}: the prediction of row {} is not finite: {}: {}", data.source, i + 1, why, culprit));
  }
}

}  // namespace

ReadOptions FittedModel::reading() const {
  ReadOptions options;
  options.missing = pretreatment.missing_fill.size() > 0 ? Missing::mean : Missing::refuse;
  options.like = table;
  if (table.columns.empty())
    for (const std::string& name : feature_names) options.like.columns.push_back({.name = name});
  if (labels) options.like.classes = labels->names;
  return options;
}

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
  const bool is_plain = model.table.is_plain() && (!model.labels || model.labels->names.empty());
  json root = {
      {"schema", !model.target_names.empty() ? kSchema
                 : is_plain                  ? kPlainSchema
                                             : kTextSchema},
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
  if (!model.target_names.empty()) root["target_names"] = model.target_names;
  if (model.labels) root["labels"] = model.labels->values;
  if (model.labels && !model.labels->names.empty()) root["labels"] = model.labels->names;
  if (!model.table.is_plain()) root["table"] = to_object(model.table);
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

namespace {

/// A fraction, or a number that is too large for a whole one, must not be converted to it.
std::int64_t whole_number(const json& root, const char* name) {
  const json& number = root.at(name);
  if (!number.is_number_integer()) throw InputError(fmt::format("{}: must be a whole number", name));
  return number.get<std::int64_t>();
}

}  // namespace

FittedModel read_model(std::istream& in, const std::string& source) {
  try {
    const json root = json::parse(in);
    if (const std::int64_t schema = whole_number(root, "schema"); schema < 1 || schema > kSchema)
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
    model.features = whole_number(root, "features");
    model.feature_names = root.at("feature_names").get<std::vector<std::string>>();
    model.target_name = root.at("target_name");
    if (root.contains("target_names"))
      model.target_names = root["target_names"].get<std::vector<std::string>>();
    if (root.contains("labels")) model.labels = to_labels(root["labels"]);
    if (root.contains("table")) model.table = to_table(root["table"]);
    check_outputs(model);
    check_widths(model);
    check_finite(model);
    return model;
  } catch (const InputError& error) {        // an unknown model or step, a field of the wrong length
    constexpr std::size_t kMostShown = 400;  // a message quotes the file
    throw InputError(fmt::format("{}: {}", source, utf8::first(error.what(), kMostShown)));
  } catch (const json::parse_error& error) {
    throw InputError(
        fmt::format("{}: not a model saved by yosida: it is no JSON from byte {} on", source, error.byte));
  } catch (const json::exception& error) {  // "[json.exception.out_of_range.403] key 'weights' not found"
    const std::string_view what = error.what();
    throw InputError(
        fmt::format("{}: not a model saved by yosida: {}", source, what.substr(what.find(']') + 2)));
  }
}

std::vector<std::string> probability_names(const FittedModel& model) {
  const Link link = model.link();
  std::vector<std::string> names;
  if (names_each_class(model, link)) {
    for (Index k = 0; k < model.labels->classes(); ++k)
      names.push_back("probability_" + model.labels->name(k));
  } else if (link == Link::probability) {
    names.emplace_back("probability");
  }
  return names;
}

std::string predictions_csv(const FittedModel& model, const Matrix& values) {
  const Link link = model.link();
  std::string text = header_of(model) + "\n";
  for (Index i = 0; i < values.rows(); ++i) text += prediction_of(model, link, values.row(i)) + "\n";
  return text;
}

std::string predictions_csv(const FittedModel& model, const Matrix& values, const Dataset& rows) {
  if (values.rows() != rows.rows())
    throw InputError(fmt::format("{}: {} predictions of {} rows: each row needs one", rows.source,
                                 values.rows(), rows.rows()));
  const Link link = model.link();
  const bool has_id = !rows.id.empty();
  std::string text = "row," + (has_id ? csv_field(rows.id_name) + "," : "") + header_of(model) + "\n";
  for (Index i = 0; i < values.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    text += fmt::format("{},", 1 + (rows.row_number.empty() ? i : rows.row_number[at]));
    if (has_id) text += csv_field(rows.id[at]) + ",";
    text += prediction_of(model, link, values.row(i)) + "\n";
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
