#pragma once

#include <memory>
#include <mutex>

#include "linalg/gram_of_all.hpp"
#include "yosida/data/split.hpp"

namespace yosida {

/// The rows that folds share, and the products of their columns: made when they are first asked for.
class SharedRows {
 public:
  explicit SharedRows(Design all) : all_(std::move(all)) {}
  /// Null where they do not serve the training rows of this fold, which has the others to be judged by.
  /// Throws RunEnded where making them is stopped.
  std::shared_ptr<const GramOfAll> gram(const Split& fold, const StopToken& stop);
  /// They are made anew when they are asked for again.
  void forget_gram();

 private:
  Design all_;
  std::mutex mutex_;  // around what follows
  std::shared_ptr<const GramOfAll> gram_;
};

}  // namespace yosida
