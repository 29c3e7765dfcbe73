#pragma once

#include <string>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// A number as people write it, rounded to so many digits that count: 1480, 0.00123, 3.2e-7. Powers of ten
/// stand only where a number would have more than nine digits before, or five zeros after, the point.
std::string number_text(double value, int digits = 6);
/// A value with what it may be off by, both rounded to the second digit of the error: "1480 ± 110",
/// "0.123 ± 0.012". An error that is but rounding is 0.
std::string with_error(double value, double error);
/// A share as a percentage of two decimals, of fewer where it is 100 or more: "0.00 %", "12.35 %", "1480 %".
std::string percent_text(double share);
/// The same with its sign: "+0.00 %".
std::string signed_percent_text(double share);

}  // namespace yosida
