// One gradient of least squares over 200 000 × 200 numbers (320 MB), one thread: the fused pass, which reads
// the design once, against two products by OpenBLAS, which read it twice, and against just reading it.
// Repetitions of all are interleaved at random; the table shows medians of processor time.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "yosida/linalg/design.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/random.hpp"

namespace {

using yosida::Index;
using yosida::Vector;

constexpr Index kRows = 200000;
constexpr Index kCols = 200;
constexpr double kGigabytes = static_cast<double>(kRows * kCols) * sizeof(double) * 1e-9;
constexpr double kRatioTarget = 1.7;
constexpr double kShareTarget = 0.8;

constexpr const char* kFused = "fused pass";
constexpr const char* kBlas = "two dgemv";
constexpr const char* kReadLines = "read one number a cache line";
constexpr const char* kReadAll = "read every number";

struct Data {
  yosida::Design x;
  Vector w{kCols}, y{kRows}, m{kRows}, g{kCols};

  Data() {
    yosida::Random random(1);
    auto dense = std::make_shared<yosida::Matrix>(kRows, kCols);
    for (Index i = 0; i < kRows * kCols; ++i) dense->data()[i] = random.uniform() - 0.5;
    for (double& value : w) value = random.normal();
    for (double& value : y) value = random.normal();
    numbers_ = dense->data();
    x = yosida::Design(std::shared_ptr<const yosida::Matrix>(dense));
  }
  const double* numbers() const { return numbers_; }

 private:
  const double* numbers_;
};

Data& data() {
  static Data instance;
  return instance;
}

/// g = Xᵀ(Xw − y), each row used twice while it is in cache.
void fused_pass(benchmark::State& state) {
  Data& d = data();
  for (auto _ : state) {
    d.g.setZero();
    d.x.fused_pass({d.w.data(), kCols},
                   [&](Index first, std::span<double> m) {
                     for (std::size_t i = 0; i < m.size(); ++i) m[i] -= d.y[first + static_cast<Index>(i)];
                     return 0.0;
                   },
                   {d.g.data(), kCols});
    benchmark::DoNotOptimize(d.g.data());
    benchmark::ClobberMemory();
  }
}

/// The same by two products with the matrix.
void two_dgemv(benchmark::State& state) {
  Data& d = data();
  for (auto _ : state) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, kRows, kCols, 1.0, d.numbers(), kCols, d.w.data(), 1, 0.0,
                d.m.data(), 1);
    d.m -= d.y;
    cblas_dgemv(CblasRowMajor, CblasTrans, kRows, kCols, 1.0, d.numbers(), kCols, d.m.data(), 1, 0.0,
                d.g.data(), 1);
    benchmark::DoNotOptimize(d.g.data());
    benchmark::ClobberMemory();
  }
}

template <Index Stride>
void read(benchmark::State& state) {
  const double* x = data().numbers();
  for (auto _ : state) {
    double sum[8] = {};
    for (Index i = 0; i < kRows * kCols; i += 8 * Stride)
      for (Index k = 0; k < 8; ++k) sum[k] += x[i + k * Stride];
    benchmark::DoNotOptimize(sum);
  }
}

/// Keeps the median of every benchmark and prints one table at the end.
class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Aggregate && run.aggregate_name == "median")
        seconds_[run.run_name.function_name] = run.GetAdjustedCPUTime();
  }
  void Finalize() override {
    const double bandwidth = kGigabytes / std::min(seconds_.at(kReadLines), seconds_.at(kReadAll));
    fmt::print("{:<30} {:>10} {:>8} {:>22}\n", "200000 x 200, one thread", "seconds", "GB/s",
               "share of read speed");
    for (const char* name : {kReadLines, kReadAll, kFused, kBlas}) {
      const double speed = kGigabytes / seconds_.at(name);
      fmt::print("{:<30} {:>10.4f} {:>8.2f} {:>21.0f}%\n", name, seconds_.at(name), speed,
                 100.0 * speed / bandwidth);
    }
    fmt::print("\nfused pass against two dgemv: {:.2f} times as fast (target {:.1f})\n",
               seconds_.at(kBlas) / seconds_.at(kFused), kRatioTarget);
    fmt::print("fused pass: {:.0f}% of the speed of reading (target {:.0f}%)\n",
               100.0 * kGigabytes / seconds_.at(kFused) / bandwidth, 100.0 * kShareTarget);
  }

 private:
  std::map<std::string, double> seconds_;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  char interleaved[] = "--benchmark_enable_random_interleaving=true";
  arguments.insert(arguments.begin() + 1, interleaved);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  yosida::set_threads(1);
  openblas_set_num_threads(1);
  const std::pair<const char*, void (*)(benchmark::State&)> all[] = {
      {kFused, fused_pass}, {kBlas, two_dgemv}, {kReadLines, read<8>}, {kReadAll, read<1>}};
  for (const auto& [name, function] : all)
    benchmark::RegisterBenchmark(name, function)->Repetitions(25)->Iterations(2)->Unit(benchmark::kSecond);
  Table table;
  benchmark::RunSpecifiedBenchmarks(&table);
}
