#include "data/sha256.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "data/byte_stream.hpp"
#include "data/digest.hpp"
#include "linalg/tasks.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr std::uint64_t kPieceBytes = 4'000'000;

void require(bool succeeded) {
  if (!succeeded) throw std::runtime_error("sha256: libcrypto failed");
}

InputError unreadable(const std::string& path, int error) {
  return InputError(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error)));
}

/// Hashes `bytes` of a file from `begin` on.
std::string digest_of_piece(std::FILE* file, const std::string& path, std::uint64_t begin,
                            std::uint64_t bytes) {
  Digest digest;
  std::vector<char> block(std::size_t{1} << 16);
  while (bytes > 0) {
    const ssize_t count = ::pread(::fileno(file), block.data(), std::min<std::uint64_t>(block.size(), bytes),
                                  static_cast<off_t>(begin));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw unreadable(path, errno);
    if (count == 0) throw InputError(fmt::format("{}: became shorter while it was read", path));
    digest.add(std::span(block).first(static_cast<std::size_t>(count)));
    begin += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
  return digest.hex();
}

}  // namespace

Digest::Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Digest::add(std::span<const char> bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Digest::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) == 1);
  return fmt::format("{:02x}", fmt::join(bytes.data(), bytes.data() + size, ""));
}

void DigestOfPieces::add(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), kPieceBytes - in_piece_));
    piece_.add(bytes.first(count));
    bytes = bytes.subspan(count);
    in_piece_ += count;
    if (in_piece_ < kPieceBytes) continue;
    all_.add(std::exchange(piece_, Digest()).hex());
    in_piece_ = 0;
  }
}

std::string DigestOfPieces::hex() {
  if (in_piece_ > 0) all_.add(piece_.hex());
  return all_.hex();
}

std::string digest_of_pieces(const std::filesystem::path& path, std::uint64_t bytes) {
  const FileHandle file = open_file(path);
  std::vector<std::string> pieces((bytes + kPieceBytes - 1) / kPieceBytes);
  linalg::run_tasks(std::ssize(pieces), static_cast<Index>(bytes), [&](Index i) {
    const std::uint64_t begin = static_cast<std::uint64_t>(i) * kPieceBytes;
    pieces[static_cast<std::size_t>(i)] =
        digest_of_piece(file.get(), path.string(), begin, std::min(kPieceBytes, bytes - begin));
  });
  Digest all;
  for (const std::string& piece : pieces) all.add(piece);
  return all.hex();
}

std::string sha256_of_text(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.hex();
}

std::string sha256_of_file(const std::string& path) {
  const FileHandle file = open_file(path);
  Digest digest;
  std::vector<char> block(std::size_t{1} << 16);
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get()))
    digest.add(std::span(block).first(count));
  if (std::ferror(file.get()) != 0) throw unreadable(path, errno);
  return digest.hex();
}

}  // namespace yosida
