#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/random.hpp"

namespace YOSIDA_EXPORT yosida {

/// The batches of a run and the order in which they are drawn, those of training and of validation rows
/// apart: first as they lie, then in a new order for each pass, as benchmark_bilevel does.
class BatchDraws {
 public:
  BatchDraws() = default;
  /// Batches of at most so many rows, 0: of all. Where the problem has none, all of it is one batch.
  BatchDraws(const BilevelProblem& problem, Index rows, std::uint64_t seed);

  Index train_count() const { return static_cast<Index>(train_.order.size()); }
  Index validation_count() const { return static_cast<Index>(validation_.order.size()); }
  bool is_whole() const { return train_count() == 1 && validation_count() == 1; }
  /// The next batch to look at.
  Index next_train() { return next(train_); }
  Index next_validation() { return next(validation_); }
  /// The batch of that number; `whole` is the problem that the draws were made of.
  const BilevelProblem& at(const BilevelProblem& whole, Index batch) const {
    return batches_.problems.empty() ? whole : *batches_.problems[static_cast<std::size_t>(batch)];
  }
  /// The share of all training rows that a batch has.
  double train_share(Index batch) const { return share(batches_.train_shares, batch); }
  /// The same of validation rows.
  double validation_share(Index batch) const { return share(batches_.validation_shares, batch); }

 private:
  struct Part {
    std::vector<Index> order = {};
    std::size_t place = 0;
  };
  Index next(Part& part);
  static double share(const std::vector<double>& shares, Index batch) {
    return shares.empty() ? 1.0 : shares[static_cast<std::size_t>(batch)];
  }

  Batches batches_;
  Part train_, validation_;
  Random random_{0};
};

}  // namespace yosida
