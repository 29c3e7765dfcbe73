#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// What a study may hold, whoever made the file. What is stored is held to the same limits, so that no study
/// is written that could not be read.
namespace yosida::study {

/// The longest name of a method, a status and the like: tables have a column for them.
constexpr std::size_t kMostBytesOfName = 4096;
/// The most bytes of a spec or an outcome. They have a number for each λ, of which there may be as many as
/// training rows.
constexpr std::size_t kMostBytesOfJson = 64 << 20;

/// What is wrong with a spec or an outcome, in words that follow its name: "is nested more than 64 deep".
/// Empty where it is JSON that any reader can take apart, by recursion too, without running out of memory or
/// time.
std::string fault_of_json(std::string_view text);

}  // namespace yosida::study
