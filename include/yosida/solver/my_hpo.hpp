#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/response/tangent.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/basin_search.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// The successor of MY-HPO: the Moreau–Yosida step on the tangent of the best response. No step size.
///
/// One hyperparameter: a coarse scan of the bounds, then every promising basin, each evaluation an inexact
/// warm-started inner solve and one linear solve for the slope. Ends at the global minimum inside the bounds.
///
/// Several: proximal steps with ρ from the gain ratio, from the start given. Ends at a stationary point.
struct MyHpo {
  static constexpr const char* name = "my-hpo";
  static constexpr std::int64_t default_iterations = 500;
  struct Settings {
    double tolerance = 1e-3;
    double scan_tolerance = 1e-2;
    double spacing = 1.0;
    double epsilon = 0.001;
  };
  /// What several hyperparameters need.
  struct Many {
    double validation = 0.0;  // L_V(w)
    Vector g;                 // ∇h(λ)
    double rho = 0.0;
    Matrix phi1;                // Φ₁, few hyperparameters
    Eigen::MatrixXd curvature;  // of h: Φ₁ᵀ∇²L_VΦ₁, that of L_V on the tangent, and what w* itself adds
    Vector kappa;               // curvatures by which λ is measured in shares; empty where it is not
    Vector q;                   // H⁻¹∇L_V, many hyperparameters
    std::vector<std::pair<Vector, Vector>> pairs;  // (Δλ, Δ∇h) of the last iterations
    double tolerance = 0.0, adjoint_tolerance = 0.0;
    double certificate = std::numeric_limits<double>::infinity();  // the least so far
    int stalled = 0;                                               // iterations that did not lower it
    bool at_rounding = false;  // the last step promised less than rounding
    int snaps = 0;             // times that λ has been moved to the bounds it crept to
    int line_checks = 0;       // times that the answer has been looked at along a line
    bool is_left = false;      // λ has been moved by such a look: all above is of another
  };
  /// Several hyperparameters start where the search for one along a line, or along a few, has ended: the best
  /// λ shared by all, or the best ℓ₁ penalty under a few ℓ₂ ones.
  struct Lines;
  /// How a descent has ended.
  struct Descent {
    double validation = std::numeric_limits<double>::infinity();
    Vector lambda, w;
    bool converged = false;
  };
  struct State : Iterate {
    Start range;
    std::optional<BasinSearch> search;
    std::map<double, Tangent> visited;
    std::shared_ptr<SolveMemory> memory;  // what the problem keeps between its solves
    double last_scanned = 0.0;       // L_V
    bool is_coarse_useless = false;  // the scan has come to where its coarse solves do not tell h
    bool has_one_scale = false;      // the columns are alike
    int rises = 0;                   // of the scan's last values, one after the other
    int unresolved = 0;              // points of the scan, one after the other
    int refinements = 0;
    int closer_looks = 0;
    int looks_between = 0;
    bool is_looking_between = false;  // the λ wanted is one of them
    bool start_seen = false;
    std::optional<double> wanted;  // a λ to look at again, more exactly
    bool is_confirming = false;    // ... as exactly as the answer
    bool has_own_bounds = false;   // the bounds are the data's own: they may be moved
    double value_of_zero = 0.0;    // L_V of the start, w = 0
    double value_at_low_end = std::numeric_limits<double>::infinity();  // h where the bounds ended before
    double value_at_high_end = std::numeric_limits<double>::infinity();
    int extensions = 0;                // times that a bound has been moved
    std::optional<double> moved_from;  // where the lower bound was, while what lies below is scanned
    Many many;
    std::shared_ptr<Lines> lines;  // while they are searched
    Descent first;                 // of an elastic net: the descent from its lines
    Vector g;
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  bool stays_in_row_space() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
