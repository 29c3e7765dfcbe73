#pragma once

#include <cstdint>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// What a run has cost. Losses computed for watching (traces, reports) are not in it.
struct Work {
  std::int64_t train_gradients = 0;
  std::int64_t validation_gradients = 0;
  std::int64_t hessian_products = 0;
  std::int64_t loss_evaluations = 0;
  std::int64_t inner_solves = 0;
  /// Factorisations, Gram matrices and the like: their floating-point operations divided by those
  /// of one training gradient.
  double factorisations = 0.0;

  /// The paper's n_g: gradients and Hessian products. A gradient of a collapsed problem counts 1.
  std::int64_t paper_count() const { return train_gradients + validation_gradients + hessian_products; }
  /// paper_count() plus ½ for each loss evaluation plus the factorisations: nothing is free.
  double gradient_equivalents() const {
    return static_cast<double>(paper_count()) + 0.5 * static_cast<double>(loss_evaluations) + factorisations;
  }
  /// Adds each count.
  Work& operator+=(const Work& other);
};

inline Work& Work::operator+=(const Work& other) {
  train_gradients += other.train_gradients;
  validation_gradients += other.validation_gradients;
  hessian_products += other.hessian_products;
  loss_evaluations += other.loss_evaluations;
  inner_solves += other.inner_solves;
  factorisations += other.factorisations;
  return *this;
}

}  // namespace yosida
