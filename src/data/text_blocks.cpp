#include "data/text_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "linalg/tasks.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida {
namespace {

constexpr std::size_t kLargestBlock = std::size_t{1} << 21;  // stays in the caches of the cores
constexpr std::size_t kSmallestBlock = std::size_t{1} << 18;
constexpr std::size_t kLeastPiece = std::size_t{1} << 15;
constexpr int kPiecesOfThread = 4;  // so that a thread which is held up does not hold up the others for long

bool has_open_quote(std::string_view text, char quote) {
  return quote != no_quotes && text.find(quote) != std::string_view::npos &&
         std::count(text.begin(), text.end(), quote) % 2 == 1;
}

}  // namespace

std::size_t block_bytes(const MemoryLimit& limit) {
  constexpr std::size_t kBytesOfByte = 32;  // the text twice while a buffer grows, and what its pieces hold
  std::size_t bytes = kLargestBlock;
  while (bytes > kSmallestBlock && !limit.allows(kBytesOfByte * bytes)) bytes /= 2;
  return bytes;
}

std::size_t end_of_last_record(std::string_view text, char quote) {
  bool is_open = has_open_quote(text, quote);
  for (std::size_t end = text.size(); end > 0; --end) {
    if (text[end - 1] == '\n' && !is_open) return end;
    is_open ^= quote != no_quotes && text[end - 1] == quote;
  }
  return 0;
}

std::vector<std::string_view> cut_to_pieces(std::string_view text, char quote) {
  const std::size_t most = threads() > 1
                               ? std::min<std::size_t>(static_cast<std::size_t>(threads() * kPiecesOfThread),
                                                       text.size() / kLeastPiece)
                               : 1;
  std::vector<std::string_view> pieces;
  for (std::size_t left = most; left > 1 && !text.empty(); --left) {
    std::size_t end = text.size() / left;
    bool is_open = has_open_quote(text.substr(0, end), quote);
    while (end < text.size()) {
      const char c = text[end++];
      if (c == '\n' && !is_open) break;
      is_open ^= quote != no_quotes && c == quote;
    }
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  if (!text.empty() || pieces.empty()) pieces.push_back(text);
  return pieces;
}

bool read_pieces(std::span<const std::string_view> pieces, FunctionRef<bool(std::size_t)> read) {
  constexpr Index kOperationsOfByte = 8;
  Index bytes = 0;
  for (const std::string_view piece : pieces) bytes += static_cast<Index>(piece.size());
  std::atomic<bool> is_right = true;
  linalg::run_tasks(std::ssize(pieces), kOperationsOfByte * bytes, [&](Index i) {
    if (!is_right) return;
    try {
      if (!read(static_cast<std::size_t>(i))) is_right = false;
    } catch (const InputError&) {
      is_right = false;
    }
  });
  return is_right;
}

}  // namespace yosida
