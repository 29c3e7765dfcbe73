// A study without solvers, for the tests that kill it, fill its disk or look at it by the command line:
//   study_tool run FILE RUNS JOBS [MILLISECONDS]  does that many runs that sleep about so long each
//   study_tool fill FILE RECORDS.json             stores given records
//   study_tool update FILE                        opens the store, which migrates it
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "yosida/error.hpp"
#include "yosida/random.hpp"
#include "yosida/study/runner.hpp"

namespace {

using namespace yosida;
using nlohmann::ordered_json;
using study::Record;
using study::SpecText;
using study::Store;

std::vector<SpecText> fake_specs(std::uint64_t runs) {
  std::vector<SpecText> specs;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::string method = i % 2 == 0 ? "fake" : "fake:alpha=0.05";
    const ordered_json json = {{"method", method}, {"seed", i / 2}, {"budget", 100}};
    specs.push_back({.method = method, .seed = i / 2, .json = json.dump()});
  }
  return specs;
}

/// Decided by the spec alone, but for the times.
Record fake_record(const SpecText& spec) {
  Random random(spec.seed * 2 + (spec.method == "fake" ? 0 : 1));
  Record record;
  record.spec = spec;
  record.status = random.uniform() < 0.1 ? "diverged" : "iteration_limit";
  record.program = "fake 1";
  record.data_sha256 = std::string(64, 'a');
  for (std::int64_t iteration = 0; iteration < 50; ++iteration) {
    TracePoint point;
    point.iteration = iteration;
    point.lambda = Vector::Constant(1, random.normal());
    point.loss.train = random.uniform();
    point.loss.validation = random.uniform();
    if (spec.seed % 3 != 0) point.loss.test = random.uniform();
    point.primal_residual = random.uniform();
    point.dual_residual = std::numeric_limits<double>::quiet_NaN();
    point.work.train_gradients = iteration;
    point.work.factorisations = random.uniform();
    point.seconds = 1e-3 * static_cast<double>(iteration);
    record.trace.push_back(point);
  }
  const TracePoint& last = record.trace.back();
  record.outcome =
      ordered_json{
          {"iterations", last.iteration},
          {"final", {{"lambda", {last.lambda[0]}}, {"loss", {{"validation", last.loss.validation}}}}},
          {"work", {{"gradient_equivalents", last.work.gradient_equivalents()}}}}
          .dump();
  return record;
}

/// Sleeps differ between processes and threads, so that these never meet in the same order twice.
void nap(double milliseconds) {
  static std::mutex mutex;
  static Random random(
      static_cast<std::uint64_t>(::getpid()) ^
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  double share = 0.0;
  {
    const std::lock_guard guard(mutex);
    share = 2.0 * random.uniform();
  }
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(share * milliseconds));
}

void run(const std::string& file, std::uint64_t runs, int jobs, double milliseconds) {
  Store store(file, Store::Mode::create);
  const auto report = study::run_study(
      store, fake_specs(runs),
      [&](const SpecText& spec) {
        const auto start = std::chrono::steady_clock::now();
        nap(milliseconds);
        Record record = fake_record(spec);
        record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return record;
      },
      {.jobs = jobs,
       .on_progress =
           [](const study::Progress& progress) {
             // What was said to be stored must be there whatever happens next.
             fmt::print("stored {}\n", progress.done);
             std::fflush(stdout);
           },
       .stop = {}});
  fmt::print("done {} here, {} elsewhere, {} before\n", report.done_here, report.done_elsewhere,
             report.done_before);
}

Record record_of(const ordered_json& json) {
  Record record;
  record.spec = {.method = json.at("method"), .seed = json.at("seed"), .json = json.at("spec").dump()};
  record.status = json.at("status");
  record.outcome = json.at("outcome").dump();
  record.program = json.at("program");
  record.data_sha256 = json.at("data_sha256");
  record.seconds = json.at("seconds");
  record.finished = json.at("finished");
  for (const ordered_json& each : json.at("trace")) {
    TracePoint point;
    point.iteration = each.at("iteration");
    const std::vector<double> lambda = each.at("lambda");
    point.lambda = Eigen::Map<const Vector>(lambda.data(), static_cast<Index>(lambda.size()));
    point.loss.validation = each.at("validation");
    point.seconds = each.at("seconds");
    record.trace.push_back(point);
  }
  return record;
}

void fill(const std::string& file, const std::string& records) {
  std::ifstream stream(records);
  Store store(file, Store::Mode::create);
  for (const ordered_json& json : ordered_json::parse(stream)) store.put(record_of(json));
}

int dispatch(const std::vector<std::string>& words) {
  if (words.size() >= 4 && words[0] == "run") {
    run(words[1], std::stoull(words[2]), std::stoi(words[3]), words.size() > 4 ? std::stod(words[4]) : 2.0);
  } else if (words.size() == 3 && words[0] == "fill") {
    fill(words[1], words[2]);
  } else if (words.size() == 2 && words[0] == "update") {
    const Store store(words[1], Store::Mode::update);
  } else {
    throw InputError(
        "usage: study_tool run FILE RUNS JOBS [MILLISECONDS] | fill FILE RECORDS.json | update FILE");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  } catch (const OutputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}\n", error.what());
    return 1;
  }
}
