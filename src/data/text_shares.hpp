#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "data/formats.hpp"
#include "yosida/data/reader.hpp"

namespace yosida {

/// The rows of several tables, one behind the other, named as the first is. Throws InputError where their
/// columns differ.
Dataset stacked(std::span<const Dataset> tables);

/// Together: the rows of text files (LIBSVM where there is no separator), of which each process reads its own
/// share of the bytes. What it has read it keeps in options.cache, where all map it. How the bytes are cut
/// does not depend on the number of processes, so that another number finds what is kept. Where columns are
/// no plain numbers, each first looks at its share, and all hear what the others have seen. Nothing where the
/// text must be read in order: it is packed, a field has several lines, or something is wrong. Whoever then
/// does so meets the first error with its line. Pieces have at least so many bytes, or are whole files.
std::optional<Dataset> read_shares(std::span<const std::filesystem::path> files, int format,
                                   std::optional<Separator> separator, const ReadOptions& options,
                                   std::uint64_t least_piece = std::uint64_t{1} << 18);

}  // namespace yosida
