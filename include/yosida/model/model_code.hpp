#pragma once

#include <string>
#include <string_view>

#include "yosida/export.hpp"
#include "yosida/model/fitted_model.hpp"

namespace YOSIDA_EXPORT yosida {

/// What a model can be written as, for programs that do not have this library.
enum class CodeLanguage {
  python,  ///< a module of functions that needs nothing but Python
  c,       ///< functions of C99 that need nothing but <math.h> and <string.h>
  sql,     ///< a query, in standard SQL, of a table of rows
  onnx     ///< a file of opset 13, in single precision
};
/// "python", "c", "sql" or "onnx". Throws InputError for any other.
CodeLanguage parse_code_language(std::string_view text);

/// The model as a program or file that predicts the same numbers: those of python, c and sql to 1e-12 of the
/// sizes of their terms, those of onnx to single precision. `name` is the prefix of functions of c, the name
/// of the graph of onnx and the table of sql; python does not use it. Whatever names of columns and labels
/// hold is quoted. Throws InputError where `name` is not one that the language takes, and where the parts of
/// the model do not fit together.
std::string model_code(const FittedModel& model, CodeLanguage language, const std::string& name);

}  // namespace yosida
