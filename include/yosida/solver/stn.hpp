#pragma once

#include <cstdint>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/random.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

/// Self-tuning networks (MacKay et al. 2019): a response to λ is learned around the current λ, under noise
/// whose own scale is tuned. For a linear model their scale and shift of activations come to
///   ŵ(λ + ε) = φ₀ + Φ₁ ε,   ε ~ N(0, diag e^{2s}),
/// Φ₁ with one column for each hyperparameter. It returns w = φ₀, the response at λ.
struct Stn {
  static constexpr const char* name = "stn";
  struct Settings {
    std::int64_t steps = 2;
    double alpha = 0.0;
    double beta = 0.1;
    double gamma = 0.003;
    double sigma = 0.5;
    double tau = 1e-5;
  };
  struct State : Iterate {  // w is φ₀
    Start range;
    Random random{0};
    Matrix phi1;       // weights × hyperparameters
    Vector log_scale;  // s
    Vector epsilon;
    Vector g, w_hat, lambda_hat, slope, previous;
    CurvatureIteration curvature;
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// With an intercept, iterates on the way may leave the span of the rows, but w*(λ) lies in it.
  bool stays_in_row_space() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
