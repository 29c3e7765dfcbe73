#include "yosida/tune/seed_problems.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tune/tables.hpp"
#include "yosida/tune/method_text.hpp"

namespace yosida {
namespace {

std::string write_table(const std::string& name, Index rows) {
  const std::string path = testing::TempDir() + "seed_problems_" + name;
  std::ofstream out(path);
  const Dataset table = numeric_table(rows);
  out << "a,b,c,y\n";
  for (Index i = 0; i < rows; ++i)
    out << to_matrix(table.x).row(i).format({Eigen::FullPrecision, Eigen::DontAlignCols, ","}) << ","
        << table.y[i] << "\n";
  return path;
}

TEST(SeedProblems, OneProblemForAllRunsOfASeed) {
  StudyData data({.train = write_table("rows.csv", 60), .target = "y"}, {});
  int made = 0;
  SeedProblems problems({.make =
                             [&](std::uint64_t seed) {
                               ++made;
                               return data.problem(seed);
                             },
                         .oracle = TuneOptions{},
                         .kept = 2});
  const auto first = problems.of(0);
  EXPECT_EQ(problems.of(0), first);
  EXPECT_EQ(made, 1);
  ASSERT_TRUE(first->oracle);
  EXPECT_NE(problems.of(1)->problem.split().train.y, first->problem.split().train.y);
  // The rows of a seed are those that tune() draws of the file.
  const Tuned alone = tune(read_dataset(testing::TempDir() + "seed_problems_rows.csv", {.target = "y"}));
  EXPECT_EQ(tune(first->problem, {}).lambda(), alone.lambda());
}

TEST(SeedProblems, DataThatChangesEndsTheStudy) {
  const std::string path = write_table("changes.csv", 60);
  StudyData data({.train = path, .target = "y"}, {});
  const std::string before = data.sha256();
  EXPECT_EQ(data.files().begin()->first, "train");
  data.problem(0);
  write_table("changes.csv", 61);
  EXPECT_THROW(data.problem(1), DataChanged);
  EXPECT_NE(StudyData({.train = path, .target = "y"}, {}).sha256(), before);
  EXPECT_THROW(StudyData({.train = "-"}, {}), InputError);
}

TEST(MethodText, IsReadAndWritten) {
  const auto [chosen, settings] = parse_method("sho:alpha=0.05");
  EXPECT_EQ(chosen->name, "sho");
  EXPECT_EQ(settings, (SettingValues{{"alpha", "0.05"}}));
  EXPECT_EQ(name_with_settings(*chosen, chosen->all_settings(settings)), "sho:alpha=0.05");
  EXPECT_EQ(name_with_settings(*chosen, chosen->all_settings({})), "sho");
  EXPECT_TRUE(has_setting(*chosen, "alpha"));
  for (const char* bad : {"", "nope", "sho:", "sho:alpha", "sho:alpha=", "sho:=1", "sho:alpha=1:alpha=2"})
    EXPECT_THROW(parse_method(bad), InputError) << bad;
}

}  // namespace
}  // namespace yosida
