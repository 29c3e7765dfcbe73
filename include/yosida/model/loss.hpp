#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {

/// What a margin says of the target.
enum class Link {
  identity,     // m is the target as expected
  exponential,  // e^m is
  sign,         // its sign is the class, and nothing more
  probability,  // 1 / (1 + e^{−m}) is the probability of the class +1
  softmax       // e^{m_k} / Σ e^m is the probability of class k
};

/// The loss ℓ(m, y) of one prediction (the margin m = xᵀw + b) against one target. Problems take
/// the mean over rows. A loss of K = outputs() > 1 has K margins a row, one behind the other.
///
/// Threads: all functions are const and are called on one object from several threads at once, for different
/// rows. A loss of your own must keep no state that they change.
class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string_view name() const = 0;
  /// Margins per row.
  virtual Index outputs() const { return 1; }
  virtual Link link() const = 0;
  /// True where y names a class (−1 or +1, with several outputs 0 to K−1), false where it is a number.
  bool is_classification() const { return link() != Link::identity && link() != Link::exponential; }
  /// True where ℓ is quadratic in m with ℓ″ = 1, so that inner problems have a closed form.
  virtual bool is_quadratic() const { return false; }
  /// True where ℓ″ jumps, as that of a hinge: w*(λ) then turns wherever a row passes it.
  virtual bool has_jumps() const { return false; }
  /// True where a row's margins may all move by the same number: weights that nothing else holds are then
  /// chosen with mean 0 over the outputs.
  virtual bool ignores_shifts() const { return false; }
  /// Whether y is a target of this loss.
  virtual bool accepts(double y) const = 0;
  /// What targets must be, for messages.
  virtual std::string targets() const = 0;

  /// Σ ℓ(m_i, y_i)
  virtual double sum(std::span<const double> m, std::span<const double> y) const = 0;
  /// out_i = ℓ(m_i, y_i), one per row.
  virtual void values(std::span<const double> m, std::span<const double> y, std::span<double> out) const = 0;
  /// out = ∂ℓ/∂m, as many as margins; `out` may be `m`.
  virtual void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const = 0;
  /// Both at once, where they have much in common: returns Σ ℓ and sets the slopes; `out` may be `m`.
  virtual double sum_and_slopes(std::span<const double> m, std::span<const double> y,
                                std::span<double> out) const;
  /// out_i = ℓ*(u_i) = sup_m uᵀm − ℓ(m, y_i), one per row, ∞ outside its domain: what duality gaps need. NaN
  /// where a loss does not know it, as by default.
  virtual void conjugates(std::span<const double> u, std::span<const double> y, std::span<double> out) const;
  /// What the products with ∂²ℓ/∂m² need, as many numbers as margins: ℓ″ itself for one output. `out` may be
  /// `m`.
  virtual void curvatures(std::span<const double> m, std::span<const double> y,
                          std::span<double> out) const = 0;
  /// out = ∂²ℓ/∂m² dm row by row, with `state` from curvatures; `out` may be `dm`.
  virtual void apply_curvatures(std::span<const double> state, std::span<const double> dm,
                                std::span<double> out) const = 0;
  /// out = the diagonal of ∂²ℓ/∂m² of each row; `out` may be `state`.
  virtual void diagonal_curvatures(std::span<const double> state, std::span<double> out) const = 0;
  /// out += Σ s_i ∂²ℓ/∂m² over the rows, K × K numbers; s is empty where all are 1.
  virtual void add_curvatures(std::span<const double> state, std::span<const double> s,
                              std::span<double> out) const = 0;
};

/// A loss as problems hold it. Those below but softmax live as long as the program, and so must one of your
/// own that is given by reference; one that is given as a shared pointer lives as long as somebody holds it.
class SharedLoss {
 public:
  /// Refers to a loss that must outlive everyone who holds this.
  SharedLoss(const Loss& lives_on) : loss_(std::shared_ptr<const Loss>(), &lives_on) {}
  /// Keeps the loss alive.
  SharedLoss(std::shared_ptr<const Loss> loss) : loss_(std::move(loss)) {}
  /// The loss, wherever one is wanted.
  operator const Loss&() const { return *loss_; }
  const Loss& operator*() const { return *loss_; }
  const Loss* operator->() const { return loss_.get(); }

 private:
  std::shared_ptr<const Loss> loss_;
};

/// ½ (y − m)²
const Loss& least_squares();
/// log(1 + e^{−y m}), y ∈ {−1, +1}
const Loss& logistic();
/// max(0, 1 − y m)², y ∈ {−1, +1}: a linear support vector machine.
const Loss& squared_hinge();
/// ½ r² for |r| ≤ 1.345 and linear beyond, r = y − m: 95 % as efficient as least squares on normal errors of
/// variance 1, so meant for a standardised target.
const Loss& huber();
/// Half the deviance, e^m − y m − (y − y log y), y ≥ 0: counts, with a log link. Never negative.
const Loss& poisson();
/// log Σ e^{m_k} − m_y, y ∈ {0 … classes − 1}. Throws InputError for less than 2 classes.
SharedLoss softmax(Index classes);

/// The target as expected at margins m where it is a number; margins of classes stay as they are.
template <typename Margins>
Margins expected_target(Link link, Margins m) {
  if (link == Link::exponential) m = m.array().exp();
  return m;
}

/// By the name people use for the model: "ridge", "logistic", "svm", "huber", "poisson" or "softmax", which
/// needs the number of classes. Throws InputError for any other.
SharedLoss loss_of_model(std::string_view model, Index classes = 0);
/// The names it knows.
std::vector<std::string_view> model_names();

}  // namespace yosida
