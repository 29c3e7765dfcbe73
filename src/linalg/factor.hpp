#pragma once

#include <optional>

#include "yosida/linalg/design.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// Solves H x = b in place by Cholesky, for each column of b. False where H is not positive definite (then
/// both hold rubbish).
bool cholesky_solve(Matrix& h, Eigen::Ref<Eigen::MatrixXd> b);

/// H X = B for positive semi-definite H, in place of B. Where rounding has made H indefinite, a small share
/// of its diagonal is added: columns may be of very different scales, which Cholesky does not mind. Returns
/// the number of factorisations this took; B is left as it is where none succeeds.
int solve_semidefinite(const Matrix& h, Eigen::Ref<Eigen::MatrixXd> b);

/// H = L Lᵀ in place: L is the lower triangle, above it is rubbish, and only the lower triangle of H is
/// read. False where H is not positive definite.
bool cholesky_factor(Matrix& h);

/// B = L⁻¹ B for the L of cholesky_factor, in place.
void solve_lower(const Matrix& l, Eigen::Ref<Matrix> b);
/// b = L⁻¹ b and b = L⁻ᵀ b.
void solve_lower(const Matrix& l, Vector& b);
void solve_lower_transposed(const Matrix& l, Vector& b);

/// A = U diag(s) Vᵀ, singular values falling. `full_v`: V holds cols(A) columns, also where A has fewer rows.
struct Svd {
  Matrix u;  ///< rows(A) × min(rows, cols)
  Vector s;  ///< min(rows, cols)
  Matrix v;  ///< cols(A) × min(rows, cols), or × cols(A)
};
Svd svd(const Matrix& a, bool full_v);

/// A = Q R for a tall A: Q with orthonormal columns, R upper triangular.
struct Qr {
  Matrix q;
  Matrix r;
};
Qr qr(const Matrix& a);

/// The triangular factor of [X − 1 shiftᵀ | 1 | y − y_shift] (the column of ones where `with_ones`), rows
/// read once in blocks: as data for least squares it is equal to the design, with at most as many rows as
/// columns. Uses memory for a block and the factor, never a copy of the design. Where `stop` says so on the
/// way, it is the factor of some rows only.
Matrix triangular_factor(const Design& x, const Vector& shift, bool with_ones, const Vector& y,
                         double y_shift, const StopToken* stop = nullptr);

/// A = V diag(values) Vᵀ of a symmetric A, values rising.
struct Eigensystem {
  Vector values;
  Matrix vectors;  // columns
};
Eigensystem symmetric_eigen(const Matrix& a);

/// The same in single precision.
using RoughMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// gram += AᵀA, its lower triangle.
void add_gram(const Eigen::Ref<const Matrix>& a, Matrix& gram);
void add_gram(const Eigen::Ref<const RoughMatrix>& a, RoughMatrix& gram);

/// The same for the rows [begin, begin + count) of its lower triangle alone.
void add_gram_rows(const Eigen::Ref<const Matrix>& a, Index begin, Index count, Matrix& gram);
void add_gram_rows(const Eigen::Ref<const RoughMatrix>& a, Index begin, Index count, RoughMatrix& gram);
/// out += A Aᵀ, its lower triangle.
void add_own_products(const Eigen::Ref<const Matrix>& a, Matrix& out);
/// out += A B
void add_product(const Eigen::Ref<const Matrix>& a, const Eigen::Ref<const Matrix>& b, Matrix& out);
/// out += A Bᵀ
void add_product_transposed(const Eigen::Ref<const Matrix>& a, const Eigen::Ref<const Matrix>& b,
                            Eigen::Ref<Matrix> out);

/// A B by BLAS, which is built for the machine it runs on.
Matrix product(const Eigen::Ref<const Matrix>& a, const Eigen::Ref<const Matrix>& b);

struct CgOptions {
  /// Where it is given, it is the preconditioner: the diagonal of H makes columns of different scales equal.
  const Vector* diagonal = nullptr;
  /// The residual r is measured by √(rᵀ diagonal⁻¹ r), which does not depend on those scales.
  bool in_its_units = false;
  /// In place of the diagonal: r becomes M⁻¹r, M symmetric, positive definite and near to H.
  std::optional<FunctionRef<void(Vector&)>> precondition = {};
  /// The norm of the residual where it is another than the one above.
  std::optional<FunctionRef<double(const Vector&)>> norm = {};
  /// Asked before each product.
  const StopToken* stop = nullptr;
};
struct CgReport {
  Index products = 0;
  double residual_norm = 0.0;
  /// pᵀHp/pᵀp of the direction p at which they ended because it is not positive; 1 where it always was.
  double curvature = 1.0;
  double largest_curvature = 0.0;  ///< of the directions before
};
/// Conjugate gradients for H x = b, from the x given. `apply(p, out)` writes H p to out.
CgReport conjugate_gradients(FunctionRef<void(const Vector&, Vector&)> apply, const Vector& b, Vector& x,
                             double tolerance, Index max_products, const CgOptions& options = {});

}  // namespace yosida
