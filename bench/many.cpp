// Many hyperparameters on real data: one λ per feature on ijcnn1, one trust per training row on MNIST.
//   bench_many ijcnn1  --starts 8          (YOSIDA_DATA holds ijcnn1.xz and ijcnn1.t.xz)
//   bench_many cleaning --seeds 3          (MNIST's four idx files in YOSIDA_DATA/mnist or the user's cache)
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "yosida/data/reader.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/cleaning_problem.hpp"
#include "yosida/problem/linear_problem.hpp"
#include "yosida/random.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/my_hpo.hpp"

namespace {

using namespace yosida;
namespace fs = std::filesystem;

fs::path find(const std::string& name) {
  std::vector<fs::path> folders;
  if (const char* data = std::getenv("YOSIDA_DATA")) folders.emplace_back(data);
  if (const char* home = std::getenv("HOME")) folders.emplace_back(fs::path(home) / ".cache" / "yosida");
  for (const fs::path& folder : folders)
    for (const fs::path& file : {folder / name, folder / "mnist" / name})
      if (fs::exists(file)) return file;
  throw InputError(name + ": not found in YOSIDA_DATA nor in ~/.cache/yosida");
}

double seconds_of(FunctionRef<void()> work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// algorithms: λ in [−16, 8], no intercept, the file's own validation rows; known optimum 0.203512491675.
void ijcnn1(int starts, double tolerance, bool verbose) {
  constexpr double kOptimum = 0.203512491675;
  Split split;
  split.train = read_dataset(find("ijcnn1.xz"));
  split.validation = read_dataset(find("ijcnn1.t.xz"));
  // The features are dense: so is their design.
  split.train.x = Design(to_matrix(split.train.x));
  split.validation.x = Design(to_matrix(split.validation.x));
  const Index d = split.train.features();
  const LinearProblem problem(std::move(split), logistic(), false, Penalty::per_feature(d));
  fmt::print(
      "start  iterations  equivalents  L_V              relative gap  certificate  at bounds  seconds\n");
  for (int start = 0; start < starts; ++start) {
    Random random(static_cast<std::uint64_t>(start));
    SolveOptions options;
    options.start.lambda.resize(d);
    for (double& value : options.start.lambda) value = -16.0 + 24.0 * random.uniform();
    options.start.bound(-16.0, 8.0);
    options.budget.iterations = 200;
    if (verbose)
      options.observers.push_back([](const TracePoint& point) {
        fmt::print("   {:3d} {:.12f} {:.0f}\n", point.iteration, point.loss.validation,
                   point.work.gradient_equivalents());
        return Watch::go_on;
      });
    Outcome outcome;
    const double seconds =
        seconds_of([&] { outcome = solve(MyHpo{{.tolerance = tolerance}}, problem, options); });
    const Certificate certificate = certify(problem, outcome.best, options.start);
    const Vector& lambda = outcome.best.lambda;
    const auto held = (lambda.array() == -16.0).count() + (lambda.array() == 8.0).count();
    fmt::print("{:5d}  {:10d}  {:11.0f}  {:.14f} {:+13.1e}  {:11.1e}  {:9d}  {:7.2f}\n", start,
               outcome.iterations, outcome.work.gradient_equivalents(), outcome.best.loss.validation,
               outcome.best.loss.validation / kOptimum - 1.0, certificate.hypergradient, held, seconds);
  }
}

Dataset take(const Dataset& from, const std::vector<Index>& order, std::size_t begin, std::size_t count) {
  Dataset part = select_rows(from, std::span(order).subspan(begin, count));
  part.x = part.x.mapped({.scale = Vector::Constant(from.features(), 255.0)}).packed();
  return part;
}

double error_rate(const Dataset& data, const Vector& w, Index classes) {
  const Vector m = margins(data, true, w, classes);
  Index wrong = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    Index best = 0;
    m.segment(i * classes, classes).maxCoeff(&best);
    wrong += best != static_cast<Index>(data.y[i]);
  }
  return static_cast<double>(wrong) / static_cast<double>(data.rows());
}

/// Test error of w trained on given rows alone, every one trusted.
double trained_on(const Split& split, const Dataset& rows, double c) {
  Split alone = split;
  alone.train = rows;
  const CleaningProblem problem(alone, softmax(10), true, c);
  Vector w = Vector::Zero(problem.weights());
  // σ(λ) → 1
  problem.inner_solve(Vector::Constant(rows.rows(), 40.0), {.proximal = {}, .tolerance = 1e-5}, w);
  return error_rate(*split.test, w, 10);
}

/// 20 000 training rows, half of their labels replaced by another; 5 000 clean validation rows; t10k for the
/// end.
void cleaning(int seeds, int iterations, bool verbose) {
  constexpr double kPenalty = 1e-3;
  constexpr std::size_t kTrain = 20000, kValidation = 5000;
  const Dataset all = read_dataset(find("train-images-idx3-ubyte"),
                                   {.target = {}, .target_file = find("train-labels-idx1-ubyte")});
  const Dataset t10k = read_dataset(find("t10k-images-idx3-ubyte"),
                                    {.target = {}, .target_file = find("t10k-labels-idx1-ubyte")});
  fmt::print(
      "seed  test error %: cleaned  all rows  validation rows  clean half   ROC area by −λ  by loss   "
      "equivalents  seconds\n");
  for (int seed = 0; seed < seeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    std::vector<Index> order(static_cast<std::size_t>(all.rows()));
    std::iota(order.begin(), order.end(), Index{0});
    random.shuffle(order);
    Split split;
    split.train = take(all, order, 0, kTrain);
    split.validation = take(all, order, kTrain, kValidation);
    std::vector<Index> test_rows(static_cast<std::size_t>(t10k.rows()));
    std::iota(test_rows.begin(), test_rows.end(), Index{0});
    split.test = take(t10k, test_rows, 0, test_rows.size());
    Vector noisy = Vector::Constant(kTrain, -1.0);
    const Dataset clean_half = [&] {
      std::vector<Index> clean;
      for (Index i = 0; i < split.train.rows(); ++i) {
        if (random.uniform() < 0.5) {
          noisy[i] = 1.0;
          const auto other =
              static_cast<double>(1 + std::min<Index>(8, static_cast<Index>(9.0 * random.uniform())));
          split.train.y[i] = std::fmod(split.train.y[i] + other, 10.0);
        } else {
          clean.push_back(order[static_cast<std::size_t>(i)]);
        }
      }
      return take(all, clean, 0, clean.size());
    }();

    const CleaningProblem problem(split, softmax(10), true, kPenalty);
    SolveOptions options;
    options.start.lambda = Vector::Zero(problem.hyperparameters());
    options.budget.iterations = iterations;
    if (verbose)
      options.observers.push_back([&](const TracePoint& point) {
        fmt::print("   {:3d} L_V {:.6f} work {:.0f} ({} gradients, {} products) area {:.4f} {:.2f} s\n",
                   point.iteration, point.loss.validation, point.work.gradient_equivalents(),
                   point.work.train_gradients, point.work.hessian_products,
                   area_under_roc(noisy, -point.lambda).value_or(0.0), point.seconds);
        return Watch::go_on;
      });
    Outcome outcome;
    const double seconds = seconds_of([&] { outcome = solve(MyHpo{}, problem, options); });
    const Vector m = margins(split.train, true, outcome.final.w, 10);
    Vector loss(split.train.rows());
    softmax(10)->values(as_span(m), as_span(split.train.y), as_span(loss));
    fmt::print("{:4d}  {:21.2f}  {:8.2f}  {:15.2f}  {:10.2f}   {:14.4f}  {:7.4f}   {:11.0f}  {:7.1f}\n", seed,
               100.0 * error_rate(*split.test, outcome.final.w, 10),
               100.0 * trained_on(split, split.train, kPenalty),
               100.0 * trained_on(split, split.validation, kPenalty),
               100.0 * trained_on(split, clean_half, kPenalty),
               area_under_roc(noisy, -outcome.final.lambda).value_or(0.0),
               area_under_roc(noisy, loss).value_or(0.0), outcome.work.gradient_equivalents(), seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Many hyperparameters on real data");
  std::string which;
  int count = 0;
  int iterations = 5;
  double tolerance = 1e-9;
  bool verbose = false;
  app.add_option("experiment", which, "ijcnn1 or cleaning")->required();
  app.add_option("--starts,--seeds", count, "how many runs [8, 3]");
  app.add_option("--iterations", iterations, "outer iterations of cleaning [5]");
  app.add_option("--tolerance", tolerance, "certificate of ijcnn1 [1e-9]");
  app.add_flag("--verbose", verbose, "every iteration");
  CLI11_PARSE(app, argc, argv);
  try {
    if (which == "ijcnn1") {
      ijcnn1(count > 0 ? count : 8, tolerance, verbose);
    } else {
      cleaning(count > 0 ? count : 3, iterations, verbose);
    }
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
