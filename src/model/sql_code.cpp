#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/field.hpp"
#include "model/code_text.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

std::string doubled(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) result += c == quote ? std::string(2, quote) : std::string(1, c);
  return result + quote;
}

/// A delimited identifier of standard SQL.
std::string name_of(std::string_view text) { return doubled(text, '"'); }
/// A string of standard SQL.
std::string string_literal(std::string_view text) { return doubled(text, '\''); }

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// A column of the table.
std::string field_of(const ModelTerm& term, const std::string& table) {
  return fmt::format("{}.{}", name_of(table), name_of(term.column.name));
}

/// The field as text; a missing one is ''.
std::string text_of(const ModelTerm& term, const std::string& table) {
  return fmt::format("COALESCE(TRIM(CAST({} AS VARCHAR)), '')", field_of(term, table));
}

/// "'nan', '', 'NA', ...": what stands for a missing field.
std::string missing_texts() {
  std::string all = "'nan', 'NaN'";
  for (const std::string_view mark : field::kMissing) all += ", " + string_literal(mark);
  return all;
}

/// Ends a subquery whose columns are used several times. SQLite would else write each of them out wherever it
/// is used: three dates and three classes then take gigabytes. PostgreSQL keeps such a subquery apart, too.
constexpr std::string_view kAsOneRow = " LIMIT 1 OFFSET 0";
constexpr std::string_view kAsAllRows = "LIMIT 9223372036854775807 OFFSET 0";

/// Days since 1970-01-01 as field::date has them, of a text or of a column of type DATE or TIMESTAMP, whose
/// text has the year first. NULL of anything else, and of a zone that is not UTC. Parts a, b, c stand before
/// marks, w is a time. No division leaves a rest, because databases differ in what they make of it.
std::string date_of(const ModelTerm& term, const std::string& table) {
  const bool is_month_first = term.column.order == DateOrder::month_day_year;
  const bool has_year_last = term.column.order != DateOrder::year_month_day;
  return fmt::format(
      R"sql((SELECT CASE WHEN mark = ':' THEN 0
        ELSE 365 * y + (y - y % 4) / 4 - (y - y % 100) / 100 + (y - y % 400) / 400 + before + day - 719469 END
        + CASE WHEN w = '' THEN 0.0
          ELSE (CAST(SUBSTR(w, 1, h) AS INTEGER) + (CAST(SUBSTR(w, h + 2, 2) AS INTEGER) + s / 60.0) / 60.0) / 24.0 END
      FROM (SELECT mark, w, h, y - CASE WHEN m <= 2 THEN 1 ELSE 0 END AS y, CASE WHEN day BETWEEN 1 AND 31 THEN day END AS day,
          CASE m WHEN 1 THEN 306 WHEN 2 THEN 337 WHEN 3 THEN 0 WHEN 4 THEN 31 WHEN 5 THEN 61 WHEN 6 THEN 92
            WHEN 7 THEN 122 WHEN 8 THEN 153 WHEN 9 THEN 184 WHEN 10 THEN 214 WHEN 11 THEN 245 WHEN 12 THEN 275 END AS before,
          CASE WHEN LENGTH(w) = h + 3 THEN 0.0 WHEN SUBSTR(w, h + 4, 1) = ':' AND w NOT LIKE '%+%' AND w NOT LIKE '%-%'
            THEN CAST(SUBSTR(w, h + 5) AS DOUBLE PRECISION) END AS s
      FROM (SELECT mark, w, CASE WHEN SUBSTR(w, 2, 1) = ':' THEN 1 WHEN SUBSTR(w, 3, 1) = ':' THEN 2 END AS h,
          CASE WHEN n = 4 THEN a{1} END AS y, CASE WHEN n = 4 THEN b ELSE {2} END AS m, CASE WHEN n = 4 THEN c ELSE {3} END AS day
      FROM (SELECT mark, n, a, b, n3, CASE WHEN mark <> ':' THEN CAST(SUBSTR(r, 1, n3) AS INTEGER) END AS c,
          CASE WHEN mark = ':' THEN d WHEN r LIKE '%Z' THEN SUBSTR(r, n3 + 2, LENGTH(r) - n3 - 2)
            WHEN r LIKE '%+00' THEN SUBSTR(r, n3 + 2, LENGTH(r) - n3 - 4) ELSE SUBSTR(r, n3 + 2) END AS w
      FROM (SELECT d, mark, n, a, b, r, CASE WHEN SUBSTR(r, 2, 1) NOT BETWEEN '0' AND '9' THEN 1
          WHEN SUBSTR(r, 3, 1) NOT BETWEEN '0' AND '9' THEN 2 ELSE 4 END AS n3
      FROM (SELECT d, mark, n, a, CASE WHEN mark <> ':' THEN CAST(SUBSTR(q, 1, n2) AS INTEGER) END AS b, SUBSTR(q, n2 + 2) AS r
      FROM (SELECT d, mark, n, q, CASE WHEN mark <> ':' THEN CAST(SUBSTR(d, 1, n) AS INTEGER) END AS a,
          CASE WHEN SUBSTR(q, 2, 1) BETWEEN '0' AND '9' THEN 2 ELSE 1 END AS n2
      FROM (SELECT d, n, SUBSTR(d, n + 1, 1) AS mark, SUBSTR(d, n + 2) AS q
      FROM (SELECT d, CASE WHEN SUBSTR(d, 2, 1) IN ('-', '/', '.', ':') THEN 1 WHEN SUBSTR(d, 3, 1) IN ('-', '/', '.', ':') THEN 2
          WHEN SUBSTR(d, 5, 1) IN ('-', '/', '.') THEN 4 END AS n
      FROM (SELECT {0} AS d{4}) AS p1{4}) AS p2{4}) AS p3{4}) AS p4{4}) AS p5{4}) AS p6{4}) AS p7{4}) AS p8{4}) AS p9))sql",
      text_of(term, table),
      has_year_last ? " WHEN n3 = 2 THEN c + CASE WHEN c < 69 THEN 2000 ELSE 1900 END WHEN n3 = 4 THEN c"
                    : "",
      is_month_first ? "a" : "b", is_month_first ? "b" : "a", kAsOneRow);
}

/// The number of a field, with what stands for a missing one.
std::string number_of(const ModelTerm& term, const std::string& table) {
  const std::string missing = fmt::format("CASE WHEN {} IN ({}) THEN {}", text_of(term, table),
                                          missing_texts(), term.fill ? literal(*term.fill) : "NULL");
  switch (term.column.kind) {
    case ColumnKind::boolean:
      return fmt::format(
          "{0} WHEN LOWER({1}) IN ('true', '1') THEN 1.0 WHEN LOWER({1}) IN ('false', '0') THEN 0.0 END",
          missing, text_of(term, table));
    case ColumnKind::date:
      return fmt::format("{} ELSE {} END", missing, date_of(term, table));
    case ColumnKind::number:
    case ColumnKind::category:
      break;
  }
  return fmt::format("{} ELSE CAST({} AS DOUBLE PRECISION) END", missing, field_of(term, table));
}

/// What a level adds; nothing where the weights of all levels are 0.
std::string level_of(const ModelTerm& term, Index output, const std::string& table) {
  std::string cases;
  for (Index k = 0; k < term.of_level.rows(); ++k) {
    const double weight = term.of_level(k, output);
    const std::string& level = term.column.levels[static_cast<std::size_t>(k)];
    if (weight != 0.0)
      cases += fmt::format(" WHEN d {} THEN {}",
                           level.empty() ? fmt::format("IN ({})", missing_texts())
                                         : "= " + string_literal(without_blanks(level)),
                           literal(weight));
  }
  if (cases.empty()) return "";
  return fmt::format("(SELECT CASE{} ELSE 0.0 END FROM (SELECT {} AS d{}) AS p1)", cases,
                     text_of(term, table), kAsOneRow);
}

/// Terms in groups: a sum of thousands in one row would be deeper than databases allow.
std::string sum_of(const std::vector<std::string>& terms, const std::string& indent) {
  constexpr std::size_t kGroup = 64;
  std::string text;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool begins = i % kGroup == 0;
    text += begins ? fmt::format("{}\n{}({}", i == 0 ? "" : ") +", indent, terms[i])
                   : fmt::format("\n{} + {}", indent, terms[i]);
  }
  return text + ")";
}

std::string margin_of(const ModelTerms& terms, Index output, const std::string& table,
                      const std::string& indent) {
  std::vector<std::string> parts = {literal(terms.intercept[output])};
  for (const ModelTerm& term : terms.columns) {
    if (term.is_category()) {
      if (std::string level = level_of(term, output, table); !level.empty())
        parts.push_back(std::move(level));
      continue;
    }
    const double weight = term.weight[output];
    if (weight == 0.0) continue;
    parts.push_back(fmt::format("{} * ({} {} {})", literal(weight), number_of(term, table),
                                term.centre < 0.0 ? "+" : "-", literal(std::abs(term.centre))));
  }
  return sum_of(parts, indent);
}

/// A name that no column has.
std::string free_name(const ModelTerms& terms, std::string name) {
  const auto is_taken = [&](const ModelTerm& term) { return term.column.name == name; };
  while (std::any_of(terms.columns.begin(), terms.columns.end(), is_taken)) name += "_";
  return name_of(name);
}

std::vector<std::string> label_literals(const Labels& labels) {
  std::vector<std::string> all;
  for (const std::string& name : labels.names) all.push_back(string_literal(name));
  if (all.empty())
    for (const double value : labels.values) all.push_back(literal(value));
  return all;
}

}  // namespace

std::string sql_code(const FittedModel& model, const ModelTerms& terms, const std::string& table) {
  if (table.empty()) throw InputError("name = : must be the name of a table");
  if (!terms.has_names)
    throw InputError(
        "the columns of this model have no names, which SQL needs: train it on a file that has them");
  std::string text = fmt::format("-- {}, as a query of the table of rows.\n", origin(model));
  const Link link = model.link();
  if (link == Link::identity || link == Link::exponential) {
    const std::string sum = margin_of(terms, 0, table, "    ");
    return text + fmt::format("SELECT {0}.*, {1} AS {2}\nFROM {0};\n", name_of(table),
                              link == Link::identity ? sum : fmt::format("exp({})", sum),
                              free_name(terms, "prediction"));
  }
  const std::vector<std::string> labels = label_literals(*model.labels);
  std::vector<std::string> margin;
  std::string sums;
  for (Index k = 0; k < terms.outputs(); ++k) {
    margin.push_back(free_name(terms, terms.outputs() > 1 ? fmt::format("margin_{}", k) : "margin"));
    sums += fmt::format(",{} AS {}", margin_of(terms, k, table, "    "), margin.back());
  }
  const std::string inner = free_name(terms, "margins");
  text += fmt::format("WITH {} AS (\n  SELECT {}.*{}\n  FROM {}\n  {}\n)\nSELECT {}.*,\n", inner,
                      name_of(table), sums, name_of(table), kAsAllRows, inner);
  const std::vector<std::string> names = probability_names(model);
  if (link == Link::softmax) {
    std::string cases;
    for (std::size_t k = 0; k + 1 < margin.size(); ++k) {
      std::string condition;
      for (std::size_t other = 0; other < margin.size(); ++other)
        if (other != k)
          condition += fmt::format("{}{} >= {}", condition.empty() ? "" : " AND ", margin[k], margin[other]);
      cases += fmt::format(" WHEN {} THEN {}", condition, labels[k]);
    }
    // Where something is missing there is no margin, and no label.
    text += fmt::format("  CASE WHEN {} IS NULL THEN NULL{} ELSE {} END AS {}", margin[0], cases,
                        labels.back(), free_name(terms, "label"));
    for (std::size_t k = 0; k < margin.size(); ++k) {
      std::string sum;
      for (const std::string& other : margin)
        sum += fmt::format("{}exp({} - {})", sum.empty() ? "" : " + ", other, margin[k]);
      text += fmt::format(",\n  1.0 / ({}) AS {}", sum, free_name(terms, names[k]));
    }
  } else {
    text += fmt::format("  CASE WHEN {0} >= 0.0 THEN {1} WHEN {0} < 0.0 THEN {2} END AS {3}", margin[0],
                        labels[1], labels[0], free_name(terms, "label"));
    const auto share = [&](std::string_view sign, const std::string& name) {
      return fmt::format(
          ",\n  CASE WHEN {0} >= 0.0 THEN {1} / (1.0 + exp(-{0})) ELSE {2} / (1.0 + exp({0})) END AS {3}",
          margin[0], sign == "+" ? "1.0" : fmt::format("exp(-{})", margin[0]),
          sign == "+" ? fmt::format("exp({})", margin[0]) : "1.0", free_name(terms, name));
    };
    if (names.size() == 2) text += share("-", names[0]);
    if (!names.empty()) text += share("+", names.back());
  }
  return text + fmt::format("\nFROM {};\n", inner);
}

}  // namespace yosida
