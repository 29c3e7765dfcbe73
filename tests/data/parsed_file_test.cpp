#include "data/parsed_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "data/test_files.hpp"

namespace yosida {
namespace {

using namespace test_files;
namespace fs = std::filesystem;

class ParsedFiles : public ::testing::Test {
 protected:
  ReadOptions kept(ReadOptions options = {}) {
    options.cache = files_.directory() / "cache";
    options.tell = [this](const std::string& note) { notes_.push_back(note); };
    return options;
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(files_.directory() / "cache"))
      found.push_back(entry.path());
    return found;
  }
  static std::string bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put(const fs::path& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  }

  TestFiles files_;
  std::vector<std::string> notes_;
};

void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.feature_names, b.feature_names);
  EXPECT_EQ(a.target_name, b.target_name);
  EXPECT_EQ(a.weight_name, b.weight_name);
  EXPECT_EQ(a.x.omits_zeros(), b.x.omits_zeros());
  const auto same = [](const auto& one, const auto& other) {
    return one.rows() == other.rows() && one.cols() == other.cols() &&
           std::memcmp(one.data(), other.data(), static_cast<std::size_t>(one.size()) * sizeof(double)) == 0;
  };
  EXPECT_TRUE(same(a.y, b.y) && same(a.weight, b.weight) && same(a.fold, b.fold));
  EXPECT_TRUE(same(to_matrix(a.x), to_matrix(b.x)));
}

const std::string table = "a,fold,b,w,y\n1.5,1,-0,2,0\n2,2,NA,1,1\n1e-300,1,7,0.5,0\n";

ReadOptions all_columns() {
  ReadOptions options{.target = "y", .target_file = {}};
  options.weight = "w";
  options.fold = "fold";
  options.missing = Missing::mean;
  return options;
}

TEST_F(ParsedFiles, WhatIsKeptIsWhatWasRead) {
  const auto csv = files_.write("data.csv", table);
  const auto packed = files_.write("data.csv.gz", gzipped(table));
  const auto svm = files_.write("data.svm", "1 1:0.5 30:2\n-1\n1 2:1e-3\n");
  for (const auto& [file, options] :
       {std::pair(csv, all_columns()), std::pair(packed, all_columns()), std::pair(svm, ReadOptions())}) {
    const Dataset plain = read_dataset(file, options);
    expect_same(read_dataset(file, kept(options)), plain);
    expect_same(read_dataset(file, kept(options)), plain);
  }
  EXPECT_EQ(entries().size(), 3u);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(ParsedFiles, TheSecondReadTakesWhatIsKept) {
  const auto file = files_.write("data.csv", table);
  const ReadOptions options = kept(all_columns());
  const MemoryLimit limit(0);
  const ParsedFile parsed(std::span(&file, 1), 0, options);
  EXPECT_FALSE(parsed.read(limit));
  Dataset other = read_dataset(file, all_columns());
  other.target_name = "kept";  // as no reader would name it
  parsed.write(other);
  const auto found = ParsedFile(std::span(&file, 1), 0, options).read(limit);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->target_name, "kept");
  EXPECT_FALSE(ParsedFile(std::span(&file, 1), 1, options).read(limit));
}

TEST_F(ParsedFiles, OtherBytesAndOtherOptionsAreOtherFiles) {
  auto file = files_.write("data.csv", "a,b\n1,2\n3,4\n");
  EXPECT_EQ(read_dataset(file, kept({.target = "a", .target_file = {}})).y, vector({1, 3}));
  EXPECT_EQ(read_dataset(file, kept({.target = "b", .target_file = {}})).y, vector({2, 4}));
  file = files_.write("data.csv", "a,b\n1,2\n3,5\n");
  EXPECT_EQ(read_dataset(file, kept({.target = "b", .target_file = {}})).y, vector({2, 5}));
  EXPECT_EQ(entries().size(), 3u);
  EXPECT_TRUE(notes_.empty());
}

// Each is told of, read anew and put right.
TEST_F(ParsedFiles, DamagedTruncatedAndForeignFilesAreReadAnew) {
  const auto file = files_.write("data.csv", table);
  const Dataset plain = read_dataset(file, all_columns());
  read_dataset(file, kept(all_columns()));
  const fs::path entry = entries().front();
  const std::string right = bytes_of(entry);
  std::vector<std::string> wrong = {"", "x", right + "x", right.substr(1), std::string(right.size(), '\0')};
  for (std::size_t at = 0; at < right.size(); at += 37) {
    wrong.push_back(right);
    wrong.back()[at] ^= 1;
    wrong.push_back(right.substr(0, at));
  }
  const auto other = files_.write("other.csv", "a,fold,b,w,y\n1,1,1,1,1\n");
  read_dataset(other, kept(all_columns()));
  for (const fs::path& each : entries())
    if (each != entry) wrong.push_back(bytes_of(each));
  ASSERT_TRUE(notes_.empty());
  for (const std::string& bytes : wrong) {
    put(entry, bytes);
    expect_same(read_dataset(file, kept(all_columns())), plain);
    ASSERT_EQ(notes_.size(), 1u);
    EXPECT_NE(notes_[0].find(entry.string()), std::string::npos);
    EXPECT_NE(notes_[0].find("read anew"), std::string::npos);
    EXPECT_EQ(bytes_of(entry), right);
    notes_.clear();
  }
}

TEST_F(ParsedFiles, AFolderThatCannotBeMadeCostsNothing) {
  const auto file = files_.write("data.csv", table);
  ReadOptions options = kept(all_columns());
  options.cache = file / "cache";
  expect_same(read_dataset(file, options), read_dataset(file, all_columns()));
  ASSERT_FALSE(notes_.empty());
  EXPECT_NE(notes_.back().find("not kept"), std::string::npos);
}

TEST_F(ParsedFiles, ErrorsAndLimitsAreThoseOfTheFile) {
  const auto bad = files_.write("bad.csv", "a,b\n1,inf\n");
  for (int round = 0; round < 2; ++round) expect_refused(bad, kept(), {"bad.csv:2: field 2"});
  EXPECT_FALSE(fs::exists(files_.directory() / "cache"));
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "1,2,3\n";
  const auto file = files_.write("large.csv", text);
  EXPECT_EQ(read_dataset(file, kept()).rows(), 100'000);
  ReadOptions limited = kept();
  limited.max_memory = 2'000'000;
  expect_refused(file, limited, {"large.csv:", "--max-memory allows 2 MB"});
}

TEST_F(ParsedFiles, SeveralAtTheSameTime) {
  std::string text = "a,b\n";
  for (int i = 0; i < 20'000; ++i) text += fmt::format("{},{}\n", i, i / 7.0);
  const auto file = files_.write("data.csv", text);
  const Dataset plain = read_dataset(file);
  std::vector<std::thread> readers;
  std::vector<Dataset> found(6);
  for (Dataset& each : found)
    readers.emplace_back([&] {
      ReadOptions options;
      options.cache = files_.directory() / "cache";
      each = read_dataset(file, options);
    });
  for (std::thread& reader : readers) reader.join();
  for (const Dataset& each : found) expect_same(each, plain);
  EXPECT_EQ(entries().size(), 1u);
}

}  // namespace
}  // namespace yosida
