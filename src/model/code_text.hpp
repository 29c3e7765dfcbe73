#pragma once

#include <string>
#include <vector>

#include "model/model_terms.hpp"

// What models as code in all languages share, and one function for each of them.
namespace yosida {

/// A double as text that every language here reads: the shortest that is the same number, never an integer.
std::string literal(double value);
/// "0.5, 1.0"
std::string literals(const Vector& values);
/// "A ridge model of yosida 0.2.0": of fixed words, so that it may stand in a comment.
std::string origin(const FittedModel& model);
/// True where the code may be read as a part of a quoted text as it is.
inline bool is_plain_character(char c) { return c >= 0x20 && c < 0x7f; }
/// What messages and columns call the probability of each class, as predictions_csv does.
std::vector<std::string> probability_names(const FittedModel& model);

/// A module with functions of a row, which is a mapping by names of columns or a sequence.
std::string python_code(const FittedModel& model, const ModelTerms& terms);
/// Functions with this prefix. A row is an array of numbers, or of texts where some column is no number.
std::string c_code(const FittedModel& model, const ModelTerms& terms, const std::string& name);
/// A query of this table.
std::string sql_code(const FittedModel& model, const ModelTerms& terms, const std::string& table);
/// A file of Protocol Buffers. Its input is "x", a row of numbers per row of data in the model's order of
/// columns, or where some column is no number an input for each column: text of a category, else a number.
/// Its outputs are "prediction" or "label" with "probabilities" or "margin".
std::string onnx_file(const FittedModel& model, const ModelTerms& terms, const std::string& graph_name);

}  // namespace yosida
