#include "problem/sparse_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "linalg/factor.hpp"
#include "linalg/power_iteration.hpp"
#include "problem/dependent_weights.hpp"
#include "problem/newton.hpp"
#include "problem/row_space_system.hpp"
#include "problem/sparse_quadratic.hpp"

namespace yosida {
namespace {

constexpr int kMaxIterations = 1000;
/// Iterations without progress before rounding is said to have the last word.
constexpr int kPatience = 4;
/// Stages end at so much of their threshold, and the next has so much of it.
constexpr double kStageTolerance = 0.3;
constexpr double kStage = 0.15;
/// Violators enter the working set so many at a time, or as many as are in it.
constexpr std::size_t kFewest = 100;
/// A factorisation may cost so many gradients; correlated columns would need as many products.
constexpr double kAffordableFactor = 500.0;
/// A share of the tolerance: models are minimised more exactly than asked for, which reads no data.
constexpr double kModelShare = 0.01;
/// Products with the Hessian that first estimate its largest curvature.
constexpr int kPowerIterations = 4;
/// A step cut shorter than this calls for more damping.
constexpr double kPoorStep = 0.2;
constexpr int kMaxDampings = 12;
/// Newton's steps in the space of few rows, and those that then take out rounding.
constexpr int kMaxRowSteps = 60;
constexpr int kMaxRefinements = 4;
/// A share of φ: a step that promises no more than this is the last.
constexpr double kLastStep = 1e-14;
constexpr double kShortestStep = 1e-10;

class SparseNewton {
 public:
  SparseNewton(const SparseInner& problem, Vector& a)
      : p_(problem), a_(a), penalisable_(p_.data.penalisable()), penalty_(problem.penalty) {}

  InnerReport run() {
    if (p_.max_count < 1) return report_;
    p_.data.margins(a_, margins_);
    update_gradient();
    begin_stages();
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      while (is_early() && (norm_ <= tolerance() || idle_ >= kPatience)) next_stage();
      if (norm_ <= tolerance() || idle_ >= kPatience || report_.work.paper_count() >= p_.max_count) break;
      if (stop_requested(p_.stop)) break;
      collect_support();
      if (suits_row_space()) {
        solve_in_row_space();
        continue;
      }
      const bool moved = support_.size() <= largest_set() ? step_on_working_set() : step_by_products();
      if (!moved && !is_early()) break;
      if (report_.work.paper_count() >= p_.max_count) break;
      if (moved) {
        update_gradient();
        note_progress();
      } else {
        next_stage();
      }
    }
    set_stage(1.0);
    update_subgradient();
    if (norm_ <= p_.tolerance) settle_dependent();
    if (p_.data.loss().ignores_shifts()) centre_shifts(p_.data, penalty_, p_.c, a_);
    report_.gradient_norm = norm_;
    report_.converged = norm_ <= p_.tolerance;
    return report_;
  }

 private:
  double objective(const Vector& margins, const Vector& a) const {
    double penalty = 0.0;
    for (Index j = 0; j < a.size(); ++j)
      if (a[j] != 0.0)  // most are
        penalty += (0.5 * p_.c[j] * a[j] + p_.linear[j]) * a[j];
    return p_.data.value_at(margins) + penalty + penalty_.norms(a);
  }
  double threshold_of(Index j) const { return j < penalisable_ ? penalty_.l1(j) : 0.0; }

  void update_gradient() {
    p_.data.slopes_at(margins_, slopes_);
    p_.data.gather(slopes_, gradient_);
    gradient_ += p_.c.cwiseProduct(a_) + p_.linear;
    ++report_.work.train_gradients;
    update_subgradient();
    if (first_norm_ == 0.0) first_norm_ = norm_;
  }
  void update_subgradient() {
    subgradient_ = gradient_;
    penalty_.smallest_subgradient(a_, subgradient_);
    norm_ = subgradient_.cwiseProduct(p_.units).norm();
  }

  // From a start far away the norms come down in stages, each solved roughly: supports grow from small ones,
  // where all at once many wrong weights would enter and leave one by one.

  bool is_early() const { return stage_ > 1.0; }
  double tolerance() const {
    return is_early() ? std::max(kStageTolerance * stage_ * least_threshold_, p_.tolerance) : p_.tolerance;
  }
  void begin_stages() {
    least_threshold_ = least_threshold();
    set_stage(std::max(1.0, kStage * p_.penalty.factor_of_zero(gradient_)));
    begin_stage();
  }
  void next_stage() {
    set_stage(std::max(1.0, kStage * stage_));
    begin_stage();
  }
  /// The norms are so many times those asked for.
  void set_stage(double factor) {
    if (factor == stage_) return;
    stage_ = factor;
    penalty_ = factor == 1.0 ? p_.penalty : p_.penalty.times(factor);
  }
  /// The smallest threshold of a kink, in units of the columns.
  double least_threshold() const {
    double least = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < penalisable_; ++j)
      if (p_.penalty.l1(j) > 0.0) least = std::min(least, p_.penalty.l1(j) * p_.units[j]);
    for (Index g = 0; g < p_.penalty.penalty().group_count(); ++g)
      if (p_.penalty.group(g) > 0.0) least = std::min(least, p_.penalty.group(g));
    return std::isfinite(least) ? least : 0.0;
  }
  void begin_stage() {
    update_subgradient();
    first_norm_ = least_ = norm_;
    lowest_ = objective(margins_, a_);
    idle_ = 0;
  }
  void note_progress() {
    const double now = objective(margins_, a_);
    idle_ = norm_ < 0.9 * least_ || now < lowest_ - 1e-14 * std::abs(lowest_) ? 0 : idle_ + 1;
    least_ = std::min(least_, norm_);
    lowest_ = std::min(lowest_, now);
  }

  /// The weights that `wanted` names, and the intercept.
  template <typename Wanted>
  void collect(std::vector<Index>& set, const Wanted& wanted) const {
    set.clear();
    for (Index j = 0; j < penalisable_; ++j)
      if (wanted(j)) set.push_back(j);
    for (Index j = penalisable_; j < p_.data.size(); ++j) set.push_back(j);
  }
  void collect_support() {
    support_ = penalty_.support(a_);
    for (Index j = penalisable_; j < p_.data.size(); ++j) support_.push_back(j);
  }

  /// Beyond so many weights factorisations cost more than conjugate gradients will.
  std::size_t largest_set() const {
    const double affordable = std::cbrt(3.0 * kAffordableFactor * p_.flops_per_gradient);
    return static_cast<std::size_t>(
        std::clamp(affordable, static_cast<double>(3 * kFewest), static_cast<double>(kMaxCholesky)));
  }

  /// The support and the weights at 0 that most want to leave it.
  void choose_working_set() {
    std::vector<Index> violators;
    for (Index j = 0; j < penalisable_; ++j)
      if (a_[j] == 0.0 && subgradient_[j] != 0.0 && !std::binary_search(support_.begin(), support_.end(), j))
        violators.push_back(j);
    const std::size_t room = largest_set() + kFewest - support_.size();
    const std::size_t most = std::min(std::max(kFewest, support_.size()), room);
    if (violators.size() > most) {
      std::nth_element(violators.begin(), violators.begin() + static_cast<std::ptrdiff_t>(most),
                       violators.end(), [&](Index i, Index j) {
                         return std::abs(subgradient_[i]) * p_.units[i] >
                                std::abs(subgradient_[j]) * p_.units[j];
                       });
      violators.resize(most);
    }
    std::vector<Index> joined = violators;
    joined.insert(joined.end(), support_.begin(), support_.end());
    std::sort(joined.begin(), joined.end());
    set_ = std::move(joined);
  }

  /// What the last Hessian has of the working set; empty where it lacks some of it.
  Matrix last_hessian() const {
    if (!std::includes(last_set_.begin(), last_set_.end(), set_.begin(), set_.end())) return {};
    std::vector<Index> place;
    for (const Index j : set_)
      place.push_back(std::lower_bound(last_set_.begin(), last_set_.end(), j) - last_set_.begin());
    return last_hessian_(place, place);
  }

  /// ∇²f on the working set, from what is known of it where f is quadratic.
  Matrix hessian() {
    if (std::optional<Matrix> known = p_.hessian(set_)) return std::move(*known);
    if (p_.data.loss().is_quadratic())
      if (Matrix last = last_hessian(); last.size() > 0) return last;
    p_.data.state_at(margins_, state_);
    last_hessian_ = p_.data.hessian_on(state_, set_);
    last_set_ = set_;
    report_.work.factorisations += p_.data.hessian_on_flops(set_.size()) / p_.flops_per_gradient;
    return last_hessian_;
  }

  bool step_on_working_set() {
    choose_working_set();
    Matrix h = hessian();
    for (std::size_t i = 0; i < set_.size(); ++i)
      h(static_cast<Index>(i), static_cast<Index>(i)) += p_.c[set_[i]];
    // The model in units of the columns.
    const Vector unit = p_.units(set_);
    h = unit.asDiagonal() * h * unit.asDiagonal();
    const Vector x0 = a_(set_).cwiseQuotient(unit);
    const Vector q = gradient_(set_).cwiseProduct(unit);
    Vector threshold(x0.size());
    for (std::size_t i = 0; i < set_.size(); ++i)
      threshold[static_cast<Index>(i)] = threshold_of(set_[i]) * unit[static_cast<Index>(i)];
    hold_shifts(p_.data, penalty_, p_.c, a_, set_, h);
    const std::vector<SparseQuadratic::Group> groups = groups_of_set();
    const bool exact = p_.data.loss().is_quadratic();  // its own model
    // Elsewhere superlinear: the nearer, the more exact.
    const double forcing = exact ? 0.0 : std::min(0.1, std::sqrt(norm_ / std::max(first_norm_, norm_)));
    const Vector diagonal = h.diagonal();
    for (int tries = 0; tries < kMaxDampings; ++tries) {
      if (damping_ > 0.0) h.diagonal() = diagonal.array() + damping_;
      Vector x = x0;
      const SparseQuadraticReport solved = minimise({h, q, threshold, x0, p_.stop, groups},
                                                    std::max(forcing * norm_, kModelShare * tolerance()), x);
      report_.work.factorisations += solved.flops / p_.flops_per_gradient;
      next_ = a_;
      next_(set_) = x.cwiseProduct(unit);
      const double length = next_.allFinite() ? descend() : 0.0;
      if (exact) return length > 0.0;
      // Far from the minimum a loss may have next to no curvature, and its model no near minimum.
      if (length < kPoorStep) {
        damping_ = std::max(10.0 * damping_, 1e-3 * norm_ / (1.0 + x0.norm()));
      } else if (length == 1.0) {
        damping_ = damping_ > 1e-6 * diagonal.maxCoeff() ? 0.1 * damping_ : 0.0;
      }
      if (length > 0.0) return true;
    }
    return false;
  }

  /// The groups, as far as they are in the working set.
  std::vector<SparseQuadratic::Group> groups_of_set() const {
    std::vector<SparseQuadratic::Group> groups;
    if (!penalty_.has_groups()) return groups;
    std::vector<Index> place(static_cast<std::size_t>(penalty_.penalty().group_count()), -1);
    for (std::size_t i = 0; i < set_.size(); ++i) {
      if (set_[i] >= penalisable_) break;
      const Index g = penalty_.penalty().group(set_[i]);
      if (g == Penalty::kNone) continue;
      Index& at = place[static_cast<std::size_t>(g)];
      if (at < 0) {
        at = std::ssize(groups);
        groups.push_back({{}, penalty_.group(g)});
      }
      groups[static_cast<std::size_t>(at)].members.push_back(static_cast<Index>(i));
    }
    return groups;
  }

  /// To next_, or as far on the way as the objective falls by 1e-4 of what the model promises. Returns how
  /// far: 1 is all the way, 0 nowhere.
  double descend() {
    const Vector direction = next_ - a_;
    if (direction.isZero(0.0)) return 0.0;
    p_.data.margins(direction, move_);
    const double now = objective(margins_, a_);
    const double slope = gradient_.dot(direction) + penalty_.norms(next_) - penalty_.norms(a_);
    const double slack = 1e-15 * std::abs(now);
    Vector trial_margins;
    for (double step = 1.0; step > 1e-12; step *= 0.5) {
      trial_margins = margins_ + step * move_;
      if (step < 1.0) next_ = a_ + step * direction;
      if (!(objective(trial_margins, next_) <= now + 1e-4 * step * std::min(slope, 0.0) + slack)) continue;
      a_.swap(next_);
      margins_.swap(trial_margins);
      return step;
    }
    return 0.0;
  }

  /// Columns that depend on each other leave many minima. This takes the one that does not hang on rounding:
  /// it is found from any Hessian that is at hand, and kept where predictions stay as they are.
  void settle_dependent() {
    collect_support();
    set_ = support_;
    const auto is_priced = [&](Index j) { return threshold_of(j) > 0.0; };
    const bool has_flat =
        std::any_of(set_.begin(), set_.end(), [&](Index j) { return is_priced(j) && p_.c[j] == 0.0; });
    if (p_.data.outputs() > 1 || penalty_.has_groups() || !has_flat || set_.size() > largest_set() ||
        !has_room_for(1))
      return;
    std::optional<Matrix> known = p_.hessian(set_);
    Matrix h = known ? std::move(*known) : last_hessian();
    if (h.size() == 0) return;
    h.diagonal() += p_.c(set_);
    std::vector<Index> order(set_.size());  // places: those without a price stay first
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_partition(order.begin(), order.end(),
                          [&](Index at) { return !is_priced(set_[static_cast<std::size_t>(at)]); });
    h = Matrix(h(order, order));
    std::vector<Index> columns;
    for (const Index at : order) columns.push_back(set_[static_cast<std::size_t>(at)]);
    std::vector<bool> priced(columns.size());
    std::transform(columns.begin(), columns.end(), priced.begin(), is_priced);
    Vector x = a_(columns);
    if (give_up_dependent(h, priced, x) == 0) return;
    const Vector a = a_;
    const Vector margins = margins_;
    a_(columns) = x;
    p_.data.margins(a_, margins_);
    update_gradient();
    if (norm_ <= p_.tolerance) return;
    a_ = a;
    margins_ = margins;
    update_gradient();
  }

  // Large supports.

  void hessian_product(const Vector& p, Vector& out) {
    p_.data.hessian_product_at(state_, p, out);
    out += p_.c.cwiseProduct(p);
    ++report_.work.hessian_products;
  }
  bool has_room_for(std::int64_t counts) const { return report_.work.paper_count() + counts < p_.max_count; }

  /// A proximal gradient step finds support and signs, conjugate gradients on them the rest of the way.
  bool step_by_products() {
    p_.data.state_at(margins_, state_);
    const Vector before = a_;
    if (!has_room_for(kPowerIterations + 1) || !proximal_gradient_step()) return false;
    update_gradient();
    if (norm_ <= tolerance()) return true;
    if (!has_room_for(2)) return true;
    p_.data.state_at(margins_, state_);
    Vector free = Vector::Zero(a_.size());  // 1 on the support
    collect_support();
    free(support_).setOnes();
    const Vector b = -subgradient_.cwiseProduct(free);
    const auto apply = [&](const Vector& p, Vector& out) {
      const Vector on_support = p.cwiseProduct(free);
      p_.data.hessian_product_at(state_, on_support, out);
      out += p_.c.cwiseProduct(on_support);
      penalty_.add_curvature_product(a_, on_support, out);
      out = out.cwiseProduct(free);
    };
    const double forcing = std::min(0.1, std::sqrt(norm_ / std::max(first_norm_, norm_)));
    Vector direction = Vector::Zero(a_.size());
    const Index most = static_cast<Index>(
        std::min<std::int64_t>(p_.max_count - report_.work.paper_count() - 1, 10 * a_.size()));
    const double enough = 0.3 * tolerance() / p_.units.maxCoeff();
    const CgReport cg = conjugate_gradients(apply, b, direction, std::max(forcing * b.norm(), enough), most,
                                            {.stop = p_.stop});
    report_.work.hessian_products += cg.products;
    // Weights that would change their sign stop at 0; where that does not lower the objective, a shorter way.
    for (double step = 1.0; step > 1e-6; step *= 0.25) {
      next_ = a_ + step * direction;
      for (Index j = 0; j < penalisable_; ++j)
        if (next_[j] * a_[j] <= 0.0 && penalty_.l1(j) > 0.0) next_[j] = 0.0;
      const Vector move = next_ - a_;
      p_.data.margins(move, move_);
      const Vector trial_margins = margins_ + move_;
      const double now = objective(margins_, a_);
      if (!(objective(trial_margins, next_) <= now + 1e-15 * std::abs(now))) {
        report_.work.factorisations += 0.5;  // a product with the design
        continue;
      }
      a_.swap(next_);
      margins_ = trial_margins;
      break;
    }
    return a_ != before;
  }

  bool proximal_gradient_step() {
    if (curvature_ == 0.0) {
      Vector direction = subgradient_;
      Vector scratch;
      curvature_ = power_iteration([&](const Vector& p, Vector& out) { hessian_product(p, out); },
                                   kPowerIterations, direction, scratch)
                       .norm;
      if (!(curvature_ > 0.0)) return false;
    }
    // F(next) ≤ F + slope·move + curvature/2 ‖move‖² makes it a step of descent.
    const double now = objective(margins_, a_);
    for (int tries = 0; tries < 40; ++tries, curvature_ *= 2.0) {
      next_ = a_ - gradient_ / curvature_;
      penalty_.prox(1.0 / curvature_, next_);
      const Vector direction = next_ - a_;
      p_.data.margins(direction, move_);
      const Vector trial_margins = margins_ + move_;
      if (objective(trial_margins, next_) <= now + 1e-15 * std::abs(now)) {
        a_.swap(next_);
        margins_ = trial_margins;
        return true;
      }
      report_.work.factorisations += 0.5;
    }
    return false;
  }

  // Few rows and many weights, c > 0 and a quadratic f = ½ ‖√h (Xa + b − y)‖²: the minimum is known by the ρ
  // = √h (Xa + b − y) of as few numbers as there are rows, since a_j = −S(v_j)/c_j, v = Xᵀ √h ρ + linear, S
  // shrinking by the threshold. This ρ minimises φ = ½ ‖ρ‖² + ρᵀ √h y + Σ S(v_j)²/(2c_j), with √hᵀρ = 0 where
  // there is an intercept. φ is convex and once differentiable; the Hessian on the support of a(ρ) makes
  // Newton's steps, which end at the minimum once the support stays the same.

  /// Once: what rounding leaves undone there, the other ways end.
  bool suits_row_space() const {
    return !was_in_row_space_ && p_.data.loss().is_quadratic() && !penalty_.has_groups() &&
           has_room_for(2 + kMaxRefinements) && RowSpaceSystem::suits(p_.data, p_.c, support_.size());
  }

  void solve_in_row_space() {
    was_in_row_space_ = true;
    set_stage(1.0);
    p_.data.state_at(margins_, state_);
    RowSpaceSystem system(p_.data, state_, p_.c);
    bool moved = minimise_in_row_space(system) && descend() > 0.0;
    if (moved) update_gradient();
    for (int i = 0; moved && norm_ > p_.tolerance && i < kMaxRefinements; ++i) {
      Vector step;
      collect_support();
      system.factor(support_);
      system.solve(-subgradient_, step);
      next_ = a_ + step;
      const double last = norm_;
      moved = next_.allFinite() && descend() > 0.0;
      if (moved) update_gradient();
      moved = moved && norm_ < 0.5 * last;
    }
    report_.work.factorisations += system.flops() / p_.flops_per_gradient;
    begin_stage();
  }

  /// Leaves the minimiser, but for rounding, in next_. False where it was not found.
  bool minimise_in_row_space(RowSpaceSystem& system) {
    const Vector& g = system.row_scales();
    const auto shrunk = [&](Index j, double at) { return std::max(std::abs(at) - penalty_.l1(j), 0.0); };
    const auto inverse_g = [&](const Vector& v) {
      return Vector((g.array() > 0.0).select(v.array() / g.array(), 0.0));
    };
    Vector rho = inverse_g(slopes_), slopes_at_zero, v, move, xa, trial;
    if (p_.data.has_intercept()) rho -= g * (g.dot(rho) / g.squaredNorm());
    p_.data.slopes_at(Vector::Zero(margins_.size()), slopes_at_zero);
    const Vector gy = -inverse_g(slopes_at_zero);  // √h y
    p_.data.gather(g.cwiseProduct(rho), v);
    v += p_.linear;
    const auto phi = [&](const Vector& at_rho, double length) {
      double sum = 0.5 * at_rho.squaredNorm() + at_rho.dot(gy);
      for (Index j = 0; j < penalisable_; ++j) {
        const double s = shrunk(j, length == 0.0 ? v[j] : v[j] + length * move[j]);
        if (s > 0.0) sum += 0.5 * s * s / p_.c[j];
      }
      return sum;
    };
    double now = phi(rho, 0.0);
    std::vector<Index> last;
    bool was_full = false;
    bool is_last = false;
    next_.setZero(a_.size());
    for (int i = 0; i < kMaxRowSteps && !stop_requested(p_.stop); ++i) {
      for (Index j = 0; j < penalisable_; ++j)
        next_[j] = shrunk(j, v[j]) > 0.0 ? -std::copysign(shrunk(j, v[j]), v[j]) / p_.c[j] : 0.0;
      collect(set_, [&](Index j) { return next_[j] != 0.0; });
      if (p_.data.has_intercept()) next_[penalisable_] = 0.0;
      p_.data.margins(next_, xa);
      const Vector q = rho + gy - g.cwiseProduct(xa);
      system.factor(set_);
      double beta = 0.0;
      const Vector delta = system.solve_rows(-q, 0.0, beta);
      if (p_.data.has_intercept()) next_[penalisable_] = -beta;
      report_.work.factorisations += 1.0;  // a product with the design and one with its transposed
      if (is_last || (was_full && set_ == last)) break;
      last = set_;
      p_.data.gather(g.cwiseProduct(delta), move);
      const double slope = q.dot(delta);
      is_last = -slope <= kLastStep * std::abs(now);
      double length = 1.0;
      double value = now;
      for (; length > kShortestStep; length *= 0.5) {
        trial = rho + length * delta;
        value = phi(trial, length);
        if (is_last || value <= now + 1e-4 * length * slope) break;
      }
      if (!(length > kShortestStep)) break;
      rho = trial;
      v += length * move;
      now = value;
      was_full = length == 1.0;
    }
    return next_.allFinite();
  }

  const SparseInner& p_;
  Vector& a_;
  Index penalisable_;
  Vector margins_, move_, slopes_, state_, gradient_, subgradient_, next_;
  std::vector<Index> support_, set_, last_set_;
  Matrix last_hessian_;
  SparsePenaltyAt penalty_;  // of the stage
  double stage_ = 1.0;
  double least_threshold_ = 0.0;
  double norm_ = 0.0;
  double least_ = 0.0, lowest_ = 0.0;  // norm and objective of the stage
  int idle_ = 0;
  double first_norm_ = 0.0;
  double curvature_ = 0.0;
  double damping_ = 0.0;
  bool was_in_row_space_ = false;
  InnerReport report_;
};

}  // namespace

namespace {

/// Whether the penalty stays as it is where all weights of a feature move together, all in the set.
bool is_shift_free(const SparsePenaltyAt& penalty, const Vector& c, const Vector& w, Index first,
                   Index outputs) {
  double slope = 0.0;
  double size = 0.0;
  for (Index j = first; j < first + outputs; ++j) {
    if (c[j] > 0.0 || penalty.penalty().group(j) != Penalty::kNone) return false;
    if (penalty.l1(j) > 0.0 && w[j] == 0.0) return false;
    slope += w[j] > 0.0 ? penalty.l1(j) : -penalty.l1(j);
    size += penalty.l1(j);
  }
  return std::abs(slope) <= 1e-12 * size;
}

}  // namespace

void hold_shifts(const DataTerm& data, const SparsePenaltyAt& penalty, const Vector& c, const Vector& w,
                 const std::vector<Index>& set, Matrix& h) {
  if (!data.loss().ignores_shifts()) return;
  const Index k = data.outputs();
  for (std::size_t i = 0; i + static_cast<std::size_t>(k) <= set.size(); ++i) {
    const Index first = set[i];
    if (first % k != 0 || set[i + static_cast<std::size_t>(k) - 1] != first + k - 1) continue;
    if (first < data.penalisable() && !is_shift_free(penalty, c, w, first, k)) continue;
    const auto at = static_cast<Index>(i);
    h.block(at, at, k, k).array() += h.diagonal().segment(at, k).maxCoeff();
  }
}

void centre_shifts(const DataTerm& data, const SparsePenaltyAt& penalty, const Vector& c, Vector& w) {
  const Index k = data.outputs();
  for (Index first = 0; first < data.size(); first += k) {
    auto own = w.segment(first, k);
    if (first >= data.penalisable()) {
      own.array() -= own.mean();
      continue;
    }
    if (!is_shift_free(penalty, c, w, first, k)) continue;
    if (penalty.l1(first) == 0.0) {
      own.array() -= own.mean();
    } else {
      Vector sorted = own;
      std::sort(sorted.begin(), sorted.end());
      own.array() -= 0.5 * (sorted[(k - 1) / 2] + sorted[k / 2]);
    }
  }
}

Vector column_units(const Vector* curvatures, Index weights) {
  if (curvatures == nullptr) return Vector::Ones(weights);
  return (curvatures->array() > 0.0).select(curvatures->array().rsqrt(), 1.0);
}

InnerReport sparse_newton(const SparseInner& problem, Vector& a) { return SparseNewton(problem, a).run(); }

}  // namespace yosida
