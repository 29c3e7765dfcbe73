#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "problem/lasso_path.hpp"
#include "problem/shared_rows.hpp"
#include "yosida/data/split.hpp"
#include "yosida/problem/exact_curve.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// The weights at the kinks of a path. Between kinks they are linear in c = e^λ.
struct KnownWeights;

/// The products of the columns of a working set. Those of few columns are kept as a matrix; those of many are
/// computed when they are asked for, and kept.
class WorkingProducts final : public ColumnProducts {
 public:
  void set_all(Matrix gram);
  /// The rows of the working set, each times the root of its weight. Columns stand behind those there were.
  void set_rows(Matrix rows);
  /// A column counts as constant.
  void leave_out(Index column);
  const Matrix& all() const { return gram_; }
  const Vector& squares() const override { return squares_; }
  const double* row(Index column) override;
  bool is_empty() const { return gram_.size() == 0 && rows_.size() == 0; }
  /// Operations since it was asked before.
  double take_flops() { return std::exchange(flops_, 0.0); }

 private:
  Matrix gram_;                 // of all columns, or of none
  Matrix rows_;                 // of the working set
  std::vector<Index> place_;    // where the products of a column are kept; −1: nowhere
  std::vector<Vector> kept_;    // of one column with all
  std::vector<Index> kept_of_;  // which column
  Vector squares_;
  double flops_ = 0.0;
};

/// h(λ₁) of a lasso or an elastic net of least squares, for every λ₁ at once and any ℓ₂ penalty, from the
/// exact path of its weights. With many columns the path is followed on a working set, and all others are
/// checked at every kink: correlations are linear between kinks, so that what holds at these holds
/// everywhere.
///
/// Where a path is the only one, the products of columns are not kept after it if they are not needed any
/// more (a wide design), or are many and had anew for little (from the rows that folds share).
class LassoCurves {
 public:
  /// The split must outlive it. `flops_per_gradient`: the unit of the curves' work. `only_one`: there are no
  /// curves for other ridges. `shared` may be null.
  LassoCurves(const Split& split, bool intercept, double flops_per_gradient, bool only_one,
              std::shared_ptr<SharedRows> shared)
      : split_(split),
        intercept_(intercept),
        flops_per_gradient_(flops_per_gradient),
        only_one_(only_one),
        shared_(std::move(shared)) {}

  /// The curve for L_T + ½ ridge ‖w‖²; null where the path does not fit: too many columns in its support,
  /// numbers that are not finite, or `stop` says so. It goes down to λ₁ = `least`, or ends before that: where
  /// h is far above its least and overfitting is all that is left, or rounding hides the path. Its weights
  /// are computed when they are asked for, which may be as long as this object lives.
  std::shared_ptr<const ExactCurve> curve(double ridge, const StopToken* stop,
                                          double least = ExactCurve::kAll);

  /// ∇² of the data term on a set of weights, the intercept the last of all, from the Gram matrix that curves
  /// are made of. For at most kMaxCholesky columns.
  Matrix hessian_on(const std::vector<Index>& set);

 private:
  std::shared_ptr<const ExactCurve> followed(double ridge, const StopToken* stop, double least);
  /// False where it is stopped.
  bool prepare(const StopToken* stop);
  void prepare_rows(const StopToken* stop);
  /// Forgets products, unless they are few: the certificate asks for those of the support.
  void forget_large_products();
  /// All columns are the working set.
  void prepare_all(const StopToken* stop);
  /// The same from the products of the rows that folds share; false where these do not serve.
  bool prepare_from_shared(const StopToken* stop);
  /// The products of the working columns.
  void make_products(const StopToken* stop);
  void forget_products();
  /// s_i / N of each training row, and its target less their mean: numbers for all rows, which folds would
  /// hold K times, are computed where they are asked for.
  Vector shares() const;
  Vector targets() const;
  /// The products of a few columns, where all columns are the working set.
  Matrix products_on(const std::vector<Index>& columns);
  /// Many folds would keep more numbers than their rows have, of which a few are asked for.
  bool keeps_weights() const { return !only_one_ || !of_all_; }
  KnownWeights known_weights(LassoKinks kinks, WeightsAtKinks weights) const;
  /// The weights where they are not kept: the same path once more, down to this λ.
  Vector followed_to(double ridge, double lambda);
  /// Leaves out the constant columns of the working set.
  void leave_out_constant();
  /// The columns with the largest scores that are not in the working set join it.
  void grow(const Vector& score);
  /// Which columns outside the working set may have a correlation above c at one of the kinks from `first`
  /// on, given the weighted residuals there.
  std::vector<Index> doubtful(const LassoKinks& kinks, std::size_t first, const Matrix& residual);
  /// The first kink from `first` on at which a column outside the working set has a correlation above c; the
  /// number of all kinks where there is none. `score` tells the largest correlations there.
  std::size_t first_violation(const LassoPath& path, std::size_t first, Vector& score);
  /// Weights at the kinks from `first` on, one a column, the intercept last.
  Matrix weights_from(const LassoPath& path, std::size_t first) const;
  /// The columns that have a weight at one of these kinks, where leaving out the others pays; else none.
  std::vector<Index> few_columns(const Matrix& weights) const;
  /// Pieces of the curve between the kinks from `first` on.
  void add_pieces(const LassoPath& path, std::size_t first, std::vector<ExactCurve::Piece>& pieces);
  double train_loss(const LassoPath& path, std::size_t kink, double ridge) const;
  bool is_wide() const { return columns_.size() < static_cast<std::size_t>(split_.train.features()); }

  const Split& split_;
  bool intercept_;
  double flops_per_gradient_;
  bool only_one_;
  std::shared_ptr<SharedRows> shared_;
  std::mutex mutex_;  // around all that follows
  bool is_ready_ = false;
  std::shared_ptr<const GramOfAll> of_all_;  // of the shared rows, where these serve
  Design x_;                                 // the training rows, centred where there is an intercept
  Vector mean_;                              // of the columns
  double y_mean_ = 0.0;
  double y_square_ = 0.0;       // of the targets less their mean, the mean of their squares
  Vector all_slopes_;           // XᵀSy / N, of all columns
  Vector slope_;                // of those below
  std::vector<Index> columns_;  // the working set
  std::vector<char> is_in_;
  WorkingProducts gram_;  // of these
  Vector lengths_;        // ‖x_j‖ of all columns, where the working set is not all
  Design working_;        // the training rows' columns in the working set; empty where that is all of them
  Design validation_;     // likewise of the validation rows, not centred
  double flops_ = 0.0;
  double last_ridge_ = 0.0, last_least_ = 0.0;
  std::shared_ptr<const ExactCurve> last_;
};

}  // namespace yosida
