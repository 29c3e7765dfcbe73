#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <span>

#include "data/formats.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

// A zip archive (APPNOTE.TXT of PKWARE), as far as NumPy writes it: members stored or deflated, sizes of 32
// or 64 bits. It is read from its end, where its directory lies.

constexpr std::string_view zip_magic = "PK\3\4";

struct ZipMember {
  std::string name;
  bool is_deflated = false;
  std::uint32_t checksum = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header_at = 0;
};

class FileRange final : public ByteSource {
 public:
  FileRange(std::FILE* file, std::uint64_t begin, std::uint64_t count)
      : file_(file), at_(begin), left_(count) {}

  std::size_t read(std::span<char> out) override {
    const std::size_t wanted = std::min<std::uint64_t>(out.size(), left_);
    if (fseeko(file_, static_cast<off_t>(at_), SEEK_SET) != 0) return 0;
    const std::size_t count = std::fread(out.data(), 1, wanted, file_);
    at_ += count;
    left_ -= count;
    return count;
  }

 private:
  std::FILE* file_;
  std::uint64_t at_;
  std::uint64_t left_;
};

// The bytes of a member, held against the size and the checksum that the directory has for it.
class CheckedMember final : public ByteSource {
 public:
  CheckedMember(std::string name, std::unique_ptr<ByteSource> bytes, const ZipMember& member)
      : name_(std::move(name)), bytes_(std::move(bytes)), member_(member) {}

  std::size_t read(std::span<char> out) override {
    const std::size_t count = bytes_->read(out);
    checksum_ = crc32_z(checksum_, reinterpret_cast<const Bytef*>(out.data()), count);
    size_ += count;
    if (count < out.size() && (size_ != member_.size || checksum_ != member_.checksum)) {
      throw InputError(
          fmt::format("{}: the file is corrupt: size or checksum of the array are wrong", name_));
    }
    return count;
  }

 private:
  std::string name_;
  std::unique_ptr<ByteSource> bytes_;
  ZipMember member_;
  std::uint64_t size_ = 0;
  uLong checksum_ = crc32_z(0, nullptr, 0);
};

class ZipArchive {
 public:
  ZipArchive(const std::filesystem::path& file, ByteStream& stream)
      : name_(stream.name()), file_(open_seekable(file, stream)), limit_(stream.shared_limit()) {
    fseeko(file_.get(), 0, SEEK_END);
    size_ = static_cast<std::uint64_t>(ftello(file_.get()));
    read_directory();
  }

  const std::vector<ZipMember>& members() const { return members_; }

  /// The bytes of a member, called `name` in messages; the archive must outlive them.
  ByteStream open(const ZipMember& member, const std::string& name) const {
    constexpr std::size_t header_size = 30;
    const std::string header = read_at(member.header_at, header_size);
    if (!header.starts_with(zip_magic)) throw corrupt();
    const std::uint64_t begin =
        member.header_at + header_size + number(header, 26, 2) + number(header, 28, 2);
    std::unique_ptr<ByteSource> bytes = std::make_unique<FileRange>(file_.get(), begin, member.packed_size);
    if (member.is_deflated) bytes = inflated(ByteStream(name, std::move(bytes), limit_), DeflateForm::raw);
    return {name, std::make_unique<CheckedMember>(name, std::move(bytes), member), limit_};
  }

 private:
  // The archive as it lies there, or a copy where it is packed or comes by a pipe.
  static FileHandle open_seekable(const std::filesystem::path& file, ByteStream& stream) {
    if (stream.is_regular_file()) return open_file(file);
    FileHandle copy(std::tmpfile());
    if (!copy)
      throw InputError(fmt::format("{}: there is no room for a temporary file to unpack to", stream.name()));
    std::vector<char> chunk(std::size_t{1} << 18);
    std::uint64_t copied = 0;
    while (const std::size_t count = stream.read(chunk)) {
      if (!stream.limit().allows_unpacked(copied += count))
        throw stream.limit().refusal(fmt::format("{}: a copy of it", stream.name()), copied);
      if (std::fwrite(chunk.data(), 1, count, copy.get()) < count) {
        throw InputError(fmt::format("{}: the temporary file to unpack to cannot be written", stream.name()));
      }
    }
    return copy;
  }

  void read_directory() {
    constexpr std::uint64_t end_size = 22;
    constexpr std::uint64_t longest_comment = 0xffff;
    const std::uint64_t tail_size = std::min(size_, end_size + longest_comment);
    const std::string tail = read_at(size_ - tail_size, tail_size);
    const std::size_t found = tail.rfind("PK\5\6");
    if (found == std::string::npos || tail.size() - found < end_size) {
      throw InputError(fmt::format(
          "{}: not a zip archive (.npz), or a truncated one: it does not end in a directory", name_));
    }
    const std::string_view end = std::string_view(tail).substr(found);
    std::uint64_t count = number(end, 10, 2);
    std::uint64_t directory_size = number(end, 12, 4);
    std::uint64_t directory_at = number(end, 16, 4);
    constexpr std::size_t locator_size = 20;  // of the directory with 64 bits, right before the other
    if (found >= locator_size && tail.compare(found - locator_size, 4, "PK\6\7") == 0) {
      const std::string wide_end = read_at(number(tail, found - locator_size + 8, 8), 56);
      if (!wide_end.starts_with("PK\6\6")) throw corrupt();
      count = number(wide_end, 32, 8);
      directory_size = number(wide_end, 40, 8);
      directory_at = number(wide_end, 48, 8);
    }
    const std::string directory = read_at(directory_at, directory_size);
    std::string_view rest = directory;
    for (std::uint64_t i = 0; i < count; ++i) members_.push_back(take_member(rest));
  }

  // Takes an entry of the directory off the front of `rest`.
  ZipMember take_member(std::string_view& rest) const {
    constexpr std::size_t fixed_size = 46;
    if (!rest.starts_with("PK\1\2") || rest.size() < fixed_size) throw corrupt();
    const std::size_t name_size = number(rest, 28, 2);
    const std::size_t extra_size = number(rest, 30, 2);
    const std::size_t entry_size = fixed_size + name_size + extra_size + number(rest, 32, 2);
    if (rest.size() < entry_size) throw corrupt();
    ZipMember member;
    member.name = rest.substr(fixed_size, name_size);
    const std::uint64_t flags = number(rest, 8, 2);
    const std::uint64_t method = number(rest, 10, 2);
    if ((flags & 1) != 0 || (method != 0 && method != 8)) {
      throw InputError(
          fmt::format("{}: {} is packed in a way that cannot be read: must be stored or deflated, "
                      "as numpy.savez and savez_compressed write it",
                      name_, in_quotes(member.name)));
    }
    member.is_deflated = method == 8;
    member.checksum = static_cast<std::uint32_t>(number(rest, 16, 4));
    member.packed_size = number(rest, 20, 4);
    member.size = number(rest, 24, 4);
    member.header_at = number(rest, 42, 4);
    read_wide_sizes(rest.substr(fixed_size + name_size, extra_size), member);
    if (member.header_at > size_ || member.packed_size > size_) throw corrupt();
    rest.remove_prefix(entry_size);
    return member;
  }

  // What does not fit 32 bits is all ones there, and follows, in this order, in an extra field of its own.
  void read_wide_sizes(std::string_view extra, ZipMember& member) const {
    constexpr std::uint64_t wide_field = 1;
    while (extra.size() >= 4) {
      const std::uint64_t id = number(extra, 0, 2);
      std::string_view field = extra.substr(4, number(extra, 2, 2));
      extra.remove_prefix(4 + field.size());
      if (id != wide_field) continue;
      for (std::uint64_t* size : {&member.size, &member.packed_size, &member.header_at}) {
        if (*size != 0xffffffff) continue;
        *size = number(field, 0, 8);
        field.remove_prefix(8);
      }
    }
  }

  std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) const {
    if (bytes.size() < at + count) throw corrupt();
    return little_endian(bytes.substr(at, count));
  }

  std::string read_at(std::uint64_t begin, std::uint64_t count) const {
    if (begin > size_ || count > size_ - begin) throw corrupt();
    std::string bytes(count, '\0');
    if (FileRange(file_.get(), begin, count).read(bytes) < count) throw corrupt();
    return bytes;
  }

  InputError corrupt() const {
    return InputError(fmt::format("{}: the file is corrupt: its zip directory cannot be understood", name_));
  }

  std::string name_;
  FileHandle file_;
  std::shared_ptr<MemoryLimit> limit_;
  std::uint64_t size_ = 0;
  std::vector<ZipMember> members_;
};

using Arrays = std::map<std::string, ZipMember>;

const Arrays::value_type* find_array(const Arrays& arrays, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = arrays.find(std::string(name));
    if (found != arrays.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

bool is_zip(ByteStream& stream) { return stream.peek(zip_magic.size()) == zip_magic; }

Dataset read_npz(const std::filesystem::path& file, ByteStream& stream, const ReadOptions& options) {
  const ZipArchive archive(file, stream);
  Arrays arrays;
  std::vector<std::string> names;
  for (const ZipMember& member : archive.members()) {
    constexpr std::string_view ending = ".npy";
    if (!member.name.ends_with(ending)) continue;
    names.push_back(member.name.substr(0, member.name.size() - ending.size()));
    arrays.emplace(names.back(), member);
  }
  const Arrays::value_type* x = find_array(arrays, {"x", "X", "data", "features"});
  const Arrays::value_type* y = find_array(arrays, {"y", "Y", "target", "labels"});
  if (x == nullptr && arrays.size() == 1) {
    x = &*arrays.begin();
    y = nullptr;
  }
  if (x == nullptr) {
    throw InputError(
        fmt::format("{}: none of its arrays ({}) is the data: name it x, X, data or features, "
                    "and the target y, Y, target or labels",
                    file.string(), comma_separated(names)));
  }
  const auto read_one = [&](const Arrays::value_type& named, const ReadOptions& array_options) {
    const auto& [name, member] = named;
    ByteStream array = archive.open(member, fmt::format("{}: array {}", file.string(), in_quotes(name)));
    return read_npy(array, array_options);
  };
  const bool has_target = y != nullptr && options.target_file.empty();
  if (has_target && !options.target.empty() && options.target != y->first && !options.target_optional) {
    throw InputError(
        fmt::format("{}: there is no target column {}: the archive has its target as array {}, "
                    "so leave the target out",
                    file.string(), in_quotes(options.target), in_quotes(y->first)));
  }
  ReadOptions x_options = options;
  if (has_target) x_options.target.clear();
  Dataset data = read_one(*x, x_options);
  if (has_target) join_target(data, read_one(*y, target_alone(options)));
  data.source = file.string();
  return data;
}

}  // namespace yosida
