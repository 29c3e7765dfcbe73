#pragma once

#include <memory>
#include <vector>

#include "case.hpp"

namespace yosida::bench {

/// h(λ) = L_V(w*(λ)) of one split, by nothing of the library: neither its problems nor its solvers.
class FoldTruth {
 public:
  virtual ~FoldTruth() = default;
  /// One λ for all weights. NaN where the inner problem could not be solved.
  virtual double at(double lambda) = 0;
  /// One λ per class of a softmax.
  virtual double at_classes(const Vector& lambda) { return at(lambda[0]); }
  /// Above `high` the weights are 0 for every purpose, below `low` the penalty is nothing.
  double low = 0.0;
  double high = 0.0;
  /// How near to each other a scan must look, and where it must look besides.
  double step = 0.1;
  std::vector<double> kinks = {};
};

/// h of all splits along one λ.
class Path {
 public:
  Path(std::vector<std::unique_ptr<FoldTruth>> folds, const std::vector<double>& share)
      : folds_(std::move(folds)), share_(share) {}
  double at(double lambda) const;
  double at_classes(const Vector& lambda) const;

  struct Lowest {
    double value;
    double lambda;
    /// Below some λ inner problems could not be solved, and h was not yet far above the lowest.
    bool is_incomplete = false;
  };
  /// The lowest value, by a dense scan from large λ to small and golden section in every promising valley.
  Lowest lowest() const;

 private:
  std::vector<double> grid() const;
  void polish(double a, double b, Lowest& best) const;

  std::vector<std::unique_ptr<FoldTruth>> folds_;
  const std::vector<double>& share_;
};

/// The rows of a split in coordinates in which ‖w‖² is Σ penalty_j u_j² and columns are orthogonal with
/// entries of size 1, so that no scale of the data is left: with X = U S Vᵀ (means taken out where there is
/// an intercept), u = S Vᵀw / √N. The intercept's column of ones is the last.
struct Rotated {
  Rotated(const Split& split, bool intercept, const Vector& column_scale);
  Eigen::MatrixXd train, validation;
  Vector penalty;          // as many as singular values: N / s²
  Vector singular_values;  // that are not 0 to working precision
};

std::unique_ptr<FoldTruth> least_squares_truth(const Split& split, bool intercept,
                                               const Vector& column_scale);
std::unique_ptr<FoldTruth> newton_truth(const Split& split, const std::string& model, Index classes,
                                        bool intercept, const Vector& column_scale);

/// Lasso or, with ridge = e^λ₂ > 0, elastic net along λ₁.
std::unique_ptr<FoldTruth> lasso_truth(const Split& split, bool intercept, double ridge);

/// What an answer is measured against: the best shared λ by a dense scan of exact solutions; for the elastic
/// net the best of a grid of λ₂, refined, each with its best λ₁.
class Truth {
 public:
  /// `floor`: gaps are relative to at least this share of the loss of w = 0.
  Truth(const Case& drawn, double floor);

  double best() const { return best_; }
  double best_lambda() const { return best_lambda_; }  ///< of the elastic net λ₁
  /// The scan could not be done over its whole range, or not at all.
  bool is_incomplete() const { return is_incomplete_; }
  /// h of as many λ as the case has; NaN where unknown.
  double at(const Vector& lambda);
  /// L_V of w = 0.
  double null_loss() const { return null_loss_; }
  /// (h − best) / max(best, floor × h(w = 0)). Separable classes can bring L_V down to 1e-40, where no ratio
  /// means anything: hence the floor.
  double gap(double value) const;
  double unit() const { return unit_; }  ///< what gaps are relative to

 private:
  Path path(double ridge) const;
  void search_two();

  const Case case_;
  std::unique_ptr<Path> path_;
  double best_ = 0.0;
  double best_lambda_ = 0.0;
  double null_loss_ = 0.0;
  double unit_ = 1.0;
  bool is_incomplete_ = false;
};

}  // namespace yosida::bench
