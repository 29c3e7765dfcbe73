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
  /// How near to each other a scan must look.
  double step = 0.1;
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

/// What an answer is measured against: the best shared λ by a dense scan of exact solutions.
class Truth {
 public:
  /// `floor`: gaps are relative to at least this share of the loss of w = 0.
  Truth(const Case& drawn, double floor);

  double best() const { return best_; }
  double best_lambda() const { return best_lambda_; }
  /// The scan could not be done over its whole range, or not at all.
  bool is_incomplete() const { return is_incomplete_; }
  /// h of as many λ as the case has; NaN where unknown.
  double at(const Vector& lambda);
  /// One λ for all weights.
  double at(double lambda);
  /// (h − best) / max(best, floor × h(w = 0)). Separable classes can bring L_V down to 1e-40, where no ratio
  /// means anything: hence the floor.
  double gap(double value) const;

 private:
  void scan();
  void polish(double a, double b);

  const Case& case_;
  std::vector<std::unique_ptr<FoldTruth>> folds_;
  double best_ = 0.0;
  double best_lambda_ = 0.0;
  double unit_ = 1.0;
  bool is_incomplete_ = false;
};

}  // namespace yosida::bench
