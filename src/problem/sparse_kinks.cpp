#include "problem/sparse_kinks.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"

namespace yosida {
namespace {

constexpr int kMaxSweeps = 10000;
/// Lengths that move by less than this share of the largest are found.
constexpr double kFound = 1e-14;

double soft(double value, double threshold) {
  return std::copysign(std::max(std::abs(value) - threshold, 0.0), value);
}

/// The way along which a weight or a group leaves 0.
struct Ray {
  std::vector<Index> weights;
  std::vector<double> direction;
  Vector terms;  // what each λ adds to the slope of L_T along it
};

class Kink {
 public:
  explicit Kink(const NearKink& near) : n_(near), w_(near.w) {
    if (!n_.support.empty()) {
      Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(std::ssize(n_.support), std::ssize(n_.support));
      solve_semidefinite(n_.hessian(n_.w, n_.support), inverse);
      inverse_ = inverse;
    }
    find_leaving();
    find_entering();
  }

  bool exists() const { return !rays_.empty(); }

  Vector slopes(const Matrix& directions) const {
    // Coordinates: the strict support, then the rays.
    std::vector<Index> strict;
    for (const Index j : n_.support)
      if (!is_leaving(j)) strict.push_back(j);
    std::vector<Index> set = strict;
    for (const Ray& ray : rays_) set.insert(set.end(), ray.weights.begin(), ray.weights.end());
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    const auto place = [&](Index j) { return std::lower_bound(set.begin(), set.end(), j) - set.begin(); };
    const Index inner = std::ssize(strict), rays = std::ssize(rays_);
    Matrix basis = Matrix::Zero(std::ssize(set), inner + rays);
    for (Index i = 0; i < inner; ++i) basis(place(strict[static_cast<std::size_t>(i)]), i) = 1.0;
    for (Index k = 0; k < rays; ++k) {
      const Ray& ray = rays_[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < ray.weights.size(); ++i)
        basis(place(ray.weights[i]), inner + k) = ray.direction[i];
    }
    const Matrix h = basis.transpose() * n_.hessian(w_, set) * basis;
    Vector outer = basis.transpose() * n_.outer(set);
    // C δ in these coordinates.
    Eigen::MatrixXd turn(inner + rays, directions.cols());
    Vector column(n_.w.size());
    for (Index i = 0; i < directions.cols(); ++i) {
      n_.penalty.cross_product(w_, n_.lambda, directions.col(i), column);
      turn.col(i).head(inner) = column(strict);
      for (Index k = 0; k < rays; ++k)
        turn(inner + k, i) = rays_[static_cast<std::size_t>(k)].terms.dot(directions.col(i));
    }
    // The strict support is eliminated: d_E = −H_EE⁻¹ (C_E δ + H_ER z).
    Eigen::MatrixXd eliminated(inner, directions.cols() + rays);
    eliminated.leftCols(directions.cols()) = turn.topRows(inner);
    eliminated.rightCols(rays) = h.topRightCorner(inner, rays);
    if (inner > 0) solve_semidefinite(h.topLeftCorner(inner, inner), eliminated);
    const Eigen::MatrixXd of_turn = eliminated.leftCols(directions.cols());
    const Eigen::MatrixXd of_rays = eliminated.rightCols(rays);
    const Eigen::MatrixXd s = h.bottomRightCorner(rays, rays) - h.bottomLeftCorner(rays, inner) * of_rays;
    const Eigen::MatrixXd b = turn.bottomRows(rays) - h.bottomLeftCorner(rays, inner) * of_turn;
    Vector slopes(directions.cols());
    for (Index i = 0; i < directions.cols(); ++i) {
      const Vector z = lengths(s, b.col(i));
      const Vector d = -of_turn.col(i) - of_rays * z;
      slopes[i] = outer.head(inner).dot(d) + outer.tail(rays).dot(z);
    }
    return slopes;
  }

 private:
  bool is_leaving(Index j) const { return std::binary_search(leaving_.begin(), leaving_.end(), j); }
  Index place_in_support(Index j) const {
    return std::lower_bound(n_.support.begin(), n_.support.end(), j) - n_.support.begin();
  }
  /// How far along v weights of the support give way to a unit of force, all others following.
  double yield(const std::vector<Index>& weights, const std::vector<double>& v) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      for (std::size_t k = 0; k < weights.size(); ++k)
        sum += v[i] * v[k] * inverse_(place_in_support(weights[i]), place_in_support(weights[k]));
    return sum;
  }

  void add_weight(Index j, double sign) {
    Ray ray{{j}, {sign}, Vector::Zero(n_.penalty.hyperparameters())};
    ray.terms[n_.penalty.l1()->group(j)] = n_.at.l1(j);
    rays_.push_back(std::move(ray));
  }
  void add_group(std::vector<Index> weights, std::vector<double> direction) {
    Vector along = Vector::Zero(n_.w.size());
    for (std::size_t i = 0; i < weights.size(); ++i) along[weights[i]] = direction[i];
    Ray ray{std::move(weights), std::move(direction), {}};
    n_.penalty.terms(along, n_.lambda, ray.terms);
    ray.terms.tail(n_.penalty.hyperparameters() - n_.penalty.first_l2_lambda()).setZero();
    rays_.push_back(std::move(ray));
  }

  /// What a change of the penalty by `reach` of it would take out of the support.
  void find_leaving() {
    for (Index g = 0; g < n_.penalty.group_count(); ++g) {
      std::vector<Index> weights;
      std::vector<double> direction;
      double square = 0.0;
      for (const Index j : n_.penalty.members(g))
        if (n_.w[j] != 0.0) {
          weights.push_back(j);
          direction.push_back(n_.w[j]);
          square += n_.w[j] * n_.w[j];
        }
      const double norm = std::sqrt(square);
      for (double& each : direction) each /= norm;
      if (weights.empty() || !(norm <= n_.reach * n_.at.group(g) * yield(weights, direction))) continue;
      for (const Index j : weights) w_[j] = 0.0;
      for (const Index j : n_.penalty.members(g)) leaving_.push_back(j);
      add_group(std::move(weights), std::move(direction));
    }
    std::sort(leaving_.begin(), leaving_.end());
    const std::vector<Index> groups = leaving_;
    for (const Index j : n_.support) {
      if (j >= n_.penalty.weights() || n_.w[j] == 0.0 || n_.at.l1(j) == 0.0) continue;
      if (std::binary_search(groups.begin(), groups.end(), j)) continue;
      const double sign = std::copysign(1.0, n_.w[j]);
      if (!(std::abs(n_.w[j]) <= n_.reach * n_.at.l1(j) * yield({j}, {sign}))) continue;
      w_[j] = 0.0;
      leaving_.push_back(j);
      add_weight(j, sign);
    }
    std::sort(leaving_.begin(), leaving_.end());
  }

  /// What a change of the penalty by `reach` of it would let into the support.
  void find_entering() {
    std::vector<char> is_active(static_cast<std::size_t>(n_.penalty.group_count()), 0);
    for (Index g = 0; g < n_.penalty.group_count(); ++g) {
      double norm = 0.0, beyond = 0.0, room = n_.at.group(g);
      std::vector<Index> weights;
      std::vector<double> direction;
      bool is_near = true;
      for (const Index j : n_.penalty.members(g)) {
        norm += std::abs(n_.w[j]);
        is_near &= !is_leaving(j);
        const double s = soft(n_.gradient[j], n_.at.l1(j));
        if (s == 0.0) continue;
        weights.push_back(j);
        direction.push_back(-s);
        beyond += s * s;
        room += n_.at.l1(j) * std::abs(s) / (std::abs(s) + n_.at.l1(j));
      }
      is_active[static_cast<std::size_t>(g)] = norm > 0.0;
      if (norm > 0.0 || !is_near || !(std::sqrt(beyond) >= n_.at.group(g) - n_.reach * room)) continue;
      for (double& each : direction) each /= std::sqrt(beyond);
      add_group(std::move(weights), std::move(direction));
    }
    for (Index j = 0; j < n_.penalty.weights(); ++j) {
      const double level = n_.at.l1(j);
      if (n_.w[j] != 0.0 || level == 0.0 || is_leaving(j)) continue;
      if (const Index g = n_.penalty.group(j);
          g != Penalty::kNone && is_active[static_cast<std::size_t>(g)] == 0)
        continue;
      if (std::abs(n_.gradient[j]) >= level * (1.0 - n_.reach))
        add_weight(j, n_.gradient[j] > 0.0 ? -1.0 : 1.0);
    }
  }

  /// min ½ zᵀSz + bᵀz over z ≥ 0, one length after the other: there are few.
  static Vector lengths(const Eigen::MatrixXd& s, const Vector& b) {
    Vector z = Vector::Zero(b.size());
    for (int sweep = 0; sweep < kMaxSweeps && b.size() > 0; ++sweep) {
      double moved = 0.0;
      for (Index k = 0; k < b.size(); ++k) {
        if (!(s(k, k) > 0.0)) continue;
        const double next = std::max(z[k] - (b[k] + s.row(k).dot(z)) / s(k, k), 0.0);
        moved = std::max(moved, std::abs(next - z[k]));
        z[k] = next;
      }
      if (moved <= kFound * z.lpNorm<Eigen::Infinity>()) break;
    }
    return z;
  }

  const NearKink& n_;
  Vector w_;  // with what leaves at 0
  Eigen::MatrixXd inverse_;
  std::vector<Index> leaving_;
  std::vector<Ray> rays_;
};

}  // namespace

bool sparse_one_sided_slopes(const NearKink& near, const Matrix& directions, Vector& slopes) {
  const Kink kink(near);
  slopes = kink.slopes(directions);
  return kink.exists();
}

}  // namespace yosida
