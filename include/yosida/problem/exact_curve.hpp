#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {

/// h along one λ where it is known for all of them at once: between two kinks it is a quadratic in c = e^λ,
/// as that of a lasso is, whose weights are linear in c while the support stays the same. May be read by
/// several threads.
class ExactCurve {
 public:
  /// As the least λ it asks for the whole curve.
  static constexpr double kAll = -std::numeric_limits<double>::infinity();
  /// h = value + slope t + curvature t² with t = begin − c, from c = begin down to where the next piece
  /// begins.
  struct Piece {
    double begin;
    double value;
    double slope;
    double curvature;
  };
  /// What is known at one λ.
  struct Point {
    double lambda;
    double value;
    double slope_below;  ///< dh/dλ towards smaller λ; at a kink it differs from the one above
    double slope_above;
  };
  /// w*(λ) of the problem the curve is of.
  using Weights = std::function<Vector(double lambda)>;

  /// `pieces`: begins falling, all above `end` ≥ 0, down to which the last one goes; above the first h is the
  /// constant that it begins with. `work`: what computing the curve took, in gradient equivalents.
  ExactCurve(std::vector<Piece> pieces, double end, double work, Weights weights);
  /// Σ share × curve: its kinks are those of all. Weights are not those of any of them.
  static ExactCurve sum(std::span<const std::shared_ptr<const ExactCurve>> curves,
                        std::span<const double> shares, Weights weights);

  /// The curve is known from here on; −∞ where it is known for all λ.
  double lowest() const;
  /// The λ of all kinks, falling.
  std::vector<double> kinks() const;
  const std::vector<Piece>& pieces() const { return pieces_; }
  double work() const { return work_; }
  /// The curve at a λ ≥ lowest().
  Point at(double lambda) const;
  /// The least h of all λ in [low, high], exactly, of as much of it as is known; the largest λ of several.
  Point minimum(double low, double high) const;
  /// Throws std::logic_error below lowest().
  Vector weights(double lambda) const;

 private:
  double end_of(std::size_t piece) const;
  /// The piece below and at c. Above the first one: none, which is pieces_.size().
  std::size_t piece_below(double c) const;

  std::vector<Piece> pieces_;
  double end_;
  double work_;
  Weights weights_;
};

}  // namespace yosida
