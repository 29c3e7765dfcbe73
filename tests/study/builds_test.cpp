#include "yosida/study/builds.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "study_files.hpp"
#include "yosida/study/problem_name.hpp"

namespace yosida::study {
namespace {

/// A run of a build; without one, of a version that did not say.
Record run_of(const std::string& build, std::uint64_t seed,
              const std::string& finished = "2026-01-31T12:00:00Z") {
  Record record = sample("sho", seed);
  const std::string begin = build.empty() ? "{" : "{\"build\":\"" + build + "\",";
  record.spec.json = begin + "\"method\":\"sho\",\"seed\":" + std::to_string(seed) + "}";
  record.finished = finished;
  return record;
}

TEST(Builds, ThisOneIsAVersionAndAHash) {
  EXPECT_TRUE(std::regex_match(this_build(), std::regex(R"(\d+\.\d+\.\d+\+[0-9a-f]{12})"))) << this_build();
}

TEST(Builds, RunsOfOthersAreCountedAndDoneAgain) {
  Store store;
  store.put(run_of("old", 0));
  store.put(run_of("", 1));
  store.put(run_of("new", 2));
  store.put(run_of("old", 2));
  std::vector<SpecText> asked;
  for (std::uint64_t seed = 0; seed < 4; ++seed) asked.push_back(run_of("new", seed).spec);
  const PlannedRuns planned = plan_runs(store, asked, false);
  EXPECT_EQ(planned.of_others, (std::map<std::string, std::int64_t>{{"old", 1}, {"unknown", 1}}));
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(planned.specs[i].json, asked[i].json);
  EXPECT_EQ(in_words(planned.of_others), "1 by old, 1 by an unknown build");
}

TEST(Builds, AcceptedRunsAreNamedAsTheyAreStored) {
  Store store;
  store.put(run_of("old", 0, "2026-01-31T12:00:00Z"));
  store.put(run_of("older", 0, "2026-01-30T12:00:00Z"));
  store.put(run_of("old", 1));
  store.put(run_of("new", 1));
  const std::vector<SpecText> asked = {run_of("new", 0).spec, run_of("new", 1).spec, run_of("new", 2).spec};
  const PlannedRuns planned = plan_runs(store, asked, true);
  EXPECT_EQ(planned.specs[0].json, run_of("old", 0).spec.json) << "the last to finish";
  EXPECT_EQ(planned.specs[1].json, asked[1].json) << "its own before others";
  EXPECT_EQ(planned.specs[2].json, asked[2].json);
  EXPECT_EQ(planned.of_others, (std::map<std::string, std::int64_t>{{"old", 1}}));
}

TEST(ProblemName, IsThatOfTheFile) {
  SpecInWords words;
  words.files = {{"groups", std::string(64, 'f')}, {"train", std::string(64, 'a')}};
  words.spec.files = {words.files.begin(), words.files.end()};
  EXPECT_EQ(problem_name(words, {}, "").name, "data ffffffff") << "of versions that kept no names";
  const ProblemName named = problem_name(words, {{"train", "prices.csv"}, {"groups", "g.csv"}}, "");
  EXPECT_EQ(named.name, "prices.csv");
  EXPECT_EQ(named.sha256, std::string(64, 'a'));
  words.files = {{"built-in", "spectra"}};
  EXPECT_EQ(problem_name(words, {}, "").name, "spectra");
  words.spec.experiment = "cookie";
  EXPECT_EQ(problem_name(words, {}, "").name, "cookie");
  EXPECT_EQ(problem_name({}, {}, "").name, "data");
}

TEST(ProblemName, DifferentFilesOfOneNameHaveDigitsBehindIt) {
  const std::string a(64, 'a'), b(64, 'b');
  EXPECT_EQ(
      told_apart({{"x.csv", a}, {"x.csv", b}, {"y.csv", a}, {"x.csv", a}, {"spectra", ""}}),
      (std::vector<std::string>{"x.csv aaaaaaaa", "x.csv bbbbbbbb", "y.csv", "x.csv aaaaaaaa", "spectra"}));
}

}  // namespace
}  // namespace yosida::study
