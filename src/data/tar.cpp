#include "data/tar.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/formats.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr std::size_t block_bytes = 512;

/// The number that a field of a header holds in octal digits, between blanks or zero bytes.
std::optional<std::uint64_t> octal(std::string_view field) {
  const std::size_t first = field.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  field = field.substr(first);
  field = field.substr(0, field.find_first_of(std::string_view(" \0", 2)));
  std::uint64_t number = 0;  // a field has 12 digits at most: no overflow
  for (const char digit : field) {
    if (digit < '0' || digit > '7') return {};
    number = number * 8 + static_cast<std::uint64_t>(digit - '0');
  }
  if (field.empty()) return {};
  return number;
}

/// The sum of the header's bytes, its own field read as blanks.
std::uint64_t checksum(std::string_view header) {
  constexpr std::size_t begin = 148, end = 156;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    sum += i >= begin && i < end ? ' ' : static_cast<unsigned char>(header[i]);
  return sum;
}

std::string text(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

std::string member_name(std::string_view header) {
  const std::string name = text(header.substr(0, 100));
  // GNU's form of the magic is without the last zero, and has other things where the prefix would be.
  const bool has_prefix = header.substr(257, 6) == std::string_view("ustar\0", 6);
  const std::string prefix = has_prefix ? text(header.substr(345, 155)) : std::string();
  return prefix.empty() ? name : prefix + "/" + name;
}

/// The next bytes of the archive, which must be there.
std::string take(ByteStream& archive, std::size_t count) {
  // Seen before they are taken: a false size in a header claims no memory.
  const std::string_view bytes = archive.peek(count);
  if (bytes.size() < count)
    throw InputError(
        fmt::format("{}: the file is truncated: the archive breaks off within a member", archive.name()));
  std::string taken(bytes);
  archive.skip(count);
  return taken;
}

}  // namespace

std::map<std::string, std::string> read_tar(ByteStream& archive) {
  std::map<std::string, std::string> files;
  while (true) {
    const std::string header = take(archive, block_bytes);
    if (header.find_first_not_of('\0') == std::string::npos) return files;  // the end mark
    const auto sum = octal(std::string_view(header).substr(148, 8));
    const auto size = octal(std::string_view(header).substr(124, 12));
    if (!sum || *sum != checksum(header) || !size)
      throw InputError(
          fmt::format("{}: not a tar archive, or a damaged one: the header of its member {} is wrong",
                      archive.name(), files.size() + 1));
    const char kind = header[156];
    constexpr char old_file = '\0', file = '0', folder = '5';
    if (kind != old_file && kind != file && kind != folder)
      throw InputError(fmt::format("{}: the member {} is neither a file nor a folder: pack these alone",
                                   archive.name(), in_quotes(member_name(header))));
    std::string bytes = take(archive, *size);
    take(archive, (block_bytes - *size % block_bytes) % block_bytes);
    if (kind != folder) files[member_name(header)] = std::move(bytes);
  }
}

}  // namespace yosida
