#include "yosida/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace yosida {
namespace {

/// Where numbers change from plain digits to powers of ten.
constexpr int kMostBefore = 9, kMostZeros = 5;
/// An error of a smaller share of its value is rounding.
constexpr double kRounding = 1e-9;

/// The power of ten of the first digit, after rounding to so many digits.
int exponent_of(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", std::abs(value), digits - 1);
  return std::stoi(text.substr(text.find('e') + 1));
}

/// The value with `decimals` digits after the point; a negative number of them rounds before the point.
std::string fixed(double value, int decimals) {
  if (decimals >= 0) return fmt::format("{:.{}f}", value, decimals);
  const double unit = std::pow(10.0, -decimals);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

/// −0.00 is 0.00.
std::string without_negative_zero(std::string text) {
  if (text.starts_with('-') && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// "3.2e-7"
std::string with_power(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = text.find('e');
  return fmt::format("{}e{}", without_trailing_zeros(text.substr(0, e)), std::stoi(text.substr(e + 1)));
}

bool is_plain(int exponent) { return exponent < kMostBefore && exponent >= -kMostZeros; }

}  // namespace

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0.0) return "0";
  const int exponent = exponent_of(value, digits);
  if (!is_plain(exponent)) return with_power(value, digits);
  return without_trailing_zeros(fixed(value, digits - 1 - exponent));
}

std::string with_error(double value, double error) {
  if (!std::isfinite(value) || !std::isfinite(error)) return fmt::format("{} ± {}", value, error);
  if (error <= kRounding * std::abs(value)) return number_text(value, 4) + " ± 0";
  constexpr int kDigits = 2;
  const int of_error = exponent_of(error, kDigits);
  // A value far below its error has no digit left, and is 0.
  const int first = value == 0.0 ? of_error : std::max(exponent_of(value, kDigits), of_error);
  if (is_plain(first) && is_plain(of_error)) {
    const int decimals = kDigits - 1 - of_error;
    return without_negative_zero(fixed(value, decimals)) + " ± " + fixed(error, decimals);
  }
  const int digits = std::clamp(first - of_error + kDigits, kDigits, 17);
  return fmt::format("{} ± {}", number_text(value, digits), number_text(error, kDigits));
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return fmt::format("{} %", share);
  const double percent = 100.0 * share;
  const int exponent = percent == 0.0 ? 0 : exponent_of(percent, 4);
  if (exponent >= kMostBefore) return with_power(percent, 3) + " %";
  return without_negative_zero(fixed(percent, exponent < 2 ? 2 : exponent < 3 ? 1 : 0)) + " %";
}

std::string signed_percent_text(double share) {
  const std::string text = percent_text(share);
  return text.starts_with('-') ? text : "+" + text;
}

}  // namespace yosida
