#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace yosida::cli {

/// Without a terminal lines may be as long as they like.
inline constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

/// The columns of the terminal that a descriptor is; kUnlimited where it is none.
std::size_t columns_of(int descriptor);
/// What is seen of a text: characters, without sequences that colour them.
std::size_t visible_width(std::string_view text);

/// The text with every line of it broken between words to fit the width. What follows a break stands below
/// the text of its line: behind the first wide gap of "  label      text", else a little further in. A word
/// wider than all of that stays whole. `mark` ends every line that goes on, as \ does in a shell.
std::string folded(std::string_view text, std::size_t width, std::string_view mark = "");

/// Has all that is printed to standard output from now on folded, where that is a terminal.
void fold_standard_output();
/// Standard output as it was: for what programs read (JSON, code, tables of numbers). It stands behind all
/// that was printed before.
std::FILE* unfolded_output();

}  // namespace yosida::cli
