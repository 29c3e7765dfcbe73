#include "yosida/model/sparse_penalty.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr int kBisections = 200;

double soft(double value, double threshold) {
  return std::copysign(std::max(std::abs(value) - threshold, 0.0), value);
}

double sign_of(double value) { return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0; }

/// ‖w‖ over some weights.
double norm_of(const Vector& w, std::span<const Index> members) {
  double square = 0.0;
  for (const Index j : members) square += w[j] * w[j];
  return std::sqrt(square);
}

/// The least t in [low, high] with is_enough(t), which holds from some t on and at `high`.
template <typename Test>
double bisected(double low, double high, const Test& is_enough) {
  for (int i = 0; i < kBisections && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

SparsePenalty::SparsePenalty(std::optional<Penalty> l1, std::optional<GroupNorms> groups,
                             std::optional<Penalty> l2)
    : l1_(std::move(l1)),
      groups_(std::move(groups)),
      l2_(std::move(l2)),
      weights_(l1_       ? l1_->weights()
               : groups_ ? groups_->groups.weights()
                         : 0),
      l1_count_(l1_ ? l1_->groups() : 0),
      group_count_(!groups_                     ? 0
                   : groups_->has_shared_lambda ? 1
                                                : groups_->groups.groups()),
      l2_count_(l2_ ? l2_->groups() : 0) {
  if (!l1_ && !groups_)
    throw InputError("sparse penalty: has neither an l1 term nor groups; one of them is needed");
  if ((groups_ && groups_->groups.weights() != weights_) || (l2_ && l2_->weights() != weights_))
    throw InputError("sparse penalty: its terms are of different numbers of weights; they must be the same");
  if (!groups_) return;
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(groups_->groups.groups()));
  for (Index j = 0; j < weights_; ++j)
    if (group(j) != Penalty::kNone) members[static_cast<std::size_t>(group(j))].push_back(j);
  first_member_.push_back(0);
  for (const std::vector<Index>& each : members) {
    members_.insert(members_.end(), each.begin(), each.end());
    first_member_.push_back(members_.size());
  }
}

SparsePenalty SparsePenalty::lasso(Index weights) { return {Penalty::shared(weights), {}, {}}; }

SparsePenalty SparsePenalty::elastic_net(Index weights) {
  return {Penalty::shared(weights), {}, Penalty::shared(weights)};
}

bool SparsePenalty::is_plain() const { return !groups_ && l1_->is_shared() && (!l2_ || l2_->is_shared()); }

std::span<const Index> SparsePenalty::members(Index group) const {
  const auto g = static_cast<std::size_t>(group);
  return {members_.data() + first_member_[g], first_member_[g + 1] - first_member_[g]};
}

double SparsePenalty::scale(Index group) const {
  return groups_->scales_by_size ? std::sqrt(static_cast<double>(members(group).size())) : 1.0;
}

SparsePenaltyAt SparsePenalty::at(const Vector& lambda) const {
  SparsePenaltyAt at;
  at.penalty_ = this;
  const auto levels = [&](const std::optional<Penalty>& terms, Index first, double factor) {
    Vector of_weights = Vector::Zero(weights_);
    if (!terms) return of_weights;
    const Vector e = factor * lambda.segment(first, terms->groups()).array().exp();
    for (Index j = 0; j < weights_; ++j)
      if (terms->group(j) != Penalty::kNone) of_weights[j] = e[terms->group(j)];
    return of_weights;
  };
  at.l1_ = levels(l1_, 0, 1.0);
  at.curvature_ = levels(l2_, first_l2_lambda(), 2.0);
  at.group_.resize(this->group_count());
  for (Index g = 0; g < this->group_count(); ++g)
    at.group_[g] = scale(g) * std::exp(lambda[lambda_of_group(g)]);
  return at;
}

void SparsePenalty::sum_by_lambda(const Vector& v, Vector& out) const {
  out.setZero(hyperparameters());
  for (Index j = 0; j < weights_; ++j) {
    if (l1_ && l1_->group(j) != Penalty::kNone) out[l1_->group(j)] += v[j];
    if (group(j) != Penalty::kNone) out[lambda_of_group(group(j))] += v[j];
    if (l2_ && l2_->group(j) != Penalty::kNone) out[first_l2_lambda() + l2_->group(j)] += v[j];
  }
}

void SparsePenalty::terms(const Vector& w, const Vector& lambda, Vector& out) const {
  const SparsePenaltyAt at = this->at(lambda);
  out.setZero(hyperparameters());
  for (Index j = 0; j < weights_; ++j) {
    if (w[j] == 0.0) continue;
    if (l1_ && l1_->group(j) != Penalty::kNone) out[l1_->group(j)] += at.l1(j) * std::abs(w[j]);
    if (l2_ && l2_->group(j) != Penalty::kNone)
      out[first_l2_lambda() + l2_->group(j)] += 0.5 * at.curvatures()[j] * w[j] * w[j];
  }
  for (Index g = 0; g < group_count(); ++g) out[lambda_of_group(g)] += at.group(g) * norm_of(w, members(g));
}

void SparsePenalty::cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const {
  const SparsePenaltyAt at = this->at(lambda);
  out.setZero();
  for (Index j = 0; j < weights_; ++j) {
    if (w[j] == 0.0) continue;
    if (l1_ && l1_->group(j) != Penalty::kNone) out[j] += at.l1(j) * sign_of(w[j]) * q[l1_->group(j)];
    if (l2_ && l2_->group(j) != Penalty::kNone)
      out[j] += at.curvatures()[j] * w[j] * q[first_l2_lambda() + l2_->group(j)];
  }
  for (Index g = 0; g < group_count(); ++g) {
    const double norm = norm_of(w, members(g));
    if (norm == 0.0) continue;
    const double along = at.group(g) * q[lambda_of_group(g)] / norm;
    for (const Index j : members(g)) out[j] += along * w[j];
  }
}

void SparsePenalty::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                             Vector& out) const {
  const SparsePenaltyAt at = this->at(lambda);
  out.setZero(hyperparameters());
  for (Index j = 0; j < weights_; ++j) {
    if (w[j] == 0.0) continue;
    if (l1_ && l1_->group(j) != Penalty::kNone) out[l1_->group(j)] += at.l1(j) * sign_of(w[j]) * p[j];
    if (l2_ && l2_->group(j) != Penalty::kNone)
      out[first_l2_lambda() + l2_->group(j)] += at.curvatures()[j] * w[j] * p[j];
  }
  for (Index g = 0; g < group_count(); ++g) {
    const double norm = norm_of(w, members(g));
    if (norm == 0.0) continue;
    double along = 0.0;
    for (const Index j : members(g)) along += w[j] * p[j];
    out[lambda_of_group(g)] += at.group(g) * along / norm;
  }
}

void SparsePenalty::highest(const Vector& g, Vector& lambda) const {
  Vector largest = Vector::Zero(first_l2_lambda());
  for (Index j = 0; j < weights_ && l1_; ++j)
    if (l1_->group(j) != Penalty::kNone)
      largest[l1_->group(j)] = std::max(largest[l1_->group(j)], std::abs(g[j]));
  for (Index k = 0; k < group_count(); ++k) {
    double& own = largest[lambda_of_group(k)];
    own = std::max(own, norm_of(g, members(k)) / scale(k));
  }
  lambda.head(largest.size()) = largest.array().log();
}

SparsePenaltyAt SparsePenaltyAt::times(double factor) const {
  SparsePenaltyAt larger = *this;
  larger.l1_ *= factor;
  larger.group_ *= factor;
  return larger;
}

double SparsePenaltyAt::norms(const Vector& w) const {
  double sum = 0.0;
  for (Index j = 0; j < l1_.size(); ++j)
    if (w[j] != 0.0) sum += l1_[j] * std::abs(w[j]);  // most are 0
  for (Index g = 0; g < group_.size(); ++g) sum += group_[g] * norm_of(w, penalty_->members(g));
  return sum;
}

double SparsePenaltyAt::value(const Vector& w) const {
  double squares = 0.0;
  for (Index j = 0; j < curvature_.size(); ++j) squares += 0.5 * curvature_[j] * w[j] * w[j];
  return norms(w) + squares;
}

double SparsePenaltyAt::soft_norm(Index g, const Vector& z, double kappa, double factor) const {
  double square = 0.0;
  for (const Index j : penalty_->members(g)) {
    const double s = soft(kappa * z[j], factor * l1_[j]);
    square += s * s;
  }
  return std::sqrt(square);
}

void SparsePenaltyAt::smallest_subgradient(const Vector& w, Vector& g) const {
  const auto add_l1 = [&](Index j) {
    g[j] = w[j] != 0.0 ? g[j] + std::copysign(l1_[j], w[j]) : soft(g[j], l1_[j]);
  };
  for (Index j = 0; j < l1_.size(); ++j)
    if (penalty_->group(j) == Penalty::kNone) add_l1(j);
  for (Index k = 0; k < group_.size(); ++k) {
    const auto members = penalty_->members(k);
    if (const double norm = norm_of(w, members); norm > 0.0) {  // then it has a gradient
      for (const Index j : members) {
        g[j] += group_[k] * w[j] / norm;
        add_l1(j);
      }
    } else {
      const double beyond = soft_norm(k, g, 1.0, 1.0);
      const double share = beyond > group_[k] ? 1.0 - group_[k] / beyond : 0.0;
      for (const Index j : members) g[j] = share * soft(g[j], l1_[j]);
    }
  }
}

void SparsePenaltyAt::prox(double step, Vector& w) const {
  for (Index j = 0; j < l1_.size(); ++j)
    if (l1_[j] > 0.0) w[j] = soft(w[j], step * l1_[j]);
  for (Index g = 0; g < group_.size(); ++g) {
    const auto members = penalty_->members(g);
    const double norm = norm_of(w, members);
    const double share = norm > step * group_[g] ? 1.0 - step * group_[g] / norm : 0.0;
    for (const Index j : members) w[j] *= share;
  }
}

bool SparsePenaltyAt::is_free(const Vector& w, Index weight) const {
  if (w[weight] != 0.0) return true;
  if (l1_[weight] > 0.0) return false;
  const Index g = penalty_->group(weight);
  return g == Penalty::kNone || group_[g] == 0.0 || norm_of(w, penalty_->members(g)) > 0.0;
}

std::vector<Index> SparsePenaltyAt::support(const Vector& w) const {
  std::vector<Index> set;
  std::vector<char> is_active(static_cast<std::size_t>(group_.size()));
  for (Index g = 0; g < group_.size(); ++g)
    is_active[static_cast<std::size_t>(g)] = group_[g] == 0.0 || norm_of(w, penalty_->members(g)) > 0.0;
  for (Index j = 0; j < l1_.size(); ++j) {
    const Index g = penalty_->group(j);
    const bool has_kink =
        l1_[j] > 0.0 || (g != Penalty::kNone && is_active[static_cast<std::size_t>(g)] == 0);
    if (w[j] != 0.0 || !has_kink) set.push_back(j);
  }
  return set;
}

void SparsePenaltyAt::add_curvature_product(const Vector& w, const Vector& p, Vector& out) const {
  for (Index g = 0; g < group_.size(); ++g) {
    const auto members = penalty_->members(g);
    const double norm = norm_of(w, members);
    if (norm == 0.0) continue;
    double along = 0.0;
    for (const Index j : members) along += w[j] * p[j];
    for (const Index j : members) out[j] += group_[g] / norm * (p[j] - w[j] * (along / norm) / norm);
  }
}

void SparsePenaltyAt::add_curvature_on(const Vector& w, const std::vector<Index>& set, Matrix& h) const {
  std::vector<std::vector<Index>> places(static_cast<std::size_t>(group_.size()));
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i] < l1_.size())
      if (const Index g = penalty_->group(set[i]); g != Penalty::kNone)
        places[static_cast<std::size_t>(g)].push_back(static_cast<Index>(i));
  for (Index g = 0; g < group_.size(); ++g) {
    const double norm = norm_of(w, penalty_->members(g));
    if (norm == 0.0) continue;
    const double level = group_[g] / norm;
    for (const Index i : places[static_cast<std::size_t>(g)]) {
      const double own = w[set[static_cast<std::size_t>(i)]] / norm;
      h(i, i) += level;
      for (const Index k : places[static_cast<std::size_t>(g)])
        h(i, k) -= level * own * (w[set[static_cast<std::size_t>(k)]] / norm);
    }
  }
}

double SparsePenaltyAt::factor_of_zero(const Vector& g) const {
  double factor = 0.0;
  for (Index j = 0; j < l1_.size(); ++j)
    if (l1_[j] > 0.0 && penalty_->group(j) == Penalty::kNone)
      factor = std::max(factor, std::abs(g[j]) / l1_[j]);
  for (Index k = 0; k < group_.size(); ++k) {
    // Without the ℓ₁ terms, or without the norm, the factor would be larger.
    double high = soft_norm(k, g, 1.0, 0.0) / group_[k];
    double by_l1 = 0.0;
    for (const Index j : penalty_->members(k)) by_l1 = std::max(by_l1, std::abs(g[j]) / l1_[j]);
    high = std::min(high, by_l1);
    if (!(high > factor) || !std::isfinite(high)) continue;
    factor = bisected(factor, high, [&](double t) { return soft_norm(k, g, 1.0, t) <= t * group_[k]; });
  }
  return factor;
}

SparsePenaltyAt::Dual SparsePenaltyAt::dual(const Vector& z) const {
  Dual dual{.kappa = 1.0, .price = 0.0};
  const auto curvature_of_group = [&](Index g) {
    double least = std::numeric_limits<double>::infinity();
    for (const Index j : penalty_->members(g)) least = std::min(least, curvature_[j]);
    return least;
  };
  // A weight without any penalty has z = 0 where the data term is minimal along it.
  for (Index j = 0; j < l1_.size(); ++j)
    if (penalty_->group(j) == Penalty::kNone && curvature_[j] == 0.0 && l1_[j] > 0.0 &&
        std::abs(z[j]) > l1_[j])
      dual.kappa = std::min(dual.kappa, l1_[j] / std::abs(z[j]));
  for (Index g = 0; g < group_.size(); ++g)
    if (curvature_of_group(g) == 0.0 && soft_norm(g, z, dual.kappa, 1.0) > group_[g])
      dual.kappa -= bisected(0.0, dual.kappa,
                             [&](double t) { return soft_norm(g, z, dual.kappa - t, 1.0) <= group_[g]; });
  for (Index j = 0; j < l1_.size(); ++j)
    if (penalty_->group(j) == Penalty::kNone && curvature_[j] > 0.0) {
      const double beyond = soft(dual.kappa * z[j], l1_[j]);
      dual.price += beyond * beyond / (2.0 * curvature_[j]);
    }
  for (Index g = 0; g < group_.size(); ++g)
    if (const double curvature = curvature_of_group(g); curvature > 0.0) {
      const double beyond = std::max(soft_norm(g, z, dual.kappa, 1.0) - group_[g], 0.0);
      dual.price += beyond * beyond / (2.0 * curvature);
    }
  return dual;
}

}  // namespace yosida
