#include "yosida/study/experiments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "study/numpy_random.hpp"
#include "yosida/data/catalog.hpp"
#include "yosida/error.hpp"
#include "yosida/report/paper.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida::study {
namespace {

/// Rows that can be told apart: the only feature is the row's number.
Dataset numbered_rows(const std::vector<double>& y) {
  Dataset data;
  data.y = Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size()));
  Matrix x(data.y.size(), 1);
  for (Index i = 0; i < data.y.size(); ++i) x(i, 0) = static_cast<double>(i);
  data.x = Design(x);
  data.source = "rows";
  return data;
}

std::vector<Index> numbers(const Dataset& part) {
  std::vector<Index> rows;
  const Matrix x = to_matrix(part.x);
  for (const double number : x.reshaped()) rows.push_back(static_cast<Index>(number));
  return rows;
}

TEST(Experiments, EveryRowOfThePaperHasItsContestant) {
  std::int64_t compared = 0;
  for (const Experiment& experiment : experiments())
    for (const int table : experiment.tables) {
      std::set<std::pair<std::string, std::string>> of_paper, covered;
      for (const report::PaperResult& result : report::paper_results())
        if (result.table == table && result.problem == experiment.name)
          of_paper.emplace(result.method, result.settings);
      for (const Contestant& each : experiment.contestants)
        for (const report::PaperResult& result : report::paper_results(
                 experiment.name, each.method, method(each.method).all_settings(each.settings))) {
          if (result.table != table) continue;
          covered.emplace(result.method, result.settings);
          EXPECT_TRUE(std::count(each.tables.begin(), each.tables.end(), table))
              << each.method << result.settings;
          // Of table 3 the paper states iterations, not gradients.
          if (result.gradients > 0) {
            EXPECT_EQ(each.gradients, result.gradients) << each.method << result.settings;
          }
        }
      EXPECT_EQ(covered, of_paper) << experiment.name << ", table " << table;
      compared += static_cast<std::int64_t>(of_paper.size());
    }
  EXPECT_EQ(compared, static_cast<std::int64_t>(report::paper_results().size()));
}

TEST(Experiments, ContestantsAreMethodsAndDiffer) {
  for (const Experiment& experiment : experiments()) {
    std::set<std::tuple<std::string, SettingValues, std::string, std::optional<std::int64_t>>> all;
    for (const Contestant& each : experiment.contestants)
      EXPECT_TRUE(all.emplace(each.method, method(each.method).all_settings(each.settings), each.lambda_per,
                              each.iterations)
                      .second)
          << experiment.name << " " << each.method;
    if (!experiment.data.empty()) {
      EXPECT_NO_THROW(catalog_entry(experiment.data));
    }
    EXPECT_EQ(find_experiment(experiment.name), &experiment);
  }
  EXPECT_EQ(find_experiment("cookies"), nullptr);
}

TEST(Experiments, PartsAreDrawnWithoutOverlap) {
  Experiment experiment = *find_experiment("cookie");
  const Dataset rows = numbered_rows(std::vector<double>(75, 1.0));
  const Split split = partition(experiment, rows, 3);
  EXPECT_EQ(split.train.rows(), 34);
  EXPECT_EQ(split.validation.rows(), 17);
  EXPECT_EQ(split.test->rows(), 19);
  std::set<Index> all;
  for (const Dataset* part : {&split.train, &split.validation, &*split.test})
    for (const Index row : numbers(*part)) EXPECT_TRUE(all.insert(row).second) << row;
  EXPECT_EQ(numbers(partition(experiment, rows, 3).train), numbers(split.train));
  EXPECT_NE(numbers(partition(experiment, rows, 4).train), numbers(split.train));
}

TEST(Experiments, PartsHaveEqualNumbersOfEachClass) {
  Experiment experiment = *find_experiment("mnist_classification");
  std::vector<double> y;
  for (int i = 0; i < 6000; ++i) y.push_back(i % 4);  // digits 2 and 3 are not asked for
  const Dataset rows = numbered_rows(y);
  const Split split = partition(experiment, rows, 0);
  for (const auto& [part, each] :
       {std::pair(&split.train, 250), {&split.validation, 250}, {&*split.test, 500}}) {
    std::map<double, int> count;
    for (Index i = 0; i < part->rows(); ++i) {
      ++count[part->y[i]];
      EXPECT_EQ(part->y[i], y[static_cast<std::size_t>(numbers(*part)[static_cast<std::size_t>(i)])]);
    }
    EXPECT_EQ(count, (std::map<double, int>{{0.0, each}, {1.0, each}}));
  }
  EXPECT_EQ(to_matrix(rows.x)(17, 0), 17.0) << "the rows given stay as they are";
}

TEST(Experiments, TooFewRowsAreRefused) {
  const Experiment& experiment = *find_experiment("cookie");
  EXPECT_THROW(partition(experiment, numbered_rows(std::vector<double>(69, 1.0)), 0), InputError);
}

TEST(NumpyRandom, DrawsWhatNumpyDraws) {
  // numpy.random.RandomState(42): permutation(10); randn(4), random_sample(2)
  EXPECT_EQ(NumpyRandom(42).permutation(10), (std::vector<Index>{8, 1, 5, 0, 7, 2, 9, 4, 3, 6}));
  NumpyRandom random(42);
  for (const double each : {0.4967141530112327, -0.13826430117118466, 0.6476885381006925, 1.5230298564080254})
    EXPECT_DOUBLE_EQ(random.normal(), each);
  for (const double each : {0.15601864044243652, 0.15599452033620265})
    EXPECT_DOUBLE_EQ(random.uniform(), each);
}

TEST(Suites, LassoBenchIsDrawnAsItsGeneratorDraws) {
  // bench/peers/lassobench.py, made(50, 100, 5, 3.0) and its parts
  const Drawn drawn = draw(*find_experiment("lassobench_medium_3"), {}, 0);
  EXPECT_EQ(drawn.rows.train.rows(), 42);
  EXPECT_EQ(drawn.rows.test->rows(), 8);
  EXPECT_NEAR(drawn.rows.train.y.sum(), -27.24044448427805, 1e-10);
  EXPECT_NEAR(drawn.rows.train.fold.dot(drawn.rows.train.y), -50.38584765931603, 1e-10);
  EXPECT_NEAR(drawn.bounds->high, 0.47802983245193215, 1e-12);
  EXPECT_NEAR(drawn.bounds->low, drawn.bounds->high - std::log(100.0), 1e-12);
  EXPECT_NEAR(2.0 / drawn.factor, 0.6494651594919935, 1e-10);
}

TEST(Suites, SparseGroupsAreThoseOfTheScript) {
  const Drawn drawn = draw(*find_experiment("groups_sparse"), {}, 3);
  EXPECT_EQ(drawn.rows.validation->rows(), 100);
  EXPECT_NEAR(drawn.rows.train.y.sum(), -166.4381400177187, 1e-9);
  EXPECT_NEAR(drawn.rows.test->y.sum(), -138.17710681406928, 1e-9);
}

TEST(Suites, CovtypeIsParted) {
  Experiment experiment = *find_experiment("bilevel_covtype_part");
  const Drawn drawn = draw(experiment, numbered_rows(std::vector<double>(1000, 1.0)), 0);
  EXPECT_EQ(drawn.rows.test->rows(), 200);
  EXPECT_EQ(drawn.rows.validation->rows(), 160);
  EXPECT_EQ(numbers(drawn.rows.train)[0], 711);
  std::set<Index> all;
  for (const Dataset* part : {&drawn.rows.train, &*drawn.rows.validation, &*drawn.rows.test})
    for (const Index row : numbers(*part)) EXPECT_TRUE(all.insert(row).second) << row;
  EXPECT_EQ(all.size(), 1000U);
}

TEST(Suites, LabelsToCleanAreDrawnAsNumpyDraws) {
  // of scikit-learn and numpy.random.RandomState(32), for 60 000 rows with the labels 0, …, 9 in turn:
  // train_test_split(train_size=20000, test_size=5000), rand(20000) < 0.7, randint(0, 10, …)
  std::vector<double> y;
  for (int i = 0; i < 70000; ++i) y.push_back(i % 10);
  const Drawn drawn = draw(*find_experiment("bilevel_cleaning_7"), numbered_rows(y), 0);
  const Dataset &train = drawn.rows.train, &validation = *drawn.rows.validation, &test = *drawn.rows.test;
  ASSERT_EQ(train.rows(), 20000);
  EXPECT_EQ(numbers(train)[0], 57940);
  EXPECT_EQ(numbers(train)[19999], 50962);
  ASSERT_EQ(validation.rows(), 5000);
  EXPECT_EQ(numbers(validation)[0], 9963);
  EXPECT_EQ(numbers(validation)[4999], 21695);
  EXPECT_EQ(test.rows(), 10000);
  EXPECT_EQ(numbers(test)[0], 60000);
  Index changed = 0;
  for (Index i = 0; i < train.rows(); ++i)
    changed += train.y[i] != y[static_cast<std::size_t>(numbers(train)[static_cast<std::size_t>(i)])];
  EXPECT_EQ(changed, 12634);
  EXPECT_EQ(train.y.sum(), 89996.0);
  EXPECT_EQ(Vector::LinSpaced(20000, 0.0, 19999.0).dot(train.y), 900547297.0);
}

}  // namespace
}  // namespace yosida::study
