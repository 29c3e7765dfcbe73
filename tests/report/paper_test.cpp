#include "yosida/report/paper.hpp"

#include <gtest/gtest.h>

#include "yosida/solver/methods.hpp"

namespace yosida::report {
namespace {

std::vector<PaperResult> of(const std::string& problem, const std::string& name, const SettingValues& given) {
  return paper_results(problem, name, method(name).all_settings(given));
}

TEST(Paper, ARowOfTwoTablesIsFoundTwiceAlsoWhereTheyDisagree) {
  const auto found = of("gtsrb", "my-hpo-c", {{"alpha", "0.05"}, {"beta", "0.1"}, {"delta", "0.75"}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].table, 2);
  EXPECT_EQ(found[0].validation.mean, 14.35);
  EXPECT_EQ(found[1].table, 7);
  EXPECT_EQ(found[1].validation.mean, 14.14);
}

TEST(Paper, SettingsMustBeTheSame) {
  EXPECT_EQ(of("cookie", "sho", {{"alpha", "0.05"}}).size(), 1u);
  EXPECT_EQ(of("cookie", "sho", {{"alpha", "0.06"}}).size(), 0u);
  EXPECT_EQ(of("spectra", "sho", {{"alpha", "0.05"}}).size(), 0u);
  EXPECT_EQ(of("cookie", "my-hpo-full", {}).size(), 1u);
  EXPECT_EQ(of("gtsrb", "my-hpo-full", {}).size(), 0u);
}

TEST(Paper, WhatThePaperLacksHasNoFigures) {
  EXPECT_EQ(of("cookie", "my-hpo-bt", {{"alpha", "0.1"}, {"beta", "0.1"}, {"delta", "0.5"}}).size(), 2u);
  EXPECT_EQ(
      of("cookie", "my-hpo-bt", {{"alpha", "0.1"}, {"beta", "0.1"}, {"delta", "0.5"}, {"w_gradient", "own"}})
          .size(),
      0u);
  EXPECT_EQ(of("cookie", "random", {{"trials", "2"}, {"train_steps", "2500"}}).size(), 2u);
  EXPECT_EQ(of("cookie", "random", {{"trials", "2"}}).size(), 0u)
      << "the paper's trials are trained by steps";
  EXPECT_EQ(of("cookie", "my-hpo", {}).size(), 0u);
}

TEST(Paper, HasEveryTable) {
  std::vector<int> rows(8, 0);
  for (const PaperResult& result : paper_results()) {
    ++rows.at(static_cast<std::size_t>(result.table));
    for (const PaperCell& cell : {result.train, result.validation, result.test}) {
      EXPECT_GT(cell.mean, 0.0);
      EXPECT_GT(cell.deviation, 0.0);
    }
  }
  EXPECT_EQ(rows, (std::vector<int>{0, 0, 28, 2, 16, 12, 16, 16}));
}

}  // namespace
}  // namespace yosida::report
