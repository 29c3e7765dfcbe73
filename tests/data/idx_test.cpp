#include "data/test_files.hpp"

namespace yosida {
namespace {

using namespace test_files;

const std::string images = idx(0x08, {2, 2, 2}, raw<std::uint8_t>({0, 1, 2, 255, 4, 5, 6, 7}));
const std::string labels = idx(0x08, {2}, raw<std::uint8_t>({9, 3}));

TEST(Idx, NamesAndMagic) {
  const TestFiles files;
  for (const std::string name : {"train-images-idx3-ubyte", "train-images.idx3-ubyte", "images.idx",
                                 "images.idx3", "images-ubyte", "a-idx3.bin", "unnamed", "unknown.bin"}) {
    EXPECT_EQ(dense(read_dataset(files.write(name, images))), matrix({{0, 1, 2, 255}, {4, 5, 6, 7}})) << name;
  }
  EXPECT_EQ(dense(read_dataset(files.write("train-images-idx3-ubyte.gz", gzipped(images)))).rows(), 2);
}

TEST(Idx, Types) {
  const TestFiles files;
  const auto read = [&](char type, const std::string& numbers) {
    return dense(read_dataset(files.write("data.idx", idx(type, {1, 2}, numbers))));
  };
  EXPECT_EQ(read(0x08, raw<std::uint8_t>({200, 1})), matrix({{200, 1}}));
  EXPECT_EQ(read(0x09, raw<std::int8_t>({-100, 1})), matrix({{-100, 1}}));
  EXPECT_EQ(read(0x0B, raw<std::int16_t>({-1000, 1}, true)), matrix({{-1000, 1}}));
  EXPECT_EQ(read(0x0C, raw<std::int32_t>({-100000, 1}, true)), matrix({{-100000, 1}}));
  EXPECT_EQ(read(0x0D, raw<float>({-0.5, 1}, true)), matrix({{-0.5, 1}}));
  EXPECT_EQ(read(0x0E, raw<double>({-0.1, 1}, true)), matrix({{-0.1, 1}}));
}

TEST(Idx, LabelsInTheirOwnFile) {
  const TestFiles files;
  const auto target = files.write("train-labels-idx1-ubyte.xz", xzed(labels));
  const Dataset data =
      read_dataset(files.write("train-images-idx3-ubyte", images), {.target = "", .target_file = target});
  EXPECT_EQ(data.y, vector({9, 3}));
  EXPECT_EQ(data.features(), 4);
}

TEST(Idx, Broken) {
  const TestFiles files;
  const auto expect_error = [&](const std::string& bytes, std::initializer_list<std::string_view> parts) {
    expect_refused(files.write("bad.idx", bytes), {}, parts);
  };
  expect_error(images.substr(0, images.size() - 1), {"truncated", "expected 8 bytes", "found 7"});
  expect_error(images + "x", {"goes on behind the 8 bytes"});
  expect_error(images.substr(0, 10), {"truncated", "3 dimensions"});
  expect_error(images.substr(0, 3), {"not an IDX file"});
  expect_error(idx(0x0A, {1, 1}, "x"), {"not an IDX file", "a type (08"});
  expect_error(idx(0x08, {0, 4}, ""), {"holds no rows", "(0, 4)"});
  expect_error("1,2\n", {"not an IDX file"});
}

}  // namespace
}  // namespace yosida
