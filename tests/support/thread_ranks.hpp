#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "linalg/ranks.hpp"

namespace yosida::test {

/// Threads in the place of processes: each has its rank, and they meet to hand numbers around.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : size_(size), barrier_(size), own_(static_cast<std::size_t>(size)) {}

  /// Calls work(rank) in each.
  void run(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank)
      threads.emplace_back([&, rank] {
        One one(*this, rank);
        linalg::share_rows_with(&one);
        work(rank);
        linalg::share_rows_with(nullptr);
      });
    for (std::thread& each : threads) each.join();
  }
  int gathers() const { return gathers_; }

 private:
  class One final : public linalg::Ranks {
   public:
    One(ThreadRanks& all, int rank) : all_(all) {
      rank_ = rank;
      size_ = all.size_;
    }
    void gather(const double* own, std::span<const Index> counts, double* all) override {
      all_.own_[static_cast<std::size_t>(rank_)] = own;
      if (rank_ == 0) ++all_.gathers_;
      all_.barrier_.arrive_and_wait();
      for (int rank = 0; rank < size_; ++rank) {
        const Index count = counts[static_cast<std::size_t>(rank)];
        std::copy_n(all_.own_[static_cast<std::size_t>(rank)], count, all);
        all += count;
      }
      all_.barrier_.arrive_and_wait();
    }

   private:
    ThreadRanks& all_;
  };

  int size_;
  std::barrier<> barrier_;
  std::vector<const double*> own_;
  int gathers_ = 0;
};

}  // namespace yosida::test
