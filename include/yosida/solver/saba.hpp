#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/solver/soba.hpp"

namespace YOSIDA_EXPORT yosida {

/// SABA (Dagréou, Ablin, Vaiter and Moreau 2022): SOBA with constant steps. Each direction is corrected by
/// what the same batch has given last, as SAGA does, so that the noise of batches dies out. It keeps the five
/// directions of every batch.
struct Saba {
  static constexpr const char* name = "saba";
  using Settings = SingleLoop::Settings;
  /// The last directions of every batch, a row each, and their mean in the last row.
  struct Memory {
    Matrix train, product, cross, validation, direct;
  };
  struct State : SingleLoop::State {
    Memory memory;
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// u follows ∇L_V, which is no combination of training rows.
  bool stays_in_row_space() const { return false; }
  bool trains_answer() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
