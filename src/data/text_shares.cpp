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

/// Cuts the files into some 64 pieces, more where these would be large. The pieces are the same for any
/// number of processes.
std::vector<Piece> cut(std::span<const fs::path> files, std::uint64_t least) {
  constexpr std::uint64_t kPieces = 64, kMost = std::uint64_t{1} << 26;
  std::vector<std::uint64_t> bytes;
  for (const fs::path& file : files) bytes.push_back(fs::file_size(file));
  std::uint64_t all = 0;
  for (const std::uint64_t each : bytes) all += each;
  const std::uint64_t piece = std::clamp(all / kPieces, least, kMost);
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
  bool is_right = false;
  bool from_zero = false;
  Index columns = 0;
};

class Shares {
 public:
  Shares(std::span<const fs::path> files, int format, std::optional<Separator> separator, ReadOptions options,
         std::uint64_t least_piece)
      : files_(files),
        format_(format),
        separator_(separator),
        options_(std::move(options)),
        pieces_(cut(files, least_piece)),
        first_(own_of(pieces_).first),
        end_(own_of(pieces_).second) {}

  std::optional<Dataset> read() {
    if (!know_digests()) return std::nullopt;
    // A piece that holds numbers alone is read as it stands. What a text stands for is known from all pieces
    // together.
    const bool may_have_text = separator_ && options_.like.is_plain();
    std::optional<Dataset> form = may_have_text ? kept_form() : std::nullopt;
    if (!form && (!may_have_text || options_.categorical.empty()))
      if (auto data = read_pieces()) return data;
    if (!form && may_have_text) form = form_of_all();
    if (!form) return std::nullopt;
    options_.like = form->table;
    knows_form_ = true;
    std::optional<Dataset> data = read_pieces();
    if (data) data->notes = form->notes;
    return data;
  }

 private:
  /// Where the own pieces lie, and the digests of all. False where a quoted field may reach from one piece
  /// into the next, or a file cannot be read.
  bool know_digests() {
    std::string own;
    bool is_right = true;
    try {
      for (std::size_t i = first_; i < end_; ++i) own += digest_of_piece(i);
    } catch (const InputError&) {  // whoever reads all of it in order says what is wrong
      is_right = false;
    }
    if (linalg::any_rank(!is_right)) return false;
    for (const std::string& digests : linalg::gather_texts(own)) digests_ += digests;
    return true;
  }

  std::string digest_of_piece(std::size_t i) {
    const Piece& piece = pieces_[i];
    const fs::path& file = files_[piece.file];
    const FileHandle handle = open_file(file);
    const ByteRange range{.begin = line_at(handle.get(), file, piece.nominal.begin),
                          .end = line_at(handle.get(), file, piece.nominal.end)};
    ranges_.push_back(range);
    // How a line is read depends on the first ones of its file, and on those of the first file.
    if (first_head_.empty()) first_head_ = head_of(files_.front());
    if (head_of_ != piece.file) {
      head_ = head_of(file);
      head_of_ = piece.file;
    }
    const std::string_view place = range.begin > 0  ? ""
                                   : piece.file > 0 ? "begins a file"
                                                    : "begins the first";
    return sha256_of_text(
        fmt::format("{}{}{}{}", first_head_, head_, digest_of(handle.get(), file, range), place));
  }

  static std::string head_of(const fs::path& file) {
    constexpr std::uint64_t kHead = std::uint64_t{1} << 21;
    return digest_of_pieces(file, std::min<std::uint64_t>(kHead, fs::file_size(file)));
  }

  ParsedFile kept_of(std::size_t piece) const {
    return {files_.subspan(pieces_[piece].file, 1), digests_.substr(piece * kDigest, kDigest), format_,
            options_};
  }
  ParsedFile kept_form_of_all() const {
    return {files_, sha256_of_text("form " + digests_), format_, options_};
  }

  std::optional<Dataset> kept_form() const {
    std::optional<Dataset> form;
    try {
      form = kept_form_of_all().read(MemoryLimit(0));
    } catch (const InputError&) {  // damaged: it is replaced
    }
    if (linalg::any_rank(!form)) return std::nullopt;
    return form;
  }

  /// The table without its rows, which the first process keeps.
  std::optional<Dataset> form_of_all() const {
    std::vector<ByteRange> own;
    for (const fs::path& file : files_)
      own.push_back({.begin = fs::file_size(file), .end = fs::file_size(file)});
    for (std::size_t i = first_; i < end_; ++i) {
      ByteRange& range = own[pieces_[i].file];
      range = {.begin = std::min(range.begin, ranges_[i - first_].begin), .end = ranges_[i - first_].end};
    }
    std::optional<Dataset> form;
    try {
      form = read_csv_form(files_, *separator_, options_, own);
    } catch (const InputError&) {
      return std::nullopt;
    }
    if (form->features() == 0) return std::nullopt;
    try {
      if (linalg::ranks()->rank() == 0) kept_form_of_all().write(*form);
    } catch (const OutputError&) {  // the next run looks again
    }
    return form;
  }

  /// All rows, each piece as the options say.
  std::optional<Dataset> read_pieces() {
    const std::vector<Said> said = read_own();
    if (!std::all_of(said.begin(), said.end(), [](const Said& each) { return each.is_right; }))
      return std::nullopt;
    if (!options_.like.from_zero &&
        std::any_of(said.begin(), said.end(), [](const Said& each) { return each.from_zero; })) {
      options_.like.from_zero = true;
      return read_pieces();
    }
    Index columns = 0;
    for (const Said& each : said) columns = std::max(columns, each.columns);
    std::vector<Dataset> tables;
    bool are_here = true;  // not where the folder is one of this machine alone, and others have read them
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      auto table = kept_of(i).read(MemoryLimit(0), ParsedFile::Trust::whole);
      are_here = table.has_value();
      if (!are_here) break;
      table->x = table->x.widened(columns);
      tables.push_back(std::move(*table));
    }
    if (linalg::any_rank(!are_here)) return std::nullopt;
    Dataset all = stacked(tables);
    if (all.rows() == 0 || !is_allowed(all)) return std::nullopt;
    return all;
  }

  /// Whether all rows together are within what the user allows, of which a piece knows nothing.
  bool is_allowed(const Dataset& all) const {
    const double numbers = all.x.product_flops() / 2.0 + static_cast<double>(all.rows());
    return options_.max_memory == 0 || sizeof(double) * numbers <= static_cast<double>(options_.max_memory);
  }

  std::vector<Said> read_own() {
    std::vector<Said> own(end_ - first_);
    try {
      for (std::size_t i = first_; i < end_; ++i) own[i - first_] = read_piece(i);
    } catch (const InputError&) {
    } catch (const OutputError&) {
    }
    std::string all;
    for (const std::string& theirs :
         linalg::gather_texts({reinterpret_cast<const char*>(own.data()), own.size() * sizeof(Said)}))
      all += theirs;
    std::vector<Said> said(all.size() / sizeof(Said));
    std::memcpy(said.data(), all.data(), all.size());
    return said;
  }

  /// Reads it, unless it is kept already.
  Said read_piece(std::size_t i) const {
    const ParsedFile kept = kept_of(i);
    std::optional<Dataset> data;
    try {
      data = kept.read(MemoryLimit(0));
    } catch (const InputError&) {  // damaged: it is replaced
    }
    if (!data) {
      data = separator_ ? read_csv(i) : read_libsvm(i);
      kept.write(*data);
    }
    // A note counts, over all rows, those that differ from the table that they should be like.
    const bool is_right = options_.like.columns.empty() || data->notes.empty();
    return {.is_right = is_right, .from_zero = data->table.from_zero, .columns = data->features()};
  }

  Dataset read_csv(std::size_t i) const {
    const Piece& piece = pieces_[i];
    const bool ends_file = i + 1 == pieces_.size() || pieces_[i + 1].file != piece.file;
    return read_csv_part(files_, *separator_, options_,
                         {.file = piece.file,
                          .range = ranges_[i - first_],
                          .ends_file = ends_file,
                          .knows_form = knows_form_});
  }

  Dataset read_libsvm(std::size_t i) const {
    ByteStream stream = open_text(files_[pieces_[i].file], options_.max_memory);
    return read_libsvm_range(stream, options_, ranges_[i - first_]);
  }

  static constexpr std::size_t kDigest = 64;  // characters

  std::span<const fs::path> files_;
  int format_;
  std::optional<Separator> separator_;
  ReadOptions options_;
  bool knows_form_ = !options_.like.is_plain();  // they say what all rows say of the columns
  std::vector<Piece> pieces_;
  std::size_t first_, end_;                                        // of the own pieces
  std::vector<ByteRange> ranges_;                                  // of these
  std::string digests_;                                            // of all pieces, one behind the other
  std::size_t head_of_ = std::numeric_limits<std::size_t>::max();  // the file whose digest `head_` is
  std::string head_, first_head_;
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
                                   std::optional<Separator> separator, const ReadOptions& options,
                                   std::uint64_t least_piece) {
  if (!options.id.empty() || options.dense) return std::nullopt;
  return Shares(files, format, separator, options, least_piece).read();
}

}  // namespace yosida
