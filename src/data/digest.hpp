#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace yosida {

/// A sha256 of bytes that come piece by piece.
class Digest {
 public:
  Digest();
  void add(std::span<const char> bytes);
  /// 64 hexadecimal digits; the last call.
  std::string hex();

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// The first `bytes` of a file told from any others, with all threads: the sha256 of the sha256 of each 4 MB
/// of them. Throws InputError where they cannot be read.
std::string digest_of_pieces(const std::filesystem::path& file, std::uint64_t bytes);

/// A digest of bytes that come piece by piece.
class DigestOfPieces {
 public:
  void add(std::span<const char> bytes);
  std::string hex();

 private:
  Digest all_;
  Digest piece_;
  std::uint64_t in_piece_ = 0;
};

}  // namespace yosida
