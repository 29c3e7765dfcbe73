#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_stream.hpp"
#include "yosida/data/reader.hpp"

namespace yosida {

// One reader per format. Each takes the target where the options or the format put it, checks every value,
// and throws InputError at the first that is wrong. With Missing::drop it leaves rows with missing values in,
// as NaN (in y too): which rows go is known only once a target file has been joined.

/// How the fields of a line are told apart: by its format, or by the first line.
enum class Separator { comma, tab, sniffed };
/// What the bytes of a text mean where they do not say so themselves.
enum class Encoding { utf8, windows_1252 };
/// The rows of all files, one behind the other, as if they were one. `stream` has the bytes of the first,
/// which is opened again where text takes a closer look. Throws NotUtf8 where its text is not.
Dataset read_csv(std::span<const std::filesystem::path> files, ByteStream& stream, Separator separator,
                 const ReadOptions& options, Encoding encoding);
Dataset read_libsvm(std::span<const std::filesystem::path> files, ByteStream& stream,
                    const ReadOptions& options);
/// Together: the table of several files without its rows, with all that the text of these says of how they
/// are to be read. Of each file a process reads the rows within its own range, which begins and ends with a
/// line outside of quotes. Throws InputError in all processes where one meets a row that is wrong.
Dataset read_csv_form(std::span<const std::filesystem::path> files, Separator separator,
                      const ReadOptions& options, std::span<const ByteRange> own);
/// Bytes of a file, which begin and end with a line outside of quotes.
struct CsvPart {
  std::size_t file = 0;  // its place among the files of the table
  ByteRange range = {};
  bool ends_file = false;   // blank lines at its end are none
  bool knows_form = false;  // `ReadOptions::like` is the form of this table, or of one that it is read like
};
/// The rows of a part, as they are read where all files are; there may be none. Throws InputError where this
/// cannot be known by this part alone: where a line is blank, or where text, or a column without values, is
/// not of a form that is known.
Dataset read_csv_part(std::span<const std::filesystem::path> files, Separator separator,
                      const ReadOptions& options, const CsvPart& part);
/// The rows within these bytes of a file, which begin and end with a line; there may be none.
Dataset read_libsvm_range(ByteStream& stream, const ReadOptions& options, const ByteRange& range);
/// What an array is of a table.
struct ArrayPart {
  bool is_one_of_several = false;  // then it may have no rows, and a small one is mapped, too
  bool is_own = true;              // this process looks at its numbers, whether they are finite
  bool as_singles = false;         // numbers of 8 bytes are rounded to 4 where they can be (with_singles)
};
/// A file that is one of several has no rows.
struct NoRows : InputError {
  using InputError::InputError;
};
Dataset read_npy(ByteStream& stream, const ReadOptions& options, const ArrayPart& part = {});
/// `stream` has the first bytes of `file`, and all of them where it cannot be opened again.
Dataset read_npz(const std::filesystem::path& file, ByteStream& stream, const ReadOptions& options);
/// read_dataset, and dense rows as numbers of 4 bytes (with_singles); targets are not rounded.
Dataset read_dataset_as_singles(const std::filesystem::path& file, const ReadOptions& options);
Dataset read_idx(ByteStream& stream, const ReadOptions& options);

/// Text that is not UTF-8.
struct NotUtf8 : InputError {
  using InputError::InputError;
};
/// The bytes of a file behind its byte-order mark; text in UTF-16, which begins with one, as UTF-8.
ByteStream open_text(const std::filesystem::path& file, std::uint64_t max_memory,
                     Encoding encoding = Encoding::utf8);

/// Whether a file starts like an array of NumPy, like an archive of them, like an IDX file, or like LIBSVM
/// text.
bool is_npy(ByteStream& stream);
bool is_zip(ByteStream& stream);
bool is_idx(ByteStream& stream);
bool is_libsvm(ByteStream& stream);

/// How the numbers of a binary file lie there.
struct ArrayLayout {
  char kind = 'f';        // as NumPy has it: 'f' floating, 'i' signed, 'u' unsigned, 'b' boolean
  std::size_t bytes = 8;  // of one number
  bool big_endian = false;
  bool by_column = false;  // Fortran order
  std::vector<std::uint64_t> shape;
};
/// Whether read_array knows numbers of this kind and size.
bool is_readable(char kind, std::size_t bytes);
/// Reads the numbers up to the end of the stream; an array of more than two dimensions becomes one row for
/// each index of its first.
Dataset read_array(ByteStream& stream, const ArrayLayout& layout, const ReadOptions& options,
                   const ArrayPart& part = {});

/// The column that a name (or an index, from 0 or, negative, from the end) means; `what` is its part in
/// messages. Throws where there is none.
Index column_named(const std::string& source, std::string_view what, const std::string& name, Index columns,
                   const std::vector<std::string>& names);
/// The column that `options.target` means among `columns`; `names` is empty where they have none.
std::optional<Index> target_column(const std::string& source, const ReadOptions& options, Index columns,
                                   const std::vector<std::string>& names = {});
/// The options to read a target by itself with: a table whose only column is the target.
ReadOptions target_alone(const ReadOptions& options);
/// Makes what was read so the target of `data`.
void join_target(Dataset& data, Dataset target);

/// The number that is all of `text`, with a sign or without (it may be infinite or NaN); nothing where `text`
/// is no number. Beyond the range of a double it is infinite or 0.
std::optional<double> parse_number(std::string_view text);
/// What a number breaks that is infinite, or missing (NaN) where it may not be; empty where it breaks
/// nothing.
std::string_view broken_rule(double number, bool is_target, Missing missing);
/// The text in quotes as a message shows it: on one line, and not longer than a glance.
std::string in_quotes(std::string_view text);

/// A column as a word of the shell that stands in a list NAME,NAME: its name, in quotes where it needs them,
/// or its index from 0 where a comma would cut the name.
std::string word_of_list(const std::string& name, std::size_t column);

/// The names as a message lists them: the first dozen.
std::string comma_separated(const std::vector<std::string>& names);

/// Numbers that grow by realloc: the pages of a large block are remapped, not copied, so growing holds no
/// second buffer.
class NumberBuffer {
 public:
  double* data() { return numbers_.get(); }
  /// Room for `count` more numbers behind the last, not initialised.
  double* append(std::size_t count);
  /// Keeps the room.
  void clear() { size_ = 0; }
  /// Gives the first `count` numbers away.
  std::shared_ptr<double> release(std::size_t count);

 private:
  void reallocate(std::size_t capacity);

  struct Free {
    void operator()(double* numbers) const { std::free(numbers); }
  };
  std::unique_ptr<double, Free> numbers_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace yosida
