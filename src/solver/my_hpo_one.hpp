#pragma once

#include "solver/my_hpo_bounds.hpp"
#include "solver/my_hpo_curve.hpp"
#include "solver/my_hpo_scan.hpp"

namespace yosida {

/// my-hpo for one hyperparameter: the lowest of all valleys of h. A scan of the range, then every promising
/// basin refined, then the answer confirmed.
class SearchForOne final : public MyHpo::Search {
 public:
  /// w: the weights before anything is trained.
  SearchForOne(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& start,
               const Vector& w);

  void step(Iterate& at) override;

  bool is_scanning() const { return search_.scanning(); }
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
  void polish(const BasinSearch::Sample& best, Iterate& at);
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
