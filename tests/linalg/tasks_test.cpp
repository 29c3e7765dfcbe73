#include "linalg/tasks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "support/threads_guard.hpp"

namespace yosida::linalg {
namespace {

constexpr Index kManyOperations = Index{1} << 30;

TEST(Tasks, AreEachDoneOnceByAnyNumberOfThreads) {
  for (const int threads : {1, 2, 5}) {
    const test::ThreadsGuard guard(threads);
    for (Index round = 0; round < 500; ++round) {
      const Index count = round % 17;
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      run_tasks(count, kManyOperations, [&](Index i) { ++done[static_cast<std::size_t>(i)]; });
      for (const std::atomic<int>& each : done) ASSERT_EQ(each, 1) << threads << " threads, round " << round;
    }
  }
}

TEST(Tasks, HaveNoTeamOfTheirOwn) {
  const test::ThreadsGuard guard(4);
  EXPECT_EQ(team_size(8, kManyOperations), 4);
  EXPECT_EQ(team_size(3, kManyOperations), 3);
  EXPECT_EQ(team_size(8, 10), 1);
  std::atomic<int> largest = 0;
  std::atomic<Index> sum = 0;
  run_tasks(8, kManyOperations, [&](Index i) {
    largest = std::max(largest.load(), team_size(8, kManyOperations));
    run_tasks(8, kManyOperations, [&](Index k) { sum += i * k; });
  });
  EXPECT_EQ(largest, 1);
  EXPECT_EQ(sum, 28 * 28);
  EXPECT_EQ(team_size(8, kManyOperations), 4);  // as before
}

TEST(Tasks, ThrowWhatOneOfThemThrows) {
  const test::ThreadsGuard guard(3);
  std::atomic<int> done = 0;
  const auto all = [&] {
    run_tasks(9, kManyOperations, [&](Index i) {
      ++done;
      if (i == 4) throw std::runtime_error("fourth");
    });
  };
  EXPECT_THROW(all(), std::runtime_error);
  EXPECT_EQ(done, 9);
  EXPECT_EQ(team_size(8, kManyOperations), 3);
}

TEST(Tasks, OfSeveralCallersShareOnePool) {
  const test::ThreadsGuard guard(3);
  std::atomic<Index> sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) run_tasks(10, kManyOperations, [&](Index i) { sum += i; });
    });
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(sum, 4 * 200 * 45);
}

}  // namespace
}  // namespace yosida::linalg
