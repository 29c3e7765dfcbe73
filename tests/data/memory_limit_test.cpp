#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/byte_stream.hpp"
#include "data/test_files.hpp"

// What a file may ask for is limited by its size. Nothing here takes the memory that is asked for: that is
// the test.

namespace yosida {
namespace {

using namespace test_files;

class MemoryLimitTest : public ::testing::Test {
 protected:
  static ReadOptions at_most(std::uint64_t bytes) {
    ReadOptions options;
    options.max_memory = bytes;
    return options;
  }

  TestFiles files_;
};

TEST_F(MemoryLimitTest, AnIndexOfALargeColumnInASmallFile) {
  const std::string first = "1 1:1 2:2\n-1 1:3\n";
  expect_refused(
      files_.write("hostile.svm", first + "1 300000000:1\n"), {},
      {"hostile.svm:3:", "300000000 columns", "76.8 GB", "a file of 31 bytes may take 1 GB", "--max-memory"});
  expect_refused(files_.write("largest.svm", first + "1 2147483647:1\n"), {},
                 {"largest.svm:3:", "2147483647"});
  EXPECT_EQ(read_dataset(files_.write("text.svm", first + "1 3000000:1\n")).features(), 3000000);
}

// Text with hashed words: 2^24 columns, of which a few thousand documents use a small part.
TEST_F(MemoryLimitTest, ManyColumnsInAFileOfAMegabyte) {
  std::string text;
  for (int row = 0; row < 1000; ++row) {
    text += "1";
    for (int word = 0; word < 100; ++word) text += fmt::format(" {}:1", 1 + row + 167000 * word);
    text += "\n";
  }
  ASSERT_LT(text.size(), 1'200'000u);
  EXPECT_EQ(read_dataset(files_.write("hashed.svm", text)).features(), 1000 + 167000 * 99);
}

TEST_F(MemoryLimitTest, TheFlagTakesThePlaceOfTheRule) {
  const auto wide = files_.write("wide.svm", "1 1:1\n-1 10000000:1\n");
  expect_refused(wide, {}, {"wide.svm:2:", "may take 1 GB"});
  EXPECT_EQ(read_dataset(wide, at_most(3'000'000'000)).features(), 10000000);
  const auto small = files_.write("small.csv", "1,2\n3,4\n5,6\n7,8\n");
  expect_refused(small, at_most(600), {"small.csv:1:", "--max-memory allows 600 bytes"});
  EXPECT_EQ(read_dataset(small, at_most(1'000'000)).rows(), 4);
}

TEST_F(MemoryLimitTest, TheTargetsOfTheirOwnFileAreLimitedToo) {
  const auto x = files_.write("x.csv", "1\n2\n");
  ReadOptions options;
  options.target_file = files_.write("y.npy", npy("<f8", "(2,)", raw<double>({1, 2})));
  EXPECT_EQ(read_dataset(x, options).y.size(), 2);
  options.max_memory = 2'000'000;  // of x more than enough
  options.target_file = files_.write("y.npy", npy("<f8", "(1000, 1000)", std::string(8'000'000, '\0')));
  expect_refused(x, options, {"y.npy", "1000 x 1000 numbers", "--max-memory allows 2 MB"});
}

TEST_F(MemoryLimitTest, ADenseDesignOfASparseFile) {
  ReadOptions options;
  options.dense = true;
  std::string rows = "1 3000000:1\n";
  for (int i = 0; i < 49; ++i) rows += "-1 1:1\n";
  expect_refused(files_.write("wide.svm", rows), options,
                 {"wide.svm", "dense design of 50 x 3000000", "1.2 GB"});
  const Dataset data = read_dataset(files_.write("small.svm", "1 2:5\n-1 1:7\n"), options);
  EXPECT_EQ(dense(data), matrix({{0, 5}, {7, 0}}));
}

TEST_F(MemoryLimitTest, AShapeThatIsNotThere) {
  // Read by column the numbers are scattered over rows, so all of the table must be there at once.
  const std::string four = raw<double>({1, 2, 3, 4});
  expect_refused(files_.write("c.npy", npy("<f8", "(40000, 40000)", four, true)), {},
                 {"c.npy", "40000 x 40000 numbers", "12.8 GB", "may take 1 GB"});
  expect_refused(files_.write("r.npy", npy("<f8", "(40000, 40000)", four)), {}, {"r.npy", "truncated"});
  expect_refused(files_.write("i.idx", idx(0x0E, {4000000, 4000}, four)), {}, {"i.idx", "truncated"});
}

// Packs repeated text in little time: a stream of members in a row unpacks to all of them.
std::string gzipped_often(std::string_view text, int times) {
  const std::string once = gzipped(text);
  std::string all;
  for (int i = 0; i < times; ++i) all += once;
  return all;
}

TEST_F(MemoryLimitTest, WhatUnpacksToALongLine) {
  const auto options = at_most(8'000'000);
  for (const char* name : {"line.csv.gz", "line.svm.gz", "line.txt.gz"}) {
    expect_refused(files_.write(name, gzipped_often(std::string(1'000'000, '1'), 20)), options,
                   {name, ":1: the line", "--max-memory allows 8 MB"});
  }
  expect_refused(files_.write("names.csv.gz", gzipped_often(std::string(100'000, ','), 2)), options,
                 {"names.csv.gz:1:", "200001 fields"});
  expect_refused(
      files_.write("quoted.csv.gz", gzipped("a,b\n\"") + gzipped_often(std::string(1'000'000, '\n'), 8)),
      options, {"quoted.csv.gz:", "the quoted field"});
  expect_refused(
      files_.write("blank.csv.gz", gzipped("a,b\n1,2\n") + gzipped_often(std::string(1'000'000, '\n'), 2)),
      options, {"blank.csv.gz:", "blank lines"});
}

TEST_F(MemoryLimitTest, WhatUnpacksToManyRows) {
  const auto options = at_most(8'000'000);
  std::string rows;
  for (int i = 0; i < 200'000; ++i) rows += "1,2,3\n";
  expect_refused(files_.write("rows.csv.gz", gzipped(rows + rows)), options,
                 {"rows.csv.gz:", "the table up to here"});
  std::string labels;
  for (int i = 0; i < 300'000; ++i) labels += "1\n";
  expect_refused(files_.write("rows.svm.gz", gzipped(labels + labels)), options,
                 {"rows.svm.gz:", "columns takes"});
  const std::string zeros(9'000'000, '\0');
  expect_refused(files_.write("zeros.npy.gz", gzipped(npy("|u1", "(9000, 1000)", zeros))), options,
                 {"zeros.npy.gz", "9000 x 1000 numbers"});
  expect_refused(
      files_.write("zeros.npz", zipped({{"x.npy", npy("|u1", "(9000, 1000)", zeros)}}, Zip::deflated)),
      options, {"zeros.npz", "9000 x 1000 numbers"});
}

// What is passed over, such as comments, takes no memory. So much of it is still no file that anybody has.
TEST_F(MemoryLimitTest, WhatUnpacksWithoutAnEnd) {
  MemoryLimit limit(8'000'000);
  limit.file_bytes = 1000;
  EXPECT_FALSE(limit.allows(8'000'001));
  EXPECT_TRUE(limit.allows_unpacked(1'000'256'000));
  EXPECT_FALSE(limit.allows_unpacked(1'000'256'001));
}

// Unpacking takes as much as the dictionary that the data was packed with, 8 MB as xz does it by default.
TEST_F(MemoryLimitTest, XzDataThatWantsMuchMemory) {
  const auto file = files_.write("small.csv.xz", xzed("1,2\n3,4\n"));
  expect_refused(file, at_most(2'000'000),
                 {"small.csv.xz: unpacking its xz data", "--max-memory allows 2 MB"});
  EXPECT_EQ(read_dataset(file, at_most(20'000'000)).rows(), 2);
}

TEST_F(MemoryLimitTest, BinaryFilesAreNoText) {
  for (const char* name : {"zeros.csv", "zeros.svm", "zeros.txt"}) {
    expect_refused(files_.write(name, std::string(100, '\0')), {}, {name, ":1: holds a zero byte", "UTF-8"});
  }
  expect_refused(files_.write("late.csv", std::string("1,2\n3,\0004\n", 9)), {},
                 {"late.csv:2: holds a zero byte"});
  expect_refused("/dev/zero", {}, {"/dev/zero:1: holds a zero byte"});
  expect_refused("/dev/urandom", {}, {"/dev/urandom"});
}

}  // namespace
}  // namespace yosida
