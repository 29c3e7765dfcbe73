#pragma once

#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/model/loss.hpp"

namespace yosida {

/// f(w) = 1/N Σ s_i ℓ(x_iᵀw + b, y_i) over N rows, the intercepts b behind the other weights where there are
/// some: the part of L_T and of L_V that reads data. A view: what it is made of must outlive it.
class DataTerm {
 public:
  /// `row_weights`: the s_i; empty where all are 1.
  DataTerm(const Design& x, const Vector& y, const Vector& row_weights, const Loss& loss, bool intercept)
      : x_(x), y_(y), s_(row_weights), loss_(loss), intercept_(intercept), k_(loss.outputs()) {}
  DataTerm(const Dataset& data, const Loss& loss, bool intercept)
      : DataTerm(data.x, data.y, data.weight, loss, intercept) {}

  const Design& design() const { return x_; }
  const Loss& loss() const { return loss_; }
  bool has_intercept() const { return intercept_; }
  Index outputs() const { return k_; }
  /// Weights without the intercepts, and with them.
  Index penalisable() const { return x_.cols() * k_; }
  Index size() const { return penalisable() + (intercept_ ? k_ : 0); }

  // One pass over the rows each, nothing allocated.

  double value(const Vector& w) const;
  /// g = ∇f(w). Returns f(w).
  double gradient(const Vector& w, Vector& g) const;
  /// The same, and m = the margins of w.
  double gradient(const Vector& w, Vector& m, Vector& g) const;
  /// out = ∇²f(w) p
  void hessian_product(const Vector& w, const Vector& p, Vector& out) const;
  /// out_i = s_i/N ∇ℓ_iᵀp, the derivative of each row's part of f along p.
  void row_derivatives(const Vector& w, const Vector& p, Vector& out) const;
  /// Sets the intercepts of w to their minimiser. Keeps no means: for losses that are not quadratic.
  void fit_intercepts(Vector& w) const;

  /// The weights that neither data nor a penalty c determines are made those of mean 0 over the outputs: then
  /// minimisers and solves are unique, whatever they started from.
  void centre_free_weights(const Vector& c, Vector& w) const;

  // The same in two halves, for Newton's method, which keeps margins (outputs() a row).

  void margins(const Vector& w, Vector& m) const;
  /// The margins without the intercepts of w, and what adds these.
  void products(const Vector& w, Vector& m) const;
  void add_intercepts(const Vector& w, Vector& m) const;
  double value_at(const Vector& m) const;
  /// r = ∂f/∂m
  void slopes_at(const Vector& m, Vector& r) const;
  /// g = Xᵀr
  void gather(const Vector& r, Vector& g) const;
  /// The state of the Hessian at margins m: see Loss::curvatures.
  void state_at(const Vector& m, Vector& state) const;
  /// out = ∇²f p
  void hessian_product_at(const Vector& state, const Vector& p, Vector& out) const;
  /// pᵀ ∇²f p, at half the price.
  double curvature_along(const Vector& state, const Vector& p) const;
  /// The same from the products dm = X p: no row is read.
  double curvature_of(const Vector& state, const Vector& dm) const;
  /// The diagonal of ∇²f.
  void hessian_diagonal_at(const Vector& state, Vector& diagonal) const;
  /// For each weight the entry of ∇²f between it and the intercept of its output.
  void hessian_border_at(const Vector& state, Vector& border) const;
  /// s_i ℓ″_i / N of a loss of one output: ∇²f = Xᵀ diag(·) X.
  void row_curvatures(const Vector& state, Vector& h) const;
  /// s_i/N tr ∂²ℓ_i/∂m², of each row.
  void row_curvature_traces(const Vector& state, Vector& h) const;
  /// 1/N Σ s_i ∂²ℓ_i/∂m², an outputs() × outputs() matrix.
  Matrix mean_curvature(const Vector& state) const;
  /// ∇²f of a loss of one output, the intercept its last row and column; of some rows only where `stop` says
  /// so.
  Matrix hessian_at(const Vector& state, const StopToken* stop = nullptr) const;
  /// Its rows and columns that `set` names (rising; intercepts, where they are in it, last), of any loss.
  Matrix hessian_on(const Vector& state, const std::vector<Index>& set) const;
  /// The operations of hessian_on for a set of this size.
  double hessian_on_flops(std::size_t size) const;
  /// ∇²f of a loss of several outputs: a Gram matrix for each pair of these.
  Matrix hessian_of_outputs_at(const Vector& state, const StopToken* stop = nullptr) const;

 private:
  Matrix hessian_of_outputs_on(const Vector& state, const std::vector<Index>& set) const;
  using GramOfWeights = Matrix(std::span<const double>);
  /// For each pair of outputs l ≤ o calls put(o, l, gram), the Gram matrix of so many columns whose weights
  /// are s_i/N ∂²ℓ_i/∂m_o∂m_l; and behind those of each o then(o, the weights of all l).
  void for_each_pair_of_outputs(
      const Vector& own, Index columns, FunctionRef<GramOfWeights> gram_of,
      FunctionRef<void(Index, Index, const Matrix&)> put,
      FunctionRef<void(Index, const Matrix&)> then = [](Index, const Matrix&) {}) const;
  std::span<const double> targets(Index first, std::size_t margins) const;
  double sum(Index first, std::span<const double> m) const;
  /// Calls range(first, margins of these rows) for all rows, by several threads where they are many; adds up
  /// what it returns, and what it adds to `sums`.
  template <typename Margins, typename Range>
  double over_margins(Margins& m, const Range& range, std::span<double> sums = {}) const;
  /// r_i ← s_i r_i
  void weigh(Index first, std::span<double> r) const;
  void slopes(Index first, std::span<double> m) const;
  double sum_and_slopes(Index first, std::span<double> m) const;
  double square_of(const Vector& state, Index first, std::span<const double> dm) const;
  void fit_one_intercept(Vector& w) const;
  void fit_several_intercepts(Vector& w) const;
  double rows() const { return static_cast<double>(x_.rows()); }

  const Design& x_;
  const Vector& y_;
  const Vector& s_;
  const Loss& loss_;
  bool intercept_;
  Index k_;
};

/// Makes a Hessian regular where nothing determines a common shift of the outputs, which are `outputs`
/// weights without a penalty c each: a multiple of 11ᵀ there leaves solves as they are.
void hold_shifts(Index outputs, const Vector& c, Matrix& hessian);

}  // namespace yosida
