#pragma once

#include <span>
#include <string>
#include <string_view>

namespace yosida {

/// The loss ℓ(m, y) of one prediction (the margin m = xᵀw + b) against one target. Problems take
/// the mean over rows.
class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string_view name() const = 0;
  /// True where y is a label −1 or +1, false where it is a number.
  virtual bool is_classification() const = 0;
  /// True where ℓ is quadratic in m, so that inner problems have a closed form.
  virtual bool is_quadratic() const { return false; }
  /// Σ ℓ(m_i, y_i)
  virtual double sum(std::span<const double> m, std::span<const double> y) const = 0;
  /// out_i = ∂ℓ/∂m (m_i, y_i); `out` may be `m`.
  virtual void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const = 0;
  /// out_i = ∂²ℓ/∂m² (m_i, y_i); `out` may be `m`.
  virtual void curvatures(std::span<const double> m, std::span<const double> y,
                          std::span<double> out) const = 0;
};

/// ½ (y − m)²
const Loss& least_squares();
/// log(1 + e^{−y m}), y ∈ {−1, +1}
const Loss& logistic();
/// By the name people use for the model: "ridge" or "logistic". Throws InputError for any other.
const Loss& loss_of_model(std::string_view model);

}  // namespace yosida
