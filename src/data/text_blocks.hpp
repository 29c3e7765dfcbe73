#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/byte_stream.hpp"
#include "yosida/linalg/function_ref.hpp"

namespace yosida {

// A large text is read in blocks of whole lines, and a block in pieces by several threads. Pieces are read in
// the hope that nothing is wrong: where something is, what they gave is dropped and the block is read again
// in order, which meets the first error with its line as if there were one thread.

/// How much text is read at a time: enough to keep threads busy, and little beside what the file may take.
std::size_t block_bytes(const MemoryLimit& limit);

/// The quote of texts in which quotes mean nothing.
inline constexpr char no_quotes = '\n';

/// The end of the last line that ends outside quotes; 0 where there is none.
std::size_t end_of_last_record(std::string_view text, char quote);

/// The text cut into pieces for threads(), behind lines that end outside quotes. One where it is small.
std::vector<std::string_view> cut_to_pieces(std::string_view text, char quote);

/// Calls read(i) for each piece from several threads. False where one of them says so or throws InputError.
bool read_pieces(std::span<const std::string_view> pieces, FunctionRef<bool(std::size_t)> read);

}  // namespace yosida
