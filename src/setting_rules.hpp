#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "yosida/settings.hpp"

namespace yosida::settings {

/// A whole number from low to high.
template <typename S>
Setting<S> whole(std::string name, std::int64_t S::*member, std::int64_t low, std::int64_t high,
                 std::string rule, std::string meaning, std::string origin) {
  return {std::move(name),
          std::move(meaning),
          std::move(origin),
          std::move(rule),
          [=](S& s, std::string_view text) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc{} || end != text.data() + text.size()) return false;
            if (value < low || value > high) return false;
            s.*member = value;
            return true;
          },
          [=](const S& s) { return std::to_string(s.*member); }};
}

/// How many of something: 1, 2, …
template <typename S>
Setting<S> count(std::string name, std::int64_t S::*member, std::string meaning, std::string origin) {
  return whole(std::move(name), member, 1, std::numeric_limits<std::int64_t>::max(), "a whole number >= 1",
               std::move(meaning), std::move(origin));
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
            if (!parse_real(text, Bound::positive(), value) || value >= 1.0) return false;
            s.*member = value;
            return true;
          },
          [=](const S& s) { return real_text(s.*member); }};
}

}  // namespace yosida::settings
