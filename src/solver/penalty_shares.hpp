#pragma once

#include "yosida/solver/iterate.hpp"

namespace yosida {

/// Coordinates of steps in several λ: the share θ = e^λ/(e^λ + κ) of a penalty beside the curvature κ it
/// works on, from 0 (no penalty) to 1 (no weight). h is smooth in θ at both ends, where it is flat in λ: a
/// step can reach a bound at once, and dh/dθ is the scaled hypergradient up to a factor of 4. Where no κ is
/// known, λ itself is the coordinate.
struct PenaltyShares {
  const Vector& kappa;  ///< one for each λ, or none

  bool are_lambda() const { return kappa.size() == 0; }
  /// θ of λ.
  Vector of(const Vector& lambda) const;
  /// dλ/dθ
  Vector rate(const Vector& lambda) const;
  /// θ of `to` − θ of `from`, without the rounding of 1 − θ.
  Vector difference(const Vector& from, const Vector& to) const;
  /// λ moved in θ and kept in the range; what reaches a bound is there exactly.
  Vector moved(const Vector& lambda, const Vector& move, const Start& range) const;
};

}  // namespace yosida
