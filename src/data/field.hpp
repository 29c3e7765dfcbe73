#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "yosida/data/dataset.hpp"

// What the text of one field of a table may be.
namespace yosida::field {

/// An empty field, and what people and programs write for one. "nan" is a number that is none.
inline constexpr std::array<std::string_view, 31> kMissing = {
    "",      "?",      "-",       "--",      ".",       "NA",      "na",      "N/A",
    "n/a",   "N.A.",   "n.a.",    "#N/A",    "#NA",     "<NA>",    "NaT",     "NULL",
    "Null",  "null",   "None",    "none",    "#NULL!",  "#DIV/0!", "#VALUE!", "#REF!",
    "#NUM!", "#NAME?", "missing", "Missing", "MISSING", "(null)",  "k.A."};
bool is_missing(std::string_view text);

/// What orders of dates are called, by DateOrder.
inline constexpr std::array<std::string_view, 3> kOrderNames = {"year-month-day", "day-month-year",
                                                                "month-day-year"};
/// What the months are called in English and in German, by small letters.
inline constexpr std::array<std::string_view, 12> kMonths = {"jan january januar jänner",
                                                             "feb february februar",
                                                             "mar march mär mrz märz",
                                                             "apr april",
                                                             "may mai",
                                                             "jun june juni",
                                                             "jul july juli",
                                                             "aug august",
                                                             "sep sept september",
                                                             "oct october okt oktober",
                                                             "nov november",
                                                             "dec december dez dezember"};

/// A field without its unit, and the unit: of "1.234,56 €" and of "€ 1.234,56" the sign of the euro, of "12
/// kg" what stands behind the number. It is empty where the field has none.
struct Measured {
  std::string_view number, unit;
  bool is_negative = false;  // a sign or parentheses stood around the unit: "-$5", "($5)"
  bool is_strange = false;   // the unit is none of those known: it may be a part of a name ("12b")
};
Measured without_unit(std::string_view text);

/// The unit of a column of numbers. It stands where a category has its levels.
inline std::string unit_of(const TableColumn& column) {
  return column.kind == ColumnKind::category || column.levels.empty() ? "" : column.levels.front();
}

/// A number with this decimal mark; the other one of . and , or spaces or apostrophes may separate thousands,
/// in groups of three digits, or as in India (1,23,456). 0: as programs write it, or whole with spaces or
/// apostrophes between its groups, which means the same with either mark. A negative one may be written -5,
/// −5 (by the sign of mathematics), 5- or (5), an exponent 1e+02 or 1.0D+02.
std::optional<double> number(std::string_view text, char decimal);

/// true and false, in any case.
std::optional<double> boolean(std::string_view text);

/// Days since 1970-01-01 of a date in this order (2024-01-31, 31.1.2024, 1/31/2024, 1/31/24), or in any order
/// where its month has a name (31 Jan 2024, January 31, 2024), with a time of day behind it or not, and a
/// zone behind that; or the part of a day that a time alone is (13:45, 1:45 PM).
std::optional<double> date(std::string_view text, DateOrder order);

}  // namespace yosida::field
