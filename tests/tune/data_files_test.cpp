#include "yosida/tune/data_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "yosida/error.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida {
namespace {

std::string write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "data_files_" + name;
  std::ofstream(path) << text;
  return path;
}

std::string rows_of_numbers(int count) {
  std::string text = "id,a,b,w,part,y\n";
  for (int i = 0; i < count; ++i)
    text += std::to_string(i) + "," + std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
            std::to_string(1 + i % 2) + "," + std::to_string(i % 3) + "," +
            std::to_string(2 * (i % 7) - (i % 5) + 0.1 * (i % 11)) + "\n";
  return text;
}

std::string message_of(const DataFiles& files, const TuneOptions& options = {}) {
  try {
    read_rows(files, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(DataFiles, ReadsPartsColumnsWeightsAndFolds) {
  const std::string train = write("train.csv", rows_of_numbers(40));
  const std::string test = write("test.csv", rows_of_numbers(10));
  const DataFiles files{
      .train = train, .test = test, .target = "y", .ignore = {"id"}, .weights = "w", .fold_column = "part"};
  const Rows rows = read_rows(files, {});
  EXPECT_EQ(rows.train.feature_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(rows.train.weight_name, "w");
  EXPECT_EQ(rows.train.fold.size(), 40);
  EXPECT_EQ(rows.test->rows(), 10);
  EXPECT_FALSE(rows.validation);
  const TuneProblem problem(rows, {});
  EXPECT_EQ(problem.data().fold_count, 3);
}

TEST(DataFiles, TrainingRowsThatJudgeGetANote) {
  const std::string train = write("train.csv", rows_of_numbers(40));
  const std::string copy = write("copy.csv", rows_of_numbers(40));
  const std::string other = write("other.csv", rows_of_numbers(41));
  const auto is_told = [](const Dataset& rows) {
    return std::any_of(rows.notes.begin(), rows.notes.end(), [](const std::string& note) {
      return note.find("its rows are the training rows") != std::string::npos;
    });
  };
  const auto are_told = [&](const std::string& validation, const std::string& test) {
    const Rows rows = read_rows({.train = train, .validation = validation, .test = test, .target = "y"}, {});
    return std::pair(is_told(*rows.validation), is_told(*rows.test));
  };
  EXPECT_EQ(are_told(train, copy), std::pair(true, true));
  EXPECT_EQ(are_told(copy, other), std::pair(true, false));
  EXPECT_EQ(are_told(other, train), std::pair(false, true));
}

TEST(DataFiles, BuiltInRowsComeInPartsOrForFolds) {
  const Rows parts = read_rows({.built_in = "spectra"}, {});
  ASSERT_TRUE(parts.validation && parts.test);
  const Rows all = read_rows({.built_in = "spectra"}, {.validation = {.folds = 4}});
  EXPECT_FALSE(all.validation);
  EXPECT_EQ(all.train.rows(), parts.train.rows() + parts.validation->rows());
}

TEST(DataFiles, MissingValuesByName) {
  for (const char* name : {"refuse", "mean", "drop"}) EXPECT_EQ(to_string(parse_missing(name)), name);
  EXPECT_THROW(parse_missing("zero"), InputError);
}

TEST(DataFiles, RefusesWhatDoesNotFitBeforeReading) {
  EXPECT_EQ(message_of({}).substr(0, 20), "give the data either");
  EXPECT_EQ(message_of({.built_in = "spectra", .target = "y"}),
            "--target: goes with --train, not with --data");
  const DataFiles absent{.train = "absent.csv", .validation = "absent.csv"};
  EXPECT_EQ(message_of(absent, {.validation = {.fraction = 0.5}}),
            "--valid-fraction: does not go with --valid: the validation rows are given");
  EXPECT_EQ(message_of(absent, {.validation = {.folds = 2}}),
            "--folds: does not go with --valid: every row is a validation row of one fold");
  EXPECT_EQ(message_of({.train = "absent.csv", .test_target = "t.csv"}), "--test-target: needs --test");
  EXPECT_EQ(message_of({.train = write("none.csv", "a,b\n1,2\n")}).find("no target") != std::string::npos,
            true);
}

}  // namespace
}  // namespace yosida
