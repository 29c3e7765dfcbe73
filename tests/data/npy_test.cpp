#include <cmath>
#include <fstream>
#include <limits>

#include "data/test_files.hpp"

namespace yosida {
namespace {

using namespace test_files;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class Npy : public ::testing::Test {
 protected:
  Dataset read(std::string_view bytes, const ReadOptions& options = {}) {
    return read_dataset(files_.write("data.npy", bytes), options);
  }
  void expect_error(std::string_view bytes, const ReadOptions& options,
                    std::initializer_list<std::string_view> parts) {
    expect_refused(files_.write("bad.npy", bytes), options, parts);
  }

  TestFiles files_;
};

const Matrix two_by_three = matrix({{1, 2, 3}, {4, 5, 6}});
const std::string numbers = raw<double>({1, 2, 3, 4, 5, 6});

TEST_F(Npy, VersionsAndRecognitionByMagic) {
  for (const int version : {1, 2, 3}) {
    const std::string bytes = npy("<f8", "(2, 3)", numbers, false, version);
    EXPECT_EQ(dense(read(bytes)), two_by_three);
    EXPECT_EQ(dense(read_dataset(files_.write("array", bytes))), two_by_three);
    EXPECT_EQ(dense(read_dataset(files_.write("array.bin", bytes))), two_by_three);
  }
  EXPECT_EQ(read(npy("<f8", "(2, 3)", numbers)).y.size(), 0);
}

template <typename Number>
void expect_type(const TestFiles& files, const std::string& type, std::initializer_list<double> values) {
  for (const bool big_endian : {false, true}) {
    const std::string order = sizeof(Number) == 1 ? "|" : big_endian ? ">" : "<";
    const std::string bytes = npy(order + type, "(2, 3)", raw<Number>(values, big_endian));
    const Dataset data = read_dataset(files.write("typed.npy", bytes));
    EXPECT_EQ(dense(data), Eigen::Map<const Matrix>(values.begin(), 2, 3)) << order << type;
  }
}

TEST_F(Npy, TypesInBothByteOrders) {
  expect_type<float>(files_, "f4", {0.5, -1, 2, 3, 4, 1e10});
  expect_type<double>(files_, "f8", {0.1, -1, 2, 3, 4, 1e300});
  expect_type<std::int8_t>(files_, "i1", {-128, 127, 0, 1, 2, 3});
  expect_type<std::int16_t>(files_, "i2", {-32768, 32767, 0, 1, 2, 3});
  expect_type<std::int32_t>(files_, "i4", {-2147483648.0, 2147483647, 0, 1, 2, 3});
  expect_type<std::int64_t>(files_, "i8", {-9e15, 9e15, 0, 1, 2, 3});
  expect_type<std::uint8_t>(files_, "u1", {255, 128, 0, 1, 2, 3});
  expect_type<std::uint16_t>(files_, "u2", {65535, 40000, 0, 1, 2, 3});
  expect_type<std::uint32_t>(files_, "u4", {4294967295.0, 3e9, 0, 1, 2, 3});
  expect_type<std::uint64_t>(files_, "u8", {1.8e19, 9e15, 0, 1, 2, 3});
  expect_type<std::uint8_t>(files_, "b1", {1, 0, 0, 1, 1, 0});
}

TEST_F(Npy, FortranOrder) {
  const std::string by_column = raw<double>({1, 4, 2, 5, 3, 6});
  EXPECT_EQ(dense(read(npy("<f8", "(2, 3)", by_column, true))), two_by_three);
  const std::string big_endian = raw<float>({1, 4, 2, 5, 3, 6}, true);
  const Dataset data = read(npy(">f4", "(2, 3)", big_endian, true), {.target = "1", .target_file = {}});
  EXPECT_EQ(dense(data), matrix({{1, 3}, {4, 6}}));
  EXPECT_EQ(data.y, vector({2, 5}));
}

TEST_F(Npy, LargerThanAChunk) {
  constexpr Index rows = 1000;
  constexpr Index cols = 123;
  Matrix values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<double>(i) / 7;
  const auto bytes_of = [](const auto& m) {
    return std::string_view(reinterpret_cast<const char*>(m.data()), m.size() * sizeof(double));
  };
  EXPECT_EQ(dense(read(npy("<f8", "(1000, 123)", bytes_of(values)))), values);
  const Eigen::MatrixXd by_column = values;
  EXPECT_EQ(dense(read(npy("<f8", "(1000, 123)", bytes_of(by_column), true))), values);
}

/// Whether this process has the file mapped into its memory.
bool is_mapped(const std::filesystem::path& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with(file.string())) return true;
  return false;
}

/// As NumPy writes it since 1.14: the numbers start at a multiple of 64 bytes.
std::string aligned_npy(const std::string& type, const std::string& shape, std::string_view number_bytes,
                        bool by_column = false) {
  std::string bytes = npy(type, shape, "", by_column);
  bytes.insert(bytes.size() - 1, 128 - bytes.size(), ' ');
  bytes.replace(8, 2, little_endian(bytes.size() - 10, 2));
  return bytes.append(number_bytes);
}

class MappedNpy : public Npy {
 protected:
  static constexpr Index kSide = 400;  // more numbers than a file has that is copied for being small

  MappedNpy() {
    for (Index i = 0; i < values_.size(); ++i) values_.data()[i] = static_cast<double>(i) / 7;
  }
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof(double)};
  }
  /// Writes the bytes to a file, reads it, and expects the values and whether it is mapped.
  void expect_read(const std::string& file_bytes, bool mapped, const Matrix& values) {
    const std::filesystem::path file = files_.write("data.npy", file_bytes);
    const Dataset data = read_dataset(file);
    EXPECT_EQ(is_mapped(file), mapped);
    EXPECT_EQ(dense(data), values);
  }

  Matrix values_{kSide, kSide};
};

TEST_F(MappedNpy, DoublesRowByRowAreNotCopied) {
  const std::string file_bytes = aligned_npy("<f8", "(400, 400)", bytes());
  ASSERT_EQ((file_bytes.size() - bytes().size()) % 64, 0);
  expect_read(file_bytes, true, values_);
  expect_read(aligned_npy("<f8", "(4, 100, 400)", bytes()), true,
              values_.reshaped<Eigen::RowMajor>(4, 40000));
}

TEST_F(MappedNpy, FloatsAreNotCopiedEither) {
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> floats = values_.cast<float>();
  const std::string_view float_bytes(reinterpret_cast<const char*>(floats.data()), bytes().size() / 2);
  expect_read(aligned_npy("<f4", "(400, 400)", float_bytes), true, floats.cast<double>());
  std::string damaged = aligned_npy("<f4", "(400, 400)", float_bytes);
  const auto infinite = std::bit_cast<std::array<char, 4>>(std::numeric_limits<float>::infinity());
  damaged.replace(damaged.size() - 4, 4, infinite.data(), 4);
  expect_error(damaged, {}, {"row 399, column 399 (counted from 0) is infinite"});
}

TEST_F(MappedNpy, LivesAsLongAsTheDataAndLongerThanTheName) {
  const std::filesystem::path file = files_.write("data.npy", aligned_npy("<f8", "(400, 400)", bytes()));
  {
    const Dataset data = read_dataset(file);
    std::filesystem::remove(file);
    EXPECT_EQ(dense(data), values_);
    EXPECT_TRUE(is_mapped(file.string() + " (deleted)"));
  }
  EXPECT_FALSE(is_mapped(file.string() + " (deleted)"));
}

TEST_F(MappedNpy, OtherLayoutsAreCopied) {
  expect_read(npy("<f8", "(400, 400)", bytes()), false, values_);  // starts at byte 118
  const Eigen::MatrixXd by_column = values_;
  const std::string_view column_bytes(reinterpret_cast<const char*>(by_column.data()), bytes().size());
  expect_read(aligned_npy("<f8", "(400, 400)", column_bytes, true), false, values_);
  const std::filesystem::path packed =
      files_.write("data.npy.gz", gzipped(aligned_npy("<f8", "(400, 400)", bytes())));
  EXPECT_EQ(dense(read_dataset(packed)), values_);
  EXPECT_FALSE(is_mapped(packed));
}

TEST_F(MappedNpy, ATargetBeforeOrBehindTheFeaturesIsLeftWhereItIs) {
  const std::filesystem::path file = files_.write("data.npy", aligned_npy("<f8", "(400, 400)", bytes()));
  for (const bool is_first : {true, false}) {
    const Dataset data = read_dataset(file, {.target = is_first ? "0" : "-1", .target_file = {}});
    EXPECT_TRUE(is_mapped(file));
    EXPECT_EQ(dense(data), is_first ? values_.rightCols(kSide - 1) : values_.leftCols(kSide - 1));
    EXPECT_EQ(data.y, values_.col(is_first ? 0 : kSide - 1));
  }
}

TEST_F(MappedNpy, ATargetAmongTheFeaturesIsTakenOutOfACopy) {
  const std::filesystem::path file = files_.write("data.npy", aligned_npy("<f8", "(400, 400)", bytes()));
  const Dataset data = read_dataset(file, {.target = "1", .target_file = {}});
  EXPECT_FALSE(is_mapped(file));
  EXPECT_EQ(dense(data).rightCols(kSide - 2), values_.rightCols(kSide - 2));
  EXPECT_EQ(data.y, values_.col(1));
}

TEST_F(MappedNpy, FaultsAreThoseOfACopy) {
  const std::string whole = aligned_npy("<f8", "(400, 400)", bytes());
  expect_error(whole.substr(0, whole.size() - 8), {},
               {"truncated", "expected 1280000 bytes", "found 1279992"});
  expect_error(whole + "12345678", {}, {"goes on behind the 1280000 bytes"});
  values_(399, 7) = nan_value;
  expect_error(aligned_npy("<f8", "(400, 400)", bytes()), {}, {"row 399, column 7 (counted from 0) is NaN"});
  expect_error(whole, {.max_memory = 1'000'000}, {"its table of 400 x 400 numbers", "--max-memory"});
}

TEST_F(Npy, Shapes) {
  EXPECT_EQ(dense(read(npy("<f8", "(6,)", numbers))), matrix({{1}, {2}, {3}, {4}, {5}, {6}}));
  EXPECT_EQ(dense(read(npy("<f8", "(2, 3, 1)", numbers))), two_by_three);
  EXPECT_EQ(dense(read(npy("<f8", "(1, 3, 2)", numbers))), matrix({{1, 2, 3, 4, 5, 6}}));
  expect_error(npy("<f8", "()", raw<double>({1})), {}, {"single number"});
  expect_error(npy("<f8", "(0, 3)", ""), {}, {"holds no rows", "(0, 3)"});
  expect_error(npy("<f8", "(99999999999, 99999999999)", numbers), {},
               {"corrupt", "(99999999999, 99999999999)"});
}

TEST_F(Npy, TargetColumn) {
  for (const std::string target : {"2", "-1"}) {
    const Dataset data = read(npy("<f8", "(2, 3)", numbers), {.target = target, .target_file = {}});
    EXPECT_EQ(dense(data), matrix({{1, 2}, {4, 5}}));
    EXPECT_EQ(data.y, vector({3, 6}));
  }
  expect_error(npy("<f8", "(2, 3)", numbers), {.target = "y", .target_file = {}},
               {"no target column \"y\"", "names no columns"});
  expect_error(npy("<f8", "(2, 3)", numbers), {.target = "3", .target_file = {}}, {"no target column 3"});
}

TEST_F(Npy, NotFinite) {
  const std::string with_nan = npy("<f8", "(2, 2)", raw<double>({1, 2, nan_value, 4}));
  expect_error(with_nan, {}, {"row 1, column 0 (counted from 0) is NaN", "--missing mean", "--missing drop"});
  const Dataset filled = read(with_nan, {.target = "1", .target_file = {}, .missing = Missing::mean});
  EXPECT_TRUE(std::isnan(dense(filled)(1, 0)));
  EXPECT_EQ(dense(read(with_nan, {.target = "", .target_file = {}, .missing = Missing::drop})),
            matrix({{1, 2}}));
  expect_error(with_nan, {.target = "0", .target_file = {}, .missing = Missing::mean},
               {"row 1, column 0", "target", "--missing drop"});
  expect_error(npy("<f8", "(2, 2)", raw<double>({1, 2, -infinity, 4}), true),
               {.target = "", .target_file = {}, .missing = Missing::drop},
               {"row 0, column 1 (counted from 0) is infinite", "finite"});
}

TEST_F(Npy, OtherTypesAreRefused) {
  expect_error(npy("|O", "(2, 3)", numbers), {}, {"dtype \"|O\"", "must be f4, f8"});
  expect_error(npy("<U5", "(2, 3)", numbers), {}, {"dtype \"<U5\""});
  expect_error(npy("<c16", "(2, 3)", numbers), {}, {"dtype \"<c16\""});
  std::string records = npy("x", "(2, 3)", numbers);
  records.replace(records.find("'x'"), 3, "[ ]");
  expect_error(records, {}, {"records of named fields"});
}

TEST_F(Npy, Broken) {
  const std::string good = npy("<f8", "(2, 3)", numbers);
  expect_error(good.substr(0, good.size() - 5), {}, {"truncated", "expected 48 bytes", "found 43"});
  expect_error(good + "x", {}, {"goes on behind the 48 bytes"});
  expect_error(good.substr(0, 8), {}, {"truncated", "header"});
  expect_error(good.substr(0, 50), {}, {"truncated", "header"});
  expect_error("1,2,3\n4,5,6\n", {}, {"not an NPY file"});
  expect_error(npy("<f8", "(2, 3)", numbers, false, 9), {}, {"NPY version 9"});
  std::string no_shape = good;
  no_shape.replace(no_shape.find("shape"), 5, "shade");
  expect_error(no_shape, {}, {"corrupt", "NPY header"});
}

class Npz : public ::testing::TestWithParam<Zip> {
 protected:
  Dataset read(const std::vector<std::pair<std::string, std::string>>& arrays,
               const ReadOptions& options = {}) {
    return read_dataset(files_.write("data.npz", zipped(arrays, GetParam())), options);
  }

  TestFiles files_;
};

const std::string x_array = npy("<f8", "(2, 3)", numbers);
const std::string y_array = npy("<i4", "(2,)", raw<std::int32_t>({7, 8}));

TEST_P(Npz, DataAndTargetByName) {
  for (const std::string x : {"x", "X", "data", "features"}) {
    for (const std::string y : {"y", "Y", "target", "labels"}) {
      const Dataset data = read({{"other.npy", y_array}, {y + ".npy", y_array}, {x + ".npy", x_array}});
      EXPECT_EQ(dense(data), two_by_three);
      EXPECT_EQ(data.y, vector({7, 8}));
      EXPECT_TRUE(data.source.ends_with("data.npz"));
    }
  }
}

TEST_P(Npz, TargetInTheOnlyArray) {
  const Dataset data = read({{"arr_0.npy", x_array}}, {.target = "0", .target_file = {}});
  EXPECT_EQ(dense(data), matrix({{2, 3}, {5, 6}}));
  EXPECT_EQ(data.y, vector({1, 4}));
}

TEST_P(Npz, PackedOnceMore) {
  const std::string archive = zipped({{"x.npy", x_array}, {"y.npy", y_array}}, GetParam());
  EXPECT_EQ(read_dataset(files_.write("data.npz.gz", gzipped(archive))).y, vector({7, 8}));
  EXPECT_EQ(dense(read_dataset(files_.write("data.npz.xz", xzed(archive)))), two_by_three);
}

TEST_P(Npz, Refused) {
  const auto write = [&](const std::vector<std::pair<std::string, std::string>>& arrays) {
    return files_.write("bad.npz", zipped(arrays, GetParam()));
  };
  expect_refused(write({{"a.npy", x_array}, {"b.npy", y_array}}), {},
                 {"(a, b)", "name it x, X, data or features"});
  expect_refused(write({{"x.npy", x_array}, {"y.npy", x_array}}), {}, {"array \"y\": holds 3 columns"});
  expect_refused(write({{"x.npy", x_array}, {"y.npy", npy("<f8", "(1,)", raw<double>({1}))}}), {},
                 {"array \"y\": holds 1 rows", "array \"x\" holds 2"});
  expect_refused(write({{"x.npy", x_array}, {"y.npy", y_array}}), {.target = "0", .target_file = {}},
                 {"has its target as array \"y\""});
  expect_refused(write({{"x.npy", x_array.substr(0, 150)}}), {},
                 {"array \"x\"", "truncated", "expected 48 bytes"});
}

TEST_P(Npz, DamageIsSeen) {
  const std::string good = zipped({{"x.npy", x_array}}, GetParam());
  expect_refused(files_.write("bad.npz", good.substr(0, good.size() - 30)), {}, {"truncated"});
  expect_refused(files_.write("bad.npz", "1,2\n"), {}, {"not a zip archive"});
  std::string damaged = good;
  damaged[damaged.find("PK\1\2") - 3] ^= 1;  // the last bytes of the member
  expect_refused(files_.write("bad.npz", damaged), {}, {"array \"x\"", "corrupt"});
  std::string encrypted = good;
  encrypted[encrypted.find("PK\1\2") + 8] = 1;
  expect_refused(files_.write("bad.npz", encrypted), {}, {"\"x.npy\"", "must be stored or deflated"});
}

INSTANTIATE_TEST_SUITE_P(Forms, Npz, ::testing::Values(Zip::stored, Zip::deflated, Zip::wide));

}  // namespace
}  // namespace yosida
