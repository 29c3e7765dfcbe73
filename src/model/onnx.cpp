#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <string_view>

#include "data/field.hpp"
#include "model/code_text.hpp"
#include "yosida/version.hpp"

namespace yosida {
namespace {

/// A message of Protocol Buffers, field by field; numbers of fields are those of onnx.proto.
class Message {
 public:
  Message& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    varint((static_cast<std::uint64_t>(field) << 3) | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& part(int field, const Message& value) { return text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Types of tensors, and versions of the format and of its two sets of operators.
constexpr std::uint64_t kFloat = 1, kText = 8;
constexpr std::uint64_t kIrVersion = 7, kOpset = 13, kLearningOpset = 2;
constexpr std::string_view kLearning = "ai.onnx.ml";

/// A graph under way: nodes follow each other, each with the name of what it computes.
class Graph {
 public:
  explicit Graph(const std::string& name) { message_.text(2, name); }

  /// Any number of rows, each of so many values.
  std::string input(const std::string& name, std::uint64_t type, std::uint64_t columns) {
    taken_.insert(name);
    message_.part(11, value(name, type, {columns}));
    return name;
  }
  void output(const std::string& name, std::uint64_t type, const std::vector<std::uint64_t>& columns) {
    message_.part(12, value(name, type, columns));
  }

  std::string constant(const std::string& wanted, const std::vector<std::uint64_t>& sizes,
                       const Vector& values) {
    std::string raw;
    for (const double value : values) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      for (int shift = 0; shift < 32; shift += 8) raw += static_cast<char>(bits >> shift);
    }
    Message tensor;
    for (const std::uint64_t size : sizes) tensor.number(1, size);
    std::string name = free_name(wanted);
    message_.part(5, tensor.number(2, kFloat).text(8, name).text(9, raw));
    return name;
  }
  std::string constant(const std::string& wanted, const std::vector<std::string>& texts) {
    Message tensor;
    tensor.number(1, texts.size()).number(2, kText);
    for (const std::string& text : texts) tensor.text(6, text);
    std::string name = free_name(wanted);
    message_.part(5, tensor.text(8, name));
    return name;
  }

  /// The name of what it computes, for the next node: `wanted`, or one like it that is free.
  std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                   const std::string& wanted, const std::vector<Message>& attributes = {},
                   std::string_view domain = "") {
    std::string output = free_name(wanted);
    Message node;
    for (const std::string& input : inputs) node.text(1, input);
    node.text(2, output).text(3, output + "_node").text(4, operation);
    for (const Message& attribute : attributes) node.part(5, attribute);
    if (!domain.empty()) node.text(7, domain);
    message_.part(1, node);
    return output;
  }

  const Message& message() const { return message_; }

 private:
  /// Inputs have the names of columns, which may be any.
  std::string free_name(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  static Message value(const std::string& name, std::uint64_t type,
                       const std::vector<std::uint64_t>& columns) {
    Message shape;
    shape.part(1, Message().text(2, "rows"));
    for (const std::uint64_t size : columns) shape.part(1, Message().number(1, size));
    const Message tensor = Message().number(1, type).part(2, shape);
    return Message().text(1, name).part(2, Message().part(1, tensor));
  }

  Message message_;
  std::set<std::string> taken_;
};

// Attributes of a node, by the numbers that onnx.proto gives their types.
Message integer(std::string_view name, std::int64_t value) {
  return Message().text(1, name).number(3, static_cast<std::uint64_t>(value)).number(20, 2);
}
Message integers(std::string_view name, const std::vector<std::uint64_t>& values) {
  Message message = Message().text(1, name);
  for (const std::uint64_t value : values) message.number(8, value);
  return message.number(20, 7);
}
Message texts(std::string_view name, const std::vector<std::string>& values) {
  Message message = Message().text(1, name);
  for (const std::string& value : values) message.text(9, value);
  return message.number(20, 8);
}

using Places = std::vector<std::size_t>;

/// What the columns of numbers at these places add to the prediction, computed from an input that holds them
/// in this order.
std::string sum_of_numbers(Graph& graph, const ModelTerms& terms, const Places& places, std::string x) {
  const auto count = static_cast<Index>(places.size());
  const std::uint64_t columns = places.size();
  Vector centre(count), fill(count);
  Matrix weights(count, terms.outputs());
  bool has_fill = false;
  for (Index j = 0; j < count; ++j) {
    const ModelTerm& term = terms.columns[places[static_cast<std::size_t>(j)]];
    centre[j] = term.centre;
    has_fill |= term.fill.has_value();
    fill[j] = term.fill.value_or(0.0);
    weights.row(j) = term.weight.transpose();
  }
  if (has_fill) {
    const std::string is_missing = graph.node("IsNaN", {x}, "is_missing");
    x = graph.node("Where", {is_missing, graph.constant("fill", {columns}, fill), x}, "filled");
  }
  const std::string centred = graph.node("Sub", {x, graph.constant("centre", {columns}, centre)}, "centred");
  const std::string all = graph.constant("weights", {columns, static_cast<std::uint64_t>(terms.outputs())},
                                         Eigen::Map<const Vector>(weights.data(), weights.size()));
  return graph.node("MatMul", {centred, all}, "product");
}

/// What the level of a category adds, from its texts. Behind the known levels stands one that adds nothing.
std::string sum_of_level(Graph& graph, const ModelTerm& term, const std::string& x) {
  const Index levels = term.of_level.rows();
  Matrix weights = Matrix::Zero(levels + 1, term.of_level.cols());
  weights.topRows(levels) = term.of_level;
  std::vector<std::string> keys = term.column.levels;
  std::vector<std::uint64_t> places(keys.size());
  std::iota(places.begin(), places.end(), std::uint64_t{0});
  // A missing field becomes the level "", where the model knows that level.
  if (!keys.empty() && keys.front().empty())
    for (const std::string_view mark : field::kMissing)
      if (!mark.empty()) {
        keys.emplace_back(mark);
        places.push_back(0);
      }
  const std::string place = graph.node(
      "LabelEncoder", {x}, "place_of_level",
      {texts("keys_strings", keys), integers("values_int64s", places), integer("default_int64", levels)},
      kLearning);
  const std::string all =
      graph.constant("weights_of_levels",
                     {static_cast<std::uint64_t>(levels + 1), static_cast<std::uint64_t>(weights.cols())},
                     Eigen::Map<const Vector>(weights.data(), weights.size()));
  // One place per row, each of so many weights, without the dimension of the one column.
  return graph.node("Flatten", {graph.node("Gather", {all, place}, "weights_of_level")}, "flat",
                    {integer("axis", 1)});
}

/// What all columns add up to.
std::string sum_of_columns(Graph& graph, const ModelTerms& terms) {
  Places numbers, categories;
  for (std::size_t j = 0; j < terms.columns.size(); ++j)
    (terms.columns[j].is_category() ? categories : numbers).push_back(j);
  if (!terms.has_text)
    return sum_of_numbers(graph, terms, numbers, graph.input("x", kFloat, terms.columns.size()));
  std::vector<std::string> inputs;
  for (std::size_t j = 0; j < terms.columns.size(); ++j) {
    const std::string& name = terms.columns[j].column.name;
    inputs.push_back(graph.input(name.empty() ? fmt::format("column_{}", j) : name,
                                 terms.columns[j].is_category() ? kText : kFloat, 1));
  }
  std::string sum;
  if (!numbers.empty()) {
    std::vector<std::string> parts;
    for (const std::size_t j : numbers) parts.push_back(inputs[j]);
    sum = sum_of_numbers(graph, terms, numbers, graph.node("Concat", parts, "numbers", {integer("axis", 1)}));
  }
  for (const std::size_t j : categories) {
    const std::string added = sum_of_level(graph, terms.columns[j], inputs[j]);
    sum = sum.empty() ? added : graph.node("Add", {sum, added}, "sum");
  }
  return sum;
}

}  // namespace

std::string onnx_file(const FittedModel& model, const ModelTerms& terms, const std::string& graph_name) {
  const auto outputs = static_cast<std::uint64_t>(terms.outputs());
  Graph graph(graph_name);
  const std::string sum = sum_of_columns(graph, terms);
  const std::string intercept = graph.constant("intercept", {outputs}, terms.intercept);
  const auto margins = [&](const std::string& name) { return graph.node("Add", {sum, intercept}, name); };

  // One label per row, by its place among them.
  const auto label = [&](const std::string& place) {
    const Labels& labels = *model.labels;
    const bool is_text = !labels.names.empty();
    const std::string all =
        is_text ? graph.constant("labels", labels.names)
                : graph.constant("labels", {static_cast<std::uint64_t>(labels.classes())},
                                 Eigen::Map<const Vector>(labels.values.data(), labels.classes()));
    graph.output(graph.node("Gather", {all, place}, "label"), is_text ? kText : kFloat, {});
  };
  // The second of two where the margin is 0 or more.
  const auto label_by_sign = [&](const std::string& margin) {
    std::string both =
        graph.node("Concat", {graph.node("Neg", {margin}, "negative"), margin}, "both", {integer("axis", 1)});
    label(graph.node("ArgMax", {both}, "place",
                     {integer("axis", 1), integer("keepdims", 0), integer("select_last_index", 1)}));
    return both;
  };
  switch (model.link()) {
    case Link::identity:
      graph.output(margins("prediction"), kFloat, {1});
      break;
    case Link::exponential:
      graph.output(graph.node("Exp", {margins("margin")}, "prediction"), kFloat, {1});
      break;
    case Link::sign: {
      const std::string margin = margins("margin");
      label_by_sign(margin);
      graph.output(margin, kFloat, {1});
      break;
    }
    case Link::probability:
      graph.output(graph.node("Sigmoid", {label_by_sign(margins("margin"))}, "probabilities"), kFloat, {2});
      break;
    case Link::softmax: {
      const std::string all = margins("margins");
      label(graph.node("ArgMax", {all}, "place", {integer("axis", 1), integer("keepdims", 0)}));
      graph.output(graph.node("Softmax", {all}, "probabilities", {integer("axis", 1)}), kFloat, {outputs});
      break;
    }
  }
  return Message()
      .number(1, kIrVersion)
      .text(2, "yosida")
      .text(3, version())
      .part(7, graph.message())
      .part(8, Message().text(1, "").number(2, kOpset))
      .part(8, Message().text(1, kLearning).number(2, kLearningOpset))
      .bytes();
}

}  // namespace yosida
