#include "data/text_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "data/digest.hpp"
#include "data/parsed_file.hpp"
#include "data/sha256.hpp"
#include "linalg/ranks.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

/// Some whole lines of a file.
struct Piece {
  std::size_t file;
  ByteRange nominal;  // from the first line that begins in it to the first behind it
};

/// The same for any number of processes: some 64 pieces, more where these would be large.
std::vector<Piece> cut(std::span<const fs::path> files) {
  constexpr std::uint64_t kPieces = 64, kLeast = std::uint64_t{1} << 18, kMost = std::uint64_t{1} << 26;
  std::vector<std::uint64_t> bytes;
  for (const fs::path& file : files) bytes.push_back(fs::file_size(file));
  std::uint64_t all = 0;
  for (const std::uint64_t each : bytes) all += each;
  const std::uint64_t piece = std::clamp(all / kPieces, kLeast, kMost);
  std::vector<Piece> pieces;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::uint64_t count = std::max<std::uint64_t>(1, bytes[file] / piece);
    for (std::uint64_t i = 0; i < count; ++i)
      pieces.push_back({.file = file,
                        .nominal = {.begin = bytes[file] * i / count, .end = bytes[file] * (i + 1) / count}});
  }
  return pieces;
}

/// Pieces [first, end) of this process: as many bytes as the others have.
std::pair<std::size_t, std::size_t> own_of(const std::vector<Piece>& pieces) {
  std::uint64_t all = 0;
  for (const Piece& piece : pieces) all += piece.nominal.end - piece.nominal.begin;
  const linalg::Ranks& ranks = *linalg::ranks();
  const auto first_of = [&](int rank) {
    const std::uint64_t begin =
        all / static_cast<std::uint64_t>(ranks.size()) * static_cast<std::uint64_t>(rank);
    std::uint64_t before = 0;
    std::size_t i = 0;
    for (; i < pieces.size() && before < begin; ++i)
      before += pieces[i].nominal.end - pieces[i].nominal.begin;
    return rank == ranks.size() ? pieces.size() : i;
  };
  return {first_of(ranks.rank()), first_of(ranks.rank() + 1)};
}

/// Where the first line begins that begins at `place` or behind it.
std::uint64_t line_at(std::FILE* file, const fs::path& name, std::uint64_t place) {
  if (place == 0) return 0;
  std::array<char, std::size_t{1} << 14> block;
  if (fseeko(file, static_cast<off_t>(place - 1), SEEK_SET) != 0)
    throw InputError(fmt::format("{}: cannot be read", name.string()));
  for (std::uint64_t at = place - 1;;) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), file);
    const char* const end = block.data() + count;
    const char* const found = std::find<const char*>(block.data(), end, '\n');
    if (found != end) return at + static_cast<std::uint64_t>(found - block.data()) + 1;
    at += count;
    if (count < block.size()) return at;
  }
}

/// A digest of the bytes. Throws InputError where a quoted field may reach beyond them.
std::string digest_of(std::FILE* file, const fs::path& name, const ByteRange& range) {
  if (fseeko(file, static_cast<off_t>(range.begin), SEEK_SET) != 0)
    throw InputError(fmt::format("{}: cannot be read", name.string()));
  std::vector<char> block(std::size_t{1} << 18);
  Digest digest;
  std::ptrdiff_t quotes = 0;
  for (std::uint64_t left = range.end - range.begin; left > 0;) {
    const std::size_t count = std::fread(
        block.data(), 1, static_cast<std::size_t>(std::min<std::uint64_t>(left, block.size())), file);
    if (count == 0) throw InputError(fmt::format("{}: has become shorter", name.string()));
    digest.add(std::span(block).first(count));
    quotes += std::count(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count), '"');
    left -= count;
  }
  if (quotes % 2 != 0) throw InputError(fmt::format("{}: a quoted field has several lines", name.string()));
  return digest.hex();
}

/// What a process says of a piece.
struct Said {
  double is_right = 0.0;
  double from_zero = 0.0;
  double columns = 0.0;
  char digest[64] = {};
};
constexpr std::size_t kSaidNumbers = sizeof(Said) / sizeof(double);

class Shares {
 public:
  Shares(std::span<const fs::path> files, int format, std::optional<Separator> separator, ReadOptions options)
      : files_(files),
        format_(format),
        separator_(separator),
        options_(std::move(options)),
        pieces_(cut(files)) {}

  std::optional<Dataset> read() {
    const std::vector<Said> said = read_own();
    const auto is_right = [](const Said& each) { return each.is_right != 0.0; };
    if (!std::all_of(said.begin(), said.end(), is_right)) return std::nullopt;
    const auto from_zero = [](const Said& each) { return each.from_zero != 0.0; };
    if (!options_.like.from_zero && std::any_of(said.begin(), said.end(), from_zero)) {
      options_.like.from_zero = true;
      return read();
    }
    std::vector<Dataset> tables;
    double columns = 0.0;
    for (const Said& each : said) columns = std::max(columns, each.columns);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const ParsedFile kept = kept_of(i, std::string(said[i].digest, sizeof said[i].digest));
      auto table = kept.read(MemoryLimit(0), ParsedFile::Trust::whole);
      if (!table) return std::nullopt;
      table->x = table->x.widened(static_cast<Index>(columns));
      tables.push_back(std::move(*table));
    }
    Dataset data = stacked(tables);
    return data;
  }

 private:
  ParsedFile kept_of(std::size_t piece, const std::string& digest) const {
    return {files_.subspan(pieces_[piece].file, 1), digest, format_, options_};
  }

  std::vector<Said> read_own() {
    const auto [first, end] = own_of(pieces_);
    std::vector<Said> own(end - first);
    try {
      for (std::size_t i = first; i < end; ++i) own[i - first] = read_piece(i);
    } catch (const InputError&) {  // whoever reads all of it in order says what is wrong
    } catch (const OutputError&) {
    }
    return heard_from_all(own);
  }

  static std::vector<Said> heard_from_all(const std::vector<Said>& own) {
    linalg::Ranks& ranks = *linalg::ranks();
    const std::vector<Index> ones(static_cast<std::size_t>(ranks.size()), 1);
    std::vector<double> numbers(ones.size());
    const auto mine = static_cast<double>(own.size() * kSaidNumbers);
    ranks.gather(&mine, ones, numbers.data());
    const std::vector<Index> counts(numbers.begin(), numbers.end());
    Index all = 0;
    for (const Index count : counts) all += count;
    std::vector<Said> said(static_cast<std::size_t>(all) / kSaidNumbers);
    ranks.gather(reinterpret_cast<const double*>(own.data()), counts, reinterpret_cast<double*>(said.data()));
    return said;
  }

  /// Reads it, unless it is kept already.
  Said read_piece(std::size_t i) {
    const Piece& piece = pieces_[i];
    const fs::path& file = files_[piece.file];
    const FileHandle handle = open_file(file);
    const ByteRange range{.begin = line_at(handle.get(), file, piece.nominal.begin),
                          .end = line_at(handle.get(), file, piece.nominal.end)};
    // How a line is read depends on the first ones of its file.
    constexpr std::uint64_t kHead = std::uint64_t{1} << 21;
    if (head_of_ != piece.file) {
      head_ = digest_of_pieces(file, std::min<std::uint64_t>(kHead, fs::file_size(file)));
      head_of_ = piece.file;
    }
    const std::string digest =
        sha256_of_text(head_ + digest_of(handle.get(), file, range) + (range.begin == 0 ? "first" : ""));
    const ParsedFile kept = kept_of(i, digest);
    std::optional<Dataset> data;
    try {
      data = kept.read(MemoryLimit(0));
    } catch (const InputError&) {  // damaged: it is replaced
    }
    if (!data) {
      ByteStream stream = open_text(file, options_.max_memory);
      data = separator_ ? read_csv_range(stream, *separator_, options_, range)
                        : read_libsvm_range(stream, options_, range);
      kept.write(*data);
    }
    Said said{.is_right = 1.0,
              .from_zero = data->table.from_zero ? 1.0 : 0.0,
              .columns = static_cast<double>(data->features())};
    std::memcpy(said.digest, digest.data(), sizeof said.digest);
    return said;
  }

  std::span<const fs::path> files_;
  int format_;
  std::optional<Separator> separator_;
  ReadOptions options_;
  std::vector<Piece> pieces_;
  std::size_t head_of_ = std::numeric_limits<std::size_t>::max();  // the file whose digest `head_` is
  std::string head_;
};

Vector joined(std::span<const Dataset> tables, Vector Dataset::*column) {
  Index all = 0;
  for (const Dataset& table : tables) all += (table.*column).size();
  Vector numbers(all);
  Index at = 0;
  for (const Dataset& table : tables) {
    const Vector& part = table.*column;
    numbers.segment(at, part.size()) = part;
    at += part.size();
  }
  return numbers;
}

}  // namespace

Dataset stacked(std::span<const Dataset> tables) {
  const Dataset& first = tables.front();
  std::vector<Design> pieces;
  for (const Dataset& table : tables) {
    if (table.features() != first.features())
      throw InputError(
          fmt::format("{}: has {} columns beside the target, {} has {}: the files of one table have the "
                      "same columns",
                      table.source, table.features(), first.source, first.features()));
    if (table.feature_names != first.feature_names)
      throw InputError(
          fmt::format("{}: names its columns otherwise than {} does", table.source, first.source));
    pieces.push_back(table.x);
  }
  Dataset all;
  all.source = first.source;
  all.feature_names = first.feature_names;
  all.target_name = first.target_name;
  all.weight_name = first.weight_name;
  all.table = first.table;
  all.notes = first.notes;
  all.x = stack_rows(pieces);
  all.y = joined(tables, &Dataset::y);
  all.weight = joined(tables, &Dataset::weight);
  all.fold = joined(tables, &Dataset::fold);
  return all;
}

std::optional<Dataset> read_shares(std::span<const fs::path> files, int format,
                                   std::optional<Separator> separator, const ReadOptions& options) {
  // What a text stands for, and which row an id is of, is known once all of it was read.
  const bool takes_text = !options.categorical.empty() || !options.like.columns.empty() ||
                          !options.like.classes.empty() || !options.id.empty();
  if (takes_text || options.dense) return std::nullopt;
  return Shares(files, format, separator, options).read();
}

}  // namespace yosida
