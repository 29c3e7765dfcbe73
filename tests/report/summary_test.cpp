#include "yosida/report/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "yosida/error.hpp"

namespace yosida::report {
namespace {

study::Record record(const std::string& method, std::uint64_t seed, const std::string& status,
                     double validation) {
  study::Record result;
  result.spec.method = method;
  result.spec.seed = seed;
  result.status = status;
  result.seconds = 0.5;
  result.outcome = fmt::format(
      R"({{"final": {{"loss": {{"train": {0}, "validation": {1}, "test": null}}, "lambda_gap": 0.25}},)"
      R"( "best": {{"loss": {{"train": 0, "validation": {2}, "test": null}}}},)"
      R"( "work": {{"paper_count": 40, "gradient_equivalents": 41.5}}}})",
      validation - 1.0, validation, validation / 2.0);
  return result;
}

TEST(Summary, MeanDeviationAndMedianOfEachMethodInOrder) {
  const std::vector<Row> rows =
      summarise({record("b", 0, "converged", 2.0), record("a", 0, "work_limit", 10.0),
                 record("b", 1, "exhausted", 4.0), record("b", 2, "converged", 9.0)},
                "loss", Which::final);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].method, "b");
  EXPECT_EQ(rows[0].runs, 3);
  EXPECT_DOUBLE_EQ(rows[0].validation->mean, 5.0);
  EXPECT_DOUBLE_EQ(rows[0].validation->deviation, std::sqrt((9.0 + 1.0 + 16.0) / 2.0));
  EXPECT_DOUBLE_EQ(rows[0].validation->median, 4.0);
  EXPECT_DOUBLE_EQ(rows[0].train->mean, 4.0);
  EXPECT_FALSE(rows[0].test.has_value());
  EXPECT_DOUBLE_EQ(rows[0].lambda_gap->mean, 0.25);
  EXPECT_DOUBLE_EQ(rows[0].gradients->mean, 40.0);
  EXPECT_DOUBLE_EQ(rows[0].work->mean, 41.5);
  EXPECT_DOUBLE_EQ(rows[0].seconds->mean, 0.5);
  EXPECT_EQ(rows[1].method, "a");
  EXPECT_EQ(rows[1].validation->deviation, 0.0) << "of one run";
}

TEST(Summary, RunsThatDivergedOrFailedAreCountedAndLeftOut) {
  study::Record failed;
  failed.spec.method = "a";
  failed.status = "failed";
  failed.outcome = R"({"error": "no rows"})";
  const std::vector<Row> rows =
      summarise({record("a", 0, "converged", 2.0), record("a", 1, "diverged", 1e300), failed,
                 record("a", 3, "converged", 4.0)},
                "loss", Which::final);
  EXPECT_EQ(rows[0].runs, 4);
  EXPECT_EQ(rows[0].diverged, 1);
  EXPECT_EQ(rows[0].failed, 1);
  EXPECT_DOUBLE_EQ(rows[0].validation->mean, 3.0);
  EXPECT_DOUBLE_EQ(rows[0].validation->median, 3.0);
}

TEST(Summary, NothingIsMadeUpWhereEveryRunDiverged) {
  const std::vector<Row> rows = summarise({record("a", 0, "diverged", 5.0)}, "loss", Which::final);
  EXPECT_FALSE(rows[0].validation.has_value());
  EXPECT_FALSE(rows[0].seconds.has_value());
}

TEST(Summary, BestWeightsWhereTheyAreAskedFor) {
  EXPECT_DOUBLE_EQ(summarise({record("a", 0, "converged", 2.0)}, "loss", Which::best)[0].validation->mean,
                   1.0);
}

TEST(Summary, MeasureThatNoRunHasIsRefused) {
  EXPECT_THROW(summarise({record("a", 0, "converged", 2.0)}, "accuracy", Which::final), InputError);
}

}  // namespace
}  // namespace yosida::report
