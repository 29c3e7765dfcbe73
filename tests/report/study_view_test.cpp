#include "yosida/report/study_view.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "report/problem_builder.hpp"
#include "yosida/error.hpp"
#include "yosida/report/rows.hpp"
#include "yosida/study/builds.hpp"

namespace yosida::report {
namespace {

using nlohmann::json;
using study::Record;
using study::Store;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TracePoint point(std::int64_t iteration, double validation, double lambda = -1.0) {
  TracePoint result;
  result.iteration = iteration;
  result.loss.validation = validation;
  result.lambda = Vector::Constant(1, lambda);
  result.work.train_gradients = 2 * iteration;
  result.seconds = 0.5 * static_cast<double>(iteration);
  return result;
}

struct Case {
  std::string method = "sho";
  SettingValues settings = {};
  std::uint64_t seed = 0;
  std::vector<double> losses = {4.0, 2.0};
  std::string status = "work_limit";
  json more = json::object();  // into the spec
};

/// Like a run of compare with an oracle of 1; the scaled loss is half the loss.
Record record_of(const Case& run) {
  Record record;
  json spec = {{"data", {{"files", {{"built-in", "spectra"}}}}},
               {"model", {{"name", "ridge"}, {"x", "standardize"}}},
               {"run", {{"budget_gradients", 100}}},
               {"method", run.method},
               {"settings", run.settings},
               {"seed", run.seed}};
  spec.update(run.more);
  record.spec = {.method = run.method, .seed = run.seed, .json = spec.dump()};
  record.status = run.status;
  record.seconds = 0.25;
  for (std::size_t i = 0; i < run.losses.size(); ++i)
    record.trace.push_back(point(static_cast<std::int64_t>(i), run.losses[i], -static_cast<double>(i)));
  const double last = run.losses.empty() ? 1.0 : run.losses.back();
  const json solution = {{"lambda", {-3.0}},
                         {"loss", {{"train", 0.5}, {"validation", last}, {"test", nullptr}}},
                         {"scaled_loss", {{"train", 0.25}, {"validation", last / 2}, {"test", nullptr}}},
                         {"gap", last - 1.0},
                         {"lambda_gap", 0.125}};
  record.outcome =
      json{{"final", solution},
           {"best", solution},
           {"iterations", run.losses.size()},
           {"work", {{"paper_count", 40}, {"gradient_equivalents", 41.5}}},
           {"oracle", {{"lambda", -3.5}, {"validation", 1.0}}},
           {"certificate", {{"verdict", "certified at a bound"}, {"hypergradient", 0.001}, {"reason", "so"}}}}
          .dump();
  if (run.status == "failed") {
    record.outcome = R"({"error": "no rows"})";
    record.trace.clear();
  }
  return record;
}

class View : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/yosida-view-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    path = (folder / "small.study").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void put(const std::vector<Case>& runs) const {
    Store store(path, Store::Mode::create);
    for (const Case& run : runs) store.put(record_of(run));
  }
  StudyContents contents() const {
    StudyView view(path);
    view.refresh();
    return view.contents();
  }
  ProblemContents only_problem() const {
    StudyContents all = contents();
    EXPECT_EQ(all.problems.size(), 1U);
    return all.problems.at(0);
  }

  std::filesystem::path folder;
  std::string path;
};

std::vector<std::string> labels_of(const ProblemContents& problem) {
  std::vector<std::string> labels;
  for (const MethodRow& row : problem.rows) labels.push_back(row.label);
  return labels;
}

// ---- rows ----

TEST_F(View, CellsAreOfTheRunsThatEndedWell) {
  put({{.seed = 0, .losses = {9.0, 2.0}},
       {.seed = 1, .losses = {9.0, 4.0}},
       {.seed = 2, .losses = {9.0, 1e9}, .status = "diverged"},
       {.seed = 3, .losses = {}, .status = "failed"}});
  const StudyContents all = contents();
  EXPECT_EQ(all.title, "small.study");
  EXPECT_EQ(std::tuple(all.runs, all.failed, all.diverged), std::tuple(4, 1, 1));
  const MethodRow& row = all.problems.at(0).rows.at(0);
  EXPECT_EQ(all.problems[0].measures, (std::vector<std::string>{"scaled_loss", "loss"}));
  EXPECT_EQ(std::tuple(row.runs, row.diverged, row.failed, row.certified), std::tuple(4, 1, 1, 3));
  EXPECT_DOUBLE_EQ(row.final.at(0).validation->mean, 1.5);
  EXPECT_DOUBLE_EQ(row.final.at(1).validation->mean, 3.0);
  EXPECT_FALSE(row.final.at(1).test.has_value());
  EXPECT_DOUBLE_EQ(row.gap->mean, 2.0);
  EXPECT_DOUBLE_EQ(row.work->median, 41.5);
  EXPECT_EQ(row.statuses,
            (std::map<std::string, std::int64_t>{{"diverged", 1}, {"failed", 1}, {"work_limit", 2}}));
  EXPECT_EQ(row.budget, 100.0);
  EXPECT_DOUBLE_EQ(all.problems[0].oracle->lambda->mean, -3.5);
  EXPECT_DOUBLE_EQ(all.problems[0].oracle->scaled_loss->mean, 0.5);
}

TEST_F(View, LabelsSayWhatDiffersAndRowsStandInOneOrder) {
  put({{.method = "my-hpo"},
       {.method = "unheard-of"},
       {.method = "random", .settings = {{"trials", "10"}}},
       {.method = "random", .settings = {{"trials", "2"}}},
       {.method = "sho", .settings = {{"alpha", "0.05"}, {"beta", "0.01"}}},
       {.method = "sho", .settings = {{"alpha", "0.005"}, {"beta", "0.01"}}},
       {.method = "sho",
        .settings = {{"alpha", "0.05"}, {"beta", "0.01"}},
        .more = {{"run", {{"budget_gradients", 5000}}}}}});
  EXPECT_EQ(
      labels_of(only_problem()),
      (std::vector<std::string>{"sho α=0.005 budget=100", "sho α=0.05 budget=100", "sho α=0.05 budget=5000",
                                "random trials=2", "random trials=10", "unheard-of", "my-hpo"}));
}

TEST_F(View, LabelsSayNoMoreThanItTakes) {
  const auto grid = [](const char* steps, const char* size, const char* trials, int budget) {
    return Case{.method = "grid",
                .settings = {{"train_steps", steps}, {"train_step_size", size}, {"trials", trials}},
                .more = {{"run", {{"budget_gradients", budget}}}}};
  };
  put({grid("exact", "0", "40", 100), grid("2500", "0.001", "2", 5000), grid("2500", "0.001", "10", 25000)});
  EXPECT_EQ(labels_of(only_problem()),
            (std::vector<std::string>{"grid train_steps=exact trials=40", "grid train_steps=2500 trials=2",
                                      "grid train_steps=2500 trials=10"}));
}

TEST_F(View, SpecsOfOtherProgramsAreShownByTheirMethod) {
  Record strange = record_of({});
  strange.spec = {.method = "ours:alpha=0.5:fast", .seed = 7, .json = "[1, 2]"};
  Record stranger = record_of({});
  stranger.spec = {
      .method = "ours:alpha=0.5:fast", .seed = 7, .json = R"({"method": 3, "data": 5, "x": [1]})"};
  stranger.outcome = R"(["nothing"])";
  Store(path, Store::Mode::create).put(strange);
  Store(path, Store::Mode::create).put(stranger);
  const StudyContents all = contents();
  ASSERT_EQ(all.problems.size(), 2U);
  EXPECT_NE(all.problems[0].name, all.problems[1].name);
  for (const ProblemContents& problem : all.problems) {
    EXPECT_EQ(problem.rows.at(0).method, "ours");
    EXPECT_EQ(problem.rows[0].step, 0.5);
  }
  EXPECT_TRUE(json::accept(to_json(all)));
}

TEST_F(View, ProblemsAreToldApartByDataAndModel) {
  const json cookie = {{"problem", "cookie"},
                       {"data", {{"files", {{"cookie", "22d3"}}}, {"rows", {34, 17, 19}}}},
                       {"model", {{"name", "ridge"}, {"x", "difference,minmax"}, {"y", "raw"}}}};
  json other = cookie;
  other["model"]["x"] = "center";
  put({{.more = cookie}, {.seed = 1, .more = cookie}, {.more = other}, {.method = "my-hpo"}});
  const StudyContents all = contents();
  ASSERT_EQ(all.problems.size(), 3U);
  EXPECT_EQ(all.problems[0].name, "cookie");
  EXPECT_EQ(all.problems[2].name, "cookie, center and y raw");
  EXPECT_EQ(all.problems[0].title, "Cookie: fat of biscuit doughs from near-infrared spectra");
  EXPECT_EQ(all.problems[0].paper_tables, (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(all.problems[1].name, "spectra");
  EXPECT_EQ(all.problems[1].title, "ridge on spectra");
  const auto& about = all.problems[0].about;
  EXPECT_NE(
      std::find(about.begin(), about.end(), std::pair<std::string, std::string>("rows", "34 / 17 / 19")),
      about.end());
  EXPECT_EQ(all.problems[0].files, (std::vector<std::pair<std::string, std::string>>{{"cookie", "22d3"}}));
}

TEST_F(View, RunsOfDifferentBuildsAreDifferentRows) {
  const json old = {{"build", "0.0.9+0123456789ab"}}, now = {{"build", study::this_build()}};
  put({{.losses = {4.0, 2.0}, .more = old},
       {.seed = 1, .losses = {4.0, 2.0}, .more = old},
       {.losses = {4.0, 3.0}, .more = now},
       {.method = "my-hpo"},
       {.method = "my-hpo", .seed = 1}});
  const StudyContents all = contents();
  EXPECT_EQ(all.builds, (std::map<std::string, std::int64_t>{
                            {"0.0.9+0123456789ab", 2}, {study::this_build(), 1}, {"unknown", 2}}));
  EXPECT_EQ(labels_of(all.problems.at(0)),
            (std::vector<std::string>{"sho build=0.0.9+0123456789ab", "sho build=" + study::this_build(),
                                      "my-hpo build=unknown"}));
  EXPECT_EQ(json::parse(to_json(all))["builds"].size(), 3U);

  StudyView mine(path, Builds::this_one);
  mine.refresh();
  EXPECT_EQ(mine.runs(), 1);
  EXPECT_EQ(labels_of(mine.contents().problems.at(0)), (std::vector<std::string>{"sho"}));

  StudyView any(path, Builds::any);
  any.refresh();
  EXPECT_EQ(any.runs(), 4);
  EXPECT_EQ(labels_of(any.contents().problems.at(0)), (std::vector<std::string>{"sho", "my-hpo"}));
  EXPECT_DOUBLE_EQ(any.contents().problems[0].rows[0].final.at(1).validation->mean, 2.5)
      << "3 of seed 0, 2 of 1";
}

TEST_F(View, ProblemsAreCalledByTheirFiles) {
  const auto run = [&](char digit, const char* name, const char* model, const char* finished) {
    Record record = record_of(
        {.more = {{"data", {{"files", {{"train", std::string(64, digit)}}}}}, {"model", {{"name", model}}}}});
    json outcome = json::parse(record.outcome);
    if (*name != 0) outcome["file_names"] = {{"train", name}};
    record.outcome = outcome.dump();
    record.finished = finished;
    Store(path, Store::Mode::create).put(record);
  };
  run('a', "x.csv", "ridge", "2026-01-31T12:00:00Z");
  run('b', "x.csv", "ridge", "2026-01-31T12:00:00Z");
  run('b', "x.csv", "huber", "2026-01-31T12:00:00Z");
  run('c', "y.csv", "ridge", "2026-01-31T12:00:00Z");
  run('d', "", "ridge", "2026-01-31T12:00:00Z");
  std::vector<std::string> names, titles;
  for (const ProblemContents& problem : contents().problems) {
    names.push_back(problem.name);
    titles.push_back(problem.title);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"data dddddddd", "x.csv aaaaaaaa", "huber on x.csv bbbbbbbb",
                                             "ridge on x.csv bbbbbbbb", "y.csv"}));
  EXPECT_EQ(titles[1], "ridge on x.csv aaaaaaaa");
}

TEST_F(View, ThePageIsGivenTheTableOfMeasures) {
  put({{}});
  const json table = json::parse(to_json(contents()))["measures"];
  ASSERT_EQ(table.size(), measures().size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i]["name"], measures()[i].name);
    EXPECT_EQ(table[i]["title"], measures()[i].title);
    EXPECT_EQ(table[i]["larger_is_better"], measures()[i].larger_is_better);
  }
}

TEST_F(View, WorkUntilTheOracleIsNear) {
  // 1.005 is within 1 %, not within 0.1 %; the third never comes near.
  put({{.seed = 0, .losses = {4.0, 1.005, 1.0}},
       {.seed = 1, .losses = {4.0, 2.0, 1.005}},
       {.seed = 2, .losses = {4.0, 2.0}}});
  const MethodRow row = only_problem().rows.at(0);
  ASSERT_EQ(row.work_to.size(), 2U);
  EXPECT_EQ(std::tuple(row.work_to[0].reached, row.work_to[0].of), std::tuple(2, 3));
  EXPECT_DOUBLE_EQ(row.work_to[0].median.value(), 4.0) << "of 2, 4 and never";
  EXPECT_EQ(row.work_to[1].reached, 1);
  EXPECT_FALSE(row.work_to[1].median.has_value());
}

TEST_F(View, RowsAreComparedOnTheSeedsTheyShare) {
  // Over all of its runs sho looks better than hoag, which alone has the hard seeds; on every seed that both
  // have, hoag is.
  put({{.seed = 0, .losses = {8.0, 4.0}},
       {.seed = 1, .losses = {8.0, 6.0}},
       {.method = "hoag", .seed = 0, .losses = {8.0, 2.0}},
       {.method = "hoag", .seed = 1, .losses = {8.0, 4.0}},
       {.method = "hoag", .seed = 2, .losses = {800.0, 400.0}},
       {.method = "hoag", .seed = 3, .losses = {800.0, 400.0}, .status = "diverged"}});
  ProblemContents problem = only_problem();
  EXPECT_EQ(problem.seeds.count, 2);
  EXPECT_FALSE(problem.seeds.is_all);
  ASSERT_EQ(labels_of(problem), (std::vector<std::string>{"sho", "hoag"}));
  const MethodRow& hoag = problem.rows[1];
  EXPECT_DOUBLE_EQ(hoag.final.at(1).validation->mean, 3.0);
  EXPECT_DOUBLE_EQ(problem.rows[0].final.at(1).validation->mean, 5.0);
  EXPECT_DOUBLE_EQ(hoag.gap->mean, 2.0);
  EXPECT_EQ(hoag.work_to.at(0).of, 2);
  EXPECT_EQ(problem.curves.at(1).seeds, 2);
  EXPECT_DOUBLE_EQ(problem.curves[1].high.at(0), 4.0) << "half the loss of 8, not of 800";
  EXPECT_EQ(std::tuple(hoag.runs, hoag.diverged), std::tuple(4, 1)) << "all runs are counted";
  EXPECT_EQ(problem.results.size(), 6U);
  const auto any = [](const MethodRow&) { return true; };
  ASSERT_NE(best_row(problem, any), nullptr);
  EXPECT_EQ(best_row(problem, any)->label, "sho") << "hoag has diverged on another seed";
  problem.rows[1].diverged = 0;
  EXPECT_EQ(best_row(problem, any)->label, "hoag");
  problem.seeds.count = 0;
  EXPECT_EQ(best_row(problem, any), nullptr) << "nothing is best without a common seed";
}

TEST_F(View, LambdaHasItsCells) {
  put({{.seed = 0}, {.seed = 1}});
  const MethodRow row = only_problem().rows.at(0);
  EXPECT_DOUBLE_EQ(row.lambda->mean, -3.0);
  EXPECT_DOUBLE_EQ(row.best_lambda->mean, -3.0);
}

TEST_F(View, SaysHowManyOfTheRunsThatWereAskedForAreThere) {
  put({{.seed = 0}});
  EXPECT_FALSE(contents().planned.has_value());
  const std::string there = record_of({.seed = 0}).spec.key();
  // It began 40 seconds ago and has done one run since, 25 seconds ago. What was there before says nothing of
  // its pace.
  const auto ago = [](int seconds) {
    const std::time_t then = std::time(nullptr) - seconds;
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&then));
    return std::string(text.data());
  };
  Store store(path, Store::Mode::update);
  std::vector<std::string> keys = {there, "f00d"};
  keys.push_back(record_of({.seed = 2}).spec.key());
  Record record = record_of({.seed = 1});
  record.finished = ago(25);
  keys.push_back(record.spec.key());
  store.put(record);
  const auto session = [&] {
    return study::Session{.started = ago(40), .command = "c", .program = "1", .machine = "m"};
  };
  store.put(session(), keys);
  StudyView view(path);
  view.refresh();
  ASSERT_TRUE(view.contents().planned.has_value());
  EXPECT_EQ(view.contents().planned->done, 2);
  EXPECT_EQ(view.contents().planned->total, 4);
  EXPECT_NEAR(view.contents().planned->seconds_left.value(), 2 * 15.0 - 25.0, 2.0) << "15 s a run, 25 s ago";
  EXPECT_FALSE(view.refresh());
  store.put(session(), {there});
  EXPECT_TRUE(view.refresh()) << "another plan is news";
  EXPECT_EQ(view.contents().planned->total, 1);
  EXPECT_EQ(json::parse(view.json())["planned"]["done"], 1);
}

// ---- curves ----

TEST_F(View, CurvesHoldTheLastLossAndLoseWhatDiverged) {
  put({{.seed = 0, .losses = {8.0, 4.0}},
       {.seed = 1, .losses = {8.0, 6.0, 2.0}},
       {.seed = 2, .losses = {8.0, 100.0}, .status = "diverged"}});
  const ProblemContents problem = only_problem();
  EXPECT_EQ(problem.curve_measure, "scaled_loss");
  const Curve& curve = problem.curves.at(0);
  EXPECT_EQ(curve.seeds, 3);
  EXPECT_EQ(curve.iterations, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(curve.median, (std::vector<double>{4.0, 3.0, 1.5}));
  EXPECT_EQ(curve.low, (std::vector<double>{4.0, 2.0, 1.0}));
  EXPECT_EQ(curve.high, (std::vector<double>{4.0, 50.0, 2.0}));
  EXPECT_EQ(curve.gap, (std::vector<double>{7.0, 5.0, 2.0})) << "the loss above the oracle's 1";
  EXPECT_EQ(curve.gap_low, (std::vector<double>{7.0, 3.0, 1.0}));
  EXPECT_EQ(curve.gap_high, (std::vector<double>{7.0, 99.0, 3.0}));
  EXPECT_EQ(curve.running, (std::vector<std::int64_t>{3, 3, 2}));
  EXPECT_EQ(curve.work, (std::vector<double>{0, 2, 2}));
  EXPECT_EQ(curve.seconds, (std::vector<double>{0.0, 0.5, 0.5}));
}

TEST_F(View, WhatIsNotFiniteIsNullInJson) {
  Record record = record_of({.losses = {8.0, kNan, std::numeric_limits<double>::infinity(), 4.0}});
  Store(path, Store::Mode::create).put(record);
  StudyView view(path);
  view.refresh();
  const json curve = json::parse(view.json())["problems"][0]["curves"][0];
  EXPECT_EQ(curve["median"], json::parse("[4, null, null, 2]"));
  EXPECT_EQ(curve["running"], json::parse("[1, 0, 0, 1]"));
}

TEST_F(View, ExtremesOfLongCurvesAreKept) {
  // Two needles that no even thinning would hit, and noise around a fall.
  std::vector<double> losses;
  for (int i = 0; i < 3000; ++i) losses.push_back(1.0 + std::exp(-0.01 * i) + 1e-3 * ((i * 7919) % 97));
  losses[1777] = 77.0;
  losses[2222] = 0.5;
  put({{.losses = losses}});
  const Curve curve = only_problem().curves.at(0);
  EXPECT_LE(curve.iterations.size(), 400U);
  EXPECT_GE(curve.iterations.size(), 100U);
  const auto at = [&](double iteration) {
    const auto found = std::find(curve.iterations.begin(), curve.iterations.end(), iteration);
    EXPECT_NE(found, curve.iterations.end()) << iteration;
    return static_cast<std::size_t>(found - curve.iterations.begin());
  };
  EXPECT_DOUBLE_EQ(curve.median[at(1777)], 38.5);
  EXPECT_DOUBLE_EQ(curve.median[at(2222)], 0.25);
  at(0), at(2999);
}

TEST(PointLimits, ManyRowsShareThePointsOfAPage) {
  EXPECT_EQ(limits_for(10).curve, 400U);
  EXPECT_EQ(limits_for(10).path, 150U);
  for (const std::size_t rows : {std::size_t{200}, std::size_t{1000}, std::size_t{5000}}) {
    EXPECT_LE(rows * limits_for(rows).curve, 75'000U);
    EXPECT_LE(3 * rows * limits_for(rows).path, 100'000U);
  }
  // Fewer could not hold the extremes of three series.
  EXPECT_EQ(limits_for(1'000'000).curve, 8U);
}

// ---- responses and stability ----

TEST_F(View, ResponsesOfTheFirstSeedsWithTheExactCurve) {
  std::vector<Case> runs;
  for (std::uint64_t seed = 0; seed < 5; ++seed) runs.push_back({.seed = seed, .losses = {4.0, 2.0}});
  put(runs);
  Record grid =
      record_of({.method = "grid", .settings = {{"train_steps", "exact"}}, .losses = {8.0, 6.0, 4.0, 4.0}});
  for (std::size_t i = 1; i < grid.trace.size(); ++i) {
    grid.trace[i].tried = Vector::Constant(1, 5.0 - static_cast<double>(i));
    grid.trace[i].tried_validation = i == 3 ? kNan : grid.trace[i].loss.validation;
  }
  Store(path, Store::Mode::create).put(grid);
  const ProblemContents problem = only_problem();
  ASSERT_EQ(problem.responses.size(), 3U);
  const Response& first = problem.responses[0];
  EXPECT_EQ(first.seed, 0U);
  EXPECT_EQ(first.curve, (std::vector<ResponsePoint>{{3.0, 2.0}, {4.0, 3.0}})) << "by λ, without what failed";
  EXPECT_EQ(first.oracle, ResponsePoint(-3.5, 0.5));
  ASSERT_EQ(first.paths.size(), 2U);
  EXPECT_EQ(first.paths[0].points, (std::vector<ResponsePoint>{{0.0, 2.0}, {-1.0, 1.0}}));
  EXPECT_TRUE(first.paths[1].is_search);
  EXPECT_EQ(first.paths[1].points.size(), 3U) << "without where it stood before its first trial";
  EXPECT_TRUE(problem.responses[1].curve.empty());
}

// With folds a mean of scaled losses is no multiple of the mean loss: each run says another factor.
TEST_F(View, ExactTrialsOfAllRunsLieOnOneCurve) {
  for (const std::string method : {"grid", "random"}) {
    Record run =
        record_of({.method = method, .settings = {{"train_steps", "exact"}}, .losses = {8.0, 6.0, 4.0}});
    const double shift = method == "grid" ? 0.0 : 0.5;
    for (std::size_t i = 1; i < run.trace.size(); ++i) {
      run.trace[i].tried = Vector::Constant(1, static_cast<double>(i) + shift);
      run.trace[i].tried_validation = 10.0;
    }
    if (method == "random") {
      json outcome = json::parse(run.outcome);
      for (const char* end : {"final", "best"}) outcome[end]["scaled_loss"]["validation"] = 2.1;
      run.outcome = outcome.dump();
    }
    Store(path, Store::Mode::create).put(run);
  }
  const ProblemContents problem = only_problem();
  ASSERT_EQ(problem.responses.size(), 1U);
  ASSERT_EQ(problem.responses[0].curve.size(), 4U);
  for (const ResponsePoint& each : problem.responses[0].curve)
    EXPECT_EQ(each.second, problem.responses[0].curve[0].second);
}

TEST_F(View, SeveralLambdasHaveNoResponse) {
  Record record = record_of({});
  for (TracePoint& each : record.trace) each.lambda = Vector::Constant(2, 1.0);
  Store(path, Store::Mode::create).put(record);
  EXPECT_TRUE(only_problem().responses.empty());
}

TEST_F(View, StabilityIsOfRowsWithAStep) {
  put({{.settings = {{"alpha", "0.05"}}, .seed = 0},
       {.settings = {{"alpha", "0.05"}}, .seed = 1, .status = "diverged"},
       {.method = "reverse", .settings = {{"alpha", "0"}}},
       {.method = "my-hpo"}});
  const ProblemContents problem = only_problem();
  ASSERT_EQ(problem.stability.size(), 1U);
  EXPECT_EQ(problem.stability[0].step, 0.05);
  EXPECT_EQ(problem.stability[0].outcomes.at(0).validation, 1.0);
  EXPECT_FALSE(std::isfinite(problem.stability[0].outcomes.at(1).validation));
  EXPECT_EQ(problem.stability[0].outcomes[1].state, State::diverged);
  EXPECT_EQ(problem.results.size(), 4U);
  EXPECT_EQ(problem.results[0].certificate, "certified");
}

// ---- the view ----

TEST_F(View, RefreshSeesWhatIsNewAndWhatIsGone) {
  put({{.seed = 0}});
  StudyView view(path);
  EXPECT_TRUE(view.refresh());
  EXPECT_EQ(view.runs(), 1);
  EXPECT_FALSE(view.refresh());
  put({{.seed = 1, .losses = {8.0, 6.0, 5.0}}});
  EXPECT_TRUE(view.refresh());
  EXPECT_EQ(view.runs(), 2);
  EXPECT_EQ(view.contents().problems.at(0).curves.at(0).seeds, 2);
  Store(path, Store::Mode::update).remove({record_of({.seed = 0}).spec.key()});
  EXPECT_TRUE(view.refresh());
  EXPECT_EQ(view.runs(), 1);
  EXPECT_FALSE(view.refresh());
}

TEST_F(View, AsManyRunsAsTheStoreHasWhateverTheThreads) {
  std::vector<Case> runs;
  for (std::uint64_t seed = 0; seed < 150; ++seed) runs.push_back({.seed = seed});
  put(runs);
  EXPECT_EQ(contents().runs, 150);
  EXPECT_EQ(only_problem().rows.at(0).runs, 150);
}

TEST_F(View, AStudyWithoutRunsIsEmptyAndOneThatIsNoneIsRefused) {
  EXPECT_THROW(StudyView{path}, InputError);
  put({});
  const StudyContents all = contents();
  EXPECT_EQ(all.runs, 0);
  EXPECT_TRUE(json::parse(to_json(all))["problems"].empty());
}

TEST_F(View, SessionsSayHowItWasMade) {
  put({{}});
  Store(path, Store::Mode::update)
      .put(study::Session{
          .started = "2026-01-31T12:00:00Z", .command = "yosida \"x\"", .program = "1", .machine = "m"});
  const json sessions = json::parse(to_json(contents()))["sessions"];
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0]["command"], "yosida \"x\"");
}

TEST_F(View, NumbersOfTheTableKeepAllTheirDigits) {
  Case run{.losses = {1.0, 0.1 + 0.2}};
  put({run});
  json problem = json::parse(to_json(contents()))["problems"][0];
  EXPECT_EQ(problem["rows"][0]["final"]["loss"]["validation"], 0.1 + 0.2) << "of one run, the number alone";
  EXPECT_EQ(problem["curves"][0]["median"][1], 0.15);
  run.seed = 1;
  put({run});
  problem = json::parse(to_json(contents()))["problems"][0];
  const json cell = {{"mean", 0.1 + 0.2}, {"deviation", 0.0}, {"median", 0.1 + 0.2}, {"count", 2}};
  EXPECT_EQ(problem["rows"][0]["final"]["loss"]["validation"], cell);
}

}  // namespace
}  // namespace yosida::report
