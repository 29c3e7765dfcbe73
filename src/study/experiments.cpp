#include "yosida/study/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "study/suites.hpp"

namespace yosida::study {
namespace {

/// Points of a convergence curve that are kept of a run of fixed steps.
constexpr std::int64_t kTracePoints = 250;
/// Points of the curve of L_V(w*(λ)) over the bounds of λ.
constexpr int kPathPoints = 41;

/// The step sizes of MY-HPO, as the paper writes them.
struct Steps {
  double alpha, beta, delta;
};

/// What the paper varies in one of its experiments.
struct Protocol {
  int table;
  std::int64_t iterations;  // n_T
  double train_step;        // of the black-box searches' training
  std::vector<double> sho;
  std::vector<Steps> constant, backtracking;
  std::vector<int> trials;                           // n_S
  std::optional<std::int64_t> full_iterations = {};  // where the paper also ran the full algorithm
};

std::string text(double value) { return fmt::format("{}", value); }

SettingValues settings_of(const Steps& steps) {
  return {{"alpha", text(steps.alpha)}, {"beta", text(steps.beta)}, {"delta", text(steps.delta)}};
}

/// Every row of the paper's tables, then what it lacks: (BT) with w's own gradient, the successor, and the
/// exact curve.
std::vector<Contestant> contestants_of(const Protocol& paper) {
  constexpr int kSummary = 2, kFull = 3;
  const std::int64_t gradients = 2 * paper.iterations;  // of both losses, an iteration
  const std::int64_t every = std::max<std::int64_t>(1, paper.iterations / kTracePoints);
  const std::vector<int> both = {kSummary, paper.table};
  std::vector<Contestant> all;
  const auto add_direct = [&](const char* method, SettingValues settings, std::vector<int> tables) {
    all.push_back({.method = method,
                   .settings = std::move(settings),
                   .gradients = gradients,
                   .iterations = {},
                   .trace_every = every,
                   .tables = std::move(tables)});
  };
  for (const double alpha : paper.sho) add_direct("sho", {{"alpha", text(alpha)}}, both);
  for (const Steps& steps : paper.constant) add_direct("my-hpo-c", settings_of(steps), both);
  for (const Steps& steps : paper.backtracking) add_direct("my-hpo-bt", settings_of(steps), both);
  for (const Steps& steps : paper.backtracking) {
    SettingValues settings = settings_of(steps);
    settings["w_gradient"] = "own";
    add_direct("my-hpo-bt", std::move(settings), {});
  }
  if (paper.full_iterations)
    all.push_back({.method = "my-hpo-full",
                   .settings = {},
                   .gradients = {},
                   .iterations = paper.full_iterations,
                   .tables = {kFull}});
  for (const char* method : {"random", "grid", "tpe", "gp-ei"})
    for (const int trials : paper.trials)
      all.push_back({.method = method,
                     .settings = {{"trials", fmt::format("{}", trials)},
                                  {"train_steps", fmt::format("{}", paper.iterations)},
                                  {"train_step_size", text(paper.train_step)}},
                     .gradients = trials * paper.iterations,
                     .iterations = {},
                     .tables = trials == 2 ? both : std::vector<int>{paper.table}});
  all.push_back({.method = "my-hpo", .settings = {}, .gradients = gradients, .iterations = {}});
  all.push_back({.method = "grid",
                 .settings = {{"trials", fmt::format("{}", kPathPoints)}},
                 .gradients = {},
                 .iterations = {}});
  return all;
}

// The paper does not state its pretreatment. These come nearest to its tables, among those that were tried.

// Member by member: where memory runs out within a braced list of them all, GCC 12 frees some of them twice.
Experiment cookie() {
  Experiment own;
  own.name = "cookie";
  own.title = "Cookie: fat of biscuit doughs from near-infrared spectra";
  own.data = "cookie";
  own.model = "ridge";
  own.x = "difference,minmax";
  own.y = "raw";
  own.partition = {.train = 34, .validation = 17, .test = 19, .classes = {}};
  own.tables = {2, 3, 4};
  own.figure = 2;
  own.contestants = contestants_of({.table = 4,
                                    .iterations = 2500,
                                    .train_step = 0.001,
                                    .sho = {0.05, 0.01, 0.005},
                                    .constant = {{0.005, 0.01, 0.1}, {0.005, 0.01, 0.5}},
                                    .backtracking = {{0.005, 0.01, 0.5}, {0.01, 0.01, 0.5}, {0.1, 0.1, 0.5}},
                                    .trials = {2, 10},
                                    .full_iterations = 100});
  return own;
}

Experiment mnist_regression() {
  Experiment own;
  own.name = "mnist_regression";
  own.title = "MNIST regression: the digit as a number from its pixels";
  own.data = "mnist";
  own.model = "ridge";
  own.x = "raw";
  own.y = "center";
  own.partition = {.train = 100, .validation = 100, .test = 500, .classes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  own.tables = {2, 3, 5};
  own.figure = 3;
  own.contestants =
      contestants_of({.table = 5,
                      .iterations = 3000,
                      .train_step = 0.001,
                      .sho = {0.01, 0.005, 0.001},
                      .constant = {{0.001, 0.001, 0.001}, {0.001, 0.001, 0.005}},
                      .backtracking = {{0.001, 0.001, 0.005}, {0.01, 0.01, 0.05}, {0.1, 0.1, 0.5}},
                      .trials = {2},
                      .full_iterations = 500});
  return own;
}

Experiment mnist_classification() {
  Experiment own;
  own.name = "mnist_classification";
  own.title = "MNIST classification: digit 0 against 1";
  own.data = "mnist";
  own.model = "logistic";
  own.x = "standardize";
  own.y = "";
  own.partition = {.train = 250, .validation = 250, .test = 500, .classes = {0, 1}};
  own.tables = {2, 6};
  own.figure = 4;
  own.contestants = contestants_of({.table = 6,
                                    .iterations = 500,
                                    .train_step = 0.5,
                                    .sho = {0.05, 0.01, 0.001},
                                    .constant = {{0.05, 0.1, 0.1}, {0.05, 0.1, 0.5}},
                                    .backtracking = {{0.05, 0.1, 0.5}, {0.1, 0.1, 0.5}, {0.1, 0.5, 0.75}},
                                    .trials = {2, 25}});
  return own;
}

Experiment gtsrb() {
  Experiment own;
  own.name = "gtsrb";
  own.title = "GTSRB: speed limit 30 against 80 from histograms of gradients";
  own.data = "gtsrb";
  own.model = "logistic";
  own.x = "standardize";
  own.y = "";
  own.partition = {.train = 500, .validation = 500, .test = 500, .classes = {-1, 1}};
  own.tables = {2, 7};
  own.figure = 1;
  own.contestants = contestants_of({.table = 7,
                                    .iterations = 500,
                                    .train_step = 0.5,
                                    .sho = {0.05, 0.01, 0.005},
                                    .constant = {{0.05, 0.1, 0.1}, {0.05, 0.1, 0.75}},
                                    .backtracking = {{0.05, 0.1, 0.75}, {0.1, 0.5, 0.75}, {0.5, 0.5, 0.75}},
                                    .trials = {2, 10}});
  return own;
}

/// Not the paper's: needs no file, and stands for nobody else.
Experiment spectra() {
  Experiment experiment = cookie();
  experiment.name = experiment.data = "spectra";
  experiment.title = "Spectra: made-up near-infrared spectra, with Cookie's protocol";
  experiment.x = "minmax";  // differences of these need no penalty at all
  experiment.y = "center";
  experiment.tables.clear();
  experiment.figure.reset();
  for (Contestant& each : experiment.contestants) each.tables.clear();
  return experiment;
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> own = {cookie(), mnist_regression(), mnist_classification(), gtsrb(), spectra()};
    for (Experiment& each : suite_experiments()) own.push_back(std::move(each));
    return own;
  }();
  return all;
}

const Experiment* find_experiment(const std::string& name) {
  for (const Experiment& each : experiments())
    if (each.name == name) return &each;
  return nullptr;
}

std::string variant_name(const Experiment& experiment, const std::string& x, const std::string& y,
                         const std::string& lambda_per) {
  std::string name = experiment.name;
  if (x != experiment.x || y != experiment.y)
    name += fmt::format(", {}{}", x, y.empty() ? "" : " and y " + y);
  if (lambda_per != experiment.penalty.lambda_per) name += fmt::format(", lambda {}", lambda_per);
  return name;
}

}  // namespace yosida::study
