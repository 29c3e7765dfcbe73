#include "yosida/data/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "data/byte_stream.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(std::span<const char> bytes) {
    require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    require(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) == 1);
    return fmt::format("{:02x}", fmt::join(bytes.data(), bytes.data() + size, ""));
  }

 private:
  static void require(bool succeeded) {
    if (!succeeded) throw std::runtime_error("sha256: libcrypto failed");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

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
  if (std::ferror(file.get()) != 0)
    throw InputError(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
  return digest.hex();
}

}  // namespace yosida
