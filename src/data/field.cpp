#include "data/field.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <string>

#include "data/decimal.hpp"
#include "data/formats.hpp"

namespace yosida::field {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// The length of the separator of thousands in front; 0 where none is there. Without a decimal mark it is
/// none that could be one.
std::size_t length_of_separator(std::string_view text, char decimal) {
  const std::string_view other = decimal == '.' ? "," : decimal == ',' ? "." : " ";
  for (const std::string_view separator :
       {other, std::string_view(" "), std::string_view("'"), std::string_view("\xe2\x80\x99"),
        std::string_view("\xc2\xa0"), std::string_view("\xe2\x80\xaf")})
    if (text.starts_with(separator)) return separator.size();
  return 0;
}

std::size_t digits_at_front(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) { return decimal::is_digit(c); });
  return static_cast<std::size_t>(end - text.begin());
}

/// The digits of 1,234,567 without what separates them, taken off the front of `text`; false where groups
/// are not of three digits, or of two before the last.
bool take_groups(std::string_view& text, char decimal, std::string& digits) {
  constexpr std::size_t kGroup = 3, kIndian = 2;
  const std::size_t first = digits_at_front(text);
  digits += text.substr(0, first);
  text.remove_prefix(first);
  std::string_view separator;
  std::size_t group = 0;  // digits of those between the first and the last
  std::size_t last = kGroup;
  while (const std::size_t length = length_of_separator(text, decimal)) {
    if (!separator.empty() && !text.starts_with(separator)) return false;
    if (!separator.empty() && group != 0 && last != group) return false;
    if (!separator.empty()) group = last;
    separator = text.substr(0, length);
    text.remove_prefix(length);
    last = digits_at_front(text);
    if (last != kGroup && (last != kIndian || separator != ",")) return false;
    digits += text.substr(0, last);
    text.remove_prefix(last);
  }
  if (separator.empty()) return true;
  return last == kGroup && first > 0 && first <= (group == kIndian ? kIndian : kGroup);
}

constexpr std::string_view kMinus = "\xe2\x88\x92";  // of mathematics

/// Takes the sign of a negative number off a text: -5, −5, 5- or (5). False where there is none.
bool take_minus(std::string_view& text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  } else if (text.starts_with(kMinus)) {
    text.remove_prefix(kMinus.size());
  } else if (text.starts_with('(') && text.ends_with(')')) {
    text = text.substr(1, text.size() - 2);
  } else if (text.ends_with('-')) {
    text.remove_suffix(1);
  } else {
    return false;
  }
  return true;
}

/// A whole number of `least` to `most` digits, taken off the front.
std::optional<int> take_whole(std::string_view& text, std::size_t least, std::size_t most) {
  const std::size_t count = digits_at_front(text);
  if (count < least || count > most) return {};
  int value = 0;
  for (const char c : text.substr(0, count)) value = 10 * value + (c - '0');
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

constexpr double kHours = 24.0, kMinutes = 60.0, kSeconds = 60.0;

/// AM or PM behind an hour from 1 to 12, taken off the front; the hour of the day. Without it the hour
/// itself.
std::optional<int> take_half_of_day(std::string_view& text, int hour) {
  std::string_view rest = text;
  take(rest, ' ');
  if (rest.empty() || std::string_view("AaPp").find(rest.front()) == std::string_view::npos) return hour;
  const bool is_afternoon = rest.front() == 'P' || rest.front() == 'p';
  rest.remove_prefix(1);
  const bool has_dots = take(rest, '.');
  if (!take(rest, 'M') && !take(rest, 'm')) return hour;
  if (has_dots) take(rest, '.');
  constexpr int kNoon = 12;
  if (hour < 1 || hour > kNoon) return {};
  text = rest;
  return hour % kNoon + (is_afternoon ? kNoon : 0);
}

/// 13:45, 13:45:07, 13:45:07.25 or 1:45 PM as a part of a day, taken off the front.
std::optional<double> take_time(std::string_view& text) {
  auto hour = take_whole(text, 1, 2);
  if (!hour || !take(text, ':')) return {};
  const auto minute = take_whole(text, 2, 2);
  if (!minute || *hour > 24 || *minute > 59) return {};
  double seconds = 0.0;
  if (take(text, ':')) {
    const auto whole = take_whole(text, 2, 2);
    if (!whole || *whole > 60) return {};
    seconds = *whole;
    if (text.starts_with('.')) {
      const std::size_t length = 1 + digits_at_front(text.substr(1));
      seconds += parse_number("0" + std::string(text.substr(0, length))).value_or(0.0);
      text.remove_prefix(length);
    }
  }
  hour = take_half_of_day(text, *hour);
  if (!hour) return {};
  return (*hour + (*minute + seconds / kSeconds) / kMinutes) / kHours;
}

/// Z, +02:00 or -0530 as a part of a day, taken off the front; 0 where there is none.
std::optional<double> take_zone(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z') || text.empty()) return 0.0;
  if (text == "UTC" || text == "GMT") {
    text = {};
    return 0.0;
  }
  const bool is_behind = text.starts_with('-');
  if (!take(text, '+') && !take(text, '-')) return {};
  const bool has_colon = text.find(':') != std::string_view::npos;
  auto hours = take_whole(text, 2, has_colon ? 2 : 4);
  if (!hours) return {};
  int minutes = 0;
  if (has_colon) {
    if (!take(text, ':')) return {};
    const auto taken = take_whole(text, 2, 2);
    if (!taken) return {};
    minutes = *taken;
  } else if (*hours > 99) {
    minutes = *hours % 100;
    hours = *hours / 100;
  }
  const double ahead = (*hours + minutes / kMinutes) / kHours;
  return is_behind ? -ahead : ahead;
}

/// The days from 1970-01-01 to a date that there is.
std::optional<double> days_to(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {};
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

/// POSIX takes years of two digits this way.
int year_of_two_digits(int year) { return year + (year < 69 ? 2000 : 1900); }

/// The number of a month, whose name is taken off the front.
std::optional<int> take_month(std::string_view& text) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
  };
  std::string word;
  for (const char c : text) {
    if (!is_letter(c)) break;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (word.empty()) return {};
  for (std::size_t month = 0; month < kMonths.size(); ++month)
    for (std::string_view names = kMonths[month]; !names.empty();) {
      const std::string_view name = names.substr(0, names.find(' '));
      names.remove_prefix(std::min(name.size() + 1, names.size()));
      if (name != word) continue;
      text.remove_prefix(word.size());
      return static_cast<int>(month) + 1;
    }
  return {};
}

/// One or two of " .,-/", taken off the front.
bool take_marks(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of(" .,-/"), text.size());
  if (count < 1 || count > 2) return false;
  text.remove_prefix(count);
  return true;
}

/// The days from 1970-01-01 to a date with the name of its month, taken off the front: 3 Jan 2020, 3. Januar
/// 2020, 03-Jan-20, January 3, 2020, 2020-Jan-03.
std::optional<double> take_named_date(std::string_view& text) {
  std::string_view rest = text;
  constexpr std::size_t kYear = 4, kDay = 2;
  std::size_t length = digits_at_front(rest);
  const bool is_year_first = length == kYear;
  std::optional<int> first;
  if (length > 0) {
    first = take_whole(rest, 1, kYear);
    if (length == kYear - 1 || !first || !take_marks(rest)) return {};
  }
  const auto month = take_month(rest);
  if (!month || !take_marks(rest)) return {};
  const bool is_month_first = !first;
  if (is_month_first) {
    first = take_whole(rest, 1, kDay);
    if (!first || !take_marks(rest)) return {};
  }
  length = digits_at_front(rest);
  const auto last = take_whole(rest, 1, kYear);
  if (!last || (is_year_first ? length > kDay : length != kYear && (is_month_first || length != kDay)))
    return {};
  text = rest;
  if (is_year_first) return days_to(*first, *month, *last);
  return days_to(length == kYear ? *last : year_of_two_digits(*last), *month, *first);
}

/// The days from 1970-01-01 to a date, taken off the front.
std::optional<double> take_date(std::string_view& text, DateOrder order) {
  if (const auto days = take_named_date(text)) return days;
  const bool year_first = order == DateOrder::year_month_day;
  const auto first = year_first ? take_whole(text, 4, 4) : take_whole(text, 1, 2);
  if (!first || text.empty()) return {};
  const char separator = text.front();
  if (separator != '-' && separator != '/' && separator != '.') return {};
  text.remove_prefix(1);
  const auto second = take_whole(text, 1, 2);
  if (!second || !take(text, separator)) return {};
  const std::size_t length_before = text.size();
  const auto third = year_first ? take_whole(text, 1, 2) : take_whole(text, 2, 4);
  if (!third) return {};
  int year = year_first ? *first : *third;
  if (!year_first && length_before - text.size() == 3) return {};
  if (!year_first && length_before - text.size() == 2) year = year_of_two_digits(year);
  const int month = order == DateOrder::month_day_year ? *first : *second;
  const int day = year_first ? *third : order == DateOrder::day_month_year ? *first : *second;
  return days_to(year, month, day);
}

/// Where the exponent of a number begins that Fortran wrote: 1.5D+02. A code (12D03) has no point or no sign.
std::size_t fortran_exponent(std::string_view text) {
  const std::size_t at = text.find_first_of("dD");
  if (at == std::string_view::npos || text.substr(0, at).find_first_of(".,") == std::string_view::npos)
    return std::string_view::npos;
  const std::string_view behind = text.substr(at + 1);
  const bool has_sign = behind.starts_with('+') || behind.starts_with('-');
  const bool is_exponent =
      has_sign && behind.size() > 1 && digits_at_front(behind.substr(1)) + 1 == behind.size();
  return is_exponent ? at : std::string_view::npos;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

}  // namespace

bool is_missing(std::string_view text) {
  constexpr std::size_t kLongest = 7;
  return text.size() <= kLongest && std::find(kMissing.begin(), kMissing.end(), text) != kMissing.end();
}

Measured without_unit(std::string_view text) {
  constexpr std::array<std::string_view, 15> kUnits = {"%",   "€",   "$",   "£",   "¥",  "₹",  "₩", "EUR",
                                                       "USD", "GBP", "CHF", "JPY", "kr", "Kč", "zł"};
  constexpr std::array<std::string_view, 3> kBlanks = {" ", "\xc2\xa0", "\xe2\x80\xaf"};
  const auto trimmed = [&](std::string_view rest) {
    for (const std::string_view blank : kBlanks) {
      if (rest.starts_with(blank)) rest.remove_prefix(blank.size());
      if (rest.ends_with(blank)) rest.remove_suffix(blank.size());
    }
    return rest;
  };
  // Most fields are words.
  if (text.find_first_of(kDigits) == std::string_view::npos) return {text, {}};
  std::string_view size = text;
  const bool is_negative = take_minus(size);
  for (const std::string_view unit : kUnits) {
    if (size.ends_with(unit)) return {trimmed(size.substr(0, size.size() - unit.size())), unit, is_negative};
    if (size.starts_with(unit)) return {trimmed(size.substr(unit.size())), unit, is_negative};
  }
  constexpr std::size_t kLongest = 12;  // bytes of a unit
  const std::size_t end = size.find_last_of(kDigits) + 1;
  const std::string_view unit = trimmed(size.substr(end)), before = size.substr(0, end);
  const bool is_unit =
      !unit.empty() && unit.size() <= kLongest && !std::ispunct(static_cast<unsigned char>(unit[0]));
  if (is_unit && (number(before, '.') || number(before, ','))) return {before, unit, is_negative, true};
  return {text, {}};
}

std::optional<double> number(std::string_view text, char decimal) {
  // A spreadsheet's ways to keep a number from being one: ="0012" and '0012.
  if (text.starts_with("=\"") && text.ends_with('"')) text = text.substr(2, text.size() - 3);
  if (text.starts_with('\'')) text.remove_prefix(1);
  if (text.find_first_of(kDigits) == std::string_view::npos) return {};
  std::string with_e;
  if (const std::size_t at = fortran_exponent(text); at != std::string_view::npos) {
    with_e = text;
    with_e[at] = 'e';
    text = with_e;
  }
  std::string plain;
  if (take_minus(text)) {
    plain += '-';
    if (text.starts_with('-') || text.starts_with('+')) return {};
  } else if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (decimal == '\0' && text.find_first_of(" '\xc2\xe2") == std::string_view::npos)
    return decimal::is_digit(text[0]) || text[0] == '.' ? parse_number(plain += text) : std::nullopt;
  if (!take_groups(text, decimal, plain)) return {};
  if (decimal != '\0' && take(text, decimal)) {
    plain += '.';
    const std::size_t count = digits_at_front(text);
    plain += text.substr(0, count);
    text.remove_prefix(count);
  }
  if (!text.empty() && text.front() != 'e' && text.front() != 'E') return {};
  return parse_number(plain += text);
}

std::optional<double> boolean(std::string_view text) {
  if (equals_ignoring_case(text, "true")) return 1.0;
  if (equals_ignoring_case(text, "false")) return 0.0;
  return {};
}

std::optional<double> date(std::string_view text, DateOrder order) {
  // Most fields are words.
  if (text.find_first_of(kDigits) == std::string_view::npos) return {};
  std::string_view rest = text;
  if (const auto time = take_time(rest); time && rest.empty()) return time;
  rest = text;
  auto days = take_date(rest, order);
  if (!days) return {};
  if (rest.empty()) return days;
  if (!take(rest, 'T') && !take(rest, ' ')) return {};
  const auto time = take_time(rest);
  if (!time) return {};
  take(rest, ' ');
  const auto zone = take_zone(rest);
  if (!zone || !rest.empty()) return {};
  return *days + *time - *zone;
}

}  // namespace yosida::field
