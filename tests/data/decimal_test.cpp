#include "data/decimal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <random>
#include <string>

namespace yosida {
namespace {

// Where read() takes a text at all, it gives what from_chars gives, to the bit.
void expect_as_from_chars(const std::string& text) {
  const char* const end = text.data() + text.size();
  double number = 0.0, expected = 0.0;
  const char* const stop = decimal::read(text.data(), end, number);
  if (stop == nullptr) return;
  const auto parsed = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, expected);
  ASSERT_EQ(parsed.ec, std::errc{}) << text;
  EXPECT_EQ(stop, parsed.ptr) << text;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(number), std::bit_cast<std::uint64_t>(expected)) << text;
}

bool is_read(const std::string& text) {
  double number = 0.0;
  return decimal::read(text.data(), text.data() + text.size(), number) == text.data() + text.size();
}

TEST(Decimal, TheUsualFormsAreRead) {
  for (const char* text : {"0", "-0", "+7", "255", "12.5", "-12.5e-3", "1E5", "1e+05", ".5", "5.", "0.1",
                           "-1.234567890123456789e+00", "0.12345678901234567", "0.00012345678901234567",
                           "123456789012345", "9007199254740992", "9007199254740993e-1"}) {
    EXPECT_TRUE(is_read(text)) << text;
    expect_as_from_chars(text);
  }
}

TEST(Decimal, WhatIsNoNumberIsNotRead) {
  for (const char* text : {"", "-", "+", ".", "e5", "+-4", "-.", "x", "inf", "nan", "1e", "1e+", "--1"})
    EXPECT_FALSE(is_read(text)) << text;
}

TEST(Decimal, WhatStandsBehindIsLeft) {
  for (const char* text : {"1,2", "1.5 ", "-3e2;", "7\t", "1.2.3", "0x10", "12e3e4", "5-"})
    expect_as_from_chars(text);
}

TEST(Decimal, RandomNumbersInManyForms) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 50000; ++i) {
    const auto bits = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
    const double near_one = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                       static_cast<int>(random() % 60) - 90);
    const int digits = static_cast<int>(random() % 20);
    expect_as_from_chars(fmt::format("{:.17g}", bits));
    expect_as_from_chars(fmt::format("{}", near_one));
    expect_as_from_chars(fmt::format("{:.{}e}", near_one, digits));
    expect_as_from_chars(fmt::format("{:.{}f}", near_one, digits));
  }
}

// Halfway between two doubles, and next to it: the places where a second rounding shows.
TEST(Decimal, Ties) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 50000; ++i) {
    // (2^53 + 2k + 1) / 2^s is halfway, and has at most 19 digits for small s.
    const std::uint64_t odd = (std::uint64_t{1} << 53) + (random() % (std::uint64_t{1} << 53) | 1);
    const int halvings = static_cast<int>(random() % 4);
    std::uint64_t fives = 1;
    for (int k = 0; k < halvings; ++k) fives *= 5;
    const std::uint64_t whole = odd * fives;
    for (const std::uint64_t digits : {whole - 1, whole, whole + 1})
      expect_as_from_chars(fmt::format("{}e-{}", digits, halvings));
    expect_as_from_chars(fmt::format("{}e-{}", random(), random() % 30));
  }
}

}  // namespace
}  // namespace yosida
