#include "yosida/settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida::settings {

bool parse_real(std::string_view text, const LowerLimit& bound, double& value) {
  double parsed = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(parsed)) return false;
  if (bound.low_included ? parsed < bound.low : parsed <= bound.low) return false;
  value = parsed;
  return true;
}

std::string real_text(double value) { return fmt::format("{}", value); }

std::string bound_text(const LowerLimit& bound) {
  return fmt::format("a finite number {} {}", bound.low_included ? ">=" : ">", bound.low);
}

void refuse_value(std::string_view method, std::string_view name, std::string_view value,
                  std::string_view rule) {
  throw InputError(fmt::format("{}: {} = {}: must be {}", method, name, value, rule));
}

void refuse_name(std::string_view method, std::string_view name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  throw InputError(fmt::format("{} has no setting \"{}\"{}; see: yosida methods {}", method, name,
                               near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near), method));
}

}  // namespace yosida::settings
