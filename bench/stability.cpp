// What methods do where nobody has tuned them. A run is a seed, which decides all of it; results do not
// depend on --jobs. Three sweeps:
//
//   bench_stability --runs 10000 --methods sho,my-hpo-c,my-hpo-bt --jobs 2
//   bench_stability --seed 4711 --methods my-hpo-bt --verbose
// runs methods on random problems of every condition, start and step size, against the library's own oracle.
//
//   bench_stability --kinds scaled,descriptors,spectra,classes,iris,random --runs 500 --jobs 2 --worst 10
//   bench_stability --kinds scaled --lambdas feature --runs 100
// runs what `yosida tune` does on kinds of data, every model, hold-out and folds, against a truth of its own.
//
//   bench_stability --certificates --kinds scaled,spectra,classes,random --runs 500 --jobs 2
// certifies answers that are right, near, wrong, at a bound, overfitted, collapsed or untrained, against that
// truth.
#include <cblas.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstdio>

#include "stability/certificate_sweep.hpp"
#include "stability/kind_sweep.hpp"
#include "stability/method_sweep.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/solver/methods.hpp"

namespace {

using namespace yosida;
using namespace yosida::bench;

int run(int argc, char** argv) {
  CLI::App app("what methods do on problems that nobody has tuned them for");
  MethodSweep flags;
  KindSweep kinds;
  app.add_option("--runs", flags.runs, "how many problems (of each kind)")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  auto* methods =
      app.add_option("--methods", flags.methods, "names of yosida methods (with --kinds one: my-hpo)")
          ->delimiter(',')
          ->capture_default_str();
  app.add_option("--seed0", flags.seed0, "the first seed")->capture_default_str();
  app.add_option("--seed", flags.seed, "this one problem only");
  app.add_option("--jobs", flags.jobs, "threads, each with runs of its own")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--worst", flags.worst, "also the seeds of so many worst gaps");
  app.add_option("--largest-logistic", flags.largest_logistic,
                 "rows and columns of a logistic problem, at most (without --kinds)")
      ->capture_default_str()
      ->check(CLI::Range(5, 500));
  app.add_option("--floor", flags.floor, "gaps are relative to at least this share of the loss of w = 0")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--verbose", flags.verbose, "every problem and run in words");
  app.add_option("--csv", flags.csv, "every run as a line of this file");
  app.add_option("--kinds", kinds.kinds, "kinds of data: random, scaled, descriptors, spectra, classes, iris")
      ->delimiter(',');
  app.add_option("--models", kinds.options.models, "with --kinds: these models only")->delimiter(',');
  const std::map<std::string, Sharing> sharing = {
      {"one", Sharing::one}, {"groups", Sharing::groups}, {"feature", Sharing::feature}};
  app.add_option("--lambdas", kinds.options.sharing,
                 "with --kinds: one, groups (of features; of a softmax, classes) or feature")
      ->transform(CLI::CheckedTransformer(sharing));
  const std::map<std::string, Folds> folds = {
      {"any", Folds::any}, {"hold-out", Folds::hold_out}, {"folds", Folds::k_fold}};
  app.add_option("--splits", kinds.options.folds, "with --kinds: any, hold-out or folds (3 to 10)")
      ->transform(CLI::CheckedTransformer(folds));
  bool certificates = false;
  app.add_flag("--certificates", certificates,
               "with --kinds: what the certificate says of right and wrong answers");
  CLI11_PARSE(app, argc, argv);
  // Parallel over runs, so not within them: sums in another order would be other problems.
  Eigen::setNbThreads(1);
  set_threads(1);
  openblas_set_num_threads(1);
  if (kinds.kinds.empty()) {
    sweep_methods(flags);
    return 0;
  }
  if (certificates) {
    sweep_certificates({.kinds = kinds.kinds,
                        .options = kinds.options,
                        .runs = flags.runs,
                        .seed0 = flags.seed0,
                        .seed = flags.seed,
                        .jobs = flags.jobs,
                        .worst = flags.worst,
                        .floor = flags.floor});
    return 0;
  }
  kinds.method = methods->count() > 0 ? flags.methods.front() : kDefaultMethod;
  kinds.runs = flags.runs;
  kinds.seed0 = flags.seed0;
  kinds.seed = flags.seed;
  kinds.jobs = flags.jobs;
  kinds.worst = flags.worst;
  kinds.floor = flags.floor;
  kinds.verbose = flags.verbose;
  kinds.csv = flags.csv;
  sweep_kinds(kinds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_stability: %s\n", error.what());
    return 1;
  }
}
