#include <fmt/format.h>

#include <cmath>
#include <random>

#include "data/test_files.hpp"

namespace yosida {
namespace {

using namespace test_files;

class Csv : public ::testing::Test {
 protected:
  Dataset read(std::string_view text, const ReadOptions& options = {}, const std::string& name = "data.csv") {
    return read_dataset(files_.write(name, text), options);
  }
  void expect_error(std::string_view text, const ReadOptions& options,
                    std::initializer_list<std::string_view> parts) {
    expect_refused(files_.write("bad.csv", text), options, parts);
  }

  TestFiles files_;
};

TEST_F(Csv, HeaderNamesColumnsAndTarget) {
  const Dataset data = read("a,b,price\n1,2,3\n4.5,-5e-1,+6\n", {.target = "price", .target_file = {}});
  EXPECT_EQ(dense(data), matrix({{1, 2}, {4.5, -0.5}}));
  EXPECT_EQ(data.y, vector({3, 6}));
  EXPECT_EQ(data.feature_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data.target_name, "price");
  EXPECT_TRUE(data.source.ends_with("data.csv"));
}

TEST_F(Csv, WithoutHeaderOrTarget) {
  const Dataset data = read("1,2\n3,4");
  EXPECT_EQ(dense(data), matrix({{1, 2}, {3, 4}}));
  EXPECT_EQ(data.y.size(), 0);
  EXPECT_TRUE(data.feature_names.empty());
}

TEST_F(Csv, TargetByIndexFromEitherEnd) {
  const std::string text = "1,2,3\n4,5,6\n";
  EXPECT_EQ(read(text, {.target = "0", .target_file = {}}).y, vector({1, 4}));
  EXPECT_EQ(read(text, {.target = "1", .target_file = {}}).y, vector({2, 5}));
  const Dataset last = read(text, {.target = "-1", .target_file = {}});
  EXPECT_EQ(last.y, vector({3, 6}));
  EXPECT_EQ(dense(last), matrix({{1, 2}, {4, 5}}));
  EXPECT_EQ(read("a,b,c\n1,2,3\n", {.target = "-2", .target_file = {}}).target_name, "b");
}

TEST_F(Csv, AMissingMarkerInTheFirstRowIsNoHeader) {
  const Dataset data = read("1,NA\n3,4\n", {.target = "", .target_file = {}, .missing = Missing::mean});
  EXPECT_EQ(data.rows(), 2);
  EXPECT_TRUE(std::isnan(dense(data)(0, 1)));
}

TEST_F(Csv, ColumnsToIgnoreMayHoldAnything) {
  const std::string text = "id,a,note,y\nx1,1,\"hot, wet\",3\nx2,4,,6\n";
  ReadOptions options{.target = "y", .target_file = {}};
  options.ignore = {"id", "2"};
  const Dataset data = read(text, options);
  EXPECT_EQ(dense(data), matrix({{1}, {4}}));
  EXPECT_EQ(data.feature_names, std::vector<std::string>{"a"});
  EXPECT_EQ(data.y, vector({3, 6}));
  options.ignore = {"nid"};
  expect_error(text, options, {"column to ignore", "nid", "did you mean"});
  options.ignore = {"y"};
  expect_error(text, options, {"both the target column and the column to ignore"});
  options.ignore = {};
  options.only = {"a"};
  EXPECT_EQ(dense(read(text, options)), matrix({{1}, {4}}));
}

TEST_F(Csv, WeightsAndFoldsStandApart) {
  const std::string text = "fold,a,w,y\n2,1,0.5,3\n1,4,2,6\n";
  ReadOptions options{.target = "y", .target_file = {}};
  options.weight = "w";
  options.fold = "0";
  const Dataset data = read(text, options);
  EXPECT_EQ(dense(data), matrix({{1}, {4}}));
  EXPECT_EQ(data.feature_names, std::vector<std::string>{"a"});
  EXPECT_EQ(data.weight, vector({0.5, 2}));
  EXPECT_EQ(data.fold, vector({2, 1}));
  expect_error("fold,a,w,y\n2,1,0.5,3\n1,4,-2,6\n", options,
               {"bad.csv:3: field 3 (\"w\") is \"-2\"", ">= 0"});
  expect_error("fold,a,w,y\n2,1,0.5,3\n1,4,,6\n", options,
               {"bad.csv:3", "\"w\"", "empty", "must be a number"});
  options.missing = Missing::drop;
  const Dataset dropped = read("fold,a,w,y\n2,1,,3\n1,4,2,6\n,5,3,7\n3,6,4,8\n", options);
  EXPECT_EQ(dropped.weight, vector({2, 4}));
  EXPECT_EQ(dropped.fold, vector({1, 3}));
  EXPECT_EQ(dropped.y, vector({6, 8}));
  options.weight = "y";
  expect_error(text, options, {"both the target column and the column of weights"});
  options.weight = "v";
  expect_error(text, options, {"column of weights", "\"v\""});
}

TEST_F(Csv, QuotedFields) {
  const Dataset data = read("\"a, \"\"b\"\"\",\"c\nd\", e \r\n\"1\", \"2\" ,3\r\n4,5,6\r\n");
  EXPECT_EQ(data.feature_names, (std::vector<std::string>{"a, \"b\"", "c\nd", "e"}));
  EXPECT_EQ(dense(data), matrix({{1, 2, 3}, {4, 5, 6}}));
}

TEST_F(Csv, LineNumbersCountTheLinesInQuotes) {
  expect_error("\"a\nb\",c\n1,2\nx,4\n5,6\n", {}, {"bad.csv:4: field 1", "is \"x\""});
}

TEST_F(Csv, ByteOrderMarkBlankEndAndSpaces) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a,b\r\n 1 ,\t2\r\n\r\n \n\n")
                .feature_names.front(),
            "a");
  EXPECT_EQ(dense(read("\xef\xbb\xbf"
                       "1, +2\n3 ,4\n\n")),
            matrix({{1, 2}, {3, 4}}));
}

TEST_F(Csv, Delimiters) {
  const Matrix expected = matrix({{1, 2}, {3, 4}});
  EXPECT_EQ(dense(read("a;b\n1;2\n3;4\n")), expected);
  EXPECT_EQ(dense(read("a\tb\n1\t2\n3\t4\n")), expected);
  EXPECT_EQ(dense(read("\"a,b\";c\n1;2\n3;4\n")), expected);
  EXPECT_EQ(dense(read("1\t2\n3\t4\n", {}, "data.tsv")), expected);
  EXPECT_EQ(dense(read("1\t2\n3\t4\n", {}, "data.TAB")), expected);
  EXPECT_EQ(dense(read("1\t2\n3\t4\n", {}, "data.txt")), expected);
  EXPECT_EQ(dense(read("1,2\n3,4\n", {}, "data.txt")), expected);
  EXPECT_EQ(dense(read("1|2\n3|4\n", {}, "data.txt")), expected);
  EXPECT_EQ(dense(read("1;2\n3;4\n", {}, "data.dat")), expected);
  EXPECT_EQ(dense(read("  1   2 \n3 \t 4\n\n", {}, "data.dat")), expected);
  EXPECT_EQ(dense(read("a \"b c\"\n1   2 \n\"3\"  4\n", {}, "data.txt")), expected);
}

TEST_F(Csv, RandomTablesComeBackExactly) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    const Index rows = 1 + static_cast<Index>(random() % 40);
    const Index cols = 1 + static_cast<Index>(random() % 12);
    Matrix values(rows, cols);
    std::string text;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) {
        do {
          values(i, j) = random() % 4 == 0 ? static_cast<double>(random() % 100000)
                                           : std::bit_cast<double>(static_cast<std::uint64_t>(random()));
        } while (!std::isfinite(values(i, j)));
        text += fmt::format("{}{:.17g}", j > 0 ? "," : "", values(i, j));
      }
      text += round % 2 == 0 ? "\n" : "\r\n";
    }
    EXPECT_EQ(dense(read(text)), values);
  }
}

TEST_F(Csv, LinesLongerThanTheBuffer) {
  std::string text;
  constexpr Index cols = 200000;
  for (int row = 0; row < 3; ++row) {
    for (Index j = 0; j < cols; ++j) text += fmt::format("{}{}", j > 0 ? "," : "", row + j % 1000);
    text += '\n';
  }
  const Dataset data = read(text, {.target = "-1", .target_file = {}});
  EXPECT_EQ(data.rows(), 3);
  EXPECT_EQ(data.features(), cols - 1);
  EXPECT_EQ(dense(data)(2, 1999), 2 + 999);
  EXPECT_EQ(data.y, vector({999, 1000, 1001}));
}

TEST_F(Csv, NumbersOutsideTheRangeOfADouble) {
  EXPECT_EQ(dense(read("1e-400,1\n")), matrix({{0, 1}}));
  expect_error("1,2\n3,1e400\n", {}, {"bad.csv:2: field 2 is \"1e400\"", "finite"});
}

TEST_F(Csv, TextAmongNumbersIsRefused) {
  expect_error(
      "name,age\n1,2\n3,tall\n", {},
      {"bad.csv:3: field 2 (\"age\") is \"tall\"", "must be a number", "--numeric age", "--categorical age"});
  expect_error("1,2\n3,4x\n", {}, {"bad.csv:2: field 2 is \"4x\"", "must be a number"});
  expect_error("a,b\n\"1\",\"2\"\n3,\"0x10\"\n", {},
               {"bad.csv:3: field 2 (\"b\") is \"0x10\"", "must be a number"});
  expect_error("1,2\n3,+-4\n", {}, {"is \"+-4\"", "must be a number"});
}

TEST_F(Csv, InfinityIsRefusedWhateverIsMissing) {
  for (const Missing missing : {Missing::refuse, Missing::mean, Missing::drop}) {
    expect_error("a,b\n1,-inf\n", {.target = "", .target_file = {}, .missing = missing},
                 {"bad.csv:2: field 2 (\"b\") is \"-inf\"", "finite"});
  }
}

TEST_F(Csv, MissingValuesAreRefusedByDefault) {
  expect_error("a,b\n1,2\n3,\n", {},
               {"bad.csv:3: field 2 (\"b\") is empty", "--missing mean", "--missing drop"});
  for (const std::string marker : {"NA", "nan", "NaN", "?", "\"?\""}) {
    expect_error("a,b\n" + marker + ",2\n3,4\n", {}, {"bad.csv:2: field 1 (\"a\") is \"", "--missing mean"});
  }
}

TEST_F(Csv, MissingAsMeanIsNaN) {
  const Dataset data =
      read("a,y,b\n1,2,\nnan,3,4\n5,6,?\n", {.target = "y", .target_file = {}, .missing = Missing::mean});
  EXPECT_EQ(data.y, vector({2, 3, 6}));
  const Matrix x = dense(data);
  EXPECT_TRUE(std::isnan(x(0, 1)) && std::isnan(x(1, 0)) && std::isnan(x(2, 1)));
  EXPECT_EQ(x(1, 1), 4);
}

TEST_F(Csv, MissingDropped) {
  const Dataset data = read("a,y,b\n1,2,\n3,4,5\n6,NA,7\n8,9,10\n\"\",1,1\n",
                            {.target = "y", .target_file = {}, .missing = Missing::drop});
  EXPECT_EQ(dense(data), matrix({{3, 5}, {8, 10}}));
  EXPECT_EQ(data.y, vector({4, 9}));
  expect_error("a,b\n1,\n,2\n", {.target = "", .target_file = {}, .missing = Missing::drop},
               {"every row has a missing value"});
}

TEST_F(Csv, AMissingTargetCanOnlyBeDropped) {
  for (const Missing missing : {Missing::refuse, Missing::mean}) {
    expect_error("a,y\n1,\n", {.target = "y", .target_file = {}, .missing = missing},
                 {"bad.csv:2: field 2 (\"y\") is empty", "target", "--missing drop"});
  }
}

TEST_F(Csv, RaggedRows) {
  expect_error("a,b,c\n1,2,3\n4,5\n", {}, {"bad.csv:3: expected 3 fields but found 2"});
  expect_error("a,b\n1,2,3\n", {}, {"bad.csv:2: expected 2 fields but found 3"});
  expect_error("1,2\n3,4,5\n", {}, {"bad.csv:2: expected 2 fields but found 3"});
  expect_error("1,2\n3,4,,5\n", {}, {"bad.csv:2: expected 2 fields but found 4"});
  expect_error("1,2\n\"3\"\n", {}, {"bad.csv:2: expected 2 fields but found 1"});
  expect_error("1,2\n\n3,4\n", {}, {"bad.csv:2: the line is blank where 2 fields are expected"});
}

TEST_F(Csv, BlankLinesAmongRowsCanBeDropped) {
  const std::string_view text = "a,b\n1,2\n\n3,4\n  \n5,6\n\n";
  expect_error(text, {}, {"bad.csv:3: the line is blank", "it can be read with --missing drop"});
  EXPECT_EQ(dense(read(text, {.target = "", .target_file = {}, .missing = Missing::drop})),
            matrix({{1, 2}, {3, 4}, {5, 6}}));
}

TEST_F(Csv, SeparatorsBehindTheLastFieldOfSomeRows) {
  const Matrix expected = matrix({{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(dense(read("a,b\n1,2,\n3,4\n5,6,,  ,\n")), expected);
  EXPECT_EQ(dense(read("a,b\n1,\"2\",\n3,4,\"\"\n5,6\n")), expected);
}

TEST_F(Csv, ABlankLineInOneColumnIsAMissingValue) {
  expect_error("a\n1\n\n3\n", {}, {"bad.csv:3: field 1 (\"a\") is empty", "--missing"});
  const Dataset data = read("a\n1\n\n\"3\"\n\n", {.target = "", .target_file = {}, .missing = Missing::drop});
  EXPECT_EQ(dense(data), matrix({{1}, {3}}));
}

TEST_F(Csv, BrokenQuotes) {
  expect_error("a,b\n1,\"2\n3,4\n", {}, {"bad.csv:2: a quoted field is opened but not closed"});
  expect_error("a,b\n1,\"2\"3\n", {}, {"bad.csv:2: text follows the closing quote of field \"2\""});
  expect_error("a,b\n1\"2,\"3\n", {}, {"bad.csv:2: a quoted field is opened but not closed"});
}

TEST_F(Csv, RepeatedNames) {
  expect_error("a,b,a\n1,2,3\n", {.target = "a"},
               {"bad.csv:1: fields 1 and 3 are both named \"a\"", "must differ"});
}

TEST_F(Csv, RepeatedNamesGetTheNextNumberThatNoOtherHas) {
  const Dataset data = read("x,x,x.2,x,x.2,,,y\n1,2,3,4,5,6,7,8\n2,3,4,5,6,7,8,9\n", {.target = "y"});
  EXPECT_EQ(data.feature_names,
            (std::vector<std::string>{"x", "x.3", "x.2", "x.4", "x.2.2", "", "column.2"}));
  EXPECT_EQ(data.notes.size(), 3U);
}

TEST_F(Csv, OfManyRepeatedNamesTheFirstFewAreTold) {
  constexpr int kFields = 30'000;
  std::string header = "y", row = "1";
  for (int i = 0; i < kFields; ++i) {
    header += ",x";
    row += ",2";
  }
  const Dataset data = read(header + "\n" + row + "\n" + row + "\n", {.target = "y"});
  EXPECT_EQ(data.feature_names.back(), "x.30000");
  EXPECT_EQ(data.notes.size(), 21U);
  EXPECT_EQ(data.notes.back(), "and 29979 more fields have new names");
}

TEST_F(Csv, UnknownTarget) {
  expect_error("price,size\n1,2\n", {.target = "prise", .target_file = {}},
               {"no target column \"prise\"", "did you mean \"price\"?", "price, size"});
  expect_error("price,size\n1,2\n", {.target = "2", .target_file = {}},
               {"no target column 2", "2 columns, 0 to 1 or -2 to -1"});
  expect_error("1,2\n", {.target = "price", .target_file = {}},
               {"no target column \"price\"", "names no columns", "0 to 1"});
}

TEST_F(Csv, AnOptionalTargetMayBeAbsent) {
  ReadOptions options{.target = "y", .target_file = {}};
  options.target_optional = true;
  EXPECT_EQ(read("a,y\n1,2\n", options).y, vector({2}));
  const Dataset unlabelled = read("a,b\n1,2\n", options);
  EXPECT_EQ(unlabelled.y.size(), 0);
  EXPECT_EQ(unlabelled.features(), 2);
}

TEST_F(Csv, NoRows) {
  expect_error("a,b\n", {}, {"holds a header but no rows"});
  expect_error("\n\n", {}, {"holds no rows"});
  expect_error("y\n1\n", {.target = "y", .target_file = {}}, {"no column beside the target"});
}

}  // namespace
}  // namespace yosida
