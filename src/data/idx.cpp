#include <fmt/format.h>

#include <array>

#include "data/formats.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

struct IdxType {
  char code;
  char kind;
  std::size_t bytes;
};
constexpr std::array<IdxType, 6> idx_types{{
    {0x08, 'u', 1},
    {0x09, 'i', 1},
    {0x0B, 'i', 2},
    {0x0C, 'i', 4},
    {0x0D, 'f', 4},
    {0x0E, 'f', 8},
}};

const IdxType* find_type(char code) {
  for (const IdxType& type : idx_types) {
    if (type.code == code) return &type;
  }
  return nullptr;
}

}  // namespace

// The file starts with 00 00, the type of its numbers and how many dimensions there are.
bool is_idx(ByteStream& stream) {
  const std::string_view magic = stream.peek(4);
  return magic.size() == 4 && magic[0] == 0 && magic[1] == 0 && find_type(magic[2]) != nullptr &&
         magic[3] > 0;
}

Dataset read_idx(ByteStream& stream, const ReadOptions& options) {
  if (!is_idx(stream)) {
    throw InputError(
        fmt::format("{}: not an IDX file: it must start with the bytes 00 00, a type (08, 09, 0B to 0E) "
                    "and the number of dimensions",
                    stream.name()));
  }
  const std::string_view magic = stream.peek(4);
  const IdxType& type = *find_type(magic[2]);
  const std::size_t dimensions = static_cast<unsigned char>(magic[3]);
  stream.skip(magic.size());
  const std::string_view sizes = stream.peek(4 * dimensions);
  if (sizes.size() < 4 * dimensions) {
    throw InputError(fmt::format("{}: the file is truncated: it ends within the sizes of its {} dimensions",
                                 stream.name(), dimensions));
  }
  ArrayLayout layout;
  layout.kind = type.kind;
  layout.bytes = type.bytes;
  layout.big_endian = true;
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::uint64_t size = 0;
    for (const char byte : sizes.substr(4 * i, 4)) size = size << 8 | static_cast<unsigned char>(byte);
    layout.shape.push_back(size);
  }
  stream.skip(sizes.size());
  return read_array(stream, layout, options);
}

}  // namespace yosida
