#include "data/csv_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "data/field.hpp"
#include "yosida/utf8.hpp"

namespace yosida::csv {
namespace {

std::string_view broken_rule(double number, Role role, Missing missing) {
  if (std::isnan(number) && missing != Missing::drop && (role == Role::weight || role == Role::fold))
    return "must be a number; tune --missing drop leaves out such rows";
  return yosida::broken_rule(number, role == Role::target, missing);
}

/// A level whose number elsewhere is another; NaN and what is no level stay as they are.
void renumber(double& code, const std::vector<double>& number) {
  if (code >= 0.0) code = number[static_cast<std::size_t>(code)];
}

}  // namespace

std::string_view words(Role role) {
  constexpr std::string_view all[] = {"feature",         "target column", "column of weights",
                                      "column of folds", "id column",     "column to ignore"};
  return all[static_cast<std::size_t>(role)];
}

void Table::append(Table& part, const Layout& layout) {
  const auto count = static_cast<std::size_t>(part.rows * layout.features);
  for (std::size_t field = 0; field < layout.slot.size(); ++field) {
    if (layout.slot[field] < 0) continue;
    const auto slot = static_cast<std::size_t>(layout.slot[field]);
    const std::vector<double>& number = levels[slot].take_over(part.levels[slot]);
    if (layout.role[field] == Role::target || layout.role[field] == Role::fold) {
      for (double& code : layout.role[field] == Role::target ? part.y : part.fold) renumber(code, number);
      continue;
    }
    double* code = part.values.data() + layout.place[field];
    for (Index row = 0; row < part.rows; ++row) renumber(code[row * layout.features], number);
  }
  std::copy_n(part.values.data(), count, values.append(count));
  y.insert(y.end(), part.y.begin(), part.y.end());
  weight.insert(weight.end(), part.weight.begin(), part.weight.end());
  fold.insert(fold.end(), part.fold.begin(), part.fold.end());
  id.insert(id.end(), part.id.begin(), part.id.end());
  rows += part.rows;
}

void Table::drop_rows() {
  values.clear();
  y.clear();
  weight.clear();
  fold.clear();
  id.clear();
  rows = 0;
}

void Table::clear() {
  drop_rows();
  for (Levels& each : levels) each.forget_counts();
}

void RowReader::read_quoted_row(const Record& record, double* out) {
  const std::vector<std::string> fields = layout_.split(record);
  const auto columns = static_cast<std::size_t>(layout_.columns);
  if (fields.size() < columns ||
      !std::all_of(fields.begin() + static_cast<std::ptrdiff_t>(columns), fields.end(),
                   [](const std::string& extra) { return extra.empty(); }))
    throw layout_.ragged(record, layout_.columns);
  for (Index field = 0; field < layout_.columns; ++field)
    out = store(value_of(fields[static_cast<std::size_t>(field)], field), field, out);
}

void RowReader::store_apart(double number, Index field) {
  switch (layout_.role[static_cast<std::size_t>(field)]) {
    case Role::target:
      table_.y.push_back(number);
      break;
    case Role::weight:
      if (number < 0.0)
        throw InputError(refused(fmt::format("{}", number), field, "a row's weight must be >= 0"));
      table_.weight.push_back(number);
      break;
    case Role::fold:
      table_.fold.push_back(number);
      break;
    case Role::feature:
    case Role::id:
    case Role::ignored:
      break;
  }
}

double RowReader::value_of(std::string_view text, Index field) {
  const auto at = static_cast<std::size_t>(field);
  if (layout_.role[at] == Role::ignored) return 0.0;
  if (layout_.role[at] == Role::id) {
    table_.id.emplace_back(text);
    return 0.0;
  }
  return layout_.slot[at] >= 0 ? level_of(text, field) : number_of(text, field);
}

double RowReader::level_of(std::string_view text, Index field) {
  const auto at = static_cast<std::size_t>(field);
  const bool is_target = layout_.role[at] == Role::target;
  Levels& levels = table_.levels[static_cast<std::size_t>(layout_.slot[at])];
  if (field::is_missing(text)) {
    if (layout_.missing == Missing::drop) return std::numeric_limits<double>::quiet_NaN();
    if (layout_.role[at] != Role::feature)
      throw InputError(refused(text, field, broken_rule(std::nan(""), layout_.role[at], layout_.missing)));
    text = {};
  } else if (!utf8::is_valid(text)) {
    throw NotUtf8(refused("text", field, "must be UTF-8; iconv -f latin1 -t utf-8 converts the file"));
  }
  const double code = levels.code_of(text);
  if (code == Levels::kUnseen && (is_target || layout_.refuses_unseen))
    throw InputError(
        refused(text, field,
                fmt::format("must be one of the {} {} it was trained with: {}", levels.texts().size(),
                            is_target ? "classes" : "levels", comma_separated(levels.texts()))));
  return code;
}

double RowReader::number_of(std::string_view text, Index field) const {
  const FieldKind& kind = layout_.kind[static_cast<std::size_t>(field)];
  const Role role = layout_.role[static_cast<std::size_t>(field)];
  std::optional<double> number;
  std::string_view what = "a number";
  std::string with_unit;
  if (field::is_missing(text)) {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (kind.kind == ColumnKind::boolean) {
    number = field::boolean(text);
    what = "true or false";
  } else if (kind.kind == ColumnKind::date) {
    number = field::date(text, kind.order);
    what = "a date or a time as the others of its column are";
  } else {
    // A model does not keep the unit of its target, so any unit will do: nobody adds targets to anything.
    const bool may_have_unit = !kind.unit.empty() || (role == Role::target && !layout_.gives_hints);
    const field::Measured found = may_have_unit ? field::without_unit(text) : field::Measured{text, {}};
    const bool has_right_unit = kind.unit.empty() || found.unit == kind.unit;
    if (has_right_unit && layout_.decimal != ',') number = parse_number(found.number);
    if (has_right_unit && !number) number = field::number(found.number, layout_.decimal);
    if (number && found.is_negative) *number = -*number;
    if (!kind.unit.empty()) what = with_unit = fmt::format("a number in {}", kind.unit);
  }
  if ((!number || std::isinf(*number)) && kind.is_forced) number = std::numeric_limits<double>::quiet_NaN();
  if (!number) {
    std::string rule = fmt::format("must be {}", what);
    if (role == Role::feature && layout_.gives_hints)
      rule += fmt::format("; --categorical {0} takes its column for text, --ignore {0} passes over it",
                          word_of_list(layout_.name_of(field), static_cast<std::size_t>(field)));
    if (role == Role::feature && !layout_.gives_hints && kind.kind == ColumnKind::number &&
        layout_.missing == Missing::mean)
      rule += fmt::format("; --numeric {} reads such text as a missing value",
                          word_of_list(layout_.name_of(field), static_cast<std::size_t>(field)));
    const char other_mark = layout_.decimal == ',' ? '.' : ',';
    if (!layout_.gives_hints && kind.kind == ColumnKind::number && field::number(text, other_mark))
      rule += fmt::format(" (with --decimal {} it is one)", other_mark);
    throw UnexpectedText(refused(text, field, rule));
  }
  const std::string_view rule = broken_rule(*number, role, layout_.missing);
  if (rule.empty()) return *number;
  if (role == Role::feature || role == Role::target) throw UnexpectedText(refused(text, field, rule));
  throw InputError(refused(text, field, rule));
}

std::string RowReader::refused(std::string_view text, Index field, std::string_view rule) const {
  const auto at = static_cast<std::size_t>(field);
  return refused_field(layout_.source, line_, at, layout_.names.empty() ? "" : layout_.names[at], text, rule);
}

}  // namespace yosida::csv
