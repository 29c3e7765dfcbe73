#include "data/byte_stream.hpp"

#include <fmt/format.h>

#include "data/test_files.hpp"

namespace yosida {
namespace {

using namespace test_files;

struct Packed {
  std::string ending;
  std::string (*pack)(std::string_view);
};

class Packing : public ::testing::TestWithParam<Packed> {
 protected:
  std::filesystem::path write(const std::string& name, std::string_view bytes) {
    return files_.write(name + GetParam().ending, bytes);
  }
  std::string packed(std::string_view bytes) { return GetParam().pack(bytes); }

  TestFiles files_;
};

TEST_P(Packing, EveryFormatIsUnpacked) {
  const Matrix expected = matrix({{1, 2}, {3, 4}});
  EXPECT_EQ(dense(read_dataset(write("data.csv", packed("a,b\n1,2\n3,4\n")))), expected);
  EXPECT_EQ(dense(read_dataset(write("data.tsv", packed("1\t2\n3\t4\n")))), expected);
  EXPECT_EQ(dense(read_dataset(write("data.txt", packed("1 2\n3 4\n")))), expected);
  const std::string array = npy("<f8", "(2, 2)", raw<double>({1, 2, 3, 4}));
  EXPECT_EQ(dense(read_dataset(write("data.npy", packed(array)))), expected);
  EXPECT_EQ(dense(read_dataset(write("array", packed(array)))), expected);
  EXPECT_EQ(dense(read_dataset(write("data.idx2", packed(idx(0x08, {2, 2}, "\1\2\3\4"))))), expected);
  EXPECT_EQ(read_dataset(write("a9a.t", packed("1 2:3\n-1 1:2\n"))).y, vector({1, -1}));
  EXPECT_EQ(read_dataset(write("A9A", packed("1 2:3\n-1 1:2\n"))).y, vector({1, -1}));
}

TEST_P(Packing, MembersInARow) {
  const auto file = write("data.csv", packed("1,2\n3,") + packed("4\n") + packed("5,6\n"));
  EXPECT_EQ(dense(read_dataset(file)), matrix({{1, 2}, {3, 4}, {5, 6}}));
}

TEST_P(Packing, LargerThanTheBuffers) {
  std::string text;
  for (int row = 0; row < 100000; ++row)
    text += std::to_string(row) + "," + std::to_string(row * 7919 % 10007) + "\n";
  const Dataset data = read_dataset(write("data.csv", packed(text)));
  ASSERT_EQ(data.rows(), 100000);
  EXPECT_EQ(dense(data)(99999, 0), 99999);
  EXPECT_EQ(dense(data)(54321, 1), 54321 * 7919 % 10007);
}

TEST_P(Packing, TruncatedAtAnyPlace) {
  const std::string whole = packed("1,2\n3,4\n5,6\n");
  for (std::size_t size = 6; size < whole.size(); ++size) {
    expect_refused(write("data.csv", whole.substr(0, size)), {}, {"the file is truncated", "breaks off"});
  }
}

TEST_P(Packing, Corrupt) {
  std::string bytes = packed("1,2\n3,4\n5,6\n");
  bytes[bytes.size() / 2] ^= 0x55;
  expect_refused(write("data.csv", bytes), {}, {"the file is corrupt"});
  expect_refused(write("data.csv", packed("1,2\n") + "and more behind its end"), {}, {"the file is corrupt"});
}

TEST_P(Packing, NameAndContentsMustAgree) {
  expect_refused(write("data.csv", "1,2\n3,4\n"), {},
                 {"the name ends in " + GetParam().ending, "not compressed"});
  expect_refused(files_.write("data.csv", packed("1,2\n")), {}, {"does not end in " + GetParam().ending});
}

TEST_P(Packing, Empty) {
  expect_refused(write("data.csv", packed("")), {}, {"unpacks to 0 bytes"});
  expect_refused(write("data.csv", ""), {}, {"the file is empty (0 bytes)"});
}

INSTANTIATE_TEST_SUITE_P(Forms, Packing, ::testing::Values(Packed{".gz", gzipped}, Packed{".xz", xzed}),
                         [](const auto& form) { return form.param.ending.substr(1); });

TEST(ByteStreamTest, LinesAndBlocksTakeTurns) {
  const TestFiles files;
  ByteStream stream(files.write("lines", "one\r\ntwo\n\nrest"));
  EXPECT_EQ(stream.peek(2), "on");
  EXPECT_EQ(stream.peek_lines(1, "the line"), "one\r\ntwo\n\nrest");
  EXPECT_TRUE(stream.is_at_end());
  stream.skip_lines(5, 1);
  std::string block(3, ' ');
  EXPECT_EQ(stream.read(block), 3u);
  EXPECT_EQ(block, "two");
  EXPECT_EQ(stream.lines_taken(), 1u);
  EXPECT_EQ(stream.peek_lines(1, "the line"), "\n\nrest");
  stream.skip_lines(6, 3);
  EXPECT_EQ(stream.peek_lines(1, "the line"), "");
  EXPECT_EQ(stream.read(block), 0u);
}

TEST(ByteStreamTest, LinesArePeekedAtWhole) {
  const TestFiles files;
  std::string text;
  for (int i = 0; i < 300000; ++i) text += fmt::format("{}\n", i);
  ByteStream stream(files.write("lines", text));
  std::string all;
  int blocks = 0;
  for (auto lines = stream.peek_lines(300000, "the line"); !lines.empty();
       lines = stream.peek_lines(300000, "the line")) {
    EXPECT_EQ(lines.back(), '\n');
    EXPECT_TRUE(lines.size() >= 250000 || stream.is_at_end());
    all += lines;
    ++blocks;
    stream.skip_lines(lines.size(), 1);
  }
  EXPECT_EQ(all, text);
  EXPECT_GT(blocks, 2);
}

TEST(LinesTest, EndingsAreTakenOffAndLinesCounted) {
  TextLines lines("one\r\ntwo\n\nrest", "name", 4);
  EXPECT_EQ(lines.next(), "one");
  EXPECT_EQ(lines.rest(), "two\n\nrest");
  EXPECT_EQ(lines.next(), "two");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(), "rest");
  EXPECT_EQ(lines.taken(), 8u);
  EXPECT_EQ(lines.next(), std::nullopt);
}

}  // namespace
}  // namespace yosida
