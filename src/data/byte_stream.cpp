#include "data/byte_stream.hpp"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;  // fits the second-level cache, amortises the calls

InputError truncated(const std::string& name, std::string_view label) {
  return InputError(
      fmt::format("{}: the file is truncated: its {} data breaks off before its end, "
                  "as after an interrupted download or copy",
                  name, label));
}

InputError corrupt(const std::string& name, std::string_view label, std::string_view detail) {
  return InputError(
      fmt::format("{}: the file is corrupt: its {} data does not unpack ({}); "
                  "fetch or write it again",
                  name, label, detail));
}

class PlainFile final : public ByteSource {
 public:
  explicit PlainFile(const std::filesystem::path& file) : name_(file.string()), file_(open_file(file)) {
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // the stream above it has the buffer
  }

  std::size_t read(std::span<char> out) override {
    const std::size_t count = std::fread(out.data(), 1, out.size(), file_.get());
    if (count < out.size() && std::ferror(file_.get()) != 0) {
      throw InputError(fmt::format("{}: cannot be read: {}", name_, std::generic_category().message(errno)));
    }
    return count;
  }

 private:
  std::string name_;
  FileHandle file_;
};

class Inflated final : public ByteSource {
 public:
  Inflated(ByteStream packed, DeflateForm form)
      : packed_(std::move(packed)), form_(form), input_(chunk_bytes) {
    const int window_bits = form == DeflateForm::gzip ? MAX_WBITS + 16 : -MAX_WBITS;
    if (inflateInit2(&state_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  Inflated(const Inflated&) = delete;
  Inflated& operator=(const Inflated&) = delete;
  ~Inflated() override { inflateEnd(&state_); }

  std::size_t read(std::span<char> out) override {
    std::size_t count = 0;
    while (count < out.size()) {
      if (state_.avail_in == 0) refill();
      if (member_ended_) {
        if (state_.avail_in == 0) break;
        start_next_member();
      }
      const auto room = static_cast<uInt>(std::min(out.size() - count, chunk_bytes));
      state_.next_out = reinterpret_cast<Bytef*>(out.data() + count);
      state_.avail_out = room;
      const int code = inflate(&state_, Z_NO_FLUSH);
      count += room - state_.avail_out;
      member_ended_ = code == Z_STREAM_END;
      if (code == Z_BUF_ERROR) throw truncated(packed_.name(), label());
      if (code != Z_OK && code != Z_STREAM_END) {
        throw corrupt(packed_.name(), label(), state_.msg != nullptr ? state_.msg : "damaged bytes");
      }
    }
    return count;
  }

 private:
  void refill() {
    state_.next_in = reinterpret_cast<Bytef*>(input_.data());
    state_.avail_in = static_cast<uInt>(packed_.read(input_));
  }

  // A gzip file may be several members in a row (`cat a.gz b.gz`): it unpacks to all of them.
  void start_next_member() {
    if (form_ == DeflateForm::raw) throw corrupt(packed_.name(), label(), "bytes behind its end");
    inflateReset(&state_);
  }

  std::string_view label() const { return form_ == DeflateForm::gzip ? "gzip" : "deflate"; }

  ByteStream packed_;
  DeflateForm form_;
  std::vector<char> input_;
  z_stream state_{};
  bool member_ended_ = false;
};

class Unxzed final : public ByteSource {
 public:
  explicit Unxzed(ByteStream packed) : packed_(std::move(packed)), input_(chunk_bytes) {
    // Concatenated: streams in a row unpack to all of them, as with gzip.
    if (lzma_stream_decoder(&state_, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  Unxzed(const Unxzed&) = delete;
  Unxzed& operator=(const Unxzed&) = delete;
  ~Unxzed() override { lzma_end(&state_); }

  std::size_t read(std::span<char> out) override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_.avail_out = out.size();
    while (state_.avail_out > 0 && !ended_) {
      if (state_.avail_in == 0 && !input_ended_) {
        state_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
        state_.avail_in = packed_.read(input_);
        input_ended_ = state_.avail_in < input_.size();
      }
      switch (lzma_code(&state_, input_ended_ ? LZMA_FINISH : LZMA_RUN)) {
        case LZMA_OK:
          break;
        case LZMA_STREAM_END:
          ended_ = true;
          break;
        case LZMA_BUF_ERROR:
          throw truncated(packed_.name(), "xz");
        case LZMA_MEM_ERROR:
          throw InputError(
              fmt::format("{}: its xz data needs more memory to unpack than there is", packed_.name()));
        default:
          throw corrupt(packed_.name(), "xz", "damaged bytes");
      }
    }
    return out.size() - state_.avail_out;
  }

 private:
  ByteStream packed_;
  std::vector<char> input_;
  lzma_stream state_ = LZMA_STREAM_INIT;
  bool input_ended_ = false;
  bool ended_ = false;
};

struct Packing {
  std::string_view ending;
  std::string_view magic;
  std::string_view label;
  std::unique_ptr<ByteSource> (*unpack)(ByteStream packed);
};
const std::array<Packing, 2> packings{{
    {".gz", "\x1f\x8b", "gzip",
     [](ByteStream packed) { return inflated(std::move(packed), DeflateForm::gzip); }},
    {".xz", std::string_view("\xfd\x37zXZ\0", 6), "xz",
     [](ByteStream packed) -> std::unique_ptr<ByteSource> {
       return std::make_unique<Unxzed>(std::move(packed));
     }},
}};

std::string lower_case_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

// How the file is packed by its name, which its first bytes must bear out.
const Packing* packing_of(const std::filesystem::path& file, ByteStream& bytes) {
  const Packing* found = nullptr;
  for (const Packing& packing : packings) {
    const bool is_named = lower_case_name(file).ends_with(packing.ending);
    const bool is_packed = bytes.peek(packing.magic.size()) == packing.magic;
    if (is_named && !is_packed) {
      throw InputError(
          fmt::format("{}: the name ends in {} but the file is not {} data: "
                      "take {} off the name if it is not compressed",
                      bytes.name(), packing.ending, packing.label, packing.ending));
    }
    if (is_packed && !is_named) {
      throw InputError(
          fmt::format("{}: the file is {} data but its name does not end in {}: add {} to the name",
                      bytes.name(), packing.label, packing.ending, packing.ending));
    }
    if (is_packed) found = &packing;
  }
  return found;
}

}  // namespace

ByteStream::ByteStream(std::string name, std::unique_ptr<ByteSource> source)
    : name_(std::move(name)), source_(std::move(source)) {}

ByteStream::ByteStream(const std::filesystem::path& file)
    : ByteStream(file.string(), std::make_unique<PlainFile>(file)) {
  if (peek(1).empty()) throw InputError(fmt::format("{}: the file is empty (0 bytes)", name_));
  if (const Packing* packing = packing_of(file, *this)) {
    ByteStream packed = std::move(*this);
    *this = ByteStream(file.string(), packing->unpack(std::move(packed)));
    if (peek(1).empty()) throw InputError(fmt::format("{}: the file is empty: it unpacks to 0 bytes", name_));
  }
}

// Reads more bytes behind the window; false at the end.
bool ByteStream::extend() {
  const std::size_t kept = end_ - begin_;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
    begin_ = 0;
    end_ = kept;
  }
  // Doubling keeps a line that outgrows the buffer from being moved again and again.
  if (buffer_.size() < kept + chunk_bytes) buffer_.resize(std::max(kept + chunk_bytes, 2 * buffer_.size()));
  const std::size_t count = source_->read(std::span(buffer_).subspan(kept));
  end_ += count;
  return count > 0;
}

std::string_view ByteStream::peek(std::size_t count) {
  while (end_ - begin_ < count && extend()) {
  }
  return window().substr(0, count);
}

std::optional<std::string_view> ByteStream::next_line() {
  std::size_t length = window().find('\n');
  while (length == std::string_view::npos) {
    const std::size_t searched = window().size();
    if (!extend()) break;
    length = window().find('\n', searched);
  }
  if (window().empty()) return std::nullopt;
  std::string_view line = window().substr(0, length);
  begin_ = std::min(begin_ + line.size() + 1, end_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t ByteStream::read(std::span<char> out) {
  const std::size_t buffered = window().copy(out.data(), out.size());
  begin_ += buffered;
  return buffered + source_->read(out.subspan(buffered));
}

std::unique_ptr<ByteSource> inflated(ByteStream packed, DeflateForm form) {
  return std::make_unique<Inflated>(std::move(packed), form);
}

FileHandle open_file(const std::filesystem::path& file) {
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw InputError(fmt::format("{}: there is no such file", file.string()));
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(fmt::format("{}: is a directory, where a data file is needed", file.string()));
  }
  FileHandle handle(std::fopen(file.c_str(), "rb"));
  if (!handle) {
    throw InputError(
        fmt::format("{}: cannot be opened: {}", file.string(), std::generic_category().message(errno)));
  }
  return handle;
}

std::string unpacked_name(const std::filesystem::path& file) {
  std::string name = lower_case_name(file);
  for (const Packing& packing : packings) {
    if (name.ends_with(packing.ending)) return name.substr(0, name.size() - packing.ending.size());
  }
  return name;
}

}  // namespace yosida
