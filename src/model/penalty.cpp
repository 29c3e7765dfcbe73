#include "yosida/model/penalty.hpp"

#include <algorithm>
#include <cmath>

#include "yosida/error.hpp"

namespace yosida {
namespace {

/// e^λ of every group.
void exponentials(const Vector& lambda, Vector& values) { values = lambda.array().exp(); }

}  // namespace

Penalty::Penalty(std::vector<Index> group, Index groups) : group_(std::move(group)), groups_(groups) {
  shared_ = groups_ == 1 && std::all_of(group_.begin(), group_.end(), [](Index g) { return g == 0; });
}

Penalty Penalty::shared(Index weights) {
  return {std::vector<Index>(static_cast<std::size_t>(weights), 0), 1};
}

Penalty Penalty::per_feature(Index features, Index outputs) {
  std::vector<Index> group(static_cast<std::size_t>(features * outputs));
  for (Index i = 0; i < features * outputs; ++i) group[static_cast<std::size_t>(i)] = i / outputs;
  return {std::move(group), features};
}

Penalty Penalty::per_class(Index features, Index outputs) {
  std::vector<Index> group(static_cast<std::size_t>(features * outputs));
  for (Index i = 0; i < features * outputs; ++i) group[static_cast<std::size_t>(i)] = i % outputs;
  return {std::move(group), outputs};
}

Penalty Penalty::by_group(const std::vector<Index>& group_of_feature, Index groups, Index outputs) {
  std::vector<Index> group;
  std::vector<bool> used(static_cast<std::size_t>(std::max<Index>(groups, 0)), false);
  for (const Index g : group_of_feature) {
    if (g != kNone && (g < 0 || g >= groups))
      throw InputError("penalty group = " + std::to_string(g) + ": must be from 0 to " +
                       std::to_string(groups - 1) + ", or -1 for no penalty");
    if (g != kNone) used[static_cast<std::size_t>(g)] = true;
    group.insert(group.end(), static_cast<std::size_t>(outputs), g);
  }
  const auto empty = std::find(used.begin(), used.end(), false);
  if (used.empty() || empty != used.end())
    throw InputError("penalty group " + std::to_string(empty - used.begin()) + ": has no feature");
  return {std::move(group), groups};
}

double Penalty::value(const Vector& w, const Vector& lambda) const {
  thread_local Vector c;
  exponentials(lambda, c);
  double sum = 0.0;
  for (Index i = 0; i < weights(); ++i)
    if (group(i) != kNone) sum += c[group(i)] * w[i] * w[i];
  return sum;
}

void Penalty::add_product(const Vector& lambda, const Vector& p, Vector& out) const {
  thread_local Vector c;
  exponentials(lambda, c);
  for (Index i = 0; i < weights(); ++i)
    if (group(i) != kNone) out[i] += 2.0 * c[group(i)] * p[i];
}

void Penalty::cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const {
  thread_local Vector c;
  exponentials(lambda, c);
  out.setZero();
  for (Index i = 0; i < weights(); ++i)
    if (group(i) != kNone) out[i] = 2.0 * c[group(i)] * q[group(i)] * w[i];
}

void Penalty::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                       Vector& out) const {
  thread_local Vector c;
  exponentials(lambda, c);
  out.setZero();
  for (Index i = 0; i < weights(); ++i)
    if (group(i) != kNone) out[group(i)] += w[i] * p[i];
  for (Index g = 0; g < groups_; ++g) out[g] *= 2.0 * c[g];
}

}  // namespace yosida
