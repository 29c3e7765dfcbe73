#include "yosida/model/model_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/code_text.hpp"
#include "yosida/error.hpp"
#include "yosida/model/models.hpp"
#include "yosida/nearest.hpp"
#include "yosida/version.hpp"

namespace yosida {

std::string literal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string literals(const Vector& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + literal(value);
  return text;
}

std::string origin(const FittedModel& model) {
  return fmt::format("A {} model of yosida {}", yosida::model(model.model).name, version());
}

CodeLanguage parse_code_language(std::string_view text) {
  static const std::vector<std::string> names = {"python", "c", "sql", "onnx"};
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) refuse_unknown("export", text, names, "must be python, c, sql or onnx");
  return static_cast<CodeLanguage>(found - names.begin());
}

std::string model_code(const FittedModel& model, CodeLanguage language, const std::string& name) {
  if (!model.target_names.empty())
    throw InputError(
        fmt::format("--export: a model of {} targets: code is written for one; tune that target by itself",
                    model.target_names.size()));
  const ModelTerms terms = terms_of(model);
  switch (language) {
    case CodeLanguage::python:
      return python_code(model, terms);
    case CodeLanguage::c:
      return c_code(model, terms, name);
    case CodeLanguage::sql:
      return sql_code(model, terms, name);
    case CodeLanguage::onnx:
      break;
  }
  return onnx_file(model, terms, name);
}

}  // namespace yosida
