#include "problem/shared_rows.hpp"

namespace yosida {

std::shared_ptr<const GramOfAll> SharedRows::gram(const Split& fold, const StopToken& stop) {
  const auto& [train, validation, test] = fold;
  if (train.weight.size() > 0 || train.rows() < train.features() ||
      !GramOfAll::serves(all_, train.x, validation.x))
    return nullptr;
  const std::lock_guard lock(mutex_);
  if (gram_) return gram_;
  auto made = std::make_shared<const GramOfAll>(all_, &stop);
  if (stop.stop_requested()) throw RunEnded(stop);  // it is not whole
  gram_ = std::move(made);
  return gram_;
}

void SharedRows::forget_gram() {
  const std::lock_guard lock(mutex_);
  gram_.reset();
}

}  // namespace yosida
