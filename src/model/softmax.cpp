#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "model/exponentials.hpp"
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
    by_exponentials(m, y, [&](const Row& row) { total += value(row); });
    return total;
  }
  void values(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    by_exponentials(m, y, [&](const Row& row) { out[row.i] = value(row); });
  }
  void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    by_exponentials(m, y, [&](const Row& row) { take_slopes(row, out.data() + row.i * k_); });
  }
  double sum_and_slopes(std::span<const double> m, std::span<const double> y,
                        std::span<double> out) const override {
    double total = 0.0;
    by_exponentials(m, y, [&](const Row& row) {
      total += value(row);
      take_slopes(row, out.data() + row.i * k_);
    });
    return total;
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
    by_exponentials(m, y, [&](const Row& row) { take_probabilities(row, out.data() + row.i * k_); });
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
  /// Row i: its margins, the first largest of them, and e^{m_k − largest}.
  struct Row {
    std::size_t i, label, largest;
    const double* m;
    const double* e;
  };
  /// Calls each(row) for all rows. What it writes may take the place of the row's margins.
  template <typename Each>
  void by_exponentials(std::span<const double> m, std::span<const double> y, const Each& each) const {
    constexpr std::size_t kNumbers = 512;
    thread_local std::vector<double> e;
    thread_local std::vector<std::size_t> largest;
    const std::size_t rows = std::max<std::size_t>(kNumbers / k_, 1);
    e.resize(rows * k_);
    largest.resize(rows);
    for (std::size_t first = 0; first < y.size(); first += rows) {
      const std::size_t count = std::min(rows, y.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        const double* row = m.data() + (first + i) * k_;
        largest[i] = static_cast<std::size_t>(std::max_element(row, row + k_) - row);
        for (std::size_t k = 0; k < k_; ++k) e[i * k_ + k] = row[k] - row[largest[i]];
      }
      exponentials(e.data(), static_cast<long>(count * k_), e.data());
      for (std::size_t i = 0; i < count; ++i)
        each(Row{.i = first + i,
                 .label = static_cast<std::size_t>(y[first + i]),
                 .largest = largest[i],
                 .m = m.data() + (first + i) * k_,
                 .e = e.data() + i * k_});
    }
  }
  /// The largest margin is taken out of the logarithm: nothing overflows, and small losses keep their digits.
  double value(const Row& row) const {
    double others = 0.0;
    for (std::size_t k = 0; k < k_; ++k)
      if (k != row.largest) others += row.e[k];
    return std::log1p(others) + (row.m[row.largest] - row.m[row.label]);
  }
  void take_probabilities(const Row& row, double* out) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < k_; ++k) sum += row.e[k];
    for (std::size_t k = 0; k < k_; ++k) out[k] = row.e[k] / sum;
  }
  /// p − e_y. At k = y that is −Σ of the other p: no cancellation where the class is nearly certain.
  void take_slopes(const Row& row, double* out) const {
    take_probabilities(row, out);
    out[row.label] = 0.0;
    double others = 0.0;
    for (std::size_t k = 0; k < k_; ++k) others += out[k];
    out[row.label] = -others;
  }

  std::size_t k_;
};

}  // namespace

SharedLoss softmax(Index classes) {
  if (classes < 2) throw InputError("classes = " + std::to_string(classes) + ": softmax needs at least 2");
  return std::shared_ptr<const Loss>(std::make_shared<const Softmax>(classes));
}

}  // namespace yosida
