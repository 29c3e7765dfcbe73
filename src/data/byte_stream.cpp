#include "data/byte_stream.hpp"

#include <fmt/format.h>
#include <lzma.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
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

std::string in_units(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  double number = static_cast<double>(bytes);
  std::string_view unit;
  for (const std::string_view next : {"kB", "MB", "GB", "TB"}) {
    if (number < 999.5) break;
    number /= 1000.0;
    unit = next;
  }
  return fmt::format("{:.3g} {}", number, unit);
}

void require_unpackable(const ByteStream& packed, std::uint64_t unpacked) {
  if (!packed.limit().allows_unpacked(unpacked))
    throw packed.limit().refusal(fmt::format("{}: what it unpacks to", packed.name()), unpacked);
}

class PlainFile final : public ByteSource {
 public:
  PlainFile(const std::filesystem::path& file, std::shared_ptr<MemoryLimit> limit)
      : name_(file.string()), file_(open_file(file)), limit_(std::move(limit)) {
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // the stream above it has the buffer
    struct stat status {};
    is_regular_ = fstat(fileno(file_.get()), &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular_) limit_->file_bytes = static_cast<std::uint64_t>(status.st_size);
  }

  bool is_regular() const { return is_regular_; }

  std::size_t read(std::span<char> out) override {
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), end_ - place_));
    const std::size_t count = std::fread(out.data(), 1, room, file_.get());
    place_ += count;
    if (count < room && std::ferror(file_.get()) != 0) {
      throw InputError(fmt::format("{}: cannot be read: {}", name_, std::generic_category().message(errno)));
    }
    if (!is_regular_) limit_->file_bytes += count;
    return count;
  }

  std::optional<std::uint64_t> place() const override {
    return is_regular_ ? std::optional(place_) : std::nullopt;
  }

  void go_to(std::uint64_t begin, std::uint64_t end) override {
    if (fseeko(file_.get(), static_cast<off_t>(begin), SEEK_SET) != 0)
      throw InputError(fmt::format("{}: cannot be read: {}", name_, std::generic_category().message(errno)));
    place_ = begin;
    end_ = end;
  }

  std::shared_ptr<const char> map_last(std::size_t bytes, std::size_t alignment, std::size_t ahead) override {
    const off_t begin = ftello(file_.get()) - static_cast<off_t>(ahead);
    struct stat status {};
    if (!is_regular_ || begin < 0 || begin % static_cast<off_t>(alignment) != 0 ||
        fstat(fileno(file_.get()), &status) != 0 || status.st_size != begin + static_cast<off_t>(bytes))
      return nullptr;
    const auto before = static_cast<std::size_t>(begin % sysconf(_SC_PAGESIZE));
    void* const pages = mmap(nullptr, before + bytes, PROT_READ, MAP_PRIVATE, fileno(file_.get()),
                             begin - static_cast<off_t>(before));
    if (pages == MAP_FAILED) return nullptr;
    const auto unmap = [pages, length = before + bytes](const char*) { munmap(pages, length); };
    return {static_cast<const char*>(pages) + before, unmap};
  }

 private:
  std::string name_;
  FileHandle file_;
  std::shared_ptr<MemoryLimit> limit_;
  bool is_regular_ = false;
  std::uint64_t place_ = 0;
  std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();  // nothing is read from here on
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
      require_unpackable(packed_, unpacked_ += room - state_.avail_out);
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
  std::uint64_t unpacked_ = 0;
  bool member_ended_ = false;
};

class Unxzed final : public ByteSource {
 public:
  explicit Unxzed(ByteStream packed) : packed_(std::move(packed)), input_(chunk_bytes) {
    // Concatenated: streams in a row unpack to all of them, as with gzip.
    // The limit on the decoder's own memory is there so that it asks before it takes much.
    if (lzma_stream_decoder(&state_, 1, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
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
        case LZMA_MEMLIMIT_ERROR:
          raise_memory_limit();
          break;
        case LZMA_MEM_ERROR:
          throw std::bad_alloc();
        default:
          throw corrupt(packed_.name(), "xz", "damaged bytes");
      }
      require_unpackable(packed_, state_.total_out);
    }
    return out.size() - state_.avail_out;
  }

 private:
  void raise_memory_limit() {
    const std::uint64_t needed = lzma_memusage(&state_);
    if (!packed_.limit().allows(needed))
      throw packed_.limit().refusal(fmt::format("{}: unpacking its xz data", packed_.name()), needed);
    lzma_memlimit_set(&state_, needed);
  }

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

// How the file is packed by its name, which its first bytes must bear out; they alone tell where a pipe has
// none.
const Packing* packing_of(const std::filesystem::path& file, bool is_regular, ByteStream& bytes) {
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
    if (is_packed && !is_named && is_regular) {
      throw InputError(
          fmt::format("{}: the file is {} data but its name does not end in {}: add {} to the name",
                      bytes.name(), packing.label, packing.ending, packing.ending));
    }
    if (is_packed) found = &packing;
  }
  return found;
}

}  // namespace

std::uint64_t MemoryLimit::by_rule(std::uint64_t each) const {
  static const std::uint64_t of_machine =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(for_any_file + each * file_bytes, of_machine);
}

InputError MemoryLimit::refusal(std::string_view what, std::uint64_t bytes, std::uint64_t each) const {
  if (max_memory_ > 0)
    return InputError(
        fmt::format("{} takes {}: --max-memory allows {}", what, in_units(bytes), in_units(max_memory_)));
  return InputError(fmt::format(
      "{} takes {}: a file of {} may take {} of memory; where the file is right, --max-memory raises that",
      what, in_units(bytes), in_units(file_bytes), in_units(by_rule(each))));
}

ByteStream::ByteStream(std::string name, std::unique_ptr<ByteSource> source,
                       std::shared_ptr<MemoryLimit> limit)
    : name_(std::move(name)), source_(std::move(source)), limit_(std::move(limit)) {}

ByteStream::ByteStream(const std::filesystem::path& file, std::uint64_t max_memory)
    : name_(file == "-" ? "standard input" : file.string()),
      limit_(std::make_shared<MemoryLimit>(max_memory)) {
  auto plain = std::make_unique<PlainFile>(file, limit_);
  is_regular_file_ = plain->is_regular();
  source_ = std::move(plain);
  if (peek(1).empty()) throw InputError(fmt::format("{}: the file is empty (0 bytes)", name_));
  if (const Packing* packing = packing_of(file, is_regular_file_, *this)) {
    ByteStream packed = std::move(*this);
    const std::string packed_name = packed.name_;
    std::shared_ptr<MemoryLimit> limit = packed.limit_;
    *this = ByteStream(packed_name, packing->unpack(std::move(packed)), std::move(limit));
    if (peek(1).empty()) throw InputError(fmt::format("{}: the file is empty: it unpacks to 0 bytes", name_));
  }
}

// Reads more bytes behind the window; false at the end.
bool ByteStream::extend(std::string_view what) {
  if (is_at_end_) return false;
  const std::size_t kept = end_ - begin_;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
    begin_ = 0;
    end_ = kept;
  }
  // Doubling keeps a line that outgrows the buffer from being moved again and again.
  if (buffer_.size() < kept + chunk_bytes) {
    const std::size_t size = std::max(kept + chunk_bytes, 2 * buffer_.size());
    const std::size_t both = size + buffer_.size();  // while one is copied to the other
    if (!limit_->allows(both)) throw limit_->refusal(fmt::format("{}:{}: {}", name_, lines_ + 1, what), both);
    buffer_.resize(size);
  }
  const auto room = std::span(buffer_).subspan(kept);
  const std::size_t count = source_->read(room);
  is_at_end_ = count < room.size();
  end_ += count;
  return count > 0;
}

std::string_view ByteStream::peek(std::size_t count) {
  while (end_ - begin_ < count && extend("a part that is read as one")) {
  }
  return window().substr(0, count);
}

void ByteStream::go_to(const ByteRange& range) {
  const std::optional<std::uint64_t> read = source_->place();
  if (!read) throw InputError(fmt::format("{}: is no file whose bytes can be read out of order", name_));
  const std::uint64_t here = *read - (end_ - begin_);
  source_->go_to(std::max(here, range.begin), std::max(here, range.end));
  begin_ = end_ = 0;
  is_at_end_ = false;
}

std::string_view ByteStream::peek_lines(std::size_t bytes, std::string_view what) {
  while (window().size() < bytes && extend(what)) {
  }
  std::size_t searched = 0;
  std::size_t last = std::string_view::npos;
  for (;;) {
    const std::string_view fresh = window().substr(searched);
    last = fresh.rfind('\n');
    // What is no text must not be read on to where it has a line ending: a device may have none.
    if (last != std::string_view::npos || fresh.find('\0') != std::string_view::npos) break;
    searched = window().size();
    if (!extend(what)) break;
  }
  if (is_at_end_ || last == std::string_view::npos) return window();
  return window().substr(0, searched + last + 1);
}

void ByteStream::skip_lines(std::size_t count, std::uint64_t lines) {
  begin_ += count;
  lines_ += lines;
}

std::optional<std::string_view> TextLines::next() {
  if (rest_.empty()) return std::nullopt;
  std::string_view line = rest_.substr(0, rest_.find('\n'));
  if (has_zero_ && line.find('\0') != std::string_view::npos)
    throw InputError(fmt::format(
        "{}:{}: holds a zero byte: must be text in UTF-8; this is a binary file, or text in UTF-16, or tr -d "
        "'\\0' < FILE > NEW mends it",
        name_, taken_ + 1));
  ++taken_;
  rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t ByteStream::read(std::span<char> out) {
  const std::size_t buffered = window().copy(out.data(), out.size());
  begin_ += buffered;
  return buffered + source_->read(out.subspan(buffered));
}

std::shared_ptr<const char> ByteStream::map_last(std::size_t bytes, std::size_t alignment) {
  std::shared_ptr<const char> mapped = source_->map_last(bytes, alignment, end_ - begin_);
  if (mapped) begin_ = end_;
  return mapped;
}

std::unique_ptr<ByteSource> inflated(ByteStream packed, DeflateForm form) {
  return std::make_unique<Inflated>(std::move(packed), form);
}

FileHandle open_file(const std::filesystem::path& given) {
  const std::filesystem::path file = given == "-" ? "/dev/stdin" : given;
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
