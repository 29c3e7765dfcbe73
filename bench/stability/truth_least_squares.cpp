#include <algorithm>
#include <cmath>

#include "truth.hpp"

namespace yosida::bench {
namespace {

/// w*(λ) in closed form: with orthogonal columns every u_j is a number of its own.
class LeastSquaresTruth final : public FoldTruth {
 public:
  LeastSquaresTruth(const Split& split, bool intercept, const Vector& column_scale)
      : rotated_(split, intercept, column_scale), target_(split.validation.y) {
    constexpr double kNothing = 1e-9;
    Vector y = split.train.y;
    const auto n = static_cast<double>(y.size());
    if (intercept) {
      const double mean = y.mean();
      y.array() -= mean;
      target_.array() -= mean;
    }
    const Index rank = rotated_.penalty.size();
    projection_ = rotated_.train.leftCols(rank).transpose() * y / n;
    const Vector curvature = rotated_.penalty.cwiseInverse();
    low = rank > 0 ? std::log(kNothing * curvature.minCoeff()) : -1.0;
    high = rank > 0 ? std::log(curvature.maxCoeff()) + 30.0 : 1.0;
  }

  /// 1/N uᵀZᵀZu = ‖u‖², so u_j = (Zᵀy/N)_j / (1 + 2 e^λ penalty_j).
  double at(double lambda) override {
    const Vector u = projection_.array() / (1.0 + 2.0 * std::exp(lambda) * rotated_.penalty.array());
    return 0.5 * (target_ - rotated_.validation.leftCols(u.size()) * u).squaredNorm() /
           static_cast<double>(target_.size());
  }

 private:
  Rotated rotated_;
  Vector target_;
  Vector projection_;
};

}  // namespace

std::unique_ptr<FoldTruth> least_squares_truth(const Split& split, bool intercept,
                                               const Vector& column_scale) {
  return std::make_unique<LeastSquaresTruth>(split, intercept, column_scale);
}

}  // namespace yosida::bench
