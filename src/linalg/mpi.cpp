#include "yosida/linalg/mpi.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "linalg/alone.hpp"
#include "linalg/instruction_set.hpp"
#include "linalg/mpi_calls.hpp"
#include "linalg/ranks.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/blas_kernels.hpp"

namespace yosida::mpi {
namespace {

const linalg::MpiCalls& calls() {
#ifdef YOSIDA_MPI_MODULE
  // By its name alone, as libraries are found. MPI opens parts of its own, which look for its names.
  if (void* module = ::dlopen(YOSIDA_MPI_MODULE, RTLD_NOW | RTLD_GLOBAL))
    if (void* symbol = ::dlsym(module, linalg::kMpiFunction))
      return *reinterpret_cast<linalg::MpiFunction*>(symbol)();
  throw InputError(std::string("the part of yosida for MPI cannot be loaded (") + ::dlerror() +
                   "); install yosida again, and the package libopenmpi3");
#else
  throw InputError(
      "this build of yosida is without MPI; install the package libopenmpi-dev, then configure and build "
      "yosida "
      "again, or start one process alone");
#endif
}

/// What each process says before numbers are exchanged.
struct Greeting {
  double exchange = 0.0;  // the number of this exchange
  double numbers = 0.0;   // of all processes in it
  double ends = 0.0;      // 1 where the process ends
  double code = 0.0;      // with which code
  double wishes = 0.0;    // 1 where it wishes to stop
};
constexpr std::size_t kNumbers = sizeof(Greeting) / sizeof(double);

}  // namespace

class Session::Impl final : public linalg::Ranks {
 public:
  explicit Impl(const int* communicator) : calls_(calls()) {
    if (!calls_.start(communicator, &rank_, &size_))
      throw InputError(communicator == nullptr
                           ? "MPI: cannot be started, or was started by this program: give its communicator"
                           : "communicator: must be one of a program that has started MPI");
    // Kernels are chosen by the machine and round differently: what each process computes for itself would
    // differ.
    const std::string name = blas_kernels() + std::to_string(linalg::instruction_set());
    const auto kernels = static_cast<double>(std::hash<std::string>{}(name));
    const std::vector<Index> counts(static_cast<std::size_t>(size_), 1);
    std::vector<double> all(counts.size());
    exchange(&kernels, counts, all.data());
    if (std::all_of(all.begin(), all.end(), [&](double each) { return each == all[0]; })) return;
    finish();
    throw InputError(
        "the processes run on machines with different processors, whose results differ by rounding: take "
        "machines "
        "of one kind");
  }

  void gather(const double* own, std::span<const Index> counts, double* all) override {
    double numbers = 0.0;
    for (const Index count : counts) numbers += static_cast<double>(count);
    const std::vector<Greeting> greetings = greet({.numbers = numbers});
    const auto goes_on = [](const Greeting& each) { return each.ends == 0.0; };
    if (!std::all_of(greetings.begin(), greetings.end(), goes_on)) throw told("");
    const Greeting& mine = greetings[static_cast<std::size_t>(rank_)];
    const auto is_alike = [&](const Greeting& each) {
      return each.exchange == mine.exchange && each.numbers == mine.numbers;
    };
    if (!std::all_of(greetings.begin(), greetings.end(), is_alike))
      throw Ended{.code = 1, .message = "internal error: the processes do not compute the same"};
    exchange(own, counts, all);
    const auto wishes = [](const Greeting& each) { return each.wishes != 0.0; };
    if (stop_ && std::any_of(greetings.begin(), greetings.end(), wishes)) stop_();
  }

  Ended end(int code, const std::string& message) {
    const std::vector<Greeting> greetings = greet({.ends = 1.0, .code = static_cast<double>(code)});
    const auto is_well = [](const Greeting& each) { return each.ends == 1.0 && each.code == 0.0; };
    if (std::all_of(greetings.begin(), greetings.end(), is_well)) return {.code = 0, .message = ""};
    return told(message, code);
  }

  void finish() { calls_.finish(); }

  std::function<bool()> wish_;
  std::function<void()> stop_;

 private:
  void exchange(const double* own, std::span<const Index> counts, double* all) {
    std::vector<std::int64_t> bytes;
    for (const Index count : counts) bytes.push_back(count * static_cast<Index>(sizeof(double)));
    calls_.gather(own, bytes.data(), all);
  }

  std::vector<Greeting> greet(Greeting own) {
    own.exchange = static_cast<double>(++exchanges_);
    own.wishes = wish_ && wish_() ? 1.0 : 0.0;
    std::vector<Greeting> all(static_cast<std::size_t>(size_));
    const std::vector<Index> counts(all.size(), static_cast<Index>(kNumbers));
    exchange(&own.exchange, counts, &all.front().exchange);
    return all;
  }

  /// What the first process that has something to say says; all come here together.
  Ended told(const std::string& message, int code = 0) {
    constexpr std::size_t kLongest = 4096;
    struct Word {
      double code;
      char text[kLongest];
    };
    Word own{.code = static_cast<double>(code), .text = {}};
    std::memcpy(own.text, message.data(), std::min(message.size(), kLongest - 1));
    std::vector<Word> all(static_cast<std::size_t>(size_));
    const std::vector<Index> counts(all.size(), static_cast<Index>(sizeof(Word) / sizeof(double)));
    exchange(&own.code, counts, &all.front().code);
    for (const Word& word : all)
      if (word.code != 0.0) return {.code = static_cast<int>(word.code), .message = word.text};
    return {.code = 1, .message = "internal error: a process has ended before the others"};
  }

  const linalg::MpiCalls& calls_;
  std::int64_t exchanges_ = 0;
};

bool is_launched() {
  const auto is_several = [](const char* variable) {
    const char* const text = std::getenv(variable);
    return text != nullptr && std::atoi(text) > 0;
  };
  return is_several("OMPI_COMM_WORLD_SIZE") || is_several("PMI_SIZE") ||
         (std::getenv("PMIX_RANK") != nullptr && is_several("SLURM_NTASKS"));
}

Session::Session() : impl_(std::make_unique<Impl>(nullptr)) { linalg::share_rows_with(impl_.get()); }

Session::Session(int communicator) : impl_(std::make_unique<Impl>(&communicator)) {
  linalg::share_rows_with(impl_.get());
}

Session::~Session() {
  linalg::share_rows_with(nullptr);
  impl_->finish();
}

int Session::rank() const { return impl_->rank(); }
int Session::size() const { return impl_->size(); }

void Session::stop_where(std::function<bool()> wish, std::function<void()> stop) {
  impl_->wish_ = std::move(wish);
  impl_->stop_ = std::move(stop);
}

void Session::meet() { linalg::any_rank(false); }

void Session::alone(const std::function<void()>& work) { linalg::alone(work); }

Ended Session::end(int code, const std::string& message) { return impl_->end(code, message); }

}  // namespace yosida::mpi
