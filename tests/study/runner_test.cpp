#include "yosida/study/runner.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <thread>

#include "study_files.hpp"
#include "yosida/random.hpp"

namespace yosida::study {
namespace {

using Mode = Store::Mode;
using std::chrono::milliseconds;

std::vector<SpecText> specs(std::uint64_t count) {
  std::vector<SpecText> all;
  for (std::uint64_t seed = 0; seed < count; ++seed) all.push_back(sample("sho", seed).spec);
  return all;
}

/// A run whose result is decided by its spec alone, after a sleep that is not.
std::optional<Record> fake_run(const SpecText& spec) {
  std::this_thread::sleep_for(std::chrono::microseconds(spec.seed * 7919 % 3000));
  Random random(spec.seed);
  Record record = sample(spec.method, spec.seed);
  record.outcome = fmt::format("{{\"final\":{{\"loss\":{{\"validation\":{}}}}}}}", random.uniform());
  record.trace[0].loss.validation = random.normal();
  return record;
}

void expect_same(const std::vector<Record>& a, const std::vector<Record>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) study::expect_same(a[i], b[i]);
}

class Runner : public InFolder {};

TEST_F(Runner, AnyNumberOfJobsGivesTheSameRecords) {
  Store reference;
  for (const SpecText& spec : specs(40)) reference.put(*fake_run(spec));
  for (const int jobs : {1, 2, 8, 100}) {
    SCOPED_TRACE(jobs);
    Store store;
    const RunnerReport report = run_study(store, specs(40), fake_run, {.jobs = jobs});
    EXPECT_EQ(report.done_before, 0);
    EXPECT_EQ(report.done_here, 40);
    EXPECT_EQ(report.done_elsewhere, 0);
    EXPECT_FALSE(report.stopped);
    expect_same(store.records(true), reference.records(true));
  }
}

TEST_F(Runner, OneJobKeepsTheOrder) {
  Store store;
  std::vector<std::uint64_t> order;
  run_study(store, specs(20),
            [&](const SpecText& spec) {
              order.push_back(spec.seed);
              return fake_run(spec);
            },
            {.jobs = 1});
  std::vector<std::uint64_t> expected(20);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i;
  EXPECT_EQ(order, expected);
}

TEST_F(Runner, AsManyAtATimeAsThereAreJobs) {
  Store store;
  std::mutex mutex;
  std::condition_variable changed;
  int now = 0;
  int most = 0;
  const RunFunction run = [&](const SpecText& spec) {
    {
      std::unique_lock lock(mutex);
      most = std::max(most, ++now);
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(5), [&] { return most >= 4; });
    }
    std::this_thread::sleep_for(milliseconds(2));
    const std::lock_guard guard(mutex);
    --now;
    return fake_run(spec);
  };
  run_study(store, specs(24), run, {.jobs = 4});
  EXPECT_EQ(most, 4);
}

TEST_F(Runner, DoesOnlyWhatIsMissing) {
  Store store(path, Mode::create);
  std::atomic<int> calls = 0;
  const RunFunction run = [&](const SpecText& spec) {
    ++calls;
    return fake_run(spec);
  };
  run_study(store, specs(5), run, {.jobs = 2});
  const RunnerReport report = run_study(store, specs(12), run, {.jobs = 2});
  EXPECT_EQ(report.done_before, 5);
  EXPECT_EQ(report.done_here, 7);
  EXPECT_EQ(calls, 12);
  EXPECT_EQ(run_study(store, specs(12), run, {.jobs = 2}).done_before, 12);
  EXPECT_EQ(calls, 12);
}

TEST_F(Runner, ASpecGivenTwiceIsOneRun) {
  Store store;
  std::vector<SpecText> twice = specs(3);
  twice.push_back(twice[0]);
  EXPECT_EQ(run_study(store, twice, fake_run, {.jobs = 2}).done_here, 3);
}

TEST_F(Runner, NothingToDo) {
  Store store;
  const RunnerReport report = run_study(store, {}, fake_run, {.jobs = 3});
  EXPECT_EQ(report.done_here, 0);
  EXPECT_FALSE(report.stopped);
}

TEST_F(Runner, RefusesNoJobs) {
  Store store;
  expect_throw_with<InputError>([&] { run_study(store, specs(1), fake_run, {.jobs = 0}); },
                                {"jobs = 0", "1 or more"});
}

TEST_F(Runner, TheRecordGetsItsSpecAndItsTime) {
  Store store;
  const RunFunction run = [](const SpecText&) {
    Record bare;
    bare.status = "converged";
    bare.outcome = "{}";
    return bare;
  };
  run_study(store, specs(1), run, {.jobs = 1});
  const Record record = store.records(false).at(0);
  EXPECT_EQ(record.spec.key(), specs(1)[0].key());
  EXPECT_EQ(record.finished.size(), std::string("2026-01-31T12:00:00Z").size());
  EXPECT_EQ(record.finished.back(), 'Z');
}

TEST_F(Runner, ARunThatThrowsEndsTheStudyAfterTheRunsUnderWay) {
  Store store;
  std::atomic<int> begun = 0;
  const RunFunction run = [&](const SpecText& spec) {
    ++begun;
    if (spec.seed == 3) throw InputError("of run 3");
    std::this_thread::sleep_for(milliseconds(20));
    return fake_run(spec);
  };
  expect_throw_with<InputError>([&] { run_study(store, specs(50), run, {.jobs = 2}); }, {"of run 3"});
  // What had begun has finished and is stored, and little has begun since.
  EXPECT_EQ(store.records(false).size(), static_cast<std::size_t>(begun - 1));
  EXPECT_TRUE(store.has(specs(1)[0].key()));
  EXPECT_LT(begun, 10);
}

TEST_F(Runner, AnExceptionOfTheWatcherOrOfStopIsThrownAgain) {
  Store store;
  const auto fail = [](const Progress&) { throw std::runtime_error("watcher"); };
  expect_throw_with<std::runtime_error>(
      [&] { run_study(store, specs(500), fake_run, {.jobs = 2, .on_progress = fail}); }, {"watcher"});
  const auto stop = []() -> bool { throw std::runtime_error("stop"); };
  expect_throw_with<std::runtime_error>(
      [&] { run_study(store, specs(500), fake_run, {.jobs = 2, .on_progress = {}, .stop = stop}); },
      {"stop"});
  EXPECT_LT(store.records(false).size(), 500u);
}

TEST_F(Runner, StopBeginsNoFurtherRun) {
  Store store;
  std::atomic<int> begun = 0;
  const RunFunction run = [&](const SpecText& spec) {
    ++begun;
    return fake_run(spec);
  };
  const RunnerReport report =
      run_study(store, specs(100), run, {.jobs = 2, .on_progress = {}, .stop = [&] { return begun >= 10; }});
  EXPECT_TRUE(report.stopped);
  EXPECT_GE(begun, 10);
  EXPECT_LE(begun, 11);
  EXPECT_EQ(report.done_here, begun);
  EXPECT_EQ(store.records(false).size(), static_cast<std::size_t>(begun));
}

TEST_F(Runner, ARunThatWasStoppedIsNotStored) {
  Store store;
  const RunFunction run = [](const SpecText& spec) { return spec.seed == 2 ? std::nullopt : fake_run(spec); };
  const RunnerReport report = run_study(store, specs(6), run, {.jobs = 2});
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.done_here, 5);
  EXPECT_FALSE(store.has(specs(3)[2].key()));
}

TEST_F(Runner, ProgressAddsUp) {
  Store store;
  run_study(store, specs(4), fake_run, {.jobs = 1});
  std::vector<Progress> seen;
  const auto caller = std::this_thread::get_id();
  const auto watch = [&](const Progress& progress) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    seen.push_back(progress);
  };
  run_study(store, specs(30), fake_run, {.jobs = 3, .on_progress = watch});
  ASSERT_GT(seen.size(), 3u);
  EXPECT_TRUE(std::isnan(seen.front().seconds_left));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].total, 30);
    EXPECT_EQ(seen[i].done, 4 + seen[i].done_here);
    EXPECT_LE(seen[i].running, 3);
    EXPECT_GE(seen[i].done, i > 0 ? seen[i - 1].done : 4);
    if (seen[i].done_here > 0 && seen[i].done < 30) {
      // So many seconds for so many runs: as many for each of those that are left.
      const auto left = static_cast<double>(30 - seen[i].done);
      const double expected = seen[i].seconds / static_cast<double>(seen[i].done_here) * left;
      EXPECT_NEAR(seen[i].seconds_left, expected, 1e-12 * expected);  // rounding of two products
    }
  }
  EXPECT_EQ(seen.back().done, 30);
  EXPECT_EQ(seen.back().running, 0);
  EXPECT_EQ(seen.back().seconds_left, 0.0);
}

TEST_F(Runner, ProgressIsToldWhileALongRunGoesOn) {
  Store store;
  int told = 0;
  run_study(store, specs(1),
            [](const SpecText& spec) {
              std::this_thread::sleep_for(milliseconds(550));
              return fake_run(spec);
            },
            {.jobs = 1, .on_progress = [&](const Progress&) { ++told; }});
  EXPECT_GE(told, 4);
}

TEST_F(Runner, ARunClaimedElsewhereIsWaitedForAndTakenFromTheStore) {
  Store other(path, Mode::create);
  Store store(path, Mode::create);
  auto claim = other.claim(specs(3)[0].key());
  std::thread elsewhere([&] {
    std::this_thread::sleep_for(milliseconds(300));
    other.put(*fake_run(specs(3)[0]));
    claim.reset();
  });
  const RunnerReport report = run_study(store, specs(3), fake_run, {.jobs = 2});
  elsewhere.join();
  EXPECT_EQ(report.done_here, 2);
  EXPECT_EQ(report.done_elsewhere, 1);
  EXPECT_FALSE(report.stopped);
}

TEST_F(Runner, ARunOfAProcessThatDiesIsDoneHere) {
  { const Store store(path, Mode::create); }
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Store store(path, Mode::update);
    const auto claim = store.claim(specs(3)[1].key());
    if (::write(ready[1], "x", 1) != 1) std::_Exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(300));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  });
  Store store(path, Mode::update);
  const RunnerReport report = run_study(store, specs(3), fake_run, {.jobs = 2});
  killer.join();
  EXPECT_EQ(report.done_here, 3);
  EXPECT_FALSE(report.stopped);
}

TEST_F(Runner, TwoProcessesDoEveryRunOnce) {
  constexpr std::uint64_t kRuns = 120;
  // Every run that is done says so in a file of its process.
  const auto work = [&](const std::string& name) {
    std::FILE* log = std::fopen((folder / name).c_str(), "w");
    std::mutex mutex;
    Store store(path, Mode::create);
    const RunFunction run = [&](const SpecText& spec) {
      const std::lock_guard guard(mutex);
      std::fprintf(log, "%d\n", static_cast<int>(spec.seed));
      return fake_run(spec);
    };
    const RunnerReport report = run_study(store, specs(kRuns), run, {.jobs = 2});
    std::fclose(log);
    EXPECT_EQ(report.done_before + report.done_here + report.done_elsewhere,
              static_cast<std::int64_t>(kRuns));
    EXPECT_FALSE(report.stopped);
  };
  const pid_t child = ::fork();
  if (child == 0) {
    work("child");
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  work("parent");
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);

  std::map<int, int> times;
  for (const char* name : {"child", "parent"}) {
    std::FILE* log = std::fopen((folder / name).c_str(), "r");
    ASSERT_NE(log, nullptr);
    int count = 0;
    for (int seed = 0; std::fscanf(log, "%d", &seed) == 1; ++count) ++times[seed];
    std::fclose(log);
    EXPECT_GT(count, 0) << "the " << name << " has done nothing";
  }
  EXPECT_EQ(times.size(), kRuns);
  for (const auto& [seed, count] : times) EXPECT_EQ(count, 1) << "run " << seed;
  Store reference;
  for (const SpecText& spec : specs(kRuns)) reference.put(*fake_run(spec));
  expect_same(Store(path, Mode::read).records(true), reference.records(true));
  EXPECT_EQ(sql(path, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
}

}  // namespace
}  // namespace yosida::study
