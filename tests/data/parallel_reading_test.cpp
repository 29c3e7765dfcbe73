#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "data/test_files.hpp"
#include "data/text_blocks.hpp"
#include "support/threads_guard.hpp"
#include "yosida/linalg/threads.hpp"

// Text is read in pieces by several threads. Whatever it holds, the rows and the message are those of one
// thread.

namespace yosida {
namespace {

using namespace test_files;

struct Read {
  Dataset data;
  std::string message;
};

Read read_with(int count, const std::filesystem::path& file, const ReadOptions& options) {
  set_threads(count);
  try {
    return {.data = read_dataset(file, options), .message = ""};
  } catch (const InputError& error) {
    return {.data = {}, .message = error.what()};
  }
}

bool same(const Vector& a, const Vector& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

class ParallelReading : public ::testing::Test {
 protected:
  // What all numbers of threads agree on: the message, empty where the file was read.
  std::string agreed(const std::string& name, std::string_view text, const ReadOptions& options = {}) {
    const auto file = files_.write(name, text);
    const Read one = read_with(1, file, options);
    for (const int count : {2, 3, 8}) {
      const Read several = read_with(count, file, options);
      EXPECT_EQ(several.message, one.message) << count << " threads";
      EXPECT_TRUE(same(several.data.y, one.data.y)) << count << " threads";
      EXPECT_TRUE(same(several.data.weight, one.data.weight)) << count << " threads";
      EXPECT_EQ(several.data.rows(), one.data.rows()) << count << " threads";
      EXPECT_EQ(several.data.features(), one.data.features()) << count << " threads";
      if (several.data.rows() != one.data.rows() || several.data.features() != one.data.features()) continue;
      const Matrix a = to_matrix(one.data.x), b = to_matrix(several.data.x);
      EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)), 0)
          << count << " threads";
    }
    return one.message;
  }

  static std::string table(int rows) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    std::string text = "a,\"b\nc\",w,y\n";
    for (int i = 0; i < rows; ++i)
      text += fmt::format("{},{:.3f},{},{}\n", normal(random), normal(random), random() % 9, random() % 2);
    return text;
  }

  ReadOptions weighted() const {
    ReadOptions options{.target = "y", .target_file = {}};
    options.weight = "w";
    return options;
  }

  TestFiles files_;
  test::ThreadsGuard guard_;
};

constexpr int many = 120000;  // some four megabytes: several blocks

TEST_F(ParallelReading, Tables) {
  const std::string text = table(many);
  ASSERT_GT(text.size(), 3u << 20);
  EXPECT_EQ(agreed("plain.csv", text, weighted()), "");
  EXPECT_EQ(agreed("packed.csv.gz", gzipped(text), weighted()), "");
  EXPECT_EQ(agreed("blank.csv", text + "\n \n\n", weighted()), "");
}

TEST_F(ParallelReading, TheFirstErrorOfATable) {
  const std::string text = table(many);
  const auto with = [&](std::initializer_list<std::pair<int, std::string_view>> lines) {
    std::string changed;
    std::size_t at = 0;
    int line = 1;
    for (const auto& [number, replacement] : lines) {
      for (; line < number; ++line) {
        const std::size_t end = text.find('\n', at) + 1;
        changed += text.substr(at, end - at);
        at = end;
      }
      changed += replacement;
      changed += '\n';
      at = text.find('\n', at) + 1;
      ++line;
    }
    return changed + text.substr(at);
  };
  const auto refused = [&](const std::string& bad, std::string_view part) {
    const std::string message = agreed("bad.csv", bad, weighted());
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused(with({{70001, "1,x,1,0"}, {110000, "y,1,1,1"}}), "bad.csv:70001: field 2");
  // A line of too few fields is told first: no flag helps against it, as some do against text.
  refused(with({{70001, "1,x,1,0"}, {70002, "1,2,3"}}), "bad.csv:70002: expected 4 fields but found 3");
  refused(with({{70001, "1,2,3"}, {70002, "1,x,1,0"}}), "bad.csv:70001: expected 4 fields but found 3");
  refused(with({{119000, ""}}), "bad.csv:119000: the line is blank");
  refused(with({{50000, "1,2,-1,0"}}), "bad.csv:50000: field 3 (\"w\")");
  refused(with({{60000, "1,\"2,1,0"}}), "bad.csv:60000: a quoted field is opened but not closed");
  refused(with({{30000, ""}, {60000, "1,\"2,1,0"}}), "bad.csv:30000");
  refused(with({{80000, "1,2,-1,0"}, {80001, std::string_view("\0", 1)}}), "bad.csv:80000: field 3");
  refused(with({{80000, std::string_view("1,\0", 3)}, {80001, "1,inf,1,0"}}),
          "bad.csv:80000: holds a zero byte");
}

// Records of several lines, cut wherever a piece may begin.
TEST_F(ParallelReading, QuotedFieldsOfSeveralLines) {
  std::mt19937_64 random(5);
  std::string text = "id,a,y\n";
  for (int i = 0; i < 60000; ++i) {
    text += '"';
    for (std::uint64_t k = random() % 5; k > 0; --k) text += random() % 2 == 0 ? "1,2\n" : "\"\",";
    text += fmt::format("\",{},\"{}\"\n", i, i % 7);
  }
  ReadOptions options{.target = "y", .target_file = {}};
  options.ignore = {"id"};
  EXPECT_EQ(agreed("quoted.csv", text, options), "");
  const std::string message = agreed("late.csv", text + "x,x,x\n", options);
  EXPECT_NE(message.find(fmt::format("late.csv:{}: field 2", std::count(text.begin(), text.end(), '\n') + 1)),
            std::string::npos)
      << message;
}

TEST_F(ParallelReading, RowsOfOneColumnMayBeBlank) {
  std::string text = "a\n";
  for (int i = 0; i < 400000; ++i) text += i % 100000 == 77777 ? "\n" : "1.25\n";
  ReadOptions options;
  options.missing = Missing::mean;
  EXPECT_EQ(agreed("gaps.csv", text, options), "");
  EXPECT_NE(agreed("gaps.csv", text).find("gaps.csv:77779"), std::string::npos);
}

TEST_F(ParallelReading, SparseRows) {
  std::mt19937_64 random(4);
  std::string text = "# from here on\n";
  for (int i = 0; i < 50000; ++i) {
    text += fmt::format("{}", random() % 2);
    for (std::uint64_t column = 1 + random() % 20; column < 100; column += 1 + random() % 30)
      text += fmt::format(" {}:{}", column, 1e-3 * static_cast<double>(random() % 5000));
    text += random() % 50 == 0 ? " # why\n\n" : "\n";
  }
  ASSERT_GT(text.size(), 2u << 20);
  const auto line_at = [&](std::size_t place) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
  };
  EXPECT_EQ(agreed("rows.svm", text), "");
  for (const std::string_view bad : {"1 3:1 2:1\n", "x 1:1\n", "1 1:x\n", "1 2147483647:1\n"}) {
    const std::size_t place = text.rfind('\n', 1'800'000) + 1;
    std::string changed = text;
    changed.insert(place, bad);
    const std::string message = agreed("bad.svm", changed + "1 0:1\n");
    EXPECT_NE(message.find(fmt::format("bad.svm:{}: ", line_at(place))), std::string::npos) << message;
  }
}

TEST_F(ParallelReading, LimitsOfMemoryAreMetAtTheSameLine) {
  ReadOptions options = weighted();
  options.max_memory = 3'000'000;
  EXPECT_NE(agreed("large.csv", table(many), options).find("the table up to here"), std::string::npos);
  std::string labels;
  for (int i = 0; i < 300'000; ++i) labels += "1\n";
  options = {};
  options.max_memory = 3'000'000;
  EXPECT_NE(agreed("large.svm", labels, options).find("columns takes"), std::string::npos);
}

TEST_F(ParallelReading, PiecesEndBehindWholeRecords) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 20; ++round) {
    std::string text;
    while (text.size() < 400'000) text += "ab\"\n"[random() % 4];
    set_threads(1 + round % 5);
    std::string joined;
    for (const std::string_view piece : cut_to_pieces(text, '"')) {
      joined += piece;
      if (joined.size() == text.size()) break;
      EXPECT_EQ(joined.back(), '\n');
      EXPECT_EQ(std::count(joined.begin(), joined.end(), '"') % 2, 0);
    }
    EXPECT_EQ(joined, text);
    const std::size_t end = end_of_last_record(text, '"');
    ASSERT_GT(end, 0u);
    EXPECT_EQ(text[end - 1], '\n');
    EXPECT_EQ(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '"') % 2, 0);
  }
}

}  // namespace
}  // namespace yosida
