#include "problem/quasi_newton.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"
#include "linalg/rates.hpp"
#include "linalg/row_numbers.hpp"

namespace yosida {
namespace {

/// Operations of all eigenvectors of a symmetric matrix, over the cube of its size.
constexpr double kEigenFlops = 6.0;

/// What the loss of a row takes for each output: exponentials and logarithms.
constexpr double kSecondsOfOutput = 1e-8;

/// Seconds are compared, since an operation of a matrix product costs a tenth of one in a pass.
struct Seconds {
  double pass, hessian, factor;
};
/// How large a Hessian is that is kept whole: as large as all weights that a penalty may lie on.
double size_of(const DataTerm& data, KeptHessian::Kind kind) {
  return static_cast<double>(kind == KeptHessian::Kind::whole ? data.penalisable() : data.design().cols());
}
/// The operations of the products of rows that a Hessian is made of; whole, for each pair of outputs.
double hessian_flops(const DataTerm& data, KeptHessian::Rows rows, KeptHessian::Kind kind) {
  const double share = KeptHessian::count(data, rows, kind) / static_cast<double>(data.design().rows());
  const double pairs = kind == KeptHessian::Kind::whole ? 0.5 * static_cast<double>(data.outputs() + 1) : 1.0;
  return share * pairs * 0.5 * data.design().product_flops() * size_of(data, kind);
}
Seconds predicted(const DataTerm& data, KeptHessian::Rows rows, KeptHessian::Kind kind) {
  const Rates rate = rates();
  const auto columns = static_cast<double>(data.design().cols());
  const auto outputs = static_cast<double>(data.outputs());
  const double numbers = 0.5 * data.design().product_flops();
  const double cube = std::pow(size_of(data, kind), 3.0);
  const double flops = hessian_flops(data, rows, kind);
  Seconds seconds{
      .pass = numbers * std::max(8.0 / rate.bytes, 4.0 * outputs / rate.products),
      // The Hessian of one output and the products of features are summed in single precision.
      .hessian = (outputs > 1.0 && kind == KeptHessian::Kind::whole ? 1.0 : 0.5) * flops / rate.products,
      .factor = cube / (3.0 * rate.factors)};
  // Where whole Hessians of several outputs are cheap, columns are few, and losses take much of a pass.
  if (outputs > 1.0 && kind == KeptHessian::Kind::whole)
    seconds.pass += kSecondsOfOutput * outputs * static_cast<double>(data.design().rows());
  if (kind == KeptHessian::Kind::product) {
    // Eigenvectors once, and their products with all outputs in the place of a factor.
    seconds.hessian += kEigenFlops * cube / rate.factors;
    seconds.factor = 4.0 * columns * columns * outputs / rate.factors;
  }
  return seconds;
}

/// What a search of one λ takes: solves, Hessians, and passes without any of these.
constexpr double kUsualSolves = 26.0;
constexpr double kUsualHessians = 3.0;
constexpr double kUsualPasses = 300.0;

/// The logarithm of the mean penalty.
double logarithm_of(const Vector& c) { return std::log(c.mean()); }

/// With so many rows for each column a fold has nearly the Hessian of another.
constexpr double kRowsToFollow = 3.0;

constexpr std::size_t kMaxPairs = 30;
/// The most pairs that one linear solve adds.
constexpr std::size_t kMaxPairsOfSolve = 8;
constexpr std::size_t kMaxKept = 24;
/// A Hessian counts as new for this many solves.
constexpr int kSoon = 2;
/// A solve takes so many passes even with the Hessian of today; a finer one takes more.
std::int64_t needed_passes(double tolerance) {
  return 1 + static_cast<std::int64_t>(tolerance < 1e-2) + static_cast<std::int64_t>(tolerance < 1e-4);
}
/// A blur from here on is that of a scan.
constexpr double kCoarse = 0.1;
constexpr std::int64_t kMaxPasses = 200;
/// After so many steps, none of which has brought the gradient to this share of its least before, rounding
/// decides.
constexpr int kMaxStalled = 20;
constexpr double kShrinks = 0.9;
/// A step is taken where it lowers the objective by this share of what its slope promises ...
constexpr double kSufficient = 1e-4;
/// ... or where rounding hides that and it halves the slope.
constexpr double kFlatter = 0.5;
constexpr double kRounding = 1e-11;
constexpr double kLeastStep = 1e-10;
constexpr double kSmallest = std::numeric_limits<double>::min();

bool pays_as(const DataTerm& data, KeptHessian::Kind kind) {
  if (data.loss().is_quadratic() || size_of(data, kind) > static_cast<double>(kMaxCholesky)) return false;
  const Seconds seconds = predicted(data, KeptHessian::Rows::all, kind);
  return kUsualSolves * seconds.factor + kUsualHessians * seconds.hessian <= kUsualPasses * seconds.pass;
}

/// The Hessian of several outputs is kept whole where that costs little beside the passes that it saves.
KeptHessian::Kind kind_for(const DataTerm& data) {
  using enum KeptHessian::Kind;
  return data.outputs() == 1 || pays_as(data, whole) ? whole : product;
}

}  // namespace

bool QuasiNewton::pays(const DataTerm& data, bool is_one_penalty) {
  const KeptHessian::Kind kind = kind_for(data);
  return (is_one_penalty || kind == KeptHessian::Kind::whole) && pays_as(data, kind);
}

QuasiNewton::QuasiNewton(const DataTerm& data)
    : kind_(kind_for(data)),
      may_follow_(static_cast<double>(data.design().rows()) >=
                  kRowsToFollow * static_cast<double>(data.design().cols())) {}

bool QuasiNewton::follow(SolveMemory& leader) {
  auto* const own = dynamic_cast<QuasiNewton*>(&leader);
  if (own == nullptr || !may_follow_ || !own->may_follow_) return false;
  leader_ = own;
  own->leads_ = true;
  return true;
}

const KeptHessian* QuasiNewton::hessian() const {
  const KeptHessian& used = follows() ? leader_->hessian_ : hessian_;
  return used.is_empty() ? nullptr : &used;
}

bool QuasiNewton::set_penalties(const Vector& c) {
  if (hessian() == nullptr) return false;
  return follows() ? hessian()->has_penalties(c) : hessian_.set_penalties(c);
}

void QuasiNewton::begin_to_follow() {
  if (!follows()) return;
  if (leaders_hessians_ != leader_->hessians_) pairs_.clear();  // as after a Hessian of its own
  leaders_hessians_ = leader_->hessians_;
  wasted_passes_ = 0.0;
}

double QuasiNewton::end_to_lead(const DataTerm& data, const Vector& c, const StopToken* stop) {
  if (!leads_ || stop_requested(stop) || point_.w.size() == 0) return 0.0;
  const double flops = hessian_.is_empty() ? refresh(data, c, stop) : 0.0;
  set_penalties(c);
  return flops;
}

double QuasiNewton::passes_worth_a_hessian(const DataTerm& data) const {
  const Seconds seconds = predicted(data, rows_, kind_);
  const double worth = 2.0 + 0.8 * (seconds.hessian + seconds.factor) / seconds.pass;
  // One that is not the Hessian itself takes some passes however new it is.
  return kind_ == KeptHessian::Kind::whole ? worth : std::exp2(hessians_) * worth;
}

std::optional<double> QuasiNewton::largest_curvature(const DataTerm& data, const Vector& zero,
                                                     double flops_per_gradient, Work& work) {
  work.train_gradients += go_to(data, zero);
  keep_point();
  if (stop_requested(stop_)) return {};
  if (leads_ || follows()) {
    require_margins(data);
    Vector state;
    data.state_at(point_.margins, state);
    data.hessian_diagonal_at(state, diagonal_);
    work.factorisations += 0.5;
  }
  if (follows()) {
    if (leader_->hessian_.is_empty()) return {};
    // No column of a fold may be much steeper than in the leader's without this being seen.
    double ratio = 1.0;
    for (Index i = 0; i < diagonal_.size(); ++i)
      if (leader_->diagonal_[i] > 0.0) ratio = std::max(ratio, diagonal_[i] / leader_->diagonal_[i]);
    return std::max(ratio * leader_->largest_,
                    diagonal_.head(data.design().cols() * data.outputs()).maxCoeff());
  }
  work.factorisations += refresh(data, Vector::Ones(data.size()), stop_) / flops_per_gradient;
  if (hessian_.is_empty()) return {};
  largest_ = hessian_.largest_curvature();
  return largest_;
}

std::int64_t QuasiNewton::go_to(const DataTerm& data, const Vector& w) {
  const auto is_here = [&](const Point& point) { return point.w.size() == w.size() && point.w == w; };
  if (is_here(point_)) return 0;
  if (const auto kept = std::find_if(kept_.begin(), kept_.end(), is_here); kept != kept_.end()) {
    point_ = *kept;
    return 0;
  }
  point_.value = data.gradient(w, point_.margins, point_.gradient);
  point_.w = w;
  return 1;
}

void QuasiNewton::keep_point() {
  const auto is_here = [&](const Point& point) { return point.w == point_.w; };
  if (std::any_of(kept_.begin(), kept_.end(), is_here)) return;
  if (kept_.size() == kMaxKept) kept_.erase(kept_.begin());
  kept_.push_back({.w = point_.w, .gradient = point_.gradient, .value = point_.value});
}

void QuasiNewton::require_margins(const DataTerm& data) {
  if (point_.margins.size() == 0) data.margins(point_.w, point_.margins);
}

void QuasiNewton::exchange_hessians() {
  std::swap(hessian_, other_);
  std::swap(penalty_, other_penalty_);
  std::swap(wasted_passes_, other_wasted_passes_);
}

void QuasiNewton::choose_hessian(const Vector& c) {
  begin_to_follow();
  if (other_.is_empty()) return;
  const double penalty = logarithm_of(c);
  if (std::abs(penalty - other_penalty_) < std::abs(penalty - penalty_)) exchange_hessians();
}

double QuasiNewton::refresh(const DataTerm& data, const Vector& c, const StopToken* stop) {
  if ((hessian() != nullptr || follows()) && wasted_passes_ <= passes_worth_a_hessian(data)) return 0.0;
  is_alone_ = leader_ != nullptr;
  // One that is new and wastes passes all the same has missed what few rows tell: then all are taken.
  if (!hessian_.is_empty() && solves_ <= kSoon) rows_ = KeptHessian::Rows::all;
  require_margins(data);
  Vector state;
  data.state_at(point_.margins, state);
  exchange_hessians();
  hessian_.compute(data, state, c, rows_, kind_, stop);
  begin_with_new_hessian(c);
  const double share = kind_ == KeptHessian::Kind::whole ? 1.0 / 3.0 : kEigenFlops;
  return hessian_flops(data, rows_, kind_) + share * std::pow(size_of(data, kind_), 3.0);
}

void QuasiNewton::begin_with_new_hessian(const Vector& c) {
  penalty_ = logarithm_of(c);
  solves_ = 0;
  pairs_.clear();
  wasted_passes_ = 0.0;
  hessians_ += 1.0;
}

void QuasiNewton::adopt(const DataTerm& data, const Vector& c, Matrix hessian) {
  if (follows() || kind_ != KeptHessian::Kind::whole) return;
  exchange_hessians();
  hessian.diagonal() -= c;
  hessian_.adopt(data, std::move(hessian));
  begin_with_new_hessian(c);
}

void QuasiNewton::remember(Pair pair) {
  const double curvature = pair.step.dot(pair.change);
  // The curvature of a convex term is never negative but by rounding. A pair whose curvature is rounding
  // tells nothing.
  if (!(curvature > 1e-10 * pair.step.norm() * pair.change.norm())) return;
  if (pairs_.size() == kMaxPairs) pairs_.erase(pairs_.begin());
  pairs_.push_back(std::move(pair));
}

void QuasiNewton::apply_inverse(const Vector& c, Vector& v) const {
  std::vector<double> along(pairs_.size());
  const auto change = [&](const Pair& pair) { return pair.change + c.cwiseProduct(pair.step); };
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    const Vector y = change(pairs_[i]);
    along[i] = pairs_[i].step.dot(v) / pairs_[i].step.dot(y);
    v -= along[i] * y;
  }
  hessian()->solve(v);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Vector y = change(pairs_[i]);
    v += (along[i] - y.dot(v) / pairs_[i].step.dot(y)) * pairs_[i].step;
  }
}

/// One inner solve.
class QuasiNewton::Minimiser {
 public:
  Minimiser(QuasiNewton& memory, const InnerProblem& problem) : memory_(memory), p_(problem) {}

  InnerReport run(Vector& a) {
    if (p_.max_count < 1) return report_;
    report_.work.train_gradients += memory_.go_to(p_.data, a);
    memory_.choose_hessian(p_.c);
    update();
    double least = norm();
    int stalled = 0;
    while (!is_solved() && stalled < kMaxStalled) {
      if (report_.work.train_gradients >= std::min(p_.max_count, kMaxPasses) || stop_requested(p_.stop))
        break;
      const double flops = memory_.refresh(p_.data, p_.c, p_.stop);
      report_.work.factorisations += flops / p_.flops_per_gradient;
      // Classes that a plane separates turn the Hessian with every unit that weights move: a new one goes on.
      if (flops > 0.0 && p_.data.outputs() > 1) stalled = 0;
      if (!memory_.set_penalties(p_.c)) break;
      if (!step()) break;
      stalled = norm() <= kShrinks * least ? 0 : stalled + 1;
      least = std::min(least, norm());
      if (report_.work.train_gradients > needed_passes(std::max(p_.relative, p_.blur)))
        memory_.wasted_passes_ += 1.0;
    }
    p_.data.centre_free_weights(p_.c, point().w);  // which moves no probability
    a = point().w;
    memory_.keep_point();
    report_.gradient_norm = gradient_.norm();
    report_.converged = is_solved();
    report_.blur = blur();
    return report_;
  }

 private:
  Point& point() { return memory_.point_; }
  const Point& point() const { return memory_.point_; }
  double norm() const { return gradient_norm(gradient_, p_.c, p_.curvatures); }
  bool is_solved() { return norm() <= p_.tolerance || (p_.blur > 0.0 && blur() <= p_.blur); }
  /// How far away in λ the weights may be. The gradient is compared with c∘a, by which it turns as λ moves.
  /// In a scan both may be measured by M⁻¹, that is, by how much they move the weights: stiff directions then
  /// count for little. Outside of a scan, an M from long ago is too rough a measure.
  double blur() {
    Vector turn = p_.c.cwiseProduct(point().w);
    double ratio = norm() / std::max(gradient_norm(turn, p_.c, p_.curvatures), kSmallest);
    if (ratio > p_.blur && p_.blur >= kCoarse && memory_.set_penalties(p_.c)) {
      Vector left = gradient_;
      const double pull = squared(turn);
      ratio = std::min(ratio, std::sqrt(squared(left) / std::max(pull, kSmallest)));
    }
    return ratio;
  }
  /// vᵀM⁻¹v; v becomes M⁻¹v.
  double squared(Vector& v) const {
    const Vector before = v;
    memory_.hessian()->solve(v);
    return before.dot(v);
  }

  double of_penalty(const Vector& a) const { return 0.5 * p_.c.dot(a.cwiseAbs2()) + p_.linear.dot(a); }
  Vector gradient_at(const Point& at) const { return at.gradient + p_.c.cwiseProduct(at.w) + p_.linear; }
  void update() { gradient_ = gradient_at(point()); }

  /// Moves the point by one quasi-Newton step, nearly always of length 1, which costs one pass. False where
  /// no step helps.
  bool step() {
    Vector d = -gradient_;
    memory_.apply_inverse(p_.c, d);
    double slope = gradient_.dot(d);
    if (!(slope < 0.0) || !d.allFinite()) {  // rounding in the pairs
      memory_.pairs_.clear();
      d = -gradient_;
      memory_.hessian()->solve(d);
      slope = gradient_.dot(d);
      if (!(slope < 0.0) || !d.allFinite()) return false;
    }
    Point& last = memory_.last_;
    std::swap(last, point());
    const double value = last.value + of_penalty(last.w);
    // Always a pass: a step too short to leave a point that is kept must not go on for ever.
    point().w = last.w + d;
    point().value = p_.data.gradient(point().w, point().margins, point().gradient);
    ++report_.work.train_gradients;
    Vector gradient = gradient_at(point());
    const double size = std::abs(value);
    const double next = point().value + of_penalty(point().w);
    const bool lower = next <= value + kSufficient * slope;
    const bool flatter = next <= value + kRounding * size && gradient.dot(d) <= -kFlatter * slope;
    if (!(lower || flatter) || !gradient.allFinite()) {
      if (!shorten(d, value, slope)) {
        std::swap(last, point());
        return false;
      }
      gradient = gradient_at(point());
    }
    memory_.remember({point().w - last.w, point().gradient - last.gradient});
    gradient_ = gradient;
    return true;
  }

  /// The point between the last and the one tried, at which the objective has fallen. Margins are linear
  /// along it, so that no pass is needed before the gradient there.
  bool shorten(const Vector& d, double value, double slope) {
    Point& last = memory_.last_;
    if (last.margins.size() == 0) p_.data.margins(last.w, last.margins);
    const Vector move = point().margins - last.margins;
    const Index k = p_.data.outputs();
    const auto is_lost = [&](Index row) { return !move.segment(row * k, k).allFinite(); };
    if (count_of(p_.data.design(), is_lost) > 0) return false;
    double t = 1.0;
    double next = point().value + of_penalty(point().w);
    Point& at = point();
    do {
      // The bottom of the parabola through both values and the slope.
      const double bend = next - value - t * slope;
      const double bottom = std::isfinite(next) && bend > 0.0 ? -0.5 * slope * t * t / bend : 0.0;
      t = std::clamp(bottom, 0.1 * t, 0.5 * t);
      at.w = last.w + t * d;
      at.margins = last.margins + t * move;
      at.value = p_.data.value_at(at.margins);
      next = at.value + of_penalty(at.w);
    } while (!(next <= value + kSufficient * t * slope) && t > kLeastStep);
    if (t <= kLeastStep) return false;
    Vector slopes;
    p_.data.slopes_at(at.margins, slopes);
    p_.data.gather(slopes, at.gradient);
    at.margins.resize(0);  // whoever needs them computes them, with the same bits as after a checkpoint
    report_.work.factorisations += 0.5;
    return at.gradient.allFinite();
  }

  QuasiNewton& memory_;
  const InnerProblem& p_;
  Vector gradient_;  // of the objective at the point
  InnerReport report_;
};

void QuasiNewton::exchange(Archive& archive) {
  const auto exchange_point = [&](Point& point) {
    archive.exchange(point.w);
    archive.exchange(point.gradient);
    archive.exchange(point.value);
    if (archive.reads()) point.margins.resize(0);
  };
  exchange_point(point_);
  exchange_point(last_);
  archive.exchange(kept_, exchange_point);
  archive.exchange(pairs_, [&](Pair& pair) {
    archive.exchange(pair.step);
    archive.exchange(pair.change);
  });
  hessian_.exchange(archive);
  other_.exchange(archive);
  for (double* each : {&penalty_, &other_penalty_, &wasted_passes_, &other_wasted_passes_, &hessians_})
    archive.exchange(*each);
  for (double* each : {&leaders_hessians_, &largest_}) archive.exchange(*each);
  archive.exchange(diagonal_);
  archive.exchange(is_alone_);
  archive.exchange(rows_);
  archive.exchange(solves_);
}

InnerReport QuasiNewton::minimise(const InnerProblem& problem, Vector& a) {
  ++solves_;
  InnerReport report = Minimiser(*this, problem).run(a);
  if (leads_ || follows())
    last_.margins.resize(0);  // folds would hold those of all their rows between solves
  report.work.factorisations +=
      end_to_lead(problem.data, problem.c, problem.stop) / problem.flops_per_gradient;
  return report;
}

LinearReport QuasiNewton::solve(const DataTerm& data, const Vector& c, const Vector& w, const Vector& b,
                                const LinearOptions& options, double flops_per_gradient,
                                const Vector* curvatures, Vector& x) {
  ++solves_;
  begin_to_follow();
  LinearReport report;
  report.work.factorisations += static_cast<double>(go_to(data, w));
  require_margins(data);
  Vector state;
  data.state_at(point_.margins, state);
  std::vector<Pair> seen;
  const auto apply = [&](const Vector& p, Vector& out) {
    data.hessian_product_at(state, p, out);
    seen.push_back({p, out});
    out += c.cwiseProduct(p);
  };
  const auto precondition = [&](Vector& v) { apply_inverse(c, v); };
  const auto norm = [&](const Vector& residual) { return gradient_norm(residual, c, curvatures); };
  const double tolerance = options.tolerance * norm(b);
  const Index most = 10 * b.size();
  const std::int64_t needed = needed_passes(options.tolerance);
  while (!report.converged) {
    // What is kept is tried first: often a product or two are all that is wanted.
    const bool is_first = report.work.hessian_products == 0 && hessian() != nullptr;
    const double flops = is_first ? 0.0 : refresh(data, c, options.stop);
    report.work.factorisations += flops / flops_per_gradient;
    if (!set_penalties(c)) break;
    // No more than are worth another Hessian; with one of this very point, as many as it takes.
    std::int64_t products = std::min<std::int64_t>(options.max_count, most) - report.work.hessian_products;
    if (flops == 0.0)
      products = std::min(products, needed + 1 +
                                        static_cast<std::int64_t>(
                                            std::max(passes_worth_a_hessian(data) - wasted_passes_, 0.0)));
    if (products < 1 || stop_requested(options.stop)) break;
    const CgReport cg = conjugate_gradients(
        apply, b, x, tolerance, products, {.precondition = precondition, .norm = norm, .stop = options.stop});
    report.work.hessian_products += cg.products;
    // The first ones have met most of what M misses, the tangent of w*(λ) among them. Later ones, of small
    // residuals, would only push others out.
    for (std::size_t i = std::min(seen.size(), kMaxPairsOfSolve); i-- > 0;) remember(std::move(seen[i]));
    seen.clear();
    wasted_passes_ += static_cast<double>(std::max<Index>(cg.products - needed, 0));
    report.residual_norm = cg.residual_norm;
    report.converged = cg.residual_norm <= tolerance;
    if (cg.products < products) break;  // rounding
  }
  report.work.factorisations += end_to_lead(data, c, options.stop) / flops_per_gradient;
  return report;
}

}  // namespace yosida
