#include "problem/batches_of.hpp"

#include <algorithm>

namespace yosida {
namespace {

Index batches_in(const Dataset& data, Index rows) { return (data.rows() + rows - 1) / rows; }

Dataset part(const Dataset& data, Index rows, Index batch, std::vector<double>& shares) {
  const Index first = batch % batches_in(data, rows) * rows;
  const Index size = std::min(rows, data.rows() - first);
  if (batch < batches_in(data, rows))
    shares.push_back(static_cast<double>(size) / static_cast<double>(data.rows()));
  Dataset own;
  own.x = data.x.row_range(first, size);
  own.y = data.y.segment(first, size);
  own.source = data.source;
  if (data.weight.size() > 0) own.weight = data.weight.segment(first, size);
  return own;
}

}  // namespace

Batches batches_of(
    const Split& split, Index rows,
    const std::function<std::shared_ptr<const BilevelProblem>(Split batch, Index first_row)>& make) {
  Batches all;
  const Index count = std::max(batches_in(split.train, rows), batches_in(split.validation, rows));
  for (Index i = 0; i < count; ++i) {
    Split own{.train = part(split.train, rows, i, all.train_shares),
              .validation = part(split.validation, rows, i, all.validation_shares),
              .test = {}};
    all.problems.push_back(make(std::move(own), i % batches_in(split.train, rows) * rows));
  }
  return all;
}

}  // namespace yosida
