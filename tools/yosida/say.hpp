#pragma once

#include <fmt/format.h>

#include <cstdio>

namespace yosida::cli {

/// On standard error. A terminal that is gone is no reason to end: where it cannot be written nothing
/// happens.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace yosida::cli
