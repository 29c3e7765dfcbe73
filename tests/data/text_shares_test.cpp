#include "data/text_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/test_files.hpp"
#include "support/thread_ranks.hpp"
#include "yosida/random.hpp"

// Processes that share rows read a text by ranges of its bytes. Whatever it holds, and however many they are,
// they have what one process has that reads all of it, or they agree that they cannot tell, and then one
// reads all of it. YOSIDA_TABLES says how many tables are drawn.

namespace yosida {
namespace {

using namespace test_files;

/// All that was read, in words: the bits of numbers.
std::string in_words(const Dataset& data) {
  std::string words = fmt::format("{} x {}, target {}, weights {}; ", data.rows(), data.features(),
                                  data.target_name, data.weight_name);
  const auto add_text = [&](const std::string& text) { words += fmt::format("[{}] ", text); };
  const auto add_numbers = [&](const double* numbers, Index count) {
    for (Index i = 0; i < count; ++i) words += fmt::format("{:x} ", std::bit_cast<std::uint64_t>(numbers[i]));
    words += "; ";
  };
  for (const std::string& name : data.feature_names) add_text(name);
  for (const std::string& note : data.notes) add_text(note);
  for (const std::string& name : data.table.classes) add_text(name);
  words += fmt::format("form {} {} {}; ", data.table.decimal, data.table.drop_first, data.table.from_zero);
  for (const TableColumn& column : data.table.columns) {
    words +=
        fmt::format("{} {} {}: ", column.name, static_cast<int>(column.kind), static_cast<int>(column.order));
    for (const std::string& level : column.levels) add_text(level);
  }
  for (const Vector* v : {&data.y, &data.weight, &data.fold}) add_numbers(v->data(), v->size());
  const Matrix x = to_matrix(data.x);
  add_numbers(x.data(), x.size());
  return words;
}

/// A table of text such as people have, and now and then one that is spoilt.
class Tables {
 public:
  explicit Tables(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  bool once_in(std::uint64_t count) { return below(count) == 0; }
  std::string one_of(const std::vector<std::string>& texts) { return texts[below(texts.size())]; }

  /// The texts of as many files as they are cut into.
  std::vector<std::string> files() {
    delimiter_ = one_of({",", ",", ";"});
    end_ = once_in(4) ? "\r\n" : "\n";
    quotes_ = once_in(3);
    const std::uint64_t columns = 2 + below(4), rows = below(once_in(6) ? 4 : 120);
    kinds_.clear();
    for (std::uint64_t j = 0; j < columns; ++j) kinds_.push_back(once_in(2) ? 0 : below(11));
    kinds_.push_back(once_in(3) ? 1 : 0);  // the target
    std::string header;
    for (std::uint64_t j = 0; j < columns; ++j) header += fmt::format("c{}{}", j, delimiter_);
    header += "y" + end_;
    if (once_in(8)) header.clear();
    std::vector<std::string> texts(once_in(2) ? 1 : 1 + below(4), header);
    for (std::uint64_t i = 0; i < rows; ++i) texts[i * texts.size() / rows] += line(i);
    for (std::string& text : texts) {
      if (once_in(10)) text += end_;
      if (once_in(10) && !text.empty()) text.pop_back();
      if (once_in(10) && !text.empty()) spoil(text);
      if (once_in(30)) text.insert(0, "A title\n");
      if (once_in(30)) text.insert(0, "\xef\xbb\xbf");
    }
    return texts;
  }

 private:
  std::string line(std::uint64_t row) {
    std::string text;
    for (std::size_t j = 0; j < kinds_.size(); ++j) text += (j > 0 ? delimiter_ : "") + field(kinds_[j], row);
    if (once_in(400)) text.clear();
    if (once_in(400)) text += delimiter_ + "1";
    return text + end_;
  }

  std::string field(std::uint64_t kind, std::uint64_t row) {
    const std::string number = fmt::format("{}{}.{}", once_in(2) ? "-" : "", below(100), below(1000));
    if (once_in(500)) return one_of({"", "oops", "nan", "1e999", "\"a\"\"b\"", "\"two\nlines\"", "\xff"});
    switch (kind) {
      case 1:
        return in_quotes(one_of({"red", "green", "dark blue"}));
      case 2:
        return in_quotes("level " + std::to_string(row / 20));
      case 3:
        return fmt::format("2024-{:02}-{:02}", 1 + below(12), 1 + below(28));
      case 4:
        return fmt::format("{:02}/{:02}/2024", 1 + below(once_in(40) ? 28 : 12), 1 + below(12));
      case 5:
        return delimiter_ == ";" ? fmt::format("{},{}", below(100), below(100)) : number;
      case 6:
        return number + " kg";
      case 7:
        return one_of({"true", "false"});
      case 8:
        return fmt::format("name {}", row);
      case 9:
        return row < 60 ? "" : number;
      case 10:
        return in_quotes(one_of({"a\nb", "c", "d\"\"e"}));
      default:
        return number;
    }
  }
  std::string in_quotes(const std::string& text) const { return quotes_ ? '"' + text + '"' : text; }

  void spoil(std::string& text) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = one_of({"\n", "\"", ",", "x"})[0];
        break;
      case 1:
        text.erase(at, 1 + below(10));
        break;
      case 2:
        text.insert(at, one_of({"\n", "\n\n", "\"", "\"\n\"", ";", "é", "\r"}));
        break;
      default:
        text.insert(at, text.substr(at / 2, below(40)));
    }
  }

  Random random_;
  std::string delimiter_, end_;
  bool quotes_ = false;
  std::vector<std::uint64_t> kinds_;
};

ReadOptions drawn_options(Tables& tables) {
  ReadOptions options;
  options.target = tables.once_in(4) ? "-1" : "y";
  options.missing = static_cast<Missing>(tables.below(3));
  if (tables.once_in(6)) options.categorical = {"c0"};
  if (tables.once_in(6)) options.numeric = {"c1"};
  if (tables.once_in(6)) options.ignore = {"c1"};
  if (tables.once_in(8)) options.weight = "c0";
  if (tables.once_in(8)) options.fold = "c1";
  options.drop_first = tables.once_in(4);
  return options;
}

TEST(TextShares, AreWhatOneProcessReadsOrNothing) {
  const char* const asked = std::getenv("YOSIDA_TABLES");
  const int count = asked != nullptr ? std::atoi(asked) : 400;
  const TestFiles files;
  int shared = 0, readable = 0;
  for (int n = 0; n < count; ++n) {
    Tables tables(static_cast<std::uint64_t>(n));
    std::vector<std::filesystem::path> parts;
    for (const std::string& text : tables.files())
      if (!text.empty()) parts.push_back(files.write(fmt::format("{}-{}.csv", n, parts.size()), text));
    if (parts.empty()) continue;
    ReadOptions options = drawn_options(tables);
    std::string whole, refusal;
    try {
      // Rows that miss a value are left out by who reads all of them, shares or not.
      ByteStream first = open_text(parts.front(), options.max_memory);
      whole = in_words(read_csv(parts, first, Separator::comma, options, Encoding::utf8));
      ++readable;
    } catch (const InputError& error) {
      refusal = error.what();
    }
    options.cache = files.directory() / fmt::format("cache-{}", n);
    const int size = 1 + static_cast<int>(tables.below(7));
    const std::uint64_t least_piece = 16 + tables.below(2000);
    for (const bool finds_all_kept : {false, true}) {
      std::vector<std::string> found(static_cast<std::size_t>(size));
      test::ThreadRanks(size).run([&](int rank) {
        const auto data = read_shares(parts, 0, Separator::comma, options, least_piece);
        if (data) found[static_cast<std::size_t>(rank)] = in_words(*data);
      });
      for (const std::string& each : found) ASSERT_EQ(each, found.front()) << n << ": processes differ";
      if (found.front().empty()) continue;
      ASSERT_EQ(found.front(), whole)
          << n << ", " << size << " processes, kept: " << finds_all_kept << "; " << refusal;
      shared += finds_all_kept ? 0 : 1;
    }
    for (const auto& part : parts) std::filesystem::remove(part);
    std::filesystem::remove_all(options.cache);
  }
  // That they cannot tell is the exception.
  EXPECT_GT(3 * shared, 2 * readable) << shared << " of " << readable;
}

}  // namespace
}  // namespace yosida
