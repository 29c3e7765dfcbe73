#include "yosida/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace yosida::utf8 {
namespace {

/// A code point in the form that the Unicode standard gives it.
std::string encoded(unsigned code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointIsACharacterButForHalvesOfPairs) {
  for (unsigned code = 0; code < 0x120000; ++code) {
    const bool is_half = code >= 0xd800 && code < 0xe000;
    const std::string text = encoded(code);
    ASSERT_EQ(character_length(text), is_half || code > 0x10ffff ? 0U : text.size()) << code;
  }
}

TEST(Utf8, WhatIsNoCharacterIsSeen) {
  for (const std::string text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf5\x80\x80\x80", "\xff",
        "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2\x82("}) {
    EXPECT_EQ(character_length(text), 0U) << testing::PrintToString(text);
    EXPECT_FALSE(is_valid("a" + text));
  }
  EXPECT_EQ(character_length(""), 0U);
  EXPECT_TRUE(is_valid(""));
  EXPECT_TRUE(is_valid("größe λ 😀"));
}

TEST(Utf8, CharactersAreCountedAndCutWhole) {
  EXPECT_EQ(characters("größe λ 😀"), 9U);
  EXPECT_EQ(characters("a\xff\x80z"), 4U);
  EXPECT_EQ(first("größe", 3), "grö");
  EXPECT_EQ(first("😀😀", 1), "😀");
  EXPECT_EQ(first("ab", 5), "ab");
  EXPECT_EQ(first("ab", 0), "");
}

TEST(Utf8, WhatWouldSteerATerminalIsShownByItsBytes) {
  EXPECT_EQ(printable("größe λ 😀"), "größe λ 😀");
  EXPECT_EQ(printable("a\x1b[1m\x7f"), "a\\x1b[1m\\x7f");
  EXPECT_EQ(printable("\xff\xc2\x9b"
                      "z"),
            "\\xff\\xc2\\x9bz")
      << "the last is a control of two bytes";
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable("a\nb\t", true), "a\nb\\x09");
}

}  // namespace
}  // namespace yosida::utf8
