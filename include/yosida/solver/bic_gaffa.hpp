#pragma once

#include <cstdint>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

/// BiC-GAFFA (Yao, Yin, Zeng and Zhang 2024) for penalties as constraints: w*(r) = argmin L⁰(w) under
/// P_g(w) ≤ r_g, L⁰ the unpenalised L_T and P_g(w) what e^λg multiplies. The radii r take the place of λ; the
/// multipliers z of the constraints are the penalties, so that it returns λ = log z. A regularised gap of the
/// Lagrangian is descended by gradient steps in θ, r, w and z. Problems with penalties on squares alone. Any
/// number of hyperparameters. Its w is not w*(λ).
struct BicGaffa {
  static constexpr const char* name = "bic-gaffa";
  struct Settings {
    double gamma = 10.0;
    double gamma_dual = 1.0;
    double c = 10.0;
    double growth = 0.3;
    double eta = 0.0;
    double alpha = 0.0;
    double beta = 0.01;
  };
  struct State : Iterate {
    Start range;
    std::int64_t k = 0;
    Vector theta, radius, z, mu;
    Vector level;  // log of multipliers
    Vector g, validation_slope, terms;
    Curvatures curvatures;
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// ∇L_V, which w follows here, is no combination of training rows.
  bool stays_in_row_space() const { return false; }
  bool trains_answer() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
