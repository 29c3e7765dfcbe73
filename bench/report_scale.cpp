// A large study for yosida report, whose time and page are then to be measured:
//   bench_report_scale FILE METHODS SEEDS POINTS
//   time yosida report FILE --out report.html
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "yosida/random.hpp"
#include "yosida/study/store.hpp"

namespace {

using namespace yosida;

/// Falls with noise, as a method on its way does; every number has all its digits.
study::Record record_of(int method, int seed, int points) {
  const std::string alpha = fmt::format("{:g}", 1e-3 * (1 + method));
  study::Record record;
  record.spec.method = "sho:alpha=" + alpha;
  record.spec.seed = static_cast<std::uint64_t>(seed);
  record.spec.json = fmt::format(
      R"({{"data":{{"files":{{"built-in":"spectra"}}}},"method":"sho","model":{{"name":"ridge"}},)"
      R"("run":{{"budget_gradients":{}}},"seed":{},"settings":{{"alpha":"{}","beta":"0.01"}}}})",
      2 * points, seed, alpha);
  Random random(static_cast<std::uint64_t>(1'000'003 * method + seed));
  TracePoint point;
  for (int i = 0; i < points; ++i) {
    point.iteration = i;
    point.lambda = Vector::Constant(1, -1.0 - std::log1p(i) + 0.01 * random.normal());
    point.loss.validation = std::exp(-0.4 * std::log1p(i) + 0.05 * random.normal());
    point.primal_residual = random.uniform();
    point.dual_residual = random.uniform();
    point.work.train_gradients = point.work.validation_gradients = i;
    point.seconds = 1e-4 * i * (1.0 + 0.1 * random.uniform());
    record.trace.push_back(point);
  }
  const double loss = point.loss.validation;
  const std::string solution = fmt::format(
      R"({{"lambda":[{}],"iteration":{},"loss":{{"train":{},"validation":{},"test":{}}},)"
      R"("scaled_loss":{{"train":{},"validation":{},"test":{}}},)"
      R"("r_squared":{{"train":0.9,"validation":0.8,"test":0.7}},"gap":0.01,"lambda_gap":0.002}})",
      point.lambda[0], point.iteration, 0.9 * loss, loss, 1.1 * loss, 0.3 * loss, loss / 3, 0.4 * loss);
  record.status = seed % 50 == 49 ? "diverged" : "work_limit";
  record.outcome = fmt::format(
      R"({{"best":{0},"final":{0},"iterations":{1},"work":{{"paper_count":{2},"gradient_equivalents":{2}}},)"
      R"("oracle":{{"lambda":-9,"validation":0.04}},"certificate":{{"hypergradient":{3},)"
      R"("verdict":"not certified","reason":"the validation loss has a slope here: scaled {3:.2g}"}}}})",
      solution, points, 2 * points, random.uniform());
  record.program = "bench";
  record.seconds = point.seconds;
  record.finished = study::utc_now();
  return record;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: bench_report_scale FILE METHODS SEEDS POINTS\n");
    return 2;
  }
  study::Store store(argv[1], study::Store::Mode::create);
  const int methods = std::atoi(argv[2]), seeds = std::atoi(argv[3]), points = std::atoi(argv[4]);
  for (int method = 0; method < methods; ++method)
    for (int seed = 0; seed < seeds; ++seed) store.put(record_of(method, seed, points));
}
