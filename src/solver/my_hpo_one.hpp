#pragma once

#include "solver/my_hpo_bounds.hpp"
#include "solver/my_hpo_curve.hpp"
#include "solver/my_hpo_scan.hpp"

namespace yosida {

/// What solves keep in a search; null where exact ones cost little.
inline std::shared_ptr<SolveMemory> memory_of(const BilevelProblem& problem) {
  return problem.traits().factors_cheaply ? nullptr : problem.solve_memory();
}

/// my-hpo for one hyperparameter: the lowest of all valleys of h. A scan of the range, then every promising
/// basin refined, then the answer confirmed.
class SearchForOne final : public MyHpo::Search {
 public:
  /// w: the weights before anything is trained. `memory`: of the problem, or null. A scan to where h is level
  /// is one of a problem whose solves may be exact: then the answer is.
  SearchForOne(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& start,
               const Vector& w, std::shared_ptr<SolveMemory> memory, Scan::Depth depth = Scan::Depth::usual);

  void step(Iterate& at) override;

  bool is_scanning() const { return search_.scanning(); }
  /// Whether the scan has told h down to the end of the range, and each solve what it was asked for.
  bool tells_all() const { return scan_.tells_all() && curve_.inexact_solves() == 0; }
  /// Whether h is level there.
  bool is_level() const { return scan_.is_level(); }
  /// How much of the search is done, from 0 to 1, by how many points such a search usually takes.
  double share_done() const;
  /// h of the best sample so far.
  double best_value() const { return search_.best_value(); }

 private:
  /// A λ that is looked at though no basin promises to be lower there.
  struct Look {
    enum class Purpose { closer, confirming, between };
    double lambda;
    Purpose purpose = Purpose::closer;
  };

  void scan();
  void refine(const Iterate& at);
  bool promises_more() const;
  bool is_level_below(const BasinSearch::Sample& best) const;
  std::optional<Look> look_at_start();
  std::optional<Look> look_between();
  void conclude(const BasinSearch::Sample& best, Iterate& at);
  std::optional<Look> look_closer(const BasinSearch::Sample& best, const BasinSearch::Sample* neighbour);
  std::optional<BasinSearch::Sample> sample_beside(const BasinSearch::Sample& best);
  BasinSearch::Sample polish(const BasinSearch::Sample& best, Iterate& at);
  double largest_loss() const;
  bool is_nearly_no_loss(const BasinSearch::Sample& best) const;
  void take(const BasinSearch::Sample& best, Iterate& at) const;
  double certificate(const BasinSearch::Sample& best, const Iterate& at) const;
  double next_tau() const;
  double final_tau(const Iterate& at) const;

  const BilevelProblem& problem_;
  MyHpo::Settings settings_;
  std::shared_ptr<SolveMemory> memory_;  // what the problem keeps between its solves
  MovableBounds bounds_;
  BasinSearch search_;
  bool has_one_scale_;
  bool polishes_;  // the answer, by exact solves
  Scan scan_;
  Curve curve_;
  std::optional<Look> wanted_;
  int refinements_ = 0;
  int closer_looks_ = 0;
  int looks_between_ = 0;
  int confirmations_ = 0;
  bool start_seen_ = false;
  bool has_begun_ = false;
};

}  // namespace yosida
