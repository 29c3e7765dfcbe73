#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "folding.hpp"

namespace yosida::cli {

/// On standard error, folded where that is a terminal. A terminal that is gone is no reason to end: where it
/// cannot be written nothing happens.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text =
      folded(fmt::format(format, std::forward<Args>(args)...), columns_of(STDERR_FILENO));
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace yosida::cli
