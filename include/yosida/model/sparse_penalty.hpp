#pragma once

#include <optional>
#include <span>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/model/penalty.hpp"

namespace YOSIDA_EXPORT yosida {

/// Norms of groups of weights, Σ_g s_g e^λ ‖w_g‖₂, which set whole groups to 0.
struct GroupNorms {
  /// Which group each weight is in; groups do not overlap, and a weight may be in none.
  Penalty groups;
  /// One λ for each group, or one for all of them.
  bool has_shared_lambda = false;
  /// s_g = √(weights of the group), so that a large group does not enter before a small one; else 1. One λ
  /// for each group makes it redundant.
  bool scales_by_size = false;
};

class SparsePenaltyAt;

/// A penalty with kinks, which sets weights to 0:
///   Σ_j e^λ₁(j) |w_j| + Σ_g s_g e^λ(g) ‖w_g‖₂ + Σ_j e^λ₂(j) w_j²,
/// each sum with λ of its own, or not there: the lasso, the elastic net, the adaptive lasso (one λ₁ for each
/// feature), the group lasso and the sparse group lasso. The λ stand in this order. Weights are those of
/// Penalty; intercepts, behind them, are no part of it. May be used from several threads.
class SparsePenalty {
 public:
  /// Throws InputError where neither `l1` nor `groups` is there, or where their weights are not the same.
  SparsePenalty(std::optional<Penalty> l1, std::optional<GroupNorms> groups, std::optional<Penalty> l2);
  /// One λ: Σ e^λ |w_j|.
  static SparsePenalty lasso(Index weights);
  /// Two: Σ e^λ₁ |w_j| + e^λ₂ w_j².
  static SparsePenalty elastic_net(Index weights);

  /// How many weights it is of, without intercepts.
  Index weights() const { return weights_; }
  /// How many λ it has.
  Index hyperparameters() const { return l1_count_ + group_count_ + l2_count_; }
  /// Each kind of term, where there is one.
  const std::optional<Penalty>& l1() const { return l1_; }
  const std::optional<GroupNorms>& groups() const { return groups_; }
  const std::optional<Penalty>& l2() const { return l2_; }
  /// The places of their λ: [0, first_group_lambda()) belong to the ℓ₁ terms, those from first_l2_lambda()
  /// on to the squares.
  Index first_group_lambda() const { return l1_count_; }
  Index first_l2_lambda() const { return l1_count_ + group_count_; }
  /// One ℓ₁ term with one λ on every weight, squares likewise or none, and no groups: lasso and elastic net.
  bool is_plain() const;

  /// The penalty at a λ.
  SparsePenaltyAt at(const Vector& lambda) const;

  /// The weights of a group.
  std::span<const Index> members(Index group) const;
  /// 0 where there are none.
  Index group_count() const { return groups_ ? groups_->groups.groups() : 0; }
  /// The group of a weight, or Penalty::kNone.
  Index group(Index weight) const { return groups_ ? groups_->groups.group(weight) : Penalty::kNone; }

  // Vectors of weights may be longer by the intercepts.

  /// out_k = Σ v_j over the weights that λ_k penalises.
  void sum_by_lambda(const Vector& v, Vector& out) const;
  /// out_k = ∂/∂λ_k of the penalty: its terms of each λ.
  void terms(const Vector& w, const Vector& lambda, Vector& out) const;
  /// out = ∂/∂λ of its gradient on the support of w, times q; 0 elsewhere.
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const;
  /// out = the transposed of it, times p.
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const;
  /// For the λ of norms: log of the smallest penalty of its own that leaves all its weights at 0 where the
  /// data term has the gradient g there and no other term helps. Entries of squares are left as they are.
  void highest(const Vector& g, Vector& lambda) const;

 private:
  friend class SparsePenaltyAt;
  double scale(Index group) const;
  Index lambda_of_group(Index group) const { return l1_count_ + (groups_->has_shared_lambda ? 0 : group); }

  std::optional<Penalty> l1_;
  std::optional<GroupNorms> groups_;
  std::optional<Penalty> l2_;
  Index weights_;
  Index l1_count_, group_count_, l2_count_;
  std::vector<Index> members_;  // of one group after the other
  std::vector<std::size_t> first_member_;
};

/// A SparsePenalty at a λ: what inner solvers ask of it. A view: the penalty must outlive it.
class SparsePenaltyAt {
 public:
  /// Without its λ.
  const SparsePenalty& penalty() const { return *penalty_; }
  /// Whether it has norms of groups.
  bool has_groups() const { return penalty_->groups().has_value(); }
  /// The factor of |w_j|; 0 where there is none.
  double l1(Index weight) const { return l1_[weight]; }
  /// The factor of ‖w_g‖.
  double group(Index g) const { return group_[g]; }
  /// The second derivative of the squares, 2e^λ₂ of each weight.
  const Vector& curvatures() const { return curvature_; }
  /// The same penalty with both kinds of norms multiplied by `factor`.
  SparsePenaltyAt times(double factor) const;

  /// The norms, without the squares.
  double norms(const Vector& w) const;
  /// Everything.
  double value(const Vector& w) const;
  /// g becomes the subgradient of the smallest norm, where it is the gradient of all but the norms: 0 at the
  /// minimiser, and there alone.
  void smallest_subgradient(const Vector& w, Vector& g) const;
  /// w becomes argmin_u ½‖u − w‖² + step × the norms of u.
  void prox(double step, Vector& w) const;
  /// Whether derivatives in w_j exist at w: it is not 0, or no norm has a kink there. The generalised
  /// support: what is outside it stays at 0 under a small change of λ.
  bool is_free(const Vector& w, Index weight) const;
  /// The free weights, rising.
  std::vector<Index> support(const Vector& w) const;
  /// out += the second derivative of the norms on the support, times p: blocks e^λ/‖w_g‖ (I − ŵŵᵀ).
  void add_curvature_product(const Vector& w, const Vector& p, Vector& out) const;
  /// Adds this second derivative to the rows and columns of h that `set` names.
  void add_curvature_on(const Vector& w, const std::vector<Index>& set, Matrix& h) const;
  /// The smallest factor of the norms that leaves w = 0 where all but the norms has the gradient g there:
  /// max_j |g_j| / e^λ of an ℓ₁ penalty.
  double factor_of_zero(const Vector& g) const;
  /// What the dual of the training problem loses to the penalty at κz, and the largest κ in [0, 1] that it
  /// allows: κ|z_j| ≤ e^λ₁, ‖soft(κz_g, e^λ₁)‖ ≤ e^λg. Squares allow everything at the price of
  /// Σ ‖what is beyond‖²/(4e^λ₂).
  struct Dual {
    double kappa;  ///< the largest factor that is feasible
    double price;  ///< what the squares cost
  };
  /// At z, the gradient of the data term.
  Dual dual(const Vector& z) const;

 private:
  friend class SparsePenalty;
  SparsePenaltyAt() = default;
  /// Σ_j soft(z_j, l1)² over the members of a group, its root.
  double soft_norm(Index g, const Vector& z, double kappa, double factor) const;

  const SparsePenalty* penalty_ = nullptr;
  Vector l1_, group_, curvature_;
};

}  // namespace yosida
