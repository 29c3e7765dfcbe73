#include "yosida/data/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>

#include "data/byte_stream.hpp"
#include "data/file_list.hpp"
#include "data/formats.hpp"
#include "data/parsed_file.hpp"
#include "data/text_shares.hpp"
#include "linalg/alone.hpp"
#include "linalg/columns.hpp"
#include "linalg/ranks.hpp"
#include "yosida/data/split.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida {
namespace {

void require_no_columns_apart(const std::filesystem::path& file, const ReadOptions& options) {
  if (!options.weight.empty() || !options.fold.empty())
    throw InputError(
        fmt::format("{}: column {}: the weights and folds of rows are read from CSV and TSV files only",
                    file.string(), in_quotes(options.weight.empty() ? options.fold : options.weight)));
}

enum class Format { csv, tsv, separated, libsvm, npy, npz, idx };

// The ending of the name decides; where it tells nothing, as that of a pipe, the first bytes do.
Format format_of(const std::filesystem::path& file, ByteStream& stream) {
  const std::filesystem::path name = unpacked_name(file);
  const std::string stem = name.stem().string();
  const std::string ending = name.extension().string();
  if (ending == ".npz") return Format::npz;
  if (ending == ".csv") return Format::csv;
  if (ending == ".tsv" || ending == ".tab") return Format::tsv;
  if (ending == ".txt" || ending == ".dat") return Format::separated;
  if (ending == ".libsvm" || ending == ".svm" || ending == ".t") return Format::libsvm;
  if (ending == ".npy" || is_npy(stream)) return Format::npy;
  if (ending.starts_with(".idx") || ending.ends_with("-ubyte") || stem.ends_with("-ubyte") ||
      stem.find("-idx") != std::string::npos || is_idx(stream)) {
    return Format::idx;
  }
  if (!ending.empty() && stream.is_regular_file()) {
    constexpr std::array<std::string_view, 8> kTables = {".xlsx",    ".xls",     ".ods",  ".json",
                                                         ".parquet", ".feather", ".html", ".sql"};
    const bool is_table = std::find(kTables.begin(), kTables.end(), ending) != kTables.end();
    throw InputError(fmt::format(
        "{}: files ending in {} cannot be read{}: known are .csv; .tsv, .tab; .txt, .dat; .libsvm, "
        ".svm, .t (LIBSVM); .npy, .npz; .idx, -ubyte (IDX), each also with .gz or .xz behind it; a "
        "file without an ending is known by what it holds",
        file.string(), ending, is_table ? " (its program can save a table as .csv)" : ""));
  }
  if (is_zip(stream)) return Format::npz;
  return is_libsvm(stream) ? Format::libsvm : Format::separated;
}

bool is_text(Format format) {
  return format == Format::csv || format == Format::tsv || format == Format::separated ||
         format == Format::libsvm;
}

std::optional<Separator> separator_of(Format format) {
  if (format == Format::csv) return Separator::comma;
  if (format == Format::tsv) return Separator::tab;
  if (format == Format::separated) return Separator::sniffed;
  return std::nullopt;
}

using Files = std::span<const std::filesystem::path>;

void require_options_of(const std::filesystem::path& file, Format format, const ReadOptions& options) {
  if (separator_of(format)) return;
  if (!options.ignore.empty())
    throw InputError(fmt::format("{}: columns can be ignored in CSV and TSV files only", file.string()));
  if (!options.categorical.empty() || !options.numeric.empty() || !options.id.empty())
    throw InputError(fmt::format(
        "{}: categories, columns of numbers and ids are named in CSV and TSV files only", file.string()));
  require_no_columns_apart(file, options);
}

Dataset parse_array(const std::filesystem::path& file, ByteStream& stream, Format format,
                    const ReadOptions& options, const ArrayPart& part = {}) {
  if (format == Format::npy) return read_npy(stream, options, part);
  if (format == Format::npz) return read_npz(file, stream, options);
  return read_idx(stream, options);
}

/// Text that is not UTF-8 is taken for that of Windows, whose programs write such files.
Dataset parse_text(Files files, ByteStream& stream, Format format, const ReadOptions& options) {
  if (format == Format::libsvm) return read_libsvm(files, stream, options);
  const Separator separator = *separator_of(format);
  try {
    return read_csv(files, stream, separator, options, Encoding::utf8);
  } catch (const NotUtf8&) {
    if (!std::filesystem::is_regular_file(files.front())) throw;
  }
  ByteStream again = open_text(files.front(), options.max_memory, Encoding::windows_1252);
  Dataset data = read_csv(files, again, separator, options, Encoding::windows_1252);
  data.notes.emplace_back("its text is not UTF-8 and is read as Windows-1252 (iconv converts others)");
  return data;
}

/// What is kept of these files, or the files themselves, which are then kept.
Dataset read_through_cache(Files files, ByteStream& stream, Format format, const ReadOptions& options) {
  const auto tell = [&](const std::exception& error, const char* what) {
    if (options.tell) options.tell(fmt::format("{}; {}", error.what(), what));
  };
  const ParsedFile kept(files, static_cast<int>(format), options);
  try {
    if (auto data = kept.read(stream.limit())) return std::move(*data);
  } catch (const InputError& error) {
    tell(error, "the data file is read anew");
  }
  Dataset data = parse_text(files, stream, format, options);
  try {
    kept.write(data);
  } catch (const OutputError& error) {
    tell(error, "the parsed file is not kept");
  }
  return data;
}

/// Together: each process reads its share. Where that cannot be, the first reads all of it, and the others
/// map what it has kept.
Dataset read_together(Files files, ByteStream& stream, Format format, const ReadOptions& options) {
  if (auto data = read_shares(files, static_cast<int>(format), separator_of(format), options))
    return std::move(*data);
  const auto read = [&] { return read_through_cache(files, stream, format, options); };
  std::optional<Dataset> data;
  if (linalg::ranks()->rank() == 0) data = linalg::alone(read);
  linalg::any_rank(false);
  return data ? std::move(*data) : linalg::alone(read);
}

/// Arrays, one behind the other, and how many rows each has.
struct Arrays {
  Dataset data;
  std::vector<Index> rows = {};
};

/// Several NPY files are shared out between the processes, by about as many bytes for each. A process looks
/// at its own.
Arrays read_arrays(Files files, ByteStream& first, Format format, const ReadOptions& options,
                   bool as_singles) {
  if (files.size() == 1)
    return {.data = parse_array(files.front(), first, format, options, {.as_singles = as_singles})};
  std::uint64_t all = 0, before = 0;
  for (const auto& file : files) all += std::filesystem::file_size(file);
  Arrays arrays;
  std::vector<Dataset> tables;
  for (const auto& file : files) {
    const std::uint64_t bytes = std::filesystem::file_size(file);
    const auto ranks = static_cast<std::uint64_t>(linalg::rank_count());
    const std::uint64_t owner = (before + bytes / 2) * ranks / std::max<std::uint64_t>(all, 1);
    const auto own = static_cast<std::uint64_t>(linalg::ranks() == nullptr ? 0 : linalg::ranks()->rank());
    before += bytes;
    ByteStream stream = open_text(file, options.max_memory);
    arrays.rows.push_back(0);
    try {
      tables.push_back(
          parse_array(file, stream, format, options,
                      {.is_one_of_several = true, .is_own = owner == own, .as_singles = as_singles}));
      arrays.rows.back() = tables.back().rows();
    } catch (const NoRows&) {
    }
  }
  if (tables.empty())
    throw InputError(fmt::format("{}: holds no rows, nor does any other of {} files", files.front().string(),
                                 files.size()));
  arrays.data = stacked(tables);
  return arrays;
}

Arrays read_files(Files files, const ReadOptions& options, bool as_singles) {
  ByteStream stream = open_text(files.front(), options.max_memory);
  const Format format = format_of(files.front(), stream);
  for (const auto& file : files.subspan(1)) {
    ByteStream other = open_text(file, options.max_memory);
    if (format_of(file, other) != format)
      throw InputError(fmt::format("{}: has another format than {}: the files of one table have the same",
                                   file.string(), files.front().string()));
  }
  require_options_of(files.front(), format, options);
  if (!is_text(format)) return read_arrays(files, stream, format, options, as_singles);
  const bool are_regular = std::all_of(files.begin(), files.end(), [](const std::filesystem::path& file) {
    return std::filesystem::is_regular_file(file);
  });
  if (options.cache.empty() || !are_regular) return {.data = parse_text(files, stream, format, options)};
  if (linalg::rank_count() > 1) return {.data = read_together(files, stream, format, options)};
  return {.data = read_through_cache(files, stream, format, options)};
}

/// Where both are several arrays, the targets of a file lie in the one at the same place.
void require_same_rows(Files files, const Arrays& arrays, Files target_files, const Arrays& targets) {
  if (arrays.rows.empty() || arrays.rows.size() != targets.rows.size()) return;
  for (std::size_t i = 0; i < arrays.rows.size(); ++i)
    if (arrays.rows[i] != targets.rows[i])
      throw InputError(fmt::format("{}: holds {} rows but {} holds {}: each row needs its target",
                                   target_files[i].string(), targets.rows[i], files[i].string(),
                                   arrays.rows[i]));
}

Dataset read_with_target(const std::filesystem::path& given, const ReadOptions& options, bool as_singles) {
  const std::vector<std::filesystem::path> files = files_of(given);
  Arrays arrays = read_files(files, options, as_singles);
  if (files.size() > 1) arrays.data.source = given.string();
  if (options.target_file.empty()) return std::move(arrays.data);
  const std::vector<std::filesystem::path> target_files = files_of(options.target_file);
  Arrays targets = read_files(target_files, target_alone(options), false);
  require_same_rows(files, arrays, target_files, targets);
  if (target_files.size() > 1) targets.data.source = options.target_file.string();
  join_target(arrays.data, std::move(targets.data));
  return std::move(arrays.data);
}

void drop_incomplete_rows(Dataset& data) {
  std::vector<Index> kept = complete_rows(data.x);
  std::erase_if(kept, [&](Index row) {
    for (const Vector* column : {&data.y, &data.weight, &data.fold})
      if (column->size() > 0 && std::isnan((*column)[row])) return true;
    return false;
  });
  if (static_cast<Index>(kept.size()) == data.rows()) return;
  if (data.row_number.empty()) {
    data.row_number.resize(static_cast<std::size_t>(data.rows()));
    std::iota(data.row_number.begin(), data.row_number.end(), Index{0});
  }
  data = select_rows(data, kept);
}

std::optional<Index> parse_index(const std::string& text) {
  Index index = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return index;
}

// The column of that name or, where none has it, of that index.
std::optional<Index> find_column(const std::string& name, Index columns,
                                 const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), name);
  if (named != names.end()) return named - names.begin();
  const auto index = parse_index(name);
  if (!index || *index < -columns || *index >= columns) return std::nullopt;
  return *index < 0 ? *index + columns : *index;
}

InputError no_such_column(const std::string& source, std::string_view what, const std::string& name,
                          Index columns, const std::vector<std::string>& names) {
  if (parse_index(name)) {
    return InputError(fmt::format("{}: there is no {} {}: the file has {} columns, 0 to {} or -{} to -1",
                                  source, what, name, columns, columns - 1, columns));
  }
  if (names.empty()) {
    return InputError(fmt::format(
        "{}: there is no {} {}: the file names no columns, so give an index, from 0 to {} or from -{} to -1",
        source, what, in_quotes(name), columns - 1, columns));
  }
  const std::string likely = nearest(name, names);
  const std::string hint = likely.empty() ? "its" : fmt::format("did you mean {}? Its", in_quotes(likely));
  return InputError(fmt::format("{}: there is no {} {}: {} {} {}", source, what, in_quotes(name), hint,
                                columns == 1 ? "only column is" : fmt::format("{} columns are", columns),
                                comma_separated(names)));
}

/// Whether a text that begins so is UTF-16 without a mark, and then whether big-endian: every second byte is
/// 0.
std::optional<bool> unmarked_utf16(std::string_view first) {
  const auto are_zero = [&](std::size_t from) {
    bool are = first.size() >= 4 && first.size() % 2 == 0;
    for (std::size_t i = 0; i < first.size(); ++i) are &= (first[i] == '\0') == (i % 2 == from);
    return are;
  };
  if (are_zero(1)) return false;
  if (are_zero(0)) return true;
  return {};
}

/// Whether a text that begins so has carriage returns in the place of line feeds. Files of programs of today
/// have a line feed in so many bytes, or no carriage return; arrays have zeros.
constexpr std::size_t kFirstLines = std::size_t{1} << 14;
bool ends_lines_by_returns(std::string_view first) {
  const std::size_t found = first.find('\r');
  return found != std::string_view::npos && found + 1 < first.size() &&
         first.find_first_of(std::string_view("\n\0", 2)) == std::string_view::npos;
}

Dataset read_rows(const std::filesystem::path& file, const ReadOptions& options, bool as_singles) try {
  const bool has_target_file = !options.target_file.empty();
  if (has_target_file && !options.target.empty() && !options.target_optional) {
    throw InputError(
        fmt::format("{}: the target is given twice, as column {} and as file {}: give one of them",
                    file.string(), in_quotes(options.target), options.target_file.string()));
  }
  Dataset data = read_with_target(file, options, as_singles);
  if (data.features() == 0)
    throw InputError(fmt::format("{}: holds no column beside the target{}{}", data.source,
                                 data.notes.empty() ? "" : "; ", fmt::join(data.notes, "; ")));
  if (options.missing == Missing::drop) {
    drop_incomplete_rows(data);
    if (data.rows() == 0) {
      throw InputError(
          fmt::format("{}: every row has a missing value, so dropping them leaves none", data.source));
    }
  }
  if (!as_singles) return data;
  try {
    data.x = with_singles(data.x);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: --float: {}", file.string(), error.what()));
  }
  return data;
} catch (const std::bad_alloc&) {
  throw MemoryError(fmt::format("{}: there is not enough memory to read it", file.string()));
}

}  // namespace

Dataset read_dataset(const std::filesystem::path& file, const ReadOptions& options) {
  return read_rows(file, options, false);
}

Dataset read_dataset_as_singles(const std::filesystem::path& file, const ReadOptions& options) {
  return read_rows(file, options, true);
}

ByteStream open_text(const std::filesystem::path& file, std::uint64_t max_memory, Encoding encoding) {
  ByteStream stream(file, max_memory);
  const auto decoded = [&](auto decode) {
    const std::string name = stream.name();
    const std::shared_ptr<MemoryLimit> limit = stream.shared_limit();
    return ByteStream(name, decode(std::move(stream)), limit);
  };
  const std::string_view first = stream.peek(2);
  if (first == "\xff\xfe" || first == "\xfe\xff") {
    const bool big_endian = first == "\xfe\xff";
    stream.skip(2);
    return decoded([&](ByteStream text) { return from_utf16(std::move(text), big_endian); });
  }
  if (const auto big_endian = unmarked_utf16(stream.peek(8)))
    return decoded([&](ByteStream text) { return from_utf16(std::move(text), *big_endian); });
  if (ends_lines_by_returns(stream.peek(kFirstLines))) stream = decoded(from_carriage_returns);
  if (encoding == Encoding::windows_1252) return decoded(from_windows_1252);
  constexpr std::string_view mark = "\xef\xbb\xbf";
  while (stream.peek(mark.size()) == mark) stream.skip(mark.size());  // some programs write it twice
  return stream;
}

std::optional<Index> target_column(const std::string& source, const ReadOptions& options, Index columns,
                                   const std::vector<std::string>& names) {
  if (options.target.empty()) return std::nullopt;
  const auto column = find_column(options.target, columns, names);
  if (column || options.target_optional) return column;
  throw no_such_column(source, "target column", options.target, columns, names);
}

Index column_named(const std::string& source, std::string_view what, const std::string& name, Index columns,
                   const std::vector<std::string>& names) {
  if (const auto column = find_column(name, columns, names)) return *column;
  throw no_such_column(source, what, name, columns, names);
}

ReadOptions target_alone(const ReadOptions& options) {
  ReadOptions alone;
  alone.target = "0";
  alone.missing = options.missing;
  alone.max_memory = options.max_memory;
  alone.cache = options.cache;
  alone.like.classes = options.like.classes;
  alone.tell = options.tell;
  return alone;
}

void join_target(Dataset& data, Dataset target) {
  if (target.features() > 0) {
    throw InputError(fmt::format("{}: holds {} columns: a target has one value a row", target.source,
                                 target.features() + 1));
  }
  if (target.rows() != data.rows()) {
    throw InputError(fmt::format("{}: holds {} rows but {} holds {}: each row needs its target",
                                 target.source, target.rows(), data.source, data.rows()));
  }
  data.y = std::move(target.y);
  data.target_name = std::move(target.target_name);
  data.table.classes = std::move(target.table.classes);
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double number = 0.0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || stop != text.data() + text.size()) return std::nullopt;
  // from_chars leaves open whether the number was too large or too small for a double; strtod tells.
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);
  return number;
}

std::string_view broken_rule(double number, bool is_target, Missing missing) {
  if (std::isinf(number)) return "must be a finite number";
  if (!std::isnan(number) || missing == Missing::drop) return "";
  if (is_target) return "must be a number, as it is the target; tune --missing drop leaves out such rows";
  if (missing == Missing::mean) return "";
  return "must be a number; tune --missing mean reads it as the mean of its column, --missing drop leaves "
         "out "
         "such rows";
}

std::string word_of_list(const std::string& name, std::size_t column) {
  const bool is_simple = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
  });
  if (is_simple) return name;
  if (name.empty() || name.find_first_of(",\r\n") != std::string::npos) return std::to_string(column);
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string comma_separated(const std::vector<std::string>& names) {
  constexpr std::size_t most_shown = 12;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most_shown; ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > most_shown ? text + ", ..." : text;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most_shown = 40;
  std::string shown = "\"";
  for (const char c : text.substr(0, most_shown)) {
    const bool is_control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    shown += is_control ? '?' : c;
  }
  return shown + (text.size() > most_shown ? "...\"" : "\"");
}

double* NumberBuffer::append(std::size_t count) {
  constexpr std::size_t least_capacity = 512;
  if (count > capacity_ - size_)
    reallocate(std::max({size_ + count, capacity_ + capacity_ / 2, least_capacity}));
  double* room = numbers_.get() + size_;
  size_ += count;
  return room;
}

std::shared_ptr<double> NumberBuffer::release(std::size_t count) {
  reallocate(std::max<std::size_t>(count, 1));
  size_ = capacity_ = 0;
  return {numbers_.release(), Free{}};
}

void NumberBuffer::reallocate(std::size_t capacity) {
  if (capacity > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double)) throw std::bad_alloc();
  auto* moved = static_cast<double*>(std::realloc(numbers_.get(), capacity * sizeof(double)));
  if (moved == nullptr) throw std::bad_alloc();
  static_cast<void>(numbers_.release());
  numbers_.reset(moved);
  capacity_ = capacity;
}

}  // namespace yosida
