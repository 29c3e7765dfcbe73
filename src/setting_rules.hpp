#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "yosida/settings.hpp"

namespace yosida::settings {

/// How many of something: 1, 2, …, `most`
template <typename S>
Setting<S> count(std::string name, std::int64_t S::*member, std::string meaning, std::string origin,
                 std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return {std::move(name),
          std::move(meaning),
          std::move(origin),
          most == std::numeric_limits<std::int64_t>::max()
              ? "a whole number >= 1"
              : "a whole number from 1 to " + std::to_string(most),
          [=](S& s, std::string_view text) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most)
              return false;
            s.*member = value;
            return true;
          },
          [=](const S& s) { return std::to_string(s.*member); }};
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
