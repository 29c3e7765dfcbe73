#include "folding.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "terminal.hpp"
#include "yosida/utf8.hpp"

namespace yosida::cli {
namespace {

/// The length of a sequence that colours text, which starts here; 0 where none does.
std::size_t escape_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const std::size_t end = text.find_first_of("mK", 2);
  return end == std::string_view::npos ? 0 : end + 1;
}

/// Where lines that follow a break begin.
std::size_t hanging_indent(std::string_view line, std::size_t width) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  if (gap != std::string_view::npos) {
    const std::size_t text = line.find_first_not_of(' ', gap);
    const std::size_t column = visible_width(line.substr(0, std::min(text, line.size())));
    if (text != std::string_view::npos && column <= width / 2) return column;
  }
  return std::min(begin + 2, width / 2);
}

std::string folded_line(std::string_view line, std::size_t width, std::string_view mark) {
  if (visible_width(line) <= width) return std::string(line);
  const std::string indent(hanging_indent(line, width), ' ');
  std::string result;
  std::string row;
  for (std::size_t at = 0; at < line.size();) {
    // A word with the spaces before it.
    const std::size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', word), line.size());
    const std::string_view piece = line.substr(at, end - at);
    const bool is_last = end == line.size();
    const std::size_t most = width - (is_last ? 0 : std::min(mark.size(), width));
    const bool has_words = row.find_first_not_of(' ') != std::string::npos;
    if (has_words && visible_width(row) + visible_width(piece) > most) {
      result += row + std::string(mark) + "\n";
      row = indent + std::string(line.substr(word, end - word));
    } else {
      row += piece;
    }
    at = end;
  }
  return result + row;
}

/// Standard output as it was, behind the stream that folds.
struct Folding {
  std::FILE* out;
  std::string line;  // without its end yet
};

ssize_t write_folded(void* cookie, const char* text, std::size_t size) {
  auto& [out, line] = *static_cast<Folding*>(cookie);
  std::string ready;
  for (const char c : std::string_view(text, size)) {
    if (c != '\n') {
      line += c;
      continue;
    }
    ready += folded_line(line, columns_of(STDOUT_FILENO), "") + "\n";
    line.clear();
  }
  const bool is_out =
      std::fwrite(ready.data(), 1, ready.size(), out) == ready.size() && std::fflush(out) == 0;
  return is_out ? static_cast<ssize_t>(size) : 0;
}

int close_folded(void* cookie) {
  auto& [out, line] = *static_cast<Folding*>(cookie);
  std::fwrite(line.data(), 1, line.size(), out);
  return std::fflush(out);
}

/// Where the stream that folds leads to; null where nothing is folded.
std::FILE* behind_folding = nullptr;

}  // namespace

std::size_t columns_of(int descriptor) {
  winsize size{};
  if (!is_terminal(descriptor)) return kUnlimited;
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
  return 80;
}

std::size_t visible_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    if (const std::size_t length = escape_length(text); length > 0) {
      text.remove_prefix(length);
      continue;
    }
    text.remove_prefix(std::max<std::size_t>(utf8::character_length(text), 1));
    ++width;
  }
  return width;
}

std::string folded(std::string_view text, std::size_t width, std::string_view mark) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += folded_line(text.substr(0, end), width, mark);
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

void fold_standard_output() {
  if (!is_terminal(STDOUT_FILENO)) return;
  static Folding folding{.out = stdout, .line = {}};
  behind_folding = stdout;
  if (std::FILE* stream = ::fopencookie(
          &folding, "w", {.read = nullptr, .write = write_folded, .seek = nullptr, .close = close_folded}))
    stdout = stream;
}

std::FILE* unfolded_output() {
  std::fflush(stdout);
  return behind_folding == nullptr ? stdout : behind_folding;
}

}  // namespace yosida::cli
