#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "yosida/export.hpp"

/// Text in UTF-8, as the Unicode standard defines it: no overlong forms, no halves of pairs, nothing above
/// U+10FFFF.
namespace YOSIDA_EXPORT yosida {
namespace utf8 {

/// The bytes of the character that a text starts with; 0 where that is none, or the text is empty.
std::size_t character_length(std::string_view text);
/// Whether all of a text is characters.
bool is_valid(std::string_view text);
/// How many characters a text has; a byte that belongs to none counts as one.
std::size_t characters(std::string_view text);
/// The first so many characters of a text, counted in the same way.
std::string_view first(std::string_view text, std::size_t count);
/// A text that is safe to print: what would steer a terminal, or is no UTF-8, becomes a text such as \x1b.
std::string printable(std::string_view text, bool keep_newlines = false);

}  // namespace utf8
}  // namespace yosida
