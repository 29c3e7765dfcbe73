#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "yosida/export.hpp"
#include "yosida/settings.hpp"

namespace YOSIDA_EXPORT yosida {
namespace settings {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// A whole number from low to high; `value` stays as it is where the text is none.
inline bool parse_whole(std::string_view text, std::int64_t low, std::int64_t high, std::int64_t& value) {
  std::int64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size() || parsed < low || parsed > high) return false;
  value = parsed;
  return true;
}

/// A whole number from low to high.
template <typename S>
Setting<S> whole(std::string name, std::int64_t S::*member, std::int64_t low, std::int64_t high,
                 std::string rule, std::string meaning, std::string origin) {
  return {std::move(name),
          std::move(meaning),
          std::move(origin),
          std::move(rule),
          [=](S& s, std::string_view text) { return parse_whole(text, low, high, s.*member); },
          [=](const S& s) { return std::to_string(s.*member); }};
}

/// How many of something: 1, 2, …
template <typename S>
Setting<S> count(std::string name, std::int64_t S::*member, std::string meaning, std::string origin) {
  return whole(std::move(name), member, 1, kNoLimit, "a whole number >= 1", std::move(meaning),
               std::move(origin));
}

/// The same, or a word that stands for 0.
template <typename S>
Setting<S> count_or(std::string name, std::int64_t S::*member, std::string word, std::string meaning,
                    std::string origin) {
  return {std::move(name),
          std::move(meaning),
          std::move(origin),
          "a whole number >= 1 or " + word,
          [=](S& s, std::string_view text) {
            if (text != word) return parse_whole(text, 1, kNoLimit, s.*member);
            s.*member = 0;
            return true;
          },
          [=](const S& s) { return s.*member == 0 ? word : std::to_string(s.*member); }};
}

/// What something is multiplied by so that it shrinks.
template <typename S>
Setting<S> fraction(std::string name, double S::*member, std::string meaning, std::string origin) {
  return {std::move(name),
          std::move(meaning),
          std::move(origin),
          "a number > 0 and < 1",
          [=](S& s, std::string_view text) {
            double value = 0.0;
            if (!parse_real(text, LowerLimit::positive(), value) || value >= 1.0) return false;
            s.*member = value;
            return true;
          },
          [=](const S& s) { return real_text(s.*member); }};
}

}  // namespace settings
}  // namespace yosida
