#include "yosida/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace yosida::utf8 {
namespace {

unsigned char byte(std::string_view text, std::size_t place) {
  return static_cast<unsigned char>(text[place]);
}

/// A byte that belongs to no character is taken by itself, so that what follows is still read.
std::size_t step(std::string_view text) { return std::max<std::size_t>(character_length(text), 1); }

}  // namespace

std::size_t character_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned char lead = byte(text, 0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(text, i) & 0xc0) != 0x80) return 0;
  // The second byte says whether a shorter form exists, is half of a pair, or leads beyond the last
  // character.
  const unsigned char second = byte(text, 1);
  const bool is_character = (lead != 0xe0 || second >= 0xa0) && (lead != 0xed || second < 0xa0) &&
                            (lead != 0xf0 || second >= 0x90) && (lead != 0xf4 || second < 0x90);
  return is_character ? length : 0;
}

bool is_valid(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); text.remove_prefix(step(text))) ++count;
  return count;
}

std::string_view first(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0 && end < text.size(); --count) end += step(text.substr(end));
  return text.substr(0, end);
}

std::string printable(std::string_view text, bool keep_newlines) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    const std::string_view character = text.substr(i, step(text.substr(i)));
    const auto first = static_cast<unsigned char>(character[0]);
    const bool is_control = (length == 1 && (first < 0x20 || first == 0x7f)) ||
                            (first == 0xc2 && static_cast<unsigned char>(character.back()) < 0xa0);
    if (length == 0 || (is_control && !(keep_newlines && first == '\n'))) {
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += character;
    }
    i += character.size();
  }
  return result;
}

}  // namespace yosida::utf8
