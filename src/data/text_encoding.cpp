#include <fmt/format.h>

#include <array>

#include "data/byte_stream.hpp"

namespace yosida {
namespace {

/// A character as UTF-8, behind a text.
void append(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](int shift) { add(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add_rest(0);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xf0 | code >> 18);
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

/// Bytes of a text in another encoding, a block at a time.
class Decoded : public ByteSource {
 public:
  explicit Decoded(ByteStream text) : text_(std::move(text)) {}

  std::size_t read(std::span<char> out) final {
    std::size_t count = 0;
    while (count < out.size()) {
      if (taken_ == decoded_.size()) {
        constexpr std::size_t kBlock = std::size_t{1} << 16;
        const std::string_view block = text_.peek(kBlock);
        if (block.empty()) break;
        decoded_.clear();
        taken_ = 0;
        decode(block, decoded_);
        text_.skip(block.size());
      }
      const std::size_t part = std::min(out.size() - count, decoded_.size() - taken_);
      std::copy_n(decoded_.data() + taken_, part, out.data() + count);
      taken_ += part;
      count += part;
    }
    return count;
  }

 protected:
  const std::string& name() const { return text_.name(); }

 private:
  virtual void decode(std::string_view block, std::string& out) = 0;

  ByteStream text_;
  std::string decoded_;
  std::size_t taken_ = 0;  // of what is decoded
};

class Utf16 final : public Decoded {
 public:
  Utf16(ByteStream text, bool big_endian) : Decoded(std::move(text)), big_endian_(big_endian) {}

 private:
  void decode(std::string_view block, std::string& out) override {
    if (block.size() % 2 != 0)
      throw InputError(fmt::format("{}: ends within a character of UTF-16: the file is cut off", name()));
    for (std::size_t i = 0; i < block.size(); i += 2) {
      const std::uint32_t first = static_cast<unsigned char>(block[i]);
      const std::uint32_t second = static_cast<unsigned char>(block[i + 1]);
      const std::uint32_t unit = big_endian_ ? first << 8 | second : second << 8 | first;
      const bool is_low = unit >= 0xdc00 && unit < 0xe000;
      if (is_low != (high_ != 0))
        throw InputError(fmt::format("{}: holds half a character of UTF-16: must be text", name()));
      if (unit >= 0xd800 && unit < 0xdc00) {
        high_ = unit;
        continue;
      }
      append(out, is_low ? 0x10000 + ((high_ - 0xd800) << 10) + (unit - 0xdc00) : unit);
      high_ = 0;
    }
  }

  bool big_endian_;
  std::uint32_t high_ = 0;  // the first half of a character
};

class Windows1252 final : public Decoded {
 public:
  using Decoded::Decoded;

 private:
  void decode(std::string_view block, std::string& out) override {
    // What it has where ISO 8859-1 has control characters.
    static constexpr std::array<std::uint32_t, 32> kOwn = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
        0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
    for (const char c : block) {
      const std::uint32_t code = static_cast<unsigned char>(c);
      append(out, code >= 0x80 && code < 0xa0 ? kOwn[code - 0x80] : code);
    }
  }
};

class CarriageReturns final : public Decoded {
 public:
  using Decoded::Decoded;

 private:
  void decode(std::string_view block, std::string& out) override {
    out = block;
    std::replace(out.begin(), out.end(), '\r', '\n');
  }
};

}  // namespace

std::unique_ptr<ByteSource> from_utf16(ByteStream text, bool big_endian) {
  return std::make_unique<Utf16>(std::move(text), big_endian);
}

std::unique_ptr<ByteSource> from_windows_1252(ByteStream text) {
  return std::make_unique<Windows1252>(std::move(text));
}

std::unique_ptr<ByteSource> from_carriage_returns(ByteStream text) {
  return std::make_unique<CarriageReturns>(std::move(text));
}

}  // namespace yosida
