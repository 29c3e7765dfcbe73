#include <algorithm>
#include <cmath>
#include <memory>

#include "model/pointwise.hpp"
#include "yosida/error.hpp"
#include "yosida/model/loss.hpp"

namespace yosida {
namespace {

/// log Σ e^{m_k} − m_y: the negative log-probability of class y.
class Softmax final : public Loss {
 public:
  explicit Softmax(Index classes) : k_(static_cast<std::size_t>(classes)) {}

  std::string_view name() const override { return "softmax"; }
  Index outputs() const override { return static_cast<Index>(k_); }
  Link link() const override { return Link::softmax; }
  bool ignores_shifts() const override { return true; }
  bool accepts(double y) const override {
    return y >= 0.0 && y < static_cast<double>(k_) && y == std::floor(y);
  }
  std::string targets() const override { return "class indices from 0 to " + std::to_string(k_ - 1); }

  double sum(std::span<const double> m, std::span<const double> y) const override {
    double total = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) total += value(m.data() + i * k_, y[i]);
    return total;
  }
  void values(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    for (std::size_t i = 0; i < y.size(); ++i) out[i] = value(m.data() + i * k_, y[i]);
  }
  /// p − e_y. At k = y that is −Σ of the other p: no cancellation where the class is nearly certain.
  void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    for (std::size_t i = 0; i < y.size(); ++i) {
      double* row = out.data() + i * k_;
      probabilities(m.data() + i * k_, row);
      const auto label = static_cast<std::size_t>(y[i]);
      row[label] = 0.0;
      double others = 0.0;
      for (std::size_t k = 0; k < k_; ++k) others += row[k];
      row[label] = -others;
    }
  }
  /// Σ t log t of the probabilities t = u + e_y.
  void conjugates(std::span<const double> u, std::span<const double> y,
                  std::span<double> out) const override {
    for (std::size_t i = 0; i < y.size(); ++i) {
      out[i] = 0.0;
      for (std::size_t k = 0; k < k_; ++k)
        out[i] += t_log_t(u[i * k_ + k] + (k == static_cast<std::size_t>(y[i]) ? 1.0 : 0.0));
    }
  }
  void curvatures(std::span<const double> m, std::span<const double> y,
                  std::span<double> out) const override {
    for (std::size_t i = 0; i < y.size(); ++i) probabilities(m.data() + i * k_, out.data() + i * k_);
  }
  /// (diag p − p pᵀ) dm = p ∘ (dm − pᵀdm)
  void apply_curvatures(std::span<const double> state, std::span<const double> dm,
                        std::span<double> out) const override {
    for (std::size_t i = 0; i < dm.size(); i += k_) {
      double mean = 0.0;
      for (std::size_t k = i; k < i + k_; ++k) mean += state[k] * dm[k];
      for (std::size_t k = i; k < i + k_; ++k) out[k] = state[k] * (dm[k] - mean);
    }
  }
  void diagonal_curvatures(std::span<const double> state, std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = state[i] * (1.0 - state[i]);
  }
  void add_curvatures(std::span<const double> state, std::span<const double> s,
                      std::span<double> out) const override {
    for (std::size_t i = 0; i < state.size(); i += k_) {
      const double weight = s.empty() ? 1.0 : s[i / k_];
      for (std::size_t k = 0; k < k_; ++k) {
        const double p = weight * state[i + k];
        out[k * k_ + k] += p;
        for (std::size_t l = 0; l < k_; ++l) out[k * k_ + l] -= p * state[i + l];
      }
    }
  }

 private:
  /// The largest margin is taken out of the logarithm: nothing overflows, and small losses keep their digits.
  double value(const double* m, double y) const {
    const double* largest = std::max_element(m, m + k_);
    double others = 0.0;
    for (const double* each = m; each != m + k_; ++each)
      if (each != largest) others += std::exp(*each - *largest);
    return std::log1p(others) + (*largest - m[static_cast<std::size_t>(y)]);
  }
  void probabilities(const double* m, double* out) const {
    const double largest = *std::max_element(m, m + k_);
    double sum = 0.0;
    for (std::size_t k = 0; k < k_; ++k) {
      out[k] = std::exp(m[k] - largest);
      sum += out[k];
    }
    for (std::size_t k = 0; k < k_; ++k) out[k] /= sum;
  }

  std::size_t k_;
};

}  // namespace

SharedLoss softmax(Index classes) {
  if (classes < 2) throw InputError("classes = " + std::to_string(classes) + ": softmax needs at least 2");
  return std::shared_ptr<const Loss>(std::make_shared<const Softmax>(classes));
}

}  // namespace yosida
