#include "yosida/report/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "yosida/model/measures.hpp"

namespace yosida::report {
namespace {

study::Record record(const std::string& method, std::uint64_t seed, const std::string& status,
                     double validation) {
  study::Record result;
  result.spec.method = method;
  result.spec.seed = seed;
  result.status = status;
  result.spec.json = "{}";
  result.seconds = 0.5;
  result.outcome = fmt::format(
      R"({{"final": {{"loss": {{"train": {0}, "validation": {1}, "test": null}}, "lambda_gap": 0.25}},)"
      R"( "best": {{"loss": {{"train": 0, "validation": {2}, "test": null}}}},)"
      R"( "work": {{"paper_count": 40, "gradient_equivalents": 41.5}}}})",
      validation - 1.0, validation, validation / 2.0);
  return result;
}

const PartCells& final_loss(const MethodRow& row) { return row.final.at(find_measure(kLoss).value()); }

TEST(Summary, MeanDeviationAndMedianOfEachMethodInOrder) {
  const std::vector<MethodRow> rows =
      summarise({record("b", 0, "converged", 2.0), record("a", 0, "work_limit", 10.0),
                 record("b", 1, "exhausted", 4.0), record("b", 2, "converged", 9.0),
                 record("a", 1, "work_limit", 10.0), record("a", 2, "work_limit", 10.0)})
          .rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].label, "b");
  EXPECT_EQ(rows[0].runs, 3);
  EXPECT_DOUBLE_EQ(final_loss(rows[0]).validation->mean, 5.0);
  EXPECT_DOUBLE_EQ(final_loss(rows[0]).validation->deviation, std::sqrt((9.0 + 1.0 + 16.0) / 2.0));
  EXPECT_DOUBLE_EQ(final_loss(rows[0]).validation->median, 4.0);
  EXPECT_DOUBLE_EQ(final_loss(rows[0]).train->mean, 4.0);
  EXPECT_FALSE(final_loss(rows[0]).test.has_value());
  EXPECT_DOUBLE_EQ(rows[0].lambda_gap->mean, 0.25);
  EXPECT_DOUBLE_EQ(rows[0].gradients->mean, 40.0);
  EXPECT_DOUBLE_EQ(rows[0].work->mean, 41.5);
  EXPECT_DOUBLE_EQ(rows[0].seconds->mean, 0.5);
  EXPECT_EQ(rows[1].label, "a");
  EXPECT_EQ(final_loss(summarise({record("a", 0, "converged", 2.0)}).rows[0]).validation->deviation, 0.0)
      << "of one run";
}

TEST(Summary, RunsThatDivergedOrFailedAreCountedAndLeftOut) {
  study::Record failed;
  failed.spec.method = "a";
  failed.status = "failed";
  failed.spec.json = "{}";
  failed.outcome = R"({"error": "no rows"})";
  const std::vector<MethodRow> rows =
      summarise({record("a", 0, "converged", 2.0), record("a", 1, "diverged", 1e300), failed,
                 record("a", 3, "converged", 4.0)})
          .rows;
  EXPECT_EQ(rows[0].runs, 4);
  EXPECT_EQ(rows[0].diverged, 1);
  EXPECT_EQ(rows[0].failed, 1);
  EXPECT_DOUBLE_EQ(final_loss(rows[0]).validation->mean, 3.0);
  EXPECT_DOUBLE_EQ(final_loss(rows[0]).validation->median, 3.0);
}

TEST(Summary, NothingIsMadeUpWhereEveryRunDiverged) {
  const std::vector<MethodRow> rows = summarise({record("a", 0, "diverged", 5.0)}).rows;
  EXPECT_FALSE(final_loss(rows[0]).validation.has_value());
  EXPECT_FALSE(rows[0].seconds.has_value());
}

TEST(Summary, OfTheBestWeightsToo) {
  const MethodRow row = summarise({record("a", 0, "converged", 2.0)}).rows[0];
  EXPECT_DOUBLE_EQ(row.best.at(find_measure(kLoss).value()).validation->mean, 1.0);
}

TEST(Summary, MethodsAreComparedOnTheSeedsTheyShare) {
  // On each seed that both have, "hard" is better; its other seeds are harder, which its mean over all of its
  // runs would blame on the method.
  std::vector<study::Record> records = {
      record("easy", 0, "converged", 2.0),  record("easy", 1, "converged", 4.0),
      record("hard", 0, "converged", 1.0),  record("hard", 1, "converged", 3.0),
      record("hard", 2, "converged", 50.0), record("hard", 3, "converged", 70.0)};
  const Summary summary = summarise(records);
  EXPECT_EQ(summary.seeds.count, 2);
  EXPECT_FALSE(summary.seeds.is_all);
  EXPECT_EQ(in_words(summary.seeds), "over 2 common seeds so far");
  EXPECT_DOUBLE_EQ(final_loss(summary.rows[0]).validation->mean, 3.0);
  EXPECT_DOUBLE_EQ(final_loss(summary.rows[1]).validation->mean, 2.0);
  EXPECT_EQ(summary.rows[1].runs, 4) << "all of them are counted";
}

TEST(Summary, NothingIsBestWithoutACommonSeed) {
  const Summary summary = summarise({record("a", 0, "converged", 2.0), record("b", 1, "converged", 4.0)});
  EXPECT_EQ(summary.seeds.count, 0);
  EXPECT_NE(in_words(summary.seeds).find("nothing is called best"), std::string::npos);
  EXPECT_DOUBLE_EQ(final_loss(summary.rows[1]).validation->mean, 4.0) << "each over its own";
  EXPECT_EQ(in_words({.count = 1, .is_all = true}), "over 1 seed");
  EXPECT_EQ(in_words({.count = 5, .is_all = true}), "over 5 seeds");
}

TEST(Summary, HasACellForEveryMeasureOfTheTable) {
  const MethodRow row = summarise({record("a", 0, "converged", 2.0)}).rows[0];
  ASSERT_EQ(row.final.size(), measures().size());
  EXPECT_FALSE(row.final[find_measure("accuracy").value()].validation.has_value());
}

}  // namespace
}  // namespace yosida::report
