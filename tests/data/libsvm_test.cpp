#include "data/test_files.hpp"

namespace yosida {
namespace {

using namespace test_files;

class Libsvm : public ::testing::Test {
 protected:
  void expect_error(std::string_view text, std::initializer_list<std::string_view> parts) {
    expect_refused(files_.write("bad.svm", text), {}, parts);
  }

  TestFiles files_;
};

TEST_F(Libsvm, Rows) {
  const std::string text = "# a comment\n+1 1:0.5 3:-2e1\n\n-1\t2:+4 4:0 # the rest\r\n2.5\n0 5:0";
  for (const std::string name : {"data.libsvm", "data.svm", "data.t", "data"}) {
    const Dataset data = read_dataset(files_.write(name, text));
    ASSERT_TRUE(data.x.omits_zeros());
    EXPECT_EQ(dense(data), matrix({{0.5, 0, -20, 0, 0}, {0, 4, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}));
    EXPECT_EQ(data.x.product_flops(), 6.0);  // zeros are not stored
    EXPECT_EQ(data.features(), 5);
    EXPECT_EQ(data.y, vector({1, -1, 2.5, 0}));
    EXPECT_TRUE(data.feature_names.empty());
  }
}

TEST_F(Libsvm, BadLabels) {
  expect_error("1 1:1\nspam 1:1\n", {"bad.svm:2: the label is \"spam\"", "must be a finite number"});
  expect_error("nan 1:1\n", {"bad.svm:1: the label is \"nan\"", "finite"});
  expect_error("1,2 1:1\n", {"the label is \"1,2\""});
}

TEST_F(Libsvm, BadEntries) {
  expect_error("1 1:1\n1 0:1 0:2\n", {"bad.svm:2: entry \"0:2\"", "follows index 0", "ascend"});
  expect_error("1 -3:1\n", {"entry \"-3:1\"", "start at 1"});
  expect_error("1 2:1 2:3\n", {"bad.svm:1: entry \"2:3\"", "follows index 2", "ascend"});
  expect_error("1 3:1 2:3\n", {"entry \"2:3\"", "follows index 3", "ascend"});
  expect_error("1 qid:3 1:2\n", {"entry \"qid:3\"", "query ids"});
  expect_error("1 2\n", {"entry \"2\"", "index:value"});
  expect_error("1 a:2\n", {"entry \"a:2\"", "whole number"});
  expect_error("1 1.5:2\n", {"entry \"1.5:2\"", "whole number"});
  expect_error("1 3000000000:2\n", {"entry \"3000000000:2\"", "2147483647"});
  expect_error("1 1:red\n", {"entry \"1:red\"", "must be a number"});
  expect_error("1 1:\n", {"entry \"1:\"", "must be a number"});
  expect_error("1 1:inf\n", {"entry \"1:inf\"", "finite"});
  expect_error("1 1:nan\n", {"entry \"1:nan\"", "finite"});
}

TEST_F(Libsvm, IndicesFromZero) {
  const Dataset data = read_dataset(files_.write("zero.svm", "1 0:5 2:6\n2 1:7\n"));
  EXPECT_EQ(dense(data), matrix({{5, 0, 6}, {0, 7, 0}}));
  EXPECT_TRUE(data.table.from_zero);
  EXPECT_EQ(data.notes.size(), 1U);
  // A file that has no such index is read like one that does.
  ReadOptions options;
  options.like = data.table;
  EXPECT_EQ(dense(read_dataset(files_.write("like.svm", "1 1:7 2:3\n"), options)), matrix({{0, 7, 3}}));
}

TEST_F(Libsvm, NoRowsOrFeatures) {
  expect_error("# nothing\n\n", {"holds no rows"});
  expect_error("1\n2\n", {"no column beside the target"});
}

TEST_F(Libsvm, TheTargetIsTheFirstField) {
  const auto file = files_.write("data.svm", "3 1:2\n");
  expect_refused(file, {.target = "y", .target_file = {}}, {"no target column \"y\"", "first field"});
  ReadOptions options{.target = "y", .target_file = {}};
  options.target_optional = true;
  EXPECT_EQ(read_dataset(file, options).y, vector({3}));
}

}  // namespace
}  // namespace yosida
