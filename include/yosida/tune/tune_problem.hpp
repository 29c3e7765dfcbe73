#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/model/penalty.hpp"
#include "yosida/model/sparse_penalty.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/problem/gradient_check.hpp"
#include "yosida/solver/oracle.hpp"
#include "yosida/tune/part_report.hpp"
#include "yosida/tune/prepare.hpp"

namespace YOSIDA_EXPORT yosida {

struct ModelProblem;
class LeaveOneOutProblem;

/// What each row that judges a λ loses by weights that have not seen it, and how much it counts (mean 1).
struct RowLosses {
  Vector loss, weight;

  double mean() const { return loss.dot(weight) / static_cast<double>(loss.size()); }
};

/// Which weights share a λ, and what each λ is called.
struct NamedPenalty {
  Penalty penalty;  ///< of a model whose penalty is ℓ₂ alone
  std::vector<std::string> names;
  std::optional<SparsePenalty> sparse = {};  ///< in place of it where the penalty has kinks
  std::optional<double> fixed = {};  ///< in place of both, c‖w‖² where each training row has a λ
};

/// How far a solution is from the best λ there is: its validation loss, and that of its λ trained exactly,
/// relative to the oracle's.
struct OracleGap {
  Oracle oracle;
  double gap;
  double lambda_gap;
};

/// A model on prepared rows, with its penalty: ready for any method. It keeps no option of the run, so runs
/// share it, also from several threads: the form that is cheapest for a run is made when it is first asked
/// for, and once.
class TuneProblem {
 public:
  /// Uses the rows up where nobody else holds them. Throws InputError where options and rows do not fit each
  /// other.
  TuneProblem(Rows rows, const TuneOptions& options);
  ~TuneProblem();
  /// Leaves the other empty.
  TuneProblem(TuneProblem&&) noexcept;

  const Prepared& data() const { return data_; }
  bool has_folds() const { return data_.fold_count > 0; }
  /// There are no validation rows: each row is judged by weights that were trained without it.
  bool judges_by_rows() const { return left_out_ != nullptr; }
  /// The model is trained on all rows at the end, whether or not that is asked for.
  bool always_refits() const { return has_folds() || judges_by_rows(); }
  /// The criterion in words: "5-fold", "leave-one-out".
  std::string criterion_in_words() const;
  /// Rows that judge a λ.
  Index judging_rows() const;
  bool has_intercept() const { return intercept_; }
  const Penalty& penalty() const { return penalty_.penalty; }
  /// The penalty where it has kinks, else null.
  const SparsePenalty* sparse_penalty() const { return penalty_.sparse ? &*penalty_.sparse : nullptr; }
  /// Each λ says how far a training row is trusted; none is a penalty.
  bool weighs_rows() const { return penalty_.fixed.has_value(); }
  const std::vector<std::string>& lambda_names() const { return penalty_.names; }
  Index hyperparameters() const { return static_cast<Index>(penalty_.names.size()); }
  /// All rows with folds and where rows judge themselves, else the split that is tuned on.
  const Split& split() const;
  /// The parts of a fold, of those there are.
  const Split& fold(Index k) const;
  /// Wall time of the constructor.
  double seconds() const { return seconds_; }

  // What takes long throws RunEnded where it is told to stop.

  /// The bi-level problem in the form that is cheapest for a run of `iterations`.
  std::shared_ptr<const BilevelProblem> bilevel(double iterations, Coordinates coordinates = Coordinates::any,
                                                const StopToken& stop = {}) const;
  /// The forms it has for so many iterations, with the seconds that all folds together are expected to take:
  /// first the one to try first. NaN where a model has one form, and nothing is to be chosen.
  std::vector<FormCost> forms(double iterations, Coordinates coordinates) const;
  /// Frees the forms that have been made: they are made anew where they are asked for again. For whoever has
  /// no other run of this problem, before complete(), whose refit then has their memory.
  void forget_forms();
  /// In this form, which may have been made before; null where it has none that is exact enough.
  std::shared_ptr<const BilevelProblem> in_form(Form form, const StopToken& stop = {}) const;
  /// Whether a report tells of all parts, or of none but those that judge.
  enum class Reported { all_parts, judging_parts };
  /// What a solution of such a problem does on every part, averaged over the folds where there are some. K
  /// folds train on K − 1 times as many rows as there are, so `judging_parts` takes a K-th of the time.
  Report report(const Solution& solution, Reported parts = Reported::all_parts) const;
  /// What each row that judges loses at the weights w*(λ) of such a problem, in its coordinates; of a row
  /// that judges several times (repeated folds) the mean.
  RowLosses row_losses(const BilevelProblem& problem, const Vector& w, const Vector& lambda) const;
  /// How leave-one-out stands at a λ: rows that were trained without in earnest, the largest leverage and
  /// what the refits have changed. Nothing for other criteria, and where nothing is to be said.
  std::string left_out_in_words(const Vector& lambda) const;
  /// The report of each fold; empty without folds.
  std::vector<Report> reports_of_folds(const Solution& solution, Reported parts = Reported::all_parts) const;
  /// What weights of the split do on every part of it.
  Report report(const Vector& w) const;
  /// Throws InputError where there are several λ, for which no oracle is searched.
  void require_one_lambda() const;
  /// The best λ there is inside the bounds given or, where there are none, the data's own. Throws InputError
  /// unless there is one λ.
  Oracle oracle(const Start& start, const StopToken& stop = {}) const;
  /// How far a solution is from it.
  OracleGap gap(Oracle oracle, const Solution& solution, const StopToken& stop = {}) const;
  /// w*(λ) on other rows, pretreated as these: all of them, or training and validation rows.
  Vector refit(const Dataset& rows, const Vector& lambda, const StopToken& stop = {}) const;
  /// The mean of the weights that the folds have, each by its own pretreatment: near those of all rows. Where
  /// there are no folds, the weights of the solution.
  Vector mean_of_folds(const Solution& solution) const;

  /// Every gradient and product of the split's problem against finite differences, in each form that it has.
  struct FormCheck {
    const char* form;  // "direct" or "collapsed"
    std::vector<GradientCheck> checks;
  };
  /// The checks, at this λ and at weights drawn by the seed.
  std::vector<FormCheck> check_gradients(double lambda, std::uint64_t seed) const;

 private:
  /// Calls `each` with 0, …, problems_.size() − 1, from several threads where that pays.
  void for_each_problem(FunctionRef<void(Index)> each) const;
  /// The weights of fold k among those of all folds.
  Vector weights_of_fold(const Vector& all, Index k) const;
  /// The problem, or those of all folds as one.
  std::shared_ptr<const BilevelProblem> joined(std::vector<std::shared_ptr<const BilevelProblem>> all) const;

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Prepared data_;
  NamedPenalty penalty_;
  bool intercept_;
  Index numbers_;                       // of all rows that are trained on
  std::vector<ModelProblem> problems_;  // of the split, or of each fold
  std::shared_ptr<const LeaveOneOutProblem> left_out_;
  double seconds_ = 0.0;
};

}  // namespace yosida
