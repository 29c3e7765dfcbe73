#include "yosida/model/model_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "model/model_terms.hpp"
#include "model/onnx.hpp"
#include "yosida/error.hpp"
#include "yosida/model/models.hpp"
#include "yosida/nearest.hpp"
#include "yosida/version.hpp"

namespace yosida {
namespace {

// ---- literals ----

/// Of a double in every language here: the shortest text that reads as the same number, never an integer.
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

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

/// A string of Python, in ASCII and UTF-8.
std::string python_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (is_plain(c) || static_cast<unsigned char>(c) >= 0x80)
      quoted += c;
    else
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return quoted + "\"";
}

/// A string of C. Bytes outside ASCII are octal, which ends after three digits; no trigraph can arise.
std::string c_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?')
      quoted += std::string("\\") + c;
    else if (is_plain(c))
      quoted += c;
    else
      quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + "\"";
}

std::string doubled(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) quoted += c == quote ? std::string(2, quote) : std::string(1, c);
  return quoted + quote;
}

/// A delimited identifier of standard SQL.
std::string sql_name(std::string_view text) { return doubled(text, '"'); }

/// "ridge, found by my-hpo": of fixed words, so that it may stand in a comment.
std::string origin(const FittedModel& model) {
  return fmt::format("A {} model of yosida {}", yosida::model(model.model).name, version());
}

std::vector<std::string> label_literals(const Labels& labels) {
  std::vector<std::string> all;
  for (const double value : labels.values) all.push_back(literal(value));
  return all;
}

// ---- Python ----

std::string python_code(const FittedModel& model, const ModelTerms& terms) {
  std::string text = fmt::format(
      "\"\"\"{}.\n\nA row is a mapping by the names of COLUMNS, or a sequence in their order.\n\"\"\"\n"
      "import math\n\n",
      origin(model));
  text += fmt::format("TARGET = {}\n", python_string(model.target_name));
  text +=
      "# For each column its name, what stands for a missing value, what is taken off, and its "
      "weights.\nTERMS = [\n";
  for (std::size_t j = 0; j < terms.columns.size(); ++j) {
    const ModelTerm& column = terms.columns[j];
    text += fmt::format(
        "    ({}, {}, {}, [{}]),\n", terms.has_names ? python_string(column.name) : std::to_string(j),
        column.fill ? literal(*column.fill) : "None", literal(column.centre), literals(column.weight));
  }
  text +=
      fmt::format("]\nCOLUMNS = [term[0] for term in TERMS]\nINTERCEPT = [{}]\n", literals(terms.intercept));
  if (model.labels) text += fmt::format("LABELS = [{}]\n", fmt::join(label_literals(*model.labels), ", "));
  text += R"(

def margins(row):
    """What the columns add up to, one number for each output."""
    sums = list(INTERCEPT)
    for place, (name, fill, centre, weights) in enumerate(TERMS):
        value = row[name] if hasattr(row, "keys") else row[place]
        value = math.nan if value is None or value == "" else float(value)
        if math.isnan(value):
            if fill is None:
                raise ValueError(f"column {name!r} has no value, and the model knows none to stand for it")
            value = fill
        for k, weight in enumerate(weights):
            sums[k] += weight * (value - centre)
    return sums

)";
  const Link link = model.link();
  if (link == Link::probability || link == Link::softmax) {
    text += "\ndef probabilities(row):\n    \"\"\"That of each of LABELS.\"\"\"\n";
    text += link == Link::softmax ? "    all_margins = margins(row)\n"
                                  : "    all_margins = [0.0, margins(row)[0]]\n";
    text +=
        "    largest = max(all_margins)\n    shares = [math.exp(m - largest) for m in all_margins]\n"
        "    return [share / sum(shares) for share in shares]\n\n";
  }
  text += "\ndef predict(row):\n";
  switch (link) {
    case Link::identity:
      return text + "    \"\"\"TARGET, as expected.\"\"\"\n    return margins(row)[0]\n";
    case Link::exponential:
      return text + "    \"\"\"TARGET, as expected.\"\"\"\n    return math.exp(margins(row)[0])\n";
    case Link::softmax:
      return text +
             "    \"\"\"The label of the largest margin.\"\"\"\n    all_margins = margins(row)\n"
             "    return LABELS[all_margins.index(max(all_margins))]\n";
    case Link::sign:
    case Link::probability:
      break;
  }
  return text +
         "    \"\"\"The label that the margin's sign says.\"\"\"\n    return LABELS[margins(row)[0] >= 0]\n";
}

// ---- C ----

void require_c_name(const std::string& name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_' ||
      !std::all_of(name.begin(), name.end(), is_letter))
    throw InputError(
        fmt::format("name = {}: must begin with a letter, and hold letters, digits and _ only", name));
}

std::string c_code(const FittedModel& model, const ModelTerms& terms, const std::string& name) {
  require_c_name(name);
  const std::size_t columns = terms.columns.size();
  const auto outputs = static_cast<std::size_t>(terms.outputs());
  std::string text = fmt::format(
      "/* {}. x holds a row, in the order of {}_columns; a missing value is NAN. */\n#include <math.h>\n\n"
      "const char *const {}_target = {};\n",
      origin(model), name, name, c_string(model.target_name));
  text += fmt::format("const char *const {}_columns[{}] = {{\n", name, columns);
  for (const ModelTerm& column : terms.columns) text += fmt::format("    {},\n", c_string(column.name));
  text += "};\n";
  if (model.labels)
    text += fmt::format("const double {}_labels[{}] = {{{}}};\n", name, model.labels->classes(),
                        fmt::join(label_literals(*model.labels), ", "));
  text +=
      fmt::format("\nstatic const struct {{\n    double fill, centre, weight[{}];\n}} {}_terms[{}] = {{\n",
                  outputs, name, columns);
  for (const ModelTerm& column : terms.columns)
    text += fmt::format("    {{{}, {}, {{{}}}}},\n", column.fill ? literal(*column.fill) : "NAN",
                        literal(column.centre), literals(column.weight));
  text += fmt::format(R"(}};

/* What the columns add up to, one number for each output. */
void {0}_margins(const double x[{1}], double margin[{2}]) {{
    static const double intercept[{2}] = {{{3}}};
    for (int k = 0; k < {2}; ++k) margin[k] = intercept[k];
    for (int j = 0; j < {1}; ++j) {{
        const double value = isnan(x[j]) ? {0}_terms[j].fill : x[j];
        for (int k = 0; k < {2}; ++k) margin[k] += {0}_terms[j].weight[k] * (value - {0}_terms[j].centre);
    }}
}}
)",
                      name, columns, outputs, literals(terms.intercept));
  const Link link = model.link();
  if (link == Link::identity || link == Link::exponential)
    return text + fmt::format(R"(
/* The target, as expected. */
double {0}(const double x[{1}]) {{
    double margin[1];
    {0}_margins(x, margin);
    return {2};
}}
)",
                              name, columns, link == Link::identity ? "margin[0]" : "exp(margin[0])");
  const auto classes = static_cast<std::size_t>(model.labels->classes());
  text += fmt::format(R"(
/* The place in {0}_labels of the label predicted. */
int {0}(const double x[{1}]) {{
    double margin[{2}];
    {0}_margins(x, margin);
)",
                      name, columns, outputs);
  text += link == Link::softmax ? fmt::format(R"(    int largest = 0;
    for (int k = 1; k < {}; ++k)
        if (margin[k] > margin[largest]) largest = k;
    return largest;
}}
)",
                                              outputs)
                                : "    return margin[0] >= 0.0;\n}\n";
  if (link == Link::sign) return text;
  return text +
         fmt::format(
             R"(
/* The probability of each of {0}_labels. */
void {0}_probabilities(const double x[{1}], double probability[{2}]) {{
    double largest = 0.0, sum = 0.0;
{3}    for (int k = 0; k < {2}; ++k) largest = k == 0 || probability[k] > largest ? probability[k] : largest;
    for (int k = 0; k < {2}; ++k) sum += probability[k] = exp(probability[k] - largest);
    for (int k = 0; k < {2}; ++k) probability[k] /= sum;
}}
)",
             name, columns, classes,
             link == Link::softmax
                 ? fmt::format("    {}_margins(x, probability);\n", name)
                 : fmt::format("    probability[0] = 0.0;\n    {}_margins(x, probability + 1);\n", name));
}

// ---- SQL ----

/// Terms in groups: a sum of thousands in one row would be deeper than databases allow.
std::string sql_sum(const std::vector<std::string>& terms, const std::string& indent) {
  constexpr std::size_t kGroup = 64;
  std::string text;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool begins = i % kGroup == 0;
    text += begins ? fmt::format("{}\n{}({}", i == 0 ? "" : ") +", indent, terms[i])
                   : fmt::format("\n{} + {}", indent, terms[i]);
  }
  return text + ")";
}

std::string sql_margin(const ModelTerms& terms, Index output, const std::string& indent) {
  std::vector<std::string> parts = {literal(terms.intercept[output])};
  for (const ModelTerm& column : terms.columns) {
    const double weight = column.weight[output];
    if (weight == 0.0) continue;
    std::string value = fmt::format("CAST({} AS DOUBLE PRECISION)", sql_name(column.name));
    if (column.fill) value = fmt::format("COALESCE({}, {})", value, literal(*column.fill));
    if (column.centre != 0.0)
      value =
          fmt::format("({} {} {})", value, column.centre < 0.0 ? "+" : "-", literal(std::abs(column.centre)));
    parts.push_back(fmt::format("{} * {}", literal(weight), value));
  }
  return sql_sum(parts, indent);
}

/// A name that no column has.
std::string free_name(const ModelTerms& terms, std::string name) {
  const auto is_taken = [&](const ModelTerm& column) { return column.name == name; };
  while (std::any_of(terms.columns.begin(), terms.columns.end(), is_taken)) name += "_";
  return sql_name(name);
}

std::string sql_code(const FittedModel& model, const ModelTerms& terms, const std::string& table) {
  if (table.empty()) throw InputError("name = : must be the name of a table");
  if (!terms.has_names)
    throw InputError(
        "the columns of this model have no names, which SQL needs: train it on a file that has them");
  std::string text = fmt::format("-- {}, as a query of the table of rows.\n", origin(model));
  const Link link = model.link();
  if (link == Link::identity || link == Link::exponential) {
    const std::string sum = sql_margin(terms, 0, "    ");
    return text + fmt::format("SELECT {0}.*, {1} AS {2}\nFROM {0};\n", sql_name(table),
                              link == Link::identity ? sum : fmt::format("exp({})", sum),
                              free_name(terms, "prediction"));
  }
  const std::vector<std::string> labels = label_literals(*model.labels);
  std::vector<std::string> margin;
  std::string sums;
  for (Index k = 0; k < terms.outputs(); ++k) {
    margin.push_back(free_name(terms, terms.outputs() > 1 ? fmt::format("margin_{}", k) : "margin"));
    sums += fmt::format(",{} AS {}", sql_margin(terms, k, "    "), margin.back());
  }
  const std::string inner = free_name(terms, "margins");
  text += fmt::format("WITH {} AS (\n  SELECT {}.*{}\n  FROM {}\n)\nSELECT {}.*,\n", inner, sql_name(table),
                      sums, sql_name(table), inner);
  if (link == Link::softmax) {
    std::string cases;
    for (std::size_t k = 0; k + 1 < margin.size(); ++k) {
      std::string condition;
      for (std::size_t other = 0; other < margin.size(); ++other)
        if (other != k)
          condition += fmt::format("{}{} >= {}", condition.empty() ? "" : " AND ", margin[k], margin[other]);
      cases += fmt::format(" WHEN {} THEN {}", condition, labels[k]);
    }
    text += fmt::format("  CASE{} ELSE {} END AS {}", cases, labels.back(), free_name(terms, "label"));
    for (std::size_t k = 0; k < margin.size(); ++k) {
      std::string sum;
      for (const std::string& other : margin)
        sum += fmt::format("{}exp({} - {})", sum.empty() ? "" : " + ", other, margin[k]);
      text += fmt::format(",\n  1.0 / ({}) AS {}", sum, free_name(terms, fmt::format("probability_{}", k)));
    }
  } else {
    text += fmt::format("  CASE WHEN {} >= 0.0 THEN {} ELSE {} END AS {}", margin[0], labels[1], labels[0],
                        free_name(terms, "label"));
    if (link == Link::probability)
      text += fmt::format(
          ",\n  CASE WHEN {0} >= 0.0 THEN 1.0 / (1.0 + exp(-{0})) ELSE exp({0}) / (1.0 + exp({0})) END AS "
          "{1}",
          margin[0], free_name(terms, "probability"));
  }
  return text + fmt::format("\nFROM {};\n", inner);
}

}  // namespace

CodeLanguage parse_code_language(std::string_view text) {
  static const std::vector<std::string> names = {"python", "c", "sql", "onnx"};
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) refuse_unknown("export", text, names, "must be python, c, sql or onnx");
  return static_cast<CodeLanguage>(found - names.begin());
}

std::string model_code(const FittedModel& model, CodeLanguage language, const std::string& name) {
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
