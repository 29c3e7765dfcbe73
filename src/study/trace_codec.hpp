#pragma once

#include <string>
#include <string_view>

#include "yosida/solver/solve.hpp"

namespace yosida::study {

/// A trace as JSON: one array for each quantity, with one value for each point. A test loss that is not there
/// is null; what is not finite is "NaN", "Infinity" or "-Infinity", as Python's float() reads them.
std::string trace_to_json(const Trace& trace);
/// Throws InputError where the text is not one that trace_to_json wrote, or has more than kMostPoints.
Trace trace_from_json(std::string_view text);

/// A zlib stream.
std::string deflate(std::string_view text);

/// A kilobyte of zlib may unpack to a megabyte, and a point takes more room than its text.
constexpr std::size_t kMostBytesOfTrace = 256 << 20, kMostPoints = 2'000'000;

/// Throws InputError where the bytes are not a whole zlib stream, or one of a longer text.
std::string inflate(std::string_view bytes, std::size_t most = kMostBytesOfTrace);

/// The zlib stream of a trace. Every second point of it but the last is left out, again and again, until its
/// text is no longer than `most` and it has no more than kMostPoints: of a long run some points are better
/// than none. Throws InputError where not even the last fits.
std::string packed(const Trace& trace, std::size_t most = kMostBytesOfTrace);

}  // namespace yosida::study
