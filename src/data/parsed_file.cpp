#include "data/parsed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include "data/digest.hpp"
#include "data/sha256.hpp"
#include "linalg/design_bytes.hpp"
#include "yosida/error.hpp"
#include "yosida/version.hpp"
#include "yosida/whole_file.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestBytes = 64;
constexpr std::size_t kAlignment = 64;

// A file is what follows, in this order, then a digest of all of it: texts and vectors, each behind its
// length; zeros up to a multiple of 64 bytes; the design.

/// Bytes on their way to a file, counted and digested.
class Writer {
 public:
  explicit Writer(WholeFile& file) : file_(file) {}

  void put(std::string_view bytes) {
    file_.write(bytes);
    digest_.add(bytes);
    written_ += bytes.size();
  }
  void put(std::uint64_t number) {
    put(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
  }
  void put_text(std::string_view text) {
    put(std::uint64_t{text.size()});
    put(text);
  }
  void put_vector(const Vector& numbers) {
    put(static_cast<std::uint64_t>(numbers.size()));
    put({reinterpret_cast<const char*>(numbers.data()),
         static_cast<std::size_t>(numbers.size()) * sizeof(double)});
  }
  void align() { put(std::string((kAlignment - written_ % kAlignment) % kAlignment, '\0')); }
  std::string digest() { return digest_.hex(); }

 private:
  WholeFile& file_;
  DigestOfPieces digest_;
  std::size_t written_ = 0;
};

/// Reads the same values back from the bytes of a file.
class Reader {
 public:
  Reader(std::span<const char> bytes, const fs::path& file) : bytes_(bytes), file_(file) {}

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - taken_) throw damaged(file_);
    taken_ += count;
    return {bytes_.data() + taken_ - count, count};
  }
  std::uint64_t take_number() { return little_endian(take(sizeof(std::uint64_t))); }
  std::string take_text() { return std::string(take(take_number())); }
  Vector take_vector() {
    const std::uint64_t count = take_number();
    if (count > bytes_.size() / sizeof(double)) throw damaged(file_);
    Vector numbers(static_cast<Index>(count));
    const std::string_view taken = take(count * sizeof(double));
    if (count > 0) std::memcpy(numbers.data(), taken.data(), taken.size());
    return numbers;
  }
  std::span<const char> take_aligned_rest() {
    take((kAlignment - taken_ % kAlignment) % kAlignment);
    return bytes_.subspan(taken_);
  }

  static InputError damaged(const fs::path& file) {
    return InputError(
        fmt::format("{}: the kept file is damaged, or was made by another program", file.string()));
  }

 private:
  std::span<const char> bytes_;
  const fs::path& file_;
  std::size_t taken_ = 0;
};

/// A whole file, mapped to be read only.
std::shared_ptr<const char> mapped(const fs::path& path, std::size_t bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const pages = file >= 0 ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (pages == MAP_FAILED)
    throw InputError(
        fmt::format("{}: cannot be mapped: {}", path.string(), std::generic_category().message(error)));
  return {static_cast<const char*>(pages),
          [bytes](const char* at) { ::munmap(const_cast<char*>(at), bytes); }};
}

/// All texts that a form of a table is made of, in an order from which it can be made again.
template <typename Take>
void for_each_part(const TableForm& form, const Take& take) {
  const auto take_all = [&](const std::vector<std::string>& texts) {
    take(std::to_string(texts.size()));
    for (const std::string& text : texts) take(text);
  };
  take(std::string{form.decimal, form.drop_first ? 'd' : '-', form.from_zero ? '0' : '1'});
  take_all(form.classes);
  take(std::to_string(form.columns.size()));
  for (const TableColumn& column : form.columns) {
    take(column.name);
    take(fmt::format("{}{}{}", static_cast<int>(column.kind), static_cast<int>(column.order),
                     static_cast<int>(column.ignores_text)));
    take_all(column.levels);
  }
}

/// Reads such a form back.
TableForm take_form(Reader& reader) {
  const auto take_all = [&] {
    std::vector<std::string> texts;
    for (std::uint64_t left = std::stoull(reader.take_text()); left > 0; --left)
      texts.push_back(reader.take_text());
    return texts;
  };
  const std::string flags = reader.take_text();
  TableForm form{.drop_first = flags.at(1) == 'd', .decimal = flags.at(0), .from_zero = flags.at(2) == '0'};
  form.classes = take_all();
  for (std::uint64_t left = std::stoull(reader.take_text()); left > 0; --left) {
    TableColumn column{.name = reader.take_text()};
    const std::string kind = reader.take_text();
    column.kind = static_cast<ColumnKind>(kind.at(0) - '0');
    column.order = static_cast<DateOrder>(kind.at(1) - '0');
    column.ignores_text = kind.at(2) == '1';
    column.levels = take_all();
    form.columns.push_back(std::move(column));
  }
  return form;
}

/// All that decides what a reader makes of a file, each part behind its length.
std::string key_of(const std::string& digest, int format, const ReadOptions& options) {
  constexpr int kVersion = 4;  // of these files, and of what readers make of a text
  std::string key;
  const auto add = [&](std::string_view part) { key += fmt::format("{}:{},", part.size(), part); };
  const auto add_all = [&](const std::vector<std::string>& parts) {
    key += fmt::format("{};", parts.size());
    for (const std::string& part : parts) add(part);
  };
  add(fmt::format("yosida {} parsed {}", version(), kVersion));
  add(digest);
  add(fmt::format("{} {} {} {} {}", format, static_cast<int>(options.missing), options.target_optional,
                  options.fold_optional, options.dense));
  add(options.target);
  add(options.weight);
  add(options.fold);
  add_all(options.ignore);
  add_all(options.only);
  add_all(options.categorical);
  add_all(options.numeric);
  add(options.id);
  add(fmt::format("{} {} {}", static_cast<int>(options.decimal), options.drop_first, options.refuse_unseen));
  for_each_part(options.like, add);
  return key;
}

std::string digest_of(std::span<const fs::path> files) {
  std::string all;
  for (const fs::path& file : files) all += digest_of_pieces(file, fs::file_size(file));
  return files.size() == 1 ? all : sha256_of_text(all);
}

}  // namespace

ParsedFile::ParsedFile(std::span<const fs::path> files, int format, const ReadOptions& options)
    : ParsedFile(files, digest_of(files), format, options) {}

ParsedFile::ParsedFile(std::span<const fs::path> files, const std::string& digest, int format,
                       const ReadOptions& options)
    : files_(files.begin(), files.end()), stamps_(stamps()) {
  key_ = key_of(digest, format, options);
  constexpr std::size_t kShown = 16;
  kept_ = options.cache / fmt::format("{}-{}.rows", digest, sha256_of_text(key_).substr(0, kShown));
}

std::vector<ParsedFile::Stamp> ParsedFile::stamps() const {
  std::vector<Stamp> all;
  for (const fs::path& file : files_)
    all.push_back({.written = fs::last_write_time(file), .bytes = fs::file_size(file)});
  return all;
}

std::optional<Dataset> ParsedFile::read(const MemoryLimit& limit, Trust trust) const {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(kept_, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) return {};
  if (error || bytes < kDigestBytes) throw Reader::damaged(kept_);
  if (!limit.allows(bytes)) return {};
  const std::uint64_t content = bytes - kDigestBytes;
  const std::shared_ptr<const char> map = mapped(kept_, bytes);
  if (trust == Trust::none &&
      digest_of_pieces(kept_, content) != std::string_view(map.get() + content, kDigestBytes))
    throw Reader::damaged(kept_);
  Reader reader({map.get(), content}, kept_);
  if (reader.take_text() != key_)
    throw InputError(
        fmt::format("{}: the kept file is of another data file or of other options", kept_.string()));
  Dataset data;
  data.target_name = reader.take_text();
  data.weight_name = reader.take_text();
  for (std::uint64_t left = reader.take_number(); left > 0; --left)
    data.feature_names.push_back(reader.take_text());
  for (std::uint64_t left = reader.take_number(); left > 0; --left) data.notes.push_back(reader.take_text());
  for (std::uint64_t left = reader.take_number(); left > 0; --left) data.id.push_back(reader.take_text());
  data.id_name = reader.take_text();
  data.table = take_form(reader);
  data.y = reader.take_vector();
  data.weight = reader.take_vector();
  data.fold = reader.take_vector();
  data.x = linalg::view_bytes(reader.take_aligned_rest(), map, trust == Trust::none);
  data.source = files_.front().string();
  return data;
}

void ParsedFile::write(const Dataset& data) const {
  if (stamps() != stamps_) return;
  std::error_code error;
  fs::create_directories(kept_.parent_path(), error);
  if (error) throw OutputError(fmt::format("{}: {}", kept_.parent_path().string(), error.message()));
  WholeFile file(kept_);
  Writer writer(file);
  writer.put_text(key_);
  writer.put_text(data.target_name);
  writer.put_text(data.weight_name);
  writer.put(std::uint64_t{data.feature_names.size()});
  for (const std::string& name : data.feature_names) writer.put_text(name);
  for (const std::vector<std::string>* texts : {&data.notes, &data.id}) {
    writer.put(std::uint64_t{texts->size()});
    for (const std::string& text : *texts) writer.put_text(text);
  }
  writer.put_text(data.id_name);
  for_each_part(data.table, [&](std::string_view text) { writer.put_text(text); });
  writer.put_vector(data.y);
  writer.put_vector(data.weight);
  writer.put_vector(data.fold);
  writer.align();
  linalg::put_bytes(data.x, [&](std::string_view bytes) { writer.put(bytes); });
  file.write(writer.digest());
  file.finish();
}

}  // namespace yosida
