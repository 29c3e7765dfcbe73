#pragma once

#include <string>

#include "model/model_terms.hpp"

namespace yosida {

/// The model as an ONNX file: an input "x", a row of numbers per row of data in the model's order of columns,
/// and as outputs "prediction" or "label" with "probabilities" or "margin".
std::string onnx_file(const FittedModel& model, const ModelTerms& terms, const std::string& graph_name);

}  // namespace yosida
