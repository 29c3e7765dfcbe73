#include "problem/kept_hessian.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <vector>

#include "linalg/factor.hpp"
#include "linalg/gram.hpp"
#include "linalg/power_iteration.hpp"

namespace yosida {
namespace {

/// A share of the largest curvature that is none.
constexpr double kNone = 1e-14;

/// Rows that a Hessian is taken from: so many for each column, or this share of all where that is more. With
/// r rows a column its eigenvalues are right to a share of some 1/√r, and a step leaves that share of the
/// error.
constexpr double kRowsPerColumn = 100.0;
constexpr double kShareOfRows = 0.125;

/// Rows with the weights that make their Gram matrix one of all rows, as far as chance goes.
struct Sample {
  Design x;
  Vector weights;
};

/// A number in [0, 1) that looks drawn, the same for the same row.
double draw(Index row) {
  std::uint64_t z = (static_cast<std::uint64_t>(row) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

/// Rows are drawn with probabilities min(1, h/τ): those that matter most are all there, as they are, and the
/// others share one weight, τ.
Sample drawn(const DataTerm& data, const Vector& h, double wanted) {
  if (wanted >= static_cast<double>(h.size())) return {data.design(), h};
  double tau = 0.0;
  for (int step = 0; step < 20; ++step) {  // Σ min(1, h/τ) = wanted, from below
    double above = 0.0, rest = 0.0;
    for (const double each : h) {
      const bool is_above = tau > 0.0 && each >= tau;
      (is_above ? above : rest) += is_above ? 1.0 : each;
    }
    const double next = rest / std::max(wanted - above, 1.0);
    if (!(next > tau * 1.001)) break;
    tau = next;
  }
  std::vector<Index> rows;
  std::vector<double> weights;
  for (Index i = 0; i < h.size(); ++i) {
    if (!(h[i] > draw(i) * tau)) continue;
    rows.push_back(i);
    weights.push_back(std::max(h[i], tau));
  }
  if (rows.empty()) return {data.design(), h};
  return {data.design().select_rows(rows),
          Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()))};
}

/// Single precision is enough where penalties are so much larger than what it rounds, and where it has room
/// for the squares of all columns.
constexpr double kRough = 1e-5;
constexpr double kRoom = 1e-20;
constexpr Index kFewRows = 64;

/// Σ weight_i x_i x_iᵀ, in single precision where that is enough for penalties of at least `penalty`.
Matrix gram_of(const Sample& sample, double penalty, const StopToken* stop) {
  // Single precision has no room for weights of 1/N and less.
  const double total = std::max(sample.weights.sum(), std::numeric_limits<double>::min());
  const Vector share = sample.weights / total;
  const auto is_rough_enough = [&](const Matrix& gram) {
    const double most = gram.diagonal().maxCoeff();
    double least = most;
    for (const double each : gram.diagonal())
      if (each != 0.0) least = std::min(least, each);
    return gram.allFinite() && least > kRoom * std::max(most, 1.0) && penalty > kRough * total * most;
  };
  // A few rows tell the size of the columns well enough to try.
  const Index few = std::min<Index>(kFewRows, sample.x.rows());
  Vector squares = Vector::Zero(sample.x.cols());
  sample.x.row_range(0, few).add_transposed_squares(
      as_span(Vector(Vector::Constant(few, 1.0 / static_cast<double>(few)))), as_span(squares));
  if (penalty > kRough * total * squares.maxCoeff()) {
    Matrix gram = rough_weighted_gram(sample.x, as_span(share), stop);
    if (is_rough_enough(gram)) return total * gram;
  }
  return weighted_gram(sample.x, as_span(sample.weights), stop);
}

/// The Hessian of the sample; the intercept, where there is one, has the last row and column.
Matrix hessian_of(const Sample& sample, bool intercept, double penalty, const StopToken* stop) {
  const Index d = sample.x.cols();
  Matrix hessian(d + (intercept ? 1 : 0), d + (intercept ? 1 : 0));
  hessian.topLeftCorner(d, d) = gram_of(sample, penalty, stop);
  if (intercept) {
    Vector border = Vector::Zero(d + 1);
    sample.x.add_transposed(as_span(sample.weights), as_span(border));
    hessian.col(d) = border;
    hessian.row(d) = border.transpose();
  }
  return hessian;
}

/// The least of the penalties that are some.
double least_penalty(const Vector& c) {
  double least = std::numeric_limits<double>::infinity();
  for (const double each : c)
    if (each > 0.0) least = std::min(least, each);
  return least;
}

}  // namespace

double KeptHessian::count(const DataTerm& data, Rows rows, Kind kind) {
  const auto all = static_cast<double>(data.design().rows());
  if (rows == Rows::all || (kind == Kind::whole && data.outputs() > 1)) return all;
  const auto columns = static_cast<double>(data.design().cols());
  return std::min(all, std::max(kRowsPerColumn * columns, kShareOfRows * all));
}

class KeptHessian::Form {
 public:
  virtual ~Form() = default;
  virtual bool set_penalties(const Vector& c) = 0;
  virtual bool has_penalties(const Vector& c) const = 0;
  virtual void solve(Vector& v) const = 0;
  virtual double largest_curvature() const = 0;
  virtual void exchange(Archive& archive) = 0;
};

class KeptHessian::Factored final : public Form {
 public:
  Factored(const DataTerm& data, const Vector& state, const Vector& c, Rows rows, const StopToken* stop)
      : Factored(data, data.outputs() > 1 ? data.hessian_of_outputs_at(state, stop)
                                          : of_one_output(data, state, c, rows, stop)) {}
  Factored(const DataTerm& data, Matrix hessian)
      : intercepts_(data.size() - data.penalisable()),
        shifts_(data.loss().ignores_shifts() ? data.outputs() : 0),
        hessian_(std::move(hessian)) {}

  bool set_penalties(const Vector& c) override {
    if (has_penalties(c)) return true;
    // What rounding has made indefinite is lifted a little: M need not be the Hessian to the last digit.
    for (double lift = kNone; lift < 1e-3; lift *= 100.0) {
      factor_ = hessian_;
      factor_.diagonal() += c + lift * (hessian_.diagonal() + c);
      factor_.diagonal() = (factor_.diagonal().array() > 0.0).select(factor_.diagonal(), 1.0);
      if (shifts_ > 0) hold_shifts(shifts_, c, factor_);
      if (!cholesky_factor(factor_)) continue;
      c_ = c;
      return true;
    }
    c_.resize(0);
    return false;
  }

  bool has_penalties(const Vector& c) const override { return c_.size() == c.size() && c_ == c; }

  void solve(Vector& v) const override {
    solve_lower(factor_, v);
    solve_lower_transposed(factor_, v);
  }

  double largest_curvature() const override {
    constexpr int kProducts = 30;
    const Index d = hessian_.cols() - intercepts_;
    const Matrix border = hessian_.topRightCorner(d, intercepts_);
    Matrix own = hessian_.bottomRightCorner(intercepts_, intercepts_);
    if (shifts_ > 0 && intercepts_ > 0) hold_shifts(shifts_, Vector::Zero(intercepts_), own);
    const Eigen::LDLT<Eigen::MatrixXd> eliminated(own);
    const bool eliminates = intercepts_ > 0 && own.diagonal().minCoeff() > 0.0;
    const auto apply = [&](const Vector& p, Vector& out) {
      out.noalias() = hessian_.topLeftCorner(d, d) * p;
      if (eliminates) out -= border * eliminated.solve(Vector(border.transpose() * p));
    };
    Vector direction = hessian_.diagonal().head(d).cwiseSqrt();
    Vector scratch(d);
    return power_iteration(apply, kProducts, direction, scratch).rayleigh;
  }

  Factored() = default;
  void exchange(Archive& archive) override {
    archive.exchange(intercepts_);
    archive.exchange(shifts_);
    archive.exchange(hessian_);
    archive.exchange(factor_);
    archive.exchange(c_);
  }

 private:
  static Matrix of_one_output(const DataTerm& data, const Vector& state, const Vector& c, Rows rows,
                              const StopToken* stop) {
    Vector curvatures;
    data.row_curvatures(state, curvatures);
    return hessian_of(drawn(data, curvatures, count(data, rows, Kind::whole)), data.has_intercept(),
                      least_penalty(c), stop);
  }

  Index intercepts_ = 0;
  Index shifts_ = 0;  // outputs whose common shift nothing determines; 0 where there is no such thing
  Matrix hessian_;
  Matrix factor_;  // lower, of M
  Vector c_;       // of the factor; empty where there is none
};

/// A B, where B has few columns: threads share the rows of A, and none is copied.
Matrix times_few(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows(), b.cols());
  dense_view(a.data(), a.rows(), a.cols(), a.cols(), nullptr)
      .multiply({b.data(), static_cast<std::size_t>(b.size())},
                {result.data(), static_cast<std::size_t>(result.size())}, b.cols());
  return result;
}

/// With V the eigenvectors of S and Q those of G, M is diagonal in the coordinates Qᵀ W V of weights W, a row
/// for each feature. Intercepts are eliminated first: G is that of centred features then.
class KeptHessian::Kronecker final : public Form {
 public:
  Kronecker(const DataTerm& data, const Vector& state, const Vector& c, Rows rows, const StopToken* stop)
      : outputs_(data.outputs()), features_(data.design().cols()), intercept_(data.has_intercept()) {
    // The weights of G have the sum 1: S ⊗ G then has the trace of the Hessian.
    Vector curvatures;
    data.row_curvature_traces(state, curvatures);
    Sample sample = drawn(data, curvatures, count(data, rows, Kind::product));
    const double total = std::max(sample.weights.sum(), std::numeric_limits<double>::min());
    sample.weights /= total;
    Matrix gram = gram_of(sample, least_penalty(c) / total, stop);
    mean_ = Vector::Zero(features_);
    if (intercept_) {
      sample.x.add_transposed(as_span(sample.weights), as_span(mean_));
      gram -= mean_ * mean_.transpose();
    }
    if (stop_requested(stop) || !gram.allFinite()) return;
    Eigensystem of_features = symmetric_eigen(gram);
    Eigensystem of_outputs = symmetric_eigen(data.mean_curvature(state));
    q_ = std::move(of_features.vectors);
    q_transposed_ = q_.transpose();
    in_features_ = of_features.values.cwiseMax(0.0);
    v_ = std::move(of_outputs.vectors);
    in_outputs_ = of_outputs.values.cwiseMax(0.0);
  }

  bool set_penalties(const Vector& c) override {
    c_ = c[0];
    return has_penalties(c);
  }

  bool has_penalties(const Vector& c) const override {
    return q_.size() > 0 && (c.head(features_ * outputs_).array() == c_).all();
  }

  void solve(Vector& v) const override {
    const Index k = outputs_;
    Eigen::Map<Matrix> all(v.data(), features_ + (intercept_ ? 1 : 0), k);
    const Matrix turned = all * v_;
    Matrix rows = turned.topRows(features_);
    if (intercept_) rows.noalias() -= mean_ * turned.row(features_);
    Matrix inner = times_few(q_transposed_, rows);
    const double least = kNone * in_features_.maxCoeff() * in_outputs_.maxCoeff() + 1e-300;
    for (Index j = 0; j < features_; ++j)
      for (Index o = 0; o < k; ++o) inner(j, o) /= in_features_[j] * in_outputs_[o] + c_ + least;
    rows = times_few(q_, inner);
    all.topRows(features_).noalias() = rows * v_.transpose();
    if (!intercept_) return;
    Vector last = turned.row(features_).transpose();
    // Along an eigenvalue of 0 all outputs move together, which changes nothing.
    const double none = 1e-10 * in_outputs_.maxCoeff();
    for (Index o = 0; o < k; ++o) last[o] = in_outputs_[o] > none ? last[o] / in_outputs_[o] : 0.0;
    last -= rows.transpose() * mean_;
    all.row(features_) = (v_ * last).transpose();
  }

  double largest_curvature() const override {
    return q_.size() > 0 ? in_features_.maxCoeff() * in_outputs_.maxCoeff() : 0.0;
  }

  Kronecker() = default;
  void exchange(Archive& archive) override {
    archive.exchange(outputs_);
    archive.exchange(features_);
    archive.exchange(intercept_);
    for (Vector* each : {&mean_, &in_features_, &in_outputs_}) archive.exchange(*each);
    for (Matrix* each : {&q_, &v_, &q_transposed_}) archive.exchange(*each);
    archive.exchange(c_);
  }

 private:
  Index outputs_ = 0, features_ = 0;
  bool intercept_ = false;
  Vector mean_;   // of the features, by the rows' curvatures; 0 without intercepts
  Matrix q_, v_;  // eigenvectors of G and of S
  Matrix q_transposed_;
  Vector in_features_;  // eigenvalues of G
  Vector in_outputs_;   // of S
  double c_ = 0.0;
};

KeptHessian::KeptHessian() = default;
KeptHessian::KeptHessian(KeptHessian&&) noexcept = default;
KeptHessian& KeptHessian::operator=(KeptHessian&&) noexcept = default;
KeptHessian::~KeptHessian() = default;

void KeptHessian::compute(const DataTerm& data, const Vector& state, const Vector& c, Rows rows, Kind kind,
                          const StopToken* stop) {
  form_.reset();
  if (kind == Kind::whole) {
    form_ = std::make_unique<Factored>(data, state, c, rows, stop);
  } else {
    form_ = std::make_unique<Kronecker>(data, state, c, rows, stop);
  }
  if (stop_requested(stop)) form_.reset();
}

void KeptHessian::adopt(const DataTerm& data, Matrix hessian) {
  form_ = std::make_unique<Factored>(data, std::move(hessian));
}

bool KeptHessian::set_penalties(const Vector& c) { return form_->set_penalties(c); }

bool KeptHessian::has_penalties(const Vector& c) const { return form_ && form_->has_penalties(c); }

void KeptHessian::solve(Vector& v) const { form_->solve(v); }

double KeptHessian::largest_curvature() const { return form_->largest_curvature(); }

void KeptHessian::exchange(Archive& archive) {
  enum class Stored { none, factored, kronecker };
  Stored kind = form_ == nullptr                                        ? Stored::none
                : dynamic_cast<const Factored*>(form_.get()) != nullptr ? Stored::factored
                                                                        : Stored::kronecker;
  archive.exchange(kind);
  if (archive.reads()) {
    form_.reset();
    if (kind == Stored::factored) form_ = std::make_unique<Factored>();
    if (kind == Stored::kronecker) form_ = std::make_unique<Kronecker>();
  }
  if (form_) form_->exchange(archive);
}

}  // namespace yosida
