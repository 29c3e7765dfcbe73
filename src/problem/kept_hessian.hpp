#pragma once

#include <memory>

#include "problem/data_term.hpp"
#include "problem/memory_archive.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// The Hessian of a data term at weights of some time ago, or what is near to it. While weights and penalties
/// move on it stays near to the true one: what quasi-Newton steps and conjugate gradients start from.
///
/// Where rows are many more than weights it may be estimated from some of them, drawn by their curvatures. A
/// whole one of several outputs is taken from all.
///
/// It is the whole Hessian, and M = it + diag(c) is factored for every c. Or, of several outputs, it is a
/// product S ⊗ G, with S the mean of the rows' K × K curvatures and G the Gram matrix of the features, of
/// which eigenvectors are kept: M⁻¹ then costs the same for any c, which must be one number for all weights
/// but the intercepts.
class KeptHessian {
 public:
  KeptHessian();
  KeptHessian(KeptHessian&&) noexcept;
  KeptHessian& operator=(KeptHessian&&) noexcept;
  ~KeptHessian();

  /// What rows it is taken from: all, or as many as tell it well enough where no column rests on a few.
  enum class Rows { all, some };
  enum class Kind { whole, product };
  static double count(const DataTerm& data, Rows rows, Kind kind);
  /// Takes that at the state of DataTerm::state_at, for penalties c and such that are not much smaller; none
  /// where `stop` says so on the way.
  void compute(const DataTerm& data, const Vector& state, const Vector& c, Rows rows, Kind kind,
               const StopToken* stop);
  /// Takes a whole one as it is given.
  void adopt(const DataTerm& data, Matrix hessian);
  bool is_empty() const { return form_ == nullptr; }
  /// Adds diag(c). False where the sum has no inverse of this form.
  bool set_penalties(const Vector& c);
  /// Whether diag(c) is what was added last.
  bool has_penalties(const Vector& c) const;
  /// v becomes M⁻¹v.
  void solve(Vector& v) const;
  /// The largest curvature of the data term with the intercepts refitted, as it is told here.
  double largest_curvature() const;
  void exchange(Archive& archive);

 private:
  class Form;
  class Factored;
  class Kronecker;
  std::unique_ptr<Form> form_;
};

}  // namespace yosida
