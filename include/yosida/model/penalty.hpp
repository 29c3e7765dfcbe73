#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {

/// Σ_i e^{λ_g(i)} w_i²: which λ each weight of a linear model belongs to. Weights stand as [feature j, output
/// k] at j·outputs + k; intercepts, behind them, are never penalised and no part of this. May be used from
/// several threads.
class Penalty {
 public:
  /// The group of a weight that is not penalised.
  static constexpr Index kNone = -1;

  /// One λ for all.
  static Penalty shared(Index weights);
  /// One λ per feature, the same for its weights of every output.
  static Penalty per_feature(Index features, Index outputs = 1);
  /// One λ per output.
  static Penalty per_class(Index features, Index outputs);
  /// One λ per named group of features. Throws InputError where a feature's group is neither in [0, groups)
  /// nor kNone, or where a group has no feature.
  static Penalty by_group(const std::vector<Index>& group_of_feature, Index groups, Index outputs = 1);

  Index weights() const { return static_cast<Index>(group_.size()); }
  Index groups() const { return groups_; }
  /// The λ that a weight belongs to, or kNone.
  Index group(Index weight) const { return group_[static_cast<std::size_t>(weight)]; }
  /// One λ, on every weight.
  bool is_shared() const { return shared_; }

  // Vectors of weights may be longer by the intercepts, which are left as they are.

  /// Σ e^λ w²
  double value(const Vector& w, const Vector& lambda) const;
  /// out += 2e^λ ∘ p: gradient and Hessian products of it.
  void add_product(const Vector& lambda, const Vector& p, Vector& out) const;
  /// out = ∂/∂λ of its gradient at w, times q; 0 at intercepts.
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const;
  /// out = the transposed of it, times p.
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const;

 private:
  Penalty(std::vector<Index> group, Index groups);

  std::vector<Index> group_;
  Index groups_;
  bool shared_;
};

}  // namespace yosida
