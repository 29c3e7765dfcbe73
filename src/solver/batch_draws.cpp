#include "yosida/solver/batch_draws.hpp"

#include <numeric>

namespace yosida {

BatchDraws::BatchDraws(const BilevelProblem& problem, Index rows, std::uint64_t seed) : random_(seed) {
  if (rows > 0) batches_ = problem.batches(rows);
  const auto fill = [](Part& part, std::size_t count) {
    part.order.resize(std::max<std::size_t>(1, count));
    std::iota(part.order.begin(), part.order.end(), Index{0});
  };
  fill(train_, batches_.train_shares.size());
  fill(validation_, batches_.validation_shares.size());
  if (is_whole()) batches_ = {};  // the problem itself
}

Index BatchDraws::next(Part& part) {
  const Index drawn = part.order[part.place];
  if (++part.place == part.order.size()) {
    part.place = 0;
    random_.shuffle(part.order);
  }
  return drawn;
}

}  // namespace yosida
