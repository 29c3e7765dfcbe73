#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "data/field.hpp"
#include "model/code_text.hpp"

namespace yosida {
namespace {

/// A string of Python, in ASCII and UTF-8.
std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (is_plain_character(c) || static_cast<unsigned char>(c) >= 0x80)
      result += c;
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + "\"";
}

std::string string_literals(const auto& texts) {
  std::string result;
  for (const auto& text : texts) result += (result.empty() ? "" : ", ") + string_literal(text);
  return result;
}

/// Numbers as the reader of tables reads them: field::number.
constexpr std::string_view kNumber = R"code(
def number(text, unit=""):
    """A number with this unit in front of it or behind it; thousands may stand apart."""
    if unit and text.startswith(unit):
        text = text[len(unit):].strip()
    elif unit and text.endswith(unit):
        text = text[:-len(unit)].strip()
    elif unit:
        raise ValueError(f"must be a number with the unit {{unit}}")
    if not re.fullmatch(r"[+-]?(\d{{1,3}}([{0}' \u00a0\u202f])\d{{3}}(\2\d{{3}})*|\d*)([{1}]\d*)?([eE][+-]?\d+)?", text):
        raise ValueError("must be a number")
    return float(re.sub(r"[{0}' \u00a0\u202f]", "", text){2})

)code";

/// What stands in a column whose other text is a missing value.
constexpr std::string_view kNumberOr = R"code(
def number_or(fill, text, unit=""):
    """A number; what stands for a missing value where the text is none."""
    try:
        return number(text, unit)
    except ValueError:
        return fill

)code";

/// field::boolean.
constexpr std::string_view kBoolean = R"code(
def boolean(text):
    """1 for true, 0 for false."""
    if text.lower() not in ("true", "false"):
        raise ValueError("must be true or false")
    return float(text.lower() == "true")

)code";

/// What field::date makes of a month that has a name; `months` lists the names.
constexpr std::string_view kNamedDate = R"code(
MONTHS = [{months}]
MARK, NAME = r"[ .,/-]{{1,2}}", r"(?P<month>[^\W\d_]+)"
NAMED_DATES = [
    rf"(?P<day>\d{{{{1,2}}}}){{MARK}}{{NAME}}{{MARK}}(?P<year>\d{{{{4}}}}|\d{{{{2}}}})(?!\d)",
    rf"{{NAME}}{{MARK}}(?P<day>\d{{{{1,2}}}}){{MARK}}(?P<year>\d{{{{4}}}})(?!\d)",
    rf"(?P<year>\d{{{{4}}}}){{MARK}}{{NAME}}{{MARK}}(?P<day>\d{{{{1,2}}}})(?!\d)",
]


def with_number(text):
    """A date with the name of its month as one with its number, the year first; anything else as it is."""
    for form in NAMED_DATES:
        found = re.match(form, text)
        month = [k for k, names in enumerate(MONTHS, 1) if found and found["month"].lower() in names.split()]
        if month:
            year = int(found["year"])
            if len(found["year"]) == 2:
                year += 2000 if year < 69 else 1900
            return f"{{year:04}}-{{month[0]}}-{{found['day']}}{{text[found.end():]}}"
    return text

)code";

/// field::date.
constexpr std::string_view kDate = R"code(
TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d*)?))?(?: ?(?P<half>[AaPp])(?:[Mm]|\.[Mm]\.?))?"
ZONE = r" ?(?:[Zz]|UTC|GMT|(?P<sign>[+-])(?P<ahead>\d{2})(?::?(?P<rest>\d{2}))?)?"
DATES = {
    "year-month-day": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
    "day-month-year": r"(?P<day>\d{1,2})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
    "month-day-year": r"(?P<month>\d{1,2})(?P<mark>[-/.])(?P<day>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
}


def days(text, order):
    """Days since 1970-01-01, with a time of day as a part of a day; of a time alone, that part."""
    if with_number(text) != text:
        text, order = with_number(text), "year-month-day"
    found = re.fullmatch(TIME, text) or re.fullmatch(f"{DATES[order]}(?:[T ]{TIME}{ZONE})?", text)
    if not found:
        raise ValueError(f"must be a date in the order {order}, or a time")
    part = {key: value for key, value in found.groupdict().items() if value}
    hour = int(part.get("hour", 0))
    if "half" in part:
        if not 1 <= hour <= 12:
            raise ValueError("an hour before AM or PM must be from 1 to 12")
        hour = hour % 12 + (12 if part["half"] in "Pp" else 0)
    time = (hour + (int(part.get("minute", 0)) + float(part.get("second", 0)) / 60) / 60) / 24
    if "year" not in part:
        return time
    year = int(part["year"])
    if len(part["year"]) == 2:
        year += 2000 if year < 69 else 1900
    day = datetime.date(year, int(part["month"]), int(part["day"])).toordinal() - 719163
    zone = (int(part.get("ahead", 0)) + int(part.get("rest", 0)) / 60) / 24
    return day + time - (-zone if part.get("sign") == "-" else zone)

)code";

std::string reader_of(const ModelTerm& term) {
  const TableColumn& column = term.column;
  switch (column.kind) {
    case ColumnKind::boolean:
      return "boolean";
    case ColumnKind::date:
      return fmt::format("lambda text: days(text, \"{}\")",
                         field::kOrderNames[static_cast<std::size_t>(column.order)]);
    case ColumnKind::number:
    case ColumnKind::category:
      break;
  }
  const std::string unit = field::unit_of(column);
  if (term.ignores_text())
    return fmt::format("lambda text: number_or({}, text, {})", literal(*term.fill), string_literal(unit));
  return unit.empty() ? "number" : fmt::format("lambda text: number(text, {})", string_literal(unit));
}

std::string margins_code(bool has_dates, bool has_categories) {
  std::string text = fmt::format("MISSING = {{{}}}\n", string_literals(field::kMissing));
  text += R"code(

def is_missing(value):
    text = str(value).strip()
    return text in MISSING or text.lower() in ("nan", "nat")


def values_of(row):
    """By the names of COLUMNS."""
    if hasattr(row, "keys"):
        return row
    if len(row) != len(COLUMNS):
        raise ValueError(f"the row has {len(row)} values: must be {len(COLUMNS)}")
    return dict(zip(COLUMNS, row))


def margins(row):
    """What the columns add up to, one number for each output."""
    sums = list(INTERCEPT)
    values = values_of(row)
    for name, read, fill, centre, weights in NUMBERS:
        value = values[name]
        if is_missing(value):
            if fill is None:
                raise ValueError(f"column {name!r} has no value, and the model knows none to stand for it")
            value = fill
)code";
  if (has_dates)
    text +=
        "        elif hasattr(value, \"isoformat\"):\n"
        "            value = days(value.isoformat(), \"year-month-day\")\n";
  text += R"code(        elif isinstance(value, str):
            try:
                value = read(value.strip())
            except ValueError as error:
                raise ValueError(f"column {name!r} is {value!r}: {error}") from None
        for k, weight in enumerate(weights):
            sums[k] += weight * (float(value) - centre)
)code";
  if (has_categories)
    text += R"code(    for name, levels in CATEGORIES:
        value = values[name]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        level = "" if is_missing(value) else str(value)
        for k, weight in enumerate(levels.get(level, levels.get(level.strip(), ()))):
            sums[k] += weight
)code";
  return text + "    return sums\n\n";
}

std::string labels_of(const FittedModel& model) {
  const Labels& labels = *model.labels;
  if (!labels.names.empty()) return string_literals(labels.names);
  return literals(Eigen::Map<const Vector>(labels.values.data(), labels.classes()));
}

std::string predict_code(Link link) {
  std::string text;
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

}  // namespace

std::string python_code(const FittedModel& model, const ModelTerms& terms) {
  const auto has = [&](ColumnKind kind) {
    return std::any_of(terms.columns.begin(), terms.columns.end(),
                       [kind](const ModelTerm& term) { return term.column.kind == kind; });
  };
  const bool has_dates = has(ColumnKind::date), has_categories = has(ColumnKind::category);
  std::string columns, numbers, categories;
  for (std::size_t j = 0; j < terms.columns.size(); ++j) {
    const ModelTerm& term = terms.columns[j];
    const std::string name = terms.has_names ? string_literal(term.column.name) : std::to_string(j);
    columns += (j == 0 ? "" : ", ") + name;
    if (term.is_category()) {
      categories += fmt::format("    ({}, {{\n", name);
      for (std::size_t k = 0; k < term.column.levels.size(); ++k)
        categories += fmt::format("        {}: [{}],\n", string_literal(term.column.levels[k]),
                                  literals(term.of_level.row(static_cast<Index>(k)).transpose()));
      categories += "    }),\n";
    } else {
      numbers +=
          fmt::format("    ({}, {}, {}, {}, [{}]),\n", name, reader_of(term),
                      term.fill ? literal(*term.fill) : "None", literal(term.centre), literals(term.weight));
    }
  }
  std::string text = fmt::format(
      "\"\"\"{}.\n\nA row is a mapping by the names of COLUMNS, or a sequence in their order. Its values "
      "are\n"
      "numbers, or texts as they stand in a file of rows.\n\"\"\"\n",
      origin(model));
  if (has_dates) text += "import datetime\n";
  text += "import math\nimport re\n\n";
  const bool is_comma = terms.decimal == ',';
  text += fmt::format(kNumber, is_comma ? '.' : ',', terms.decimal, is_comma ? ".replace(\",\", \".\")" : "");
  if (std::any_of(terms.columns.begin(), terms.columns.end(), std::mem_fn(&ModelTerm::ignores_text)))
    text += kNumberOr;
  if (has(ColumnKind::boolean)) text += kBoolean;
  if (has_dates)
    text += fmt::format(kNamedDate, fmt::arg("months", string_literals(field::kMonths))) + std::string(kDate);
  text += fmt::format("\nTARGET = {}\nCOLUMNS = [{}]\n", string_literal(model.target_name), columns);
  text += fmt::format(
      "# For each column its name, how text is read, what stands for a missing value, what is taken off, "
      "and\n"
      "# its weights.\nNUMBERS = [\n{}]\n",
      numbers);
  if (has_categories)
    text += fmt::format(
        "# For each column of text its name and the weights of each level; an unknown one adds "
        "nothing.\nCATEGORIES = [\n{}]\n",
        categories);
  text += fmt::format("INTERCEPT = [{}]\n", literals(terms.intercept));
  if (model.labels) text += fmt::format("LABELS = [{}]\n", labels_of(model));
  return text + margins_code(has_dates, has_categories) + predict_code(model.link());
}

}  // namespace yosida
