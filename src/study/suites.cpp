#include "study/suites.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace yosida::study {
namespace {

constexpr const char* kLassoBench = "lassobench";
constexpr const char* kBilevel = "bilevel";
constexpr const char* kGroups = "groups";

Contestant entry(const char* method, SettingValues settings = {}, std::optional<std::int64_t> iterations = {},
                 const char* lambda_per = "") {
  Contestant made;
  made.method = method;
  made.settings = std::move(settings);
  made.iterations = iterations;
  made.lambda_per = lambda_per;
  return made;
}

Contestant trials(const char* method, const char* lambda_per = "") {
  return entry(method, {{"trials", "100"}}, {}, lambda_per);
}

Experiment of_suite(const char* suite, std::string name, std::string title, const char* model) {
  Experiment own;
  own.suite = suite;
  own.name = std::move(name);
  own.title = std::move(title);
  own.model = model;
  own.x = "raw";
  own.partition = {.train = 0, .validation = 0, .test = 0, .classes = {}};
  return own;
}

// ---- LassoBench (Šehić, Gramfort, Salmon, Nardi 2022): one λ per feature of a lasso, on five folds ----

/// Iterations of my-hpo and hoag that stay within 60 evaluations of the K-fold objective.
constexpr std::int64_t kWithin60 = 30, kOneEach = 60;

Experiment lassobench(const char* name, const char* what, const char* data,
                      const std::vector<double>& published) {
  constexpr const char* kMethods[] = {"LassoCV", "adaptive LassoCV", "random", "Sparse-HO",
                                      "HeSBO",   "Hyperband",        "TuRBO",  "CMA-ES"};
  Experiment own =
      of_suite(kLassoBench, fmt::format("lassobench_{}", name), fmt::format("LassoBench: {}", what), "ridge");
  own.data = data;
  own.y = "raw";
  own.objective = own.data.empty() ? "mean squared error over five folds, over that of the truth"
                                   : "mean squared error over five folds";
  own.penalty.kind = "l1";
  own.penalty.lambda_per = "feature";
  own.seeds = 1;
  own.contestants = {entry("my-hpo", {}, {}, "shared"), entry("my-hpo", {}, kWithin60), entry("my-hpo"),
                     entry("hoag", {}, kOneEach), trials("random")};
  for (std::size_t i = 0; i < published.size(); ++i) own.published.push_back({kMethods[i], published[i]});
  return own;
}

std::vector<Experiment> all_of_lassobench() {
  // The least means in the result files of its repository.
  return {
      lassobench("breast_cancer", "breast cancer, 683 x 10", "breast-cancer-scale",
                 {0.2618, 0.2623, 0.296, 0.2722, 0.2618, 0.2627, 0.2614, 0.2609}),
      lassobench("diabetes", "diabetes, 768 x 8", "diabetes-scale",
                 {0.6590, 0.6666, 0.6677, 0.6518, 0.6600, 0.6500, 0.6492, 0.6487}),
      lassobench("dna", "DNA, 2000 x 180", "dna", {0.306, 0.311, 0.387, 0.314, 0.3065, 0.353, 0.292, 0.335}),
      lassobench("simple_10", "simple, 30 x 60, signal over noise 10", "", {}),
      lassobench("simple_3", "simple, 30 x 60, signal over noise 3", "", {}),
      lassobench("medium_10", "medium, 50 x 100, signal over noise 10", "",
                 {1.676, 1.521, 60.7, 1.232, 1.746, 4.53, 0.958, 1.078}),
      lassobench("medium_3", "medium, 50 x 100, signal over noise 3", "",
                 {1.659, 2.487, 7.94, 0.731, 1.748, 1.95, 0.556, 0.490}),
      lassobench("high_10", "high, 150 x 300, signal over noise 10", "",
                 {2.487, 1.183, 69.4, 1.113, 2.663, 5.38, 0.904, 0.970}),
      lassobench("high_3", "high, 150 x 300, signal over noise 3", "",
                 {2.488, 1.326, 8.83, 0.768, 2.828, 2.50, 0.592, 0.643})};
}

// ---- benchmark_bilevel (Dagréou and others), with its authors' tuned settings ----

/// Its single-loop solvers look at their iterates so often.
constexpr std::int64_t kPasses = 100;

Experiment ijcnn1() {
  Experiment own =
      of_suite(kBilevel, "bilevel_ijcnn1", "benchmark_bilevel: ijcnn1, one λ per feature", "logistic");
  own.data = "ijcnn1";
  own.objective = "mean logistic loss on the test file, which judges here";
  own.penalty.lambda_per = "feature";
  own.seeds = 1;
  own.contestants = {entry("my-hpo"),
                     entry("hoag"),
                     entry("soba", {{"alpha", "0.031"}, {"beta", "3.1"}}, kPasses),
                     entry("saba", {{"alpha", "0.25"}, {"beta", "0.25"}}, kPasses),
                     entry("soba", {}, kPasses),
                     entry("saba", {}, kPasses)};
  return own;
}

Experiment covtype(const char* name, const char* title, const char* data) {
  Experiment own = of_suite(kBilevel, name, title, "softmax");
  own.data = data;
  own.x = "standardize";
  own.objective = "mean log-loss on validation rows";
  own.penalty.lambda_per = "class";
  own.lambda0 = -2.0 - std::numbers::ln2;  // theirs is -2 of a penalty with a half before it
  own.seeds = 1;
  own.contestants = {entry("my-hpo"), entry("hoag"),
                     entry("soba", {{"alpha", "1"}, {"beta", "100"}}, kPasses), entry("soba", {}, kPasses),
                     entry("saba", {}, kPasses)};
  return own;
}

/// Softmax of MNIST's 20 000 training rows, a share of whose labels is drawn anew; the penalty is 0.2 ‖w‖².
/// `saba` and `soba` have their steps on λ.
Experiment cleaning(int tenths, const char* saba_alpha, const char* saba_beta, const char* soba_beta) {
  Experiment own = of_suite(
      kBilevel, fmt::format("bilevel_cleaning_{}", tenths),
      fmt::format("benchmark_bilevel: data cleaning, MNIST, {} % of the labels drawn anew", 10 * tenths),
      "softmax");
  own.data = "mnist";
  own.x = "standardize";
  own.objective = "mean log-loss on validation rows";
  own.penalty.lambda_per = "row";
  own.penalty.fixed = 0.2;
  own.lambda0 = -2.0;
  own.seeds = 1;
  own.contestants = {entry("my-hpo"), entry("hoag"),
                     entry("soba", {{"alpha", "1"}, {"beta", soba_beta}}, kPasses),
                     entry("saba", {{"alpha", saba_alpha}, {"beta", saba_beta}}, kPasses)};
  return own;
}

// ---- VF-iDCA's generators (Gao, Ye, Yin, Zeng, Zhang 2022), with baselines that reach λ_max ----

Experiment elastic_net() {
  Experiment own =
      of_suite(kGroups, "groups_elastic_net", "VF-iDCA: elastic net, 100/20/250 rows x 250", "elastic-net");
  own.y = "raw";
  own.objective = "half the mean squared error on validation rows";
  own.penalty.kind = "elastic-net";
  own.seeds = 20;
  own.contestants = {entry("my-hpo"), trials("grid"), trials("random"), trials("tpe")};
  return own;
}

Experiment sparse_groups() {
  Experiment own =
      of_suite(kGroups, "groups_sparse", "VF-iDCA: sparse groups, 100/100/100 rows x 600, 31 λ", "ridge");
  own.y = "raw";
  own.objective = "half the mean squared error on validation rows";
  own.penalty.kind = "sparse-group-lasso";
  own.penalty.lambda_per = "group";
  for (int group = 0; group < 30; ++group) {
    std::string columns;
    for (int j = 20 * group; j < 20 * (group + 1); ++j) columns += fmt::format("{}{}", j % 20 ? "," : "", j);
    own.penalty.groups.push_back(fmt::format("g{:02}={}", group, columns));
  }
  own.bounds = Interval{.low = std::log(1e-3), .high = std::log(10.0)};
  own.seeds = 20;
  own.contestants = {entry("my-hpo"), trials("grid", "shared"), trials("random"), trials("tpe")};
  return own;
}

}  // namespace

const std::vector<std::string>& suites() {
  static const std::vector<std::string> names = {kLassoBench, kBilevel, kGroups};
  return names;
}

std::vector<Experiment> suite_experiments() {
  std::vector<Experiment> all = all_of_lassobench();
  all.push_back(ijcnn1());
  all.push_back(covtype("bilevel_covtype_part",
                        "benchmark_bilevel: covtype, the 92 962 rows of a part, one λ per class",
                        "covtype-part"));
  all.push_back(
      covtype("bilevel_covtype", "benchmark_bilevel: covtype, all 581 012 rows, one λ per class", "covtype"));
  all.push_back(cleaning(5, "0.1", "100", "10000"));
  all.push_back(cleaning(7, "0.01", "100", "10000"));
  all.push_back(cleaning(9, "0.1", "100", "1000"));
  all.push_back(elastic_net());
  all.push_back(sparse_groups());
  return all;
}

}  // namespace yosida::study
