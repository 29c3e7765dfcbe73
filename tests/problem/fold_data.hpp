#pragma once

#include <Eigen/SVD>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "problem/collapsed_least_squares.hpp"
#include "support/dense.hpp"
#include "support/random_split.hpp"
#include "yosida/problem/k_fold_problem.hpp"

namespace yosida::test {

/// The K splits of a data set, its rows shuffled by the seed: fold k validates on every K-th row from the
/// k-th on.
inline std::vector<Split> folds_of(const Dataset& data, Index k, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(data.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed).shuffle(order);
  const Matrix x = matrix_of(data.x);
  const auto rows_where = [&](auto&& chosen) {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (chosen(static_cast<Index>(i))) rows.push_back(order[i]);
    Dataset part;
    part.x = Design(Matrix(x(rows, Eigen::all)));
    part.y = data.y(rows);
    part.source = "fold";
    return part;
  };
  std::vector<Split> splits;
  for (Index fold = 0; fold < k; ++fold) {
    Split split;
    split.train = rows_where([&](Index i) { return i % k != fold; });
    split.validation = rows_where([&](Index i) { return i % k == fold; });
    splits.push_back(std::move(split));
  }
  return splits;
}

inline std::vector<double> shares_of(const std::vector<Split>& splits) {
  double rows = 0.0;
  for (const Split& split : splits) rows += static_cast<double>(split.validation.rows());
  std::vector<double> shares;
  for (const Split& split : splits) shares.push_back(static_cast<double>(split.validation.rows()) / rows);
  return shares;
}

inline std::vector<std::shared_ptr<const BilevelProblem>> problems_of(const std::vector<Split>& splits,
                                                                      const Loss& loss, bool intercept,
                                                                      bool collapsed) {
  std::vector<std::shared_ptr<const BilevelProblem>> problems;
  for (const Split& split : splits) {
    const auto direct = std::make_shared<LinearProblem>(split, loss, intercept);
    if (collapsed) {
      problems.push_back(std::make_shared<CollapsedLeastSquares>(direct));
    } else {
      problems.push_back(direct);
    }
  }
  return problems;
}

/// Σ_k share_k L_V^k(w*_k(λ)) of ridge by dense algebra: one singular value decomposition per fold,
///   w*(λ) = V (D² + 2Ne^λ)⁻¹ D Uᵀy on centred rows.
class KFoldRidgeCurve {
 public:
  KFoldRidgeCurve(const std::vector<Split>& splits, bool intercept) : shares_(shares_of(splits)) {
    for (const Split& split : splits) {
      const Eigen::MatrixXd x = matrix_of(split.train.x);
      const Eigen::MatrixXd x_valid = matrix_of(split.validation.x);
      Vector mean = Vector::Zero(x.cols());
      double y_mean = 0.0;
      if (intercept) {
        mean = x.colwise().mean();
        y_mean = split.train.y.mean();
      }
      const test::SingularValues svd = test::singular_values(x.rowwise() - mean.transpose());
      Fold fold;
      fold.rows = static_cast<double>(x.rows());
      fold.d = svd.s;
      fold.dz = fold.d.cwiseProduct(svd.u.transpose() * (split.train.y.array() - y_mean).matrix());
      fold.valid = (x_valid.rowwise() - mean.transpose()) * svd.v;
      fold.y = split.validation.y.array() - y_mean;
      folds_.push_back(std::move(fold));
    }
  }
  double operator()(double lambda) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < folds_.size(); ++k) {
      const Fold& fold = folds_[k];
      const Vector a = fold.dz.array() / (fold.d.array().square() + 2.0 * fold.rows * std::exp(lambda));
      sum += shares_[k] * 0.5 * (fold.valid * a - fold.y).squaredNorm() / static_cast<double>(fold.y.size());
    }
    return sum;
  }
  /// On a grid, and on one as fine again between the neighbours of its lowest point.
  double lowest(double low, double high, int points) const {
    double best = std::numeric_limits<double>::infinity();
    double at = low;
    for (const int round : {0, 1}) {
      const double step = (high - low) / (points - 1);
      for (int i = 0; i < points; ++i) {
        const double lambda = i + 1 == points ? high : low + step * i;
        const double value = (*this)(lambda);
        if (value < best) {
          best = value;
          at = lambda;
        }
      }
      if (round == 0) {
        low = std::max(low, at - step);
        high = std::min(high, at + step);
      }
    }
    return best;
  }

 private:
  struct Fold {
    double rows;
    Vector d, dz, y;
    Eigen::MatrixXd valid;
  };
  std::vector<double> shares_;
  std::vector<Fold> folds_;
};

}  // namespace yosida::test
