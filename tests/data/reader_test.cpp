#include <limits>
#include <random>

#include "data/test_files.hpp"

namespace yosida {
namespace {

using namespace test_files;

class Reader : public ::testing::Test {
 protected:
  ReadOptions with_target(const std::filesystem::path& file, Missing missing = Missing::refuse) {
    return {.target = "", .target_file = file, .missing = missing};
  }

  TestFiles files_;
};

TEST_F(Reader, FilesThatCannotBeRead) {
  expect_refused(files_.directory() / "none.csv", {}, {"none.csv: there is no such file"});
  expect_refused(files_.directory() / "none.npz", {}, {"none.npz: there is no such file"});
  std::filesystem::create_directory(files_.directory() / "folder.csv");
  expect_refused(files_.directory() / "folder.csv", {}, {"folder.csv: is a directory"});
  for (const std::string name : {"empty.csv", "empty", "empty.npy", "empty.npz", "empty.idx"}) {
    expect_refused(files_.write(name, ""), {}, {name + ": the file is empty (0 bytes)"});
  }
  expect_refused(files_.write("data.parquet", "PAR1"), {},
                 {".parquet cannot be read", ".csv", "LIBSVM", ".npz", ".xz"});
}

TEST_F(Reader, FilesWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto file = files_.write("secret.csv", "1,2\n");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  expect_refused(file, {}, {"secret.csv: cannot be opened", "ermission"});
}

TEST_F(Reader, TargetFileOfAnyFormat) {
  const auto x = files_.write("x.csv", "a,b\n1,2\n3,4\n");
  const std::vector<std::filesystem::path> targets{
      files_.write("y.csv", "price\n5\n6\n"),
      files_.write("y.txt", "5\n6\n"),
      files_.write("y.npy", npy("<f8", "(2,)", raw<double>({5, 6}))),
      files_.write("y1.npy", npy("<f4", "(2, 1)", raw<float>({5, 6}), true)),
      files_.write("y.npz", zipped({{"y.npy", npy("<f8", "(2,)", raw<double>({5, 6}))}}, Zip::deflated)),
      files_.write("y.idx1.gz", gzipped(idx(0x08, {2}, "\5\6"))),
      files_.write("labels", "5\n6\n"),
  };
  for (const auto& target : targets) {
    const Dataset data = read_dataset(x, with_target(target));
    EXPECT_EQ(dense(data), matrix({{1, 2}, {3, 4}})) << target;
    EXPECT_EQ(data.y, vector({5, 6})) << target;
    EXPECT_TRUE(data.source.ends_with("x.csv"));
  }
  EXPECT_EQ(read_dataset(x, with_target(targets.front())).target_name, "price");
}

TEST_F(Reader, ATargetFileReplacesWhatTheDataCarries) {
  const auto y = files_.write("y.csv", "5\n6\n");
  EXPECT_EQ(read_dataset(files_.write("x.svm", "1 1:1\n2 1:2\n"), with_target(y)).y, vector({5, 6}));
  const std::string x_array = npy("<f8", "(2, 1)", raw<double>({1, 2}));
  const auto archive = files_.write("x.npz", zipped({{"x.npy", x_array}, {"y.npy", x_array}}, Zip::stored));
  EXPECT_EQ(read_dataset(archive, with_target(y)).y, vector({5, 6}));
}

TEST_F(Reader, TargetFilesThatDoNotFit) {
  const auto x = files_.write("x.csv", "1,2\n3,4\n");
  expect_refused(x, with_target(files_.write("y.csv", "5\n6\n7\n")),
                 {"y.csv: holds 3 rows", "x.csv holds 2"});
  expect_refused(x, with_target(files_.write("wide.csv", "5,1\n6,1\n")),
                 {"wide.csv: holds 2 columns", "one value a row"});
  expect_refused(x, with_target(files_.write("text.csv", "kind\ngreen\nred\nblue\n")),
                 {"text.csv: holds 3 rows", "x.csv holds 2"});
  expect_refused(x, with_target(files_.directory() / "none.csv"), {"none.csv: there is no such file"});
  expect_refused(x, with_target(files_.write("gap.csv", "5\nNA\n"), Missing::mean),
                 {"gap.csv:2", "--missing drop"});
  ReadOptions both = with_target(files_.write("y.csv", "5\n6\n"));
  both.target = "0";
  expect_refused(x, both, {"x.csv: the target is given twice", "\"0\"", "y.csv"});
}

TEST_F(Reader, RowsAreDroppedFromDataAndTargetAlike) {
  const auto y = files_.write("y.csv", "y\n10\n20\nNA\n40\n50\n");
  const auto x = files_.write("x.csv", "a,b\n1,1\n2,\n3,3\n4,4\n?,5\n");
  const Dataset data = read_dataset(x, with_target(y, Missing::drop));
  EXPECT_EQ(dense(data), matrix({{1, 1}, {4, 4}}));
  EXPECT_EQ(data.y, vector({10, 40}));

  const auto sparse = files_.write("x.svm", "0 1:1 2:2\n0 1:3\n0 1:9 2:9 3:9\n0\n0 2:5\n");
  const Dataset kept = read_dataset(sparse, with_target(y, Missing::drop));
  EXPECT_EQ(kept.y, vector({10, 20, 40, 50}));
  EXPECT_EQ(dense(kept), matrix({{1, 2, 0}, {3, 0, 0}, {0, 0, 0}, {0, 5, 0}}));
  EXPECT_EQ(kept.x.product_flops(), 8.0);
  EXPECT_EQ(kept.features(), 3);
}

TEST_F(Reader, ANameWithoutAnEndingLeavesTheFormatToTheContents) {
  const Matrix table = matrix({{1, 2.5}, {3, 4}});
  for (const char* text : {"a,b\n1,2.5\n3,4\n", "1,2.5\n3,4\n", "a;b\n1;2.5\n3;4\n", "a\tb\n1\t2.5\n3\t4\n",
                           "a b\n1 2.5\n3 4\n", "\n1 2.5\n3 4", "time: hours,b\n1,2.5\n3,4\n"}) {
    EXPECT_EQ(dense(read_dataset(files_.write("table", text))), table) << text;
  }
  EXPECT_EQ(dense(read_dataset(files_.write("table", npy("<f8", "(2, 2)", raw<double>({1, 2.5, 3, 4}))))),
            table);
  const std::vector<std::pair<std::string, std::string>> arrays{
      {"x.npy", npy("<f8", "(2, 2)", raw<double>({1, 2.5, 3, 4}))}};
  EXPECT_EQ(dense(read_dataset(files_.write("table", zipped(arrays, Zip::deflated)))), table);
  EXPECT_EQ(dense(read_dataset(files_.write("table", idx(0x08, {1, 2}, "\1\2")))), matrix({{1, 2}}));
  // A row of zeros is a label alone.
  for (const char* text : {"1 1:2 3:4\n-1 2:1\n", "# sparse\n1\n-1 3:5 # rest\n", "1\t3:5\r\n-1\t1:1\r\n"}) {
    const Dataset sparse = read_dataset(files_.write("sparse", text));
    EXPECT_TRUE(sparse.x.omits_zeros()) << text;
    EXPECT_EQ(sparse.y, vector({1, -1})) << text;
    EXPECT_EQ(sparse.features(), 3) << text;
  }
  expect_refused(files_.write("sparse", "one 1:2\n"), {}, {"sparse:1:", "the label is \"one\""});
}

// Whatever the bytes are, a file is read or refused.
TEST_F(Reader, DamagedFilesNeverCrash) {
  const std::string array = npy("<f8", "(3, 2)", raw<double>({1, 2, 3, 4, 5, 6}));
  const std::string by_column = npy(">i2", "(3, 2)", raw<std::int16_t>({1, 2, 3, 4, 5, 6}, true), true);
  const std::string target = npy("|u1", "(3,)", "\1\2\3");
  const std::string csv = "a,\"b\"\"c\",y\n1,2.5,3\n\"4\",,6e2\r\n-7, 8 ,9\n";
  const std::string svm = "1 1:2 3:4.5\n# no\n-1 2:1e3\n0\n";
  const std::vector<std::pair<std::string, std::string>> arrays{{"x.npy", array}, {"y.npy", target}};
  const std::vector<std::pair<std::string, std::string>> samples{
      {"fuzz.csv", csv},
      {"fuzz.tsv", "a\tb\n1\t2\n3\t4\n"},
      {"fuzz.txt", "1 2 3\n 4 5 6\n"},
      {"fuzz.svm", svm},
      {"fuzz", svm},
      {"fuzz.npy", array},
      {"column.npy", by_column},
      {"stored.npz", zipped(arrays, Zip::stored)},
      {"deflated.npz", zipped(arrays, Zip::deflated)},
      {"wide.npz", zipped(arrays, Zip::wide)},
      {"fuzz.idx", idx(0x0C, {2, 2}, raw<std::int32_t>({1, 2, 3, 4}, true))},
      {"fuzz.csv.gz", gzipped(csv)},
      {"fuzz.svm.xz", xzed(svm)},
      {"fuzz.npy.gz", gzipped(array)},
  };
  std::mt19937_64 random(11);
  for (const auto& [name, good] : samples) {
    for (int round = 0; round < 300; ++round) {
      std::string bytes = good;
      if (round % 3 == 0) bytes.resize(random() % bytes.size());
      for (std::uint64_t flips = round % 3 == 0 ? 0 : 1 + random() % 4; flips > 0; --flips) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      const auto file = files_.write(name, bytes);
      ReadOptions options;
      options.missing = static_cast<Missing>(round % 3);
      if (round % 2 == 0) options.target = "-1";
      options.target_optional = round % 4 == 0;
      try {
        const Dataset data = read_dataset(file, options);
        EXPECT_TRUE(data.y.size() == 0 || data.y.size() == data.rows());
      } catch (const InputError& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with(file.string())) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace yosida
