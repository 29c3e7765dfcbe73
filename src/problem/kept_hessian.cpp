#include "problem/kept_hessian.hpp"

#include <algorithm>

#include "linalg/factor.hpp"
#include "linalg/gram.hpp"

namespace yosida {
namespace {

/// A share of the largest curvature that is none.
constexpr double kNone = 1e-14;

}  // namespace

class KeptHessian::Form {
 public:
  virtual ~Form() = default;
  virtual bool set_penalties(const Vector& c) = 0;
  virtual void solve(Vector& v) const = 0;
};

class KeptHessian::Factored final : public Form {
 public:
  Factored(const DataTerm& data, const Vector& state, const StopToken* stop)
      : hessian_(data.hessian_at(state, stop)) {}

  bool set_penalties(const Vector& c) override {
    if (c_.size() == c.size() && c_ == c) return true;
    // What rounding has made indefinite is lifted a little: M need not be the Hessian to the last digit.
    for (double lift = kNone; lift < 1e-3; lift *= 100.0) {
      factor_ = hessian_;
      factor_.diagonal() += c + lift * (hessian_.diagonal() + c);
      factor_.diagonal() = (factor_.diagonal().array() > 0.0).select(factor_.diagonal(), 1.0);
      if (!cholesky_factor(factor_)) continue;
      c_ = c;
      return true;
    }
    c_.resize(0);
    return false;
  }

  void solve(Vector& v) const override {
    solve_lower(factor_, v);
    solve_lower_transposed(factor_, v);
  }

 private:
  Matrix hessian_;
  Matrix factor_;  // lower, of M
  Vector c_;       // of the factor; empty where there is none
};

/// With V the eigenvectors of S and Q those of G, M is diagonal in the coordinates Qᵀ W V of weights W, a row
/// for each feature. Intercepts are eliminated first: G is that of centred features then.
class KeptHessian::Kronecker final : public Form {
 public:
  Kronecker(const DataTerm& data, const Vector& state, const StopToken* stop)
      : outputs_(data.outputs()), features_(data.design().cols()), intercept_(data.has_intercept()) {
    // The weights of G have the sum 1: S ⊗ G then has the trace of the Hessian.
    Vector curvatures;
    data.row_curvature_traces(state, curvatures);
    const double total = std::max(curvatures.sum(), std::numeric_limits<double>::min());
    const Vector share = curvatures / total;
    Matrix gram = weighted_gram(data.design(), as_span(share), stop);
    mean_ = Vector::Zero(features_);
    if (intercept_) {
      data.design().add_transposed(as_span(share), as_span(mean_));
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
    const auto penalties = c.head(features_ * outputs_);
    c_ = penalties[0];
    return q_.size() > 0 && (penalties.array() == c_).all();
  }

  void solve(Vector& v) const override {
    const Index k = outputs_;
    Eigen::Map<Matrix> all(v.data(), features_ + (intercept_ ? 1 : 0), k);
    const Matrix turned = all * v_;
    Matrix rows = turned.topRows(features_);
    if (intercept_) rows.noalias() -= mean_ * turned.row(features_);
    Matrix inner = product(q_transposed_, rows);
    const double least = kNone * in_features_.maxCoeff() * in_outputs_.maxCoeff() + 1e-300;
    for (Index j = 0; j < features_; ++j)
      for (Index o = 0; o < k; ++o) inner(j, o) /= in_features_[j] * in_outputs_[o] + c_ + least;
    rows = product(q_, inner);
    all.topRows(features_).noalias() = rows * v_.transpose();
    if (!intercept_) return;
    Vector last = turned.row(features_).transpose();
    // Along an eigenvalue of 0 all outputs move together, which changes nothing.
    const double none = 1e-10 * in_outputs_.maxCoeff();
    for (Index o = 0; o < k; ++o) last[o] = in_outputs_[o] > none ? last[o] / in_outputs_[o] : 0.0;
    last -= rows.transpose() * mean_;
    all.row(features_) = (v_ * last).transpose();
  }

 private:
  Index outputs_, features_;
  bool intercept_;
  Vector mean_;   // of the features, by the rows' curvatures; 0 without intercepts
  Matrix q_, v_;  // eigenvectors of G and of S
  Matrix q_transposed_;
  Vector in_features_;  // eigenvalues of G
  Vector in_outputs_;   // of S
  double c_ = 0.0;
};

KeptHessian::KeptHessian() = default;
KeptHessian::~KeptHessian() = default;

void KeptHessian::compute(const DataTerm& data, const Vector& state, const StopToken* stop) {
  form_.reset();
  if (data.outputs() == 1) {
    form_ = std::make_unique<Factored>(data, state, stop);
  } else {
    form_ = std::make_unique<Kronecker>(data, state, stop);
  }
  if (stop_requested(stop)) form_.reset();
}

bool KeptHessian::set_penalties(const Vector& c) { return form_->set_penalties(c); }

void KeptHessian::solve(Vector& v) const { form_->solve(v); }

}  // namespace yosida
