#include "model/onnx.hpp"

#include <bit>
#include <cstdint>
#include <string_view>

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

constexpr std::uint64_t kFloat = 1;  // the type of every tensor
constexpr std::uint64_t kIrVersion = 7, kOpset = 13;

/// A graph under way: nodes follow each other, each with the name of what it computes.
class Graph {
 public:
  explicit Graph(const std::string& name) { message_.text(2, name); }

  void constant(const std::string& name, const std::vector<std::uint64_t>& sizes, const Vector& values) {
    Message tensor;
    for (const std::uint64_t size : sizes) tensor.number(1, size);
    std::string raw;
    for (const double value : values) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      for (int shift = 0; shift < 32; shift += 8) raw += static_cast<char>(bits >> shift);
    }
    message_.part(5, tensor.number(2, kFloat).text(8, name).text(9, raw));
  }

  struct Attribute {
    std::string name;
    std::int64_t value;
  };
  /// The output's name, for the next node.
  std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                   const std::string& output, const std::vector<Attribute>& attributes = {}) {
    Message node;
    for (const std::string& input : inputs) node.text(1, input);
    node.text(2, output).text(3, output + "_node").text(4, operation);
    constexpr std::uint64_t kIsInteger = 2;
    for (const auto& [name, value] : attributes)
      node.part(5,
                Message().text(1, name).number(3, static_cast<std::uint64_t>(value)).number(20, kIsInteger));
    message_.part(1, node);
    return output;
  }

  void input(const std::string& name, std::uint64_t columns) { message_.part(11, value(name, {columns})); }
  void output(const std::string& name, const std::vector<std::uint64_t>& columns) {
    message_.part(12, value(name, columns));
  }

  const Message& message() const { return message_; }

 private:
  /// Any number of rows, each of so many numbers.
  static Message value(const std::string& name, const std::vector<std::uint64_t>& columns) {
    Message shape;
    shape.part(1, Message().text(2, "rows"));
    for (const std::uint64_t size : columns) shape.part(1, Message().number(1, size));
    const Message tensor = Message().number(1, kFloat).part(2, shape);
    return Message().text(1, name).part(2, Message().part(1, tensor));
  }

  Message message_;
};

}  // namespace

std::string onnx_file(const FittedModel& model, const ModelTerms& terms, const std::string& graph_name) {
  const auto columns = static_cast<std::uint64_t>(terms.columns.size());
  const auto outputs = static_cast<std::uint64_t>(terms.outputs());
  const auto count = static_cast<Index>(columns);
  Vector centre(count), fill(count);
  Matrix weights(count, terms.outputs());
  bool has_fill = false;
  for (Index j = 0; j < count; ++j) {
    const ModelTerm& column = terms.columns[static_cast<std::size_t>(j)];
    centre[j] = column.centre;
    has_fill |= column.fill.has_value();
    fill[j] = column.fill.value_or(0.0);
    weights.row(j) = column.weight.transpose();
  }

  Graph graph(graph_name);
  graph.input("x", columns);
  std::string x = "x";
  if (has_fill) {
    graph.constant("fill", {columns}, fill);
    x = graph.node("Where", {graph.node("IsNaN", {"x"}, "is_missing"), "fill", "x"}, "filled");
  }
  graph.constant("centre", {columns}, centre);
  graph.constant("weights", {columns, outputs}, Eigen::Map<const Vector>(weights.data(), weights.size()));
  graph.constant("intercept", {outputs}, terms.intercept);
  const std::string product =
      graph.node("MatMul", {graph.node("Sub", {x, "centre"}, "centred"), "weights"}, "product");
  const auto margins = [&](const std::string& name) {
    return graph.node("Add", {product, "intercept"}, name);
  };

  // One label per row, by its place among them.
  const auto label = [&](const std::string& place) {
    const Labels& labels = *model.labels;
    graph.constant("labels", {static_cast<std::uint64_t>(labels.classes())},
                   Eigen::Map<const Vector>(labels.values.data(), labels.classes()));
    graph.node("Gather", {"labels", place}, "label");
    graph.output("label", {});
  };
  // The second of two where the margin is 0 or more.
  const auto label_by_sign = [&](const std::string& margin) {
    const std::string negative = graph.node("Neg", {margin}, "negative");
    const std::string both = graph.node("Concat", {negative, margin}, "both", {{"axis", 1}});
    label(graph.node("ArgMax", {both}, "place", {{"axis", 1}, {"keepdims", 0}, {"select_last_index", 1}}));
    return both;
  };
  switch (model.link()) {
    case Link::identity:
      margins("prediction");
      graph.output("prediction", {1});
      break;
    case Link::exponential:
      graph.node("Exp", {margins("margin")}, "prediction");
      graph.output("prediction", {1});
      break;
    case Link::sign:
      label_by_sign(margins("margin"));
      graph.output("margin", {1});
      break;
    case Link::probability:
      graph.node("Sigmoid", {label_by_sign(margins("margin"))}, "probabilities");
      graph.output("probabilities", {2});
      break;
    case Link::softmax: {
      const std::string all = margins("margins");
      label(graph.node("ArgMax", {all}, "place", {{"axis", 1}, {"keepdims", 0}}));
      graph.node("Softmax", {all}, "probabilities", {{"axis", 1}});
      graph.output("probabilities", {outputs});
      break;
    }
  }
  return Message()
      .number(1, kIrVersion)
      .text(2, "yosida")
      .text(3, version())
      .part(7, graph.message())
      .part(8, Message().text(1, "").number(2, kOpset))
      .bytes();
}

}  // namespace yosida
