#pragma once

#include <string>
#include <string_view>

#include "yosida/solver/solve.hpp"

namespace yosida::study {

/// A trace as JSON: one array for each quantity, with one value for each point. A test loss that is not there
/// is null; what is not finite is "NaN", "Infinity" or "-Infinity", as Python's float() reads them.
std::string trace_to_json(const Trace& trace);
/// Throws InputError where the text is not one that trace_to_json wrote.
Trace trace_from_json(std::string_view text);

/// A zlib stream.
std::string deflate(std::string_view text);
/// Throws InputError where the bytes are not a whole zlib stream.
std::string inflate(std::string_view bytes);

}  // namespace yosida::study
