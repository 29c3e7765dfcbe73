#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "yosida/solver/methods.hpp"
#include "yosida/study/run_outcome.hpp"
#include "yosida/study/run_spec.hpp"
#include "yosida/tune/seed_problems.hpp"

namespace yosida::study {
namespace {

using nlohmann::json;

RunSpec of_files() {
  RunSpec spec;
  spec.build = "0.1.0+0123456789ab";
  spec.files = {{"train", std::string(64, 'a')}, {"valid", std::string(64, 'b')}};
  spec.columns.target = "price";
  spec.columns.ignore = {"id", "name"};
  spec.columns.missing = Missing::mean;
  TuneOptions& options = spec.options;
  options.model = "ridge";
  options.method = "sho";
  options.settings = method("sho").all_settings({{"alpha", "0.05"}});
  options.seed = 18446744073709551615ULL;
  options.y = "center";
  options.fill_missing = true;
  options.validation.test_fraction = 0.1;
  options.penalty.groups = {"a=0,1"};
  options.limits = {.gradients = 100, .iterations = {}, .seconds = 2.5};
  options.lambda0 = -3.0;
  options.bounds = Interval{.low = -8.0, .high = 0.5};
  options.trace_every = 7;
  options.oracle = true;
  return spec;
}

RunSpec of_experiment() {
  RunSpec spec;
  spec.experiment = "mnist01";
  spec.files = {{"train-images", std::string(64, 'c')}};
  spec.partition = {.train = 10, .validation = 20, .test = 30, .classes = {0.0, 1.0}};
  spec.options.model = "ridge";
  spec.options.method = "my-hpo";
  spec.options.settings = method("my-hpo").all_settings({});
  spec.options.intercept = false;
  return spec;
}

TEST(RunSpec, ComesBackAsItWas) {
  for (const RunSpec& spec : {of_files(), of_experiment()}) {
    const SpecText text = text_of(spec);
    EXPECT_EQ(text_of(spec_of(text)).json, text.json);
    EXPECT_EQ(text.seed, spec.options.seed);
  }
  EXPECT_EQ(text_of(of_files()).method, "sho:alpha=0.05");
  const RunSpec back = spec_of(text_of(of_experiment()));
  EXPECT_EQ(back.partition.validation, 20);
  EXPECT_EQ(back.experiment, "mnist01");
}

TEST(RunSpec, WithoutItsBuildIsTheTextOfVersionsThatHadNone) {
  const std::string settings = json(method("my-hpo").all_settings({})).dump();
  const std::string old =
      R"({"data":{"classes":[0.0,1.0],"files":{"train-images":")" + std::string(64, 'c') +
      R"("},"rows":[20,40,60]},"method":"my-hpo","model":{"intercept":false,"name":"ridge","x":"standardize","y":null},)"
      R"("problem":"mnist01","run":{"budget_gradients":null,"max_iterations":null,"oracle":false,"trace_every":0},"seed":0,"settings":)" +
      settings + "}";
  RunSpec spec = of_experiment();
  EXPECT_EQ(text_of(spec).json, old);
  spec.build = "0.1.0+0123456789ab";
  EXPECT_NE(text_of(spec).json, old);
  EXPECT_EQ(text_without_build(text_of(spec)), old);
}

TEST(RunSpec, BuildDecidesTheKeyAndNothingElseOfARow) {
  RunSpec spec = of_files(), other = of_files();
  other.build = "0.1.0+ba9876543210";
  EXPECT_NE(text_of(spec).key(), text_of(other).key());
  EXPECT_EQ(in_words(text_of(spec)).row, in_words(text_of(other)).row);
  EXPECT_EQ(in_words(text_of(spec)).problem, in_words(text_of(other)).problem);
  EXPECT_EQ(in_words(text_of(other)).spec.build, other.build);
}

TEST(RunSpec, InWords) {
  const SpecInWords words = in_words(text_of(of_files()));
  EXPECT_EQ(words.about[0], (std::pair<std::string, std::string>{"model", "ridge"}));
  EXPECT_EQ(words.about[1], (std::pair<std::string, std::string>{"features", "standardize"}));
  EXPECT_EQ(words.settings.at("alpha"), "0.05");
  EXPECT_EQ(words.budget, 100.0);
  EXPECT_EQ(words.others.at("run.bounds"), "-8.0 / 0.5");
  EXPECT_EQ(words.files.size(), 2U);
}

TEST(RunSpec, MayHaveAnythingInIt) {
  for (const char* text :
       {"null", "3", "[]", "{}", R"({"data": 3, "model": [], "run": "x", "method": 5, "settings": []})",
        R"({"data": {"files": 7, "rows": [1, 2], "classes": "x"}, "build": {}, "seed": -1})"}) {
    const SpecText spec{.method = "sho:alpha=0.05", .seed = 3, .json = text};
    EXPECT_NO_THROW(spec_of(spec)) << text;
    const SpecInWords words = in_words(spec);
    EXPECT_EQ(words.spec.options.method, "sho") << text;
    EXPECT_EQ(words.settings.at("alpha"), "0.05") << text;
    EXPECT_TRUE(words.spec.build.empty()) << text;
  }
}

TEST(RunOutcome, ComesBackAsItWas) {
  RunOutcome outcome;
  outcome.message = "done, \"well\"";
  outcome.lambda_names = {"l1", "l2"};
  outcome.best.lambda = {0.1 + 0.2, -1e-300};
  outcome.best.iteration = 3;
  outcome.best.report.train.values[0] = 1.0 / 3.0;
  outcome.best.report.validation = PartReport{};
  outcome.best.report.validation->values[0] = 0.7;
  outcome.best.gap = 0.25;
  outcome.best.lambda_gap = 0.125;
  outcome.final = outcome.best;
  outcome.final.report.nonzero_weights = 12.0;
  outcome.iterations = 5.0;
  outcome.work = {.train_gradients = 1,
                  .validation_gradients = 2,
                  .hessian_products = 3,
                  .loss_evaluations = 4,
                  .inner_solves = 5,
                  .factorisations = 0.5};
  outcome.primal_residual = 1e-9;
  outcome.dual_residual = std::nan("");
  outcome.failed_trials = 2;
  outcome.oracle = OracleGap{.oracle = {.lambda = -2.0, .validation = 0.5, .low = -8.0, .high = 8.0},
                             .gap = 0.25,
                             .lambda_gap = 0.0};
  outcome.certificate = RunOutcome::Judgement{.inner_gradient = 1e-12,
                                              .hypergradient = 1e-6,
                                              .hypergradient_error = {},
                                              .gap = 0.25,
                                              .lambda_gap = 0.0,
                                              .verdict = "certified",
                                              .reason = "so"};
  Trust trust;
  trust.rows = 40;
  trust.criterion = "5-fold";
  trust.value = 0.5;
  trust.standard_error = 0.03;
  trust.minimum = Vector::Constant(1, -2.5);
  trust.interval = {.low = -1.0, .high = 2.0, .low_is_end = true, .high_is_end = false};
  trust.paired = {.low = -0.5, .high = 0.75};
  trust.one_standard_error = 2.0;
  trust.curve = {{.shift = -1.0, .value = 0.51, .standard_error = 0.03},
                 {.shift = 0.0, .value = 0.5, .standard_error = 0.03}};
  outcome.trust = trust;
  outcome.file_names = {{"train", "prices.csv"}};
  const RunOutcome back = outcome_from_json(to_json(outcome));
  EXPECT_EQ(to_json(back), to_json(outcome));
  EXPECT_EQ(back.best.lambda, outcome.best.lambda);
  EXPECT_EQ((*back.best.report.validation)[kLoss], 0.7);
  EXPECT_EQ(back.paper_count, 6.0);
  EXPECT_EQ(back.gradient_equivalents, 8.5);
  EXPECT_EQ(back.file_names.at("train"), "prices.csv");
  EXPECT_FALSE(back.dual_residual.has_value());
  EXPECT_EQ(back.trust->minimum[0], -2.5);
  EXPECT_EQ(back.trust->curve[0].value, 0.51);
}

TEST(RunOutcome, OfAFailedRunIsItsError) {
  RunOutcome failed;
  failed.error = "no rows";
  EXPECT_EQ(to_json(failed), R"({"error":"no rows"})");
  EXPECT_EQ(outcome_from_json(to_json(failed)).error, "no rows");
}

TEST(RunOutcome, MayHaveAnythingInIt) {
  for (const char* text :
       {"null", "3", "[]", "{}", R"({"final": 3, "best": {"lambda": "x", "loss": []}, "work": [1]})",
        R"({"oracle": {"bounds": 3}, "certificate": {}, "iterations": "many", "lambda_names": {}})"})
    EXPECT_NO_THROW(outcome_from_json(text)) << text;
}

}  // namespace
}  // namespace yosida::study
