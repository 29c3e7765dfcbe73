#include "problem/left_out.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>

#include "linalg/factor.hpp"
#include "linalg/ranks.hpp"
#include "linalg/tasks.hpp"
#include "model/third_derivatives.hpp"
#include "problem/quasi_newton.hpp"

namespace yosida {
namespace {

/// Newton's step is trusted where it moves a margin by less than kTrusted, and not used where it moves it by
/// more than kUsed.
constexpr double kTrusted = 0.5, kUsed = 1.0;
/// Refits are as exact as any inner solve.
constexpr double kTolerance = 1e-11;
/// Where only a small penalty holds the weights, their gradient must be this small beside the pull of that
/// penalty.
constexpr double kBesidePenalty = 1e-6;
/// Up to so many rows the third derivatives join the Jacobian: that takes N² numbers.
constexpr Index kMostRowsSquared = 2000;

/// How much a refit counts where the step has moved a margin by t, and the derivative of that.
struct Blend {
  double weight = 0.0, slope = 0.0;

  explicit Blend(double t) {
    const double x = std::clamp((t - kTrusted) / (kUsed - kTrusted), 0.0, 1.0);
    weight = x * x * x * (10.0 + x * (6.0 * x - 15.0));
    slope = 30.0 * x * x * (1.0 - x) * (1.0 - x) / (kUsed - kTrusted);
    if (!(t == t)) weight = 1.0;  // no step at all: D was 0
  }
};

/// The problem at a λ, and what all rows have in common.
struct Setting {
  const LinearProblem& problem;
  const Dataset& train;
  const Loss& loss;
  const Matrix& x;
  bool intercept;
  Vector w, lambda, c;
  Vector s;  // s_i/N
  const StopToken* stop;

  Setting(const LinearProblem& problem_, const Matrix& x_, const Vector& w_, const Vector& lambda_,
          const StopToken* stop_)
      : problem(problem_),
        train(problem_.split().train),
        loss(problem_.loss()),
        x(x_),
        intercept(problem_.intercepts() > 0),
        w(w_),
        lambda(lambda_),
        c(penalty_curvatures(problem_, lambda_)),
        s(Vector::Constant(x_.rows(), 1.0 / static_cast<double>(x_.rows()))),
        stop(stop_) {
    if (train.weight.size() > 0) s = s.cwiseProduct(train.weight);
  }
  /// Asked at each row: to leave all rows out may take minutes.
  void require_going_on() const {
    if (stop_requested(stop)) throw RunEnded(*stop);
  }
  Index rows() const { return x.rows(); }
  std::span<const double> y(Index i) const { return {&train.y[i], 1}; }
  /// X_iᵀr: the gradient of a row whose slopes are r.
  Vector of_row(Index i, const Vector& r) const {
    const Index k = loss.outputs();
    Vector g(problem.weights());
    for (Index j = 0; j < x.cols(); ++j) g.segment(j * k, k) = x(i, j) * r;
    if (intercept) g.tail(k) = r;
    return g;
  }
  /// The margins of a row.
  Vector margins_of(Index i, const Vector& weights) const {
    const Index k = loss.outputs();
    const Eigen::Map<const Matrix> each(weights.data(), x.cols(), k);
    Vector m = (x.row(i) * each).transpose();
    if (intercept) m += weights.tail(k);
    return m;
  }
};

/// A row by the weights that were trained without it.
struct Refit {
  double loss = 0.0;
  Vector margins;
  Vector slopes;           // of the loss in the margins
  Vector of_lambda;        // derivative in λ: of the margin with one output, else of the loss
  double curvature = 0.0;  // with one output
};

/// Trains without row i. `hessian` is that of the other rows at the weights of all, with the penalties, from
/// which the steps begin; where it is empty, each step takes one of its own.
Refit refit(const Setting& at, Index i, Matrix hessian) {
  at.require_going_on();
  const Index k = at.loss.outputs();
  Vector without = at.train.weight.size() > 0 ? at.train.weight : Vector(Vector::Ones(at.rows()));
  without[i] = 0.0;
  const DataTerm data(at.train.x, at.train.y, without, at.loss, at.intercept);
  const double flops = 4.0 * static_cast<double>(at.x.size() * k);
  const Vector none = Vector::Zero(at.w.size());
  Vector zero = starting_weights(at.problem), g(at.w.size());
  data.gradient(zero, g);
  const Vector* const units = at.problem.units();
  Vector w = at.w;
  InnerProblem inner{.data = data,
                     .c = at.c,
                     .linear = none,
                     .relative = kTolerance,
                     .tolerance = kTolerance * gradient_norm(g, at.c, units),
                     .blur = 0.0,
                     .exact = true,
                     .max_count = std::numeric_limits<std::int64_t>::max(),
                     .flops_per_gradient = flops,
                     .curvatures = units,
                     .stop = at.stop};
  std::optional<QuasiNewton> memory;
  if (hessian.size() > 0) {
    memory.emplace(KeptHessian::Kind::whole);
    memory->adopt(data, at.c, std::move(hessian));
    inner.tolerance =
        std::min(inner.tolerance, kBesidePenalty * gradient_norm(at.c.cwiseProduct(w), at.c, units));
  }
  if (!memory || !memory->minimise(inner, w).converged) newton(inner, w);
  const Vector m = at.margins_of(i, w);
  Refit result;
  result.margins = m;
  result.slopes.resize(k);
  at.loss.values(as_span(m), at.y(i), {&result.loss, 1});
  at.loss.slopes(as_span(m), at.y(i), as_span(result.slopes));
  if (k == 1) at.loss.curvatures(as_span(m), at.y(i), {&result.curvature, 1});
  // ∂w/∂λ_g = −H⁻¹(c∘w)_g
  const Vector b = at.of_row(i, k == 1 ? Vector(Vector::Ones(1)) : result.slopes);
  const LinearOptions options{.tolerance = kTolerance, .stop = at.stop};
  Vector q = Vector::Zero(w.size());
  if (!memory || !memory->solve(data, at.c, w, b, options, flops, units, q).converged)
    hessian_solve(data, at.c, w, b, options, flops, units, q);
  at.require_going_on();  // what was stopped on the way is not whole
  result.of_lambda = -sums_by_lambda(at.problem.penalty(), at.c.cwiseProduct(w).cwiseProduct(q));
  return result;
}

std::vector<Refit> refits(const Setting& at, const std::vector<Index>& rows,
                          FunctionRef<Matrix(Index)> hessian_without) {
  std::vector<Refit> all(rows.size());
  const auto count = static_cast<Index>(rows.size());
  linalg::run_side_by_side(count, count * at.x.size() * at.x.cols(), [&](Index r) {
    const auto place = static_cast<std::size_t>(r);
    all[place] = refit(at, rows[place], hessian_without(rows[place]));
  });
  return all;
}

/// A loss of one output.
class LeftOutMargins final : public LeftOut {
 public:
  explicit LeftOutMargins(Setting setting) : at_(std::move(setting)) {
    const Index n = at_.rows();
    Vector m = at_.x * at_.w.head(at_.x.cols());
    if (at_.intercept) m.array() += at_.w[at_.x.cols()];
    slope_.resize(n);
    curvature_.resize(n);
    third_.resize(n);
    at_.loss.slopes(as_span(m), as_span(at_.train.y), as_span(slope_));
    at_.loss.curvatures(as_span(m), as_span(at_.train.y), as_span(curvature_));
    third_derivatives(at_.loss, as_span(m), as_span(at_.train.y), as_span(third_));
    hat_ = std::make_unique<const HatMatrix>(at_.x, at_.intercept, at_.s.cwiseProduct(curvature_), at_.c);
    gradient = Vector::Zero(at_.w.size());
    gradient_lambda = Vector::Zero(at_.problem.hyperparameters());
    of_rows = Vector::Zero(n);
    if (!hat_->is_whole()) {
      value = std::numeric_limits<double>::infinity();
      return;
    }
    step(m);
    sum_up();
  }

  void curvature(const Matrix& phi1, Eigen::MatrixXd& out) const override;

 private:
  /// m̃ = m + u, u = ℓ′a/D, and the losses there; where |u| is large, by refits.
  void step(const Vector& m) {
    const Vector a = at_.s.cwiseProduct(hat_->diagonal());
    const Vector remainder = hat_->remainder();
    const Vector u = slope_.array() * a.array() / remainder.array();
    left_out_ = m + u;
    margins = left_out_;
    at_.loss.values(as_span(left_out_), as_span(at_.train.y), as_span(of_rows));
    outer_.resize(at_.rows());
    at_.loss.slopes(as_span(left_out_), as_span(at_.train.y), as_span(outer_));
    largest_leverage = curvature_.cwiseProduct(a).maxCoeff();
    along_margin_ = remainder.array().inverse() +
                    third_.array() * slope_.array() * (a.array() / remainder.array()).square();
    along_leverage_ = slope_.array() / remainder.array().square();
    share_ = Vector::Ones(at_.rows());
    direct_ = Vector::Zero(at_.rows());
    if (at_.loss.is_quadratic()) return;  // the step is exact
    std::vector<Index> rows;
    for (Index i = 0; i < u.size(); ++i)
      if (!(std::abs(u[i]) <= kTrusted)) rows.push_back(i);
    refits = static_cast<Index>(rows.size());
    const std::vector<Refit> all = yosida::refits(at_, rows, [](Index) { return Matrix(); });
    for (std::size_t r = 0; r < rows.size(); ++r) blend(rows[r], u[rows[r]], all[r]);
  }

  void blend(Index i, double u, const Refit& without) {
    const Blend blend(std::abs(u));
    const double gain = blend.weight == 1.0 ? 0.0 : without.loss - of_rows[i];
    change_by_refits += at_.s[i] * (blend.weight == 1.0 ? without.loss - of_rows[i] : blend.weight * gain);
    of_rows[i] = blend.weight == 1.0 ? without.loss : of_rows[i] + blend.weight * gain;
    const double turn = std::copysign(blend.slope, u) * gain;
    outer_[i] = blend.weight == 1.0 ? 0.0 : (1.0 - blend.weight) * outer_[i] + turn;
    direct_[i] = -turn;
    share_[i] = 1.0 - blend.weight;
    if (blend.weight == 1.0) along_margin_[i] = along_leverage_[i] = 0.0;
    gradient_lambda += at_.s[i] * blend.weight * without.slopes[0] * without.of_lambda;
    margins[i] = without.margins[0];
    refit_rows_.push_back(i);
    refit_weights_.push_back(at_.s[i] * blend.weight * without.curvature);
    refit_jacobian_.push_back(without.of_lambda);
  }

  ///   c = s ℓ′(m̃)/N,  α = c ∂m̃/∂m,  β = c ∂m̃/∂a,  M = T diag(β s/N) Tᵀ
  ///   ∂F/∂w = X̃ᵀ(α − s/N ℓ‴ x̃ᵀMx̃),  ∂F/∂λ_g = −2e^λg Σ_j∈g M_jj
  void sum_up() {
    value = at_.s.dot(of_rows);
    const Vector c = at_.s.cwiseProduct(outer_);
    const Vector alpha = c.cwiseProduct(along_margin_) + at_.s.cwiseProduct(direct_);
    const auto spread = hat_->spread(c.cwiseProduct(along_leverage_).cwiseProduct(at_.s));
    const Vector gamma = alpha - at_.s.cwiseProduct(third_).cwiseProduct(spread.of_rows);
    gradient.head(at_.x.cols()) = at_.x.transpose() * gamma;
    if (at_.intercept) gradient[at_.x.cols()] = gamma.sum();
    gradient_lambda -= sums_by_lambda(at_.problem.penalty(), at_.c.cwiseProduct(spread.of_weights));
  }

  Setting at_;
  Vector slope_, curvature_, third_;  // at the margins
  std::unique_ptr<const HatMatrix> hat_;
  Vector left_out_;  // m̃
  Vector outer_;     // ∂/∂m̃ of the loss of a row
  Vector direct_;    // ∂/∂m of it at a fixed m̃: the share of a refit depends on m̃ − m
  Vector along_margin_, along_leverage_;  // ∂m̃/∂m, ∂m̃/∂a
  Vector share_;                          // of m̃ in the loss of a row, the rest is its refit's
  std::vector<Index> refit_rows_;
  std::vector<double> refit_weights_;
  std::vector<Vector> refit_jacobian_;
};

/// ∂a_i/∂λ_g = −s_i/N [Σ_j∈g 2e^λg T_ji² + 1/N Σ_k s_k ℓ‴_k (X̃Φ₁)_kg G_ki²]
/// J_ig = ∂m̃/∂m (X̃Φ₁)_ig + ∂m̃/∂a ∂a_i/∂λ_g
void LeftOutMargins::curvature(const Matrix& phi1, Eigen::MatrixXd& out) const {
  const Index groups = phi1.cols(), n = at_.rows(), d = at_.x.cols();
  Matrix along = product(at_.x, phi1.topRows(d));
  if (at_.intercept) along.rowwise() += phi1.row(d);
  Matrix leverages = Matrix::Zero(groups, n);
  const Matrix t = hat_->response();
  for (Index j = 0; j < d; ++j)
    if (const Index g = at_.problem.penalty().group(j); g != Penalty::kNone)
      leverages.row(g) += at_.c[j] * t.row(j).cwiseAbs2();
  Matrix jacobian = leverages.transpose();
  if (n <= kMostRowsSquared && !third_.isZero(0.0))
    jacobian += product(hat_->squares(), at_.s.cwiseProduct(third_).asDiagonal() * along);
  jacobian = along_margin_.asDiagonal() * along - at_.s.cwiseProduct(along_leverage_).asDiagonal() * jacobian;
  Vector weight(n);
  at_.loss.curvatures(as_span(left_out_), as_span(at_.train.y), as_span(weight));
  weight = weight.cwiseProduct(at_.s).cwiseProduct(share_);
  for (Index i = 0; i < n; ++i)
    if (!(weight[i] > 0.0) || !jacobian.row(i).allFinite()) jacobian.row(i).setZero(), weight[i] = 0.0;
  out = jacobian.transpose() * weight.asDiagonal() * jacobian;
  for (std::size_t r = 0; r < refit_rows_.size(); ++r)
    out += refit_weights_[r] * refit_jacobian_[r] * refit_jacobian_[r].transpose();
}

/// A loss of several outputs that is a softmax: with X_i = I ⊗ x̃_iᵀ, g_i = p_i − y_i, G_i = diag p_i −
/// p_ip_iᵀ and A_i = s_i/N X_iH⁻¹X_iᵀ,
///   P = (I − A_iG_i)⁻¹,  u = P A_i g_i,  m̃_i = m_i + u
class LeftOutClasses final : public LeftOut {
 public:
  explicit LeftOutClasses(Setting setting) : at_(std::move(setting)), k_(at_.loss.outputs()) {
    const Index n = at_.rows();
    const DataTerm data(at_.train, at_.loss, at_.intercept);
    Vector m;
    Vector state;
    data.margins(at_.w, m);
    data.state_at(m, state);
    hessian_ = HessianSystem{data, at_.c, state, 1.0}.matrix();
    l_ = hessian_;
    gradient = Vector::Zero(at_.w.size());
    gradient_lambda = Vector::Zero(at_.problem.hyperparameters());
    of_rows = Vector::Zero(n);
    if (!cholesky_factor(l_)) {
      value = std::numeric_limits<double>::infinity();
      return;
    }
    linalg::gather_rows(n, k_, state.data());
    probabilities_ = Eigen::Map<const Matrix>(state.data(), n, k_);
    slopes_.resize(n, k_);
    at_.loss.slopes(as_span(m), as_span(at_.train.y),
                    {slopes_.data(), static_cast<std::size_t>(slopes_.size())});
    step(Eigen::Map<const Matrix>(m.data(), n, k_));
    sum_up();
  }

  void curvature(const Matrix& phi1, Eigen::MatrixXd& out) const override;

 private:
  struct Row {
    Eigen::MatrixXd z;        // L⁻¹X_iᵀ
    Eigen::MatrixXd a, p, g;  // A_i, P, G_i
    Vector u, left_out;
    Vector c, b;  // derivatives of the loss of the row in m̃ and, at a fixed m̃, in m
    double share = 1.0;
  };
  Eigen::MatrixXd curvature_of(const Vector& p) const {
    return Eigen::MatrixXd(p.asDiagonal()) - p * p.transpose();
  }
  /// The part of the third derivatives: d(G_i)/dm contracted with Z.
  static Vector third(const Row& row, const Vector& p, const Eigen::MatrixXd& z) {
    return row.g * (z.diagonal() - (z + z.transpose()) * p);
  }

  void step(const Matrix& m) {
    const Index n = at_.rows();
    rows_.resize(static_cast<std::size_t>(n));
    margins.resize(n * k_);
    std::vector<Index> far;
    for (Index i = 0; i < n; ++i) {
      at_.require_going_on();
      Row& row = rows_[static_cast<std::size_t>(i)];
      Matrix z = Matrix::Zero(at_.w.size(), k_);
      for (Index o = 0; o < k_; ++o) z.col(o) = at_.of_row(i, Vector::Unit(k_, o));
      solve_lower(l_, z);
      row.z = z;
      const Vector p = probabilities_.row(i).transpose();
      const Vector g = slopes_.row(i).transpose();
      row.g = curvature_of(p);
      row.a = at_.s[i] * row.z.transpose() * row.z;
      row.p = (Eigen::MatrixXd::Identity(k_, k_) - row.a * row.g).inverse();
      row.u = row.p * (row.a * g);
      row.left_out = m.row(i).transpose() + row.u;
      margins.segment(i * k_, k_) = row.left_out;
      row.c.resize(k_);
      row.b = Vector::Zero(k_);
      at_.loss.values(as_span(row.left_out), at_.y(i), {&of_rows[i], 1});
      at_.loss.slopes(as_span(row.left_out), at_.y(i), as_span(row.c));
      largest_leverage = std::max(largest_leverage, (row.a * row.g).trace());
      if (const double t = move_of(row).norm(); !(t <= kTrusted)) far.push_back(i);
    }
    refits = static_cast<Index>(far.size());
    const std::vector<Refit> all = yosida::refits(at_, far, [&](Index i) { return hessian_without(i); });
    for (std::size_t r = 0; r < far.size(); ++r) blend(far[r], all[r]);
  }
  /// H − s_i/N X_iᵀG_iX_i
  Matrix hessian_without(Index i) const {
    Matrix rest = hessian_;
    const Eigen::MatrixXd own = at_.s[i] * rows_[static_cast<std::size_t>(i)].g;
    const Index last = at_.x.cols();
    const auto x = [&](Index j) { return j < last ? at_.x(i, j) : 1.0; };
    for (Index j = 0; j * k_ < rest.rows(); ++j)
      for (Index l = 0; l * k_ < rest.cols(); ++l) rest.block(j * k_, l * k_, k_, k_) -= x(j) * x(l) * own;
    return rest;
  }
  /// A number that is added to all margins of a row moves nothing.
  Vector move_of(const Row& row) const { return row.u.array() - row.u.mean(); }

  void blend(Index i, const Refit& without) {
    Row& row = rows_[static_cast<std::size_t>(i)];
    margins.segment(i * k_, k_) = without.margins;
    const Vector move = move_of(row);
    const double t = move.norm();
    const Blend blend(t);
    const double gain = without.loss - of_rows[i];
    change_by_refits += at_.s[i] * blend.weight * gain;
    gradient_lambda += at_.s[i] * blend.weight * without.of_lambda;
    row.share = 1.0 - blend.weight;
    if (blend.weight == 1.0) {
      of_rows[i] = without.loss;
      row.c.setZero();
      return;
    }
    of_rows[i] += blend.weight * gain;
    const Vector turn = blend.slope * gain / t * move;
    row.c = (1.0 - blend.weight) * row.c + turn;
    row.b = -turn;
  }

  /// c the derivatives of F in m̃, v = Pᵀc, B_i = sym(v (g_i + G_iu)ᵀ), M = Σ s_i/N H⁻¹X_iᵀB_iX_iH⁻¹,
  ///   γ_i = c + G_iA_iv + t_i(sym(A_iv uᵀ)) − s_i/N t_i(X_iMX_iᵀ),  t_i(Z) = G_i(diag Z − (Z + Zᵀ)p_i)
  ///   ∂F/∂w = Σ X_iᵀγ_i,  ∂F/∂λ_g = −2e^λg Σ_j∈g M_jj
  void sum_up() {
    value = at_.s.dot(of_rows);
    const Index size = at_.w.size();
    Eigen::MatrixXd spread = Eigen::MatrixXd::Zero(size, size);
    Matrix gamma(at_.rows(), k_);
    for (Index i = 0; i < at_.rows(); ++i) {
      at_.require_going_on();
      const Row& row = rows_[static_cast<std::size_t>(i)];
      const Vector p = probabilities_.row(i).transpose();
      const Vector g = slopes_.row(i).transpose();
      const Vector c = at_.s[i] * row.c;
      const Vector v = row.p.transpose() * c;
      const Vector av = row.a * v;
      const Vector end = g + row.g * row.u;
      const Eigen::MatrixXd b = 0.5 * (v * end.transpose() + end * v.transpose());
      spread.noalias() += at_.s[i] * row.z * b * row.z.transpose();
      const Eigen::MatrixXd turn = 0.5 * (av * row.u.transpose() + row.u * av.transpose());
      gamma.row(i) = (c + at_.s[i] * row.b + row.g * av + third(row, p, turn)).transpose();
    }
    for (Index i = 0; i < at_.rows(); ++i) {
      at_.require_going_on();
      const Row& row = rows_[static_cast<std::size_t>(i)];
      const Eigen::MatrixXd of_row = row.z.transpose() * spread * row.z;
      gamma.row(i) -= at_.s[i] * third(row, probabilities_.row(i).transpose(), of_row).transpose();
    }
    Eigen::Map<Matrix>(gradient.data(), at_.x.cols(), k_) = at_.x.transpose() * gamma;
    if (at_.intercept) gradient.tail(k_) = gamma.colwise().sum().transpose();
    Eigen::MatrixXd of_weights = l_.triangularView<Eigen::Lower>().transpose().solve(spread);
    of_weights = l_.triangularView<Eigen::Lower>().transpose().solve(Eigen::MatrixXd(of_weights.transpose()));
    gradient_lambda -=
        sums_by_lambda(at_.problem.penalty(), at_.c.cwiseProduct(Vector(of_weights.diagonal())));
  }

  Setting at_;
  Index k_;
  Matrix hessian_, l_;  // H = LLᵀ
  Matrix probabilities_, slopes_;
  std::vector<Row> rows_;
};

/// Rows by the step alone: dm̃ = P (dm + dA_i (g_i + G_iu)), of dA_i what λ does to H directly.
void LeftOutClasses::curvature(const Matrix& phi1, Eigen::MatrixXd& out) const {
  const Index groups = phi1.cols();
  out = Eigen::MatrixXd::Zero(groups, groups);
  Eigen::MatrixXd jacobian(k_, groups);
  for (Index i = 0; i < at_.rows(); ++i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    if (!(row.share > 0.0)) continue;
    const Eigen::MatrixXd t = l_.triangularView<Eigen::Lower>().transpose().solve(row.z);
    const Vector end = slopes_.row(i).transpose() + row.g * row.u;
    for (Index g = 0; g < groups; ++g) jacobian.col(g) = at_.margins_of(i, phi1.col(g));
    for (Index j = 0; j < at_.problem.penalty().weights(); ++j)
      if (const Index g = at_.problem.penalty().group(j); g != Penalty::kNone)
        jacobian.col(g) -= at_.s[i] * at_.c[j] * t.row(j).dot(end.transpose()) * t.row(j).transpose();
    jacobian = row.p * jacobian;
    Vector p(k_);
    at_.loss.curvatures(as_span(row.left_out), at_.y(i), as_span(p));
    out.noalias() += at_.s[i] * row.share * jacobian.transpose() * curvature_of(p) * jacobian;
  }
}

}  // namespace

Vector penalty_curvatures(const LinearProblem& problem, const Vector& lambda) {
  Vector ones = Vector::Ones(problem.weights());
  ones.tail(problem.intercepts()).setZero();
  Vector c = Vector::Zero(problem.weights());
  problem.penalty().add_product(lambda, ones, c);
  return c;
}

Vector sums_by_lambda(const Penalty& penalty, const Vector& v) {
  Vector sums = Vector::Zero(penalty.groups());
  for (Index j = 0; j < penalty.weights(); ++j)
    if (const Index g = penalty.group(j); g != Penalty::kNone) sums[g] += v[j];
  return sums;
}

std::unique_ptr<const LeftOut> left_out(const LinearProblem& problem, const Matrix& x, const Vector& w,
                                        const Vector& lambda, const StopToken* stop) {
  Setting setting(problem, x, w, lambda, stop);
  if (problem.loss().outputs() > 1) return std::make_unique<const LeftOutClasses>(std::move(setting));
  return std::make_unique<const LeftOutMargins>(std::move(setting));
}

}  // namespace yosida
