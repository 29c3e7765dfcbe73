#pragma once

#include <memory>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// The successor of MY-HPO: the Moreau–Yosida step on the tangent of the best response. No step size.
///
/// One hyperparameter: a coarse scan of the bounds, then every promising basin, each evaluation an inexact
/// warm-started inner solve and one linear solve for the slope. Ends at the global minimum inside the bounds.
///
/// Several: proximal steps with ρ from the gain ratio, from the best λ shared by all or the start given;
/// limited-memory steps where there are very many. Ends at a stationary point.
struct MyHpo {
  static constexpr const char* name = "my-hpo";
  static constexpr std::int64_t default_iterations = 500;
  struct Settings {
    double tolerance = 1e-3;
    double scan_tolerance = 1e-2;
    double spacing = 1.0;
    double epsilon = 0.001;
  };
  /// A search under way on one problem, which must outlive it: for one hyperparameter, for few or for many.
  struct Search {
    virtual ~Search() = default;
    /// One iteration: the next λ, its w and what is to be said of them.
    virtual void step(Iterate& at) = 0;
  };
  struct State : Iterate {
    Start start;
    std::unique_ptr<Search> search;  ///< of the problem of the first step, in which it is made
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  bool stays_in_row_space() const { return true; }
  bool last_is_answer() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  /// All steps of a state are of the problem that it began with.
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
