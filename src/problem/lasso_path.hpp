#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/growing_cholesky.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida {

/// The kinks of a path: at which c they are, and what happens there.
struct LassoKinks {
  struct Event {
    std::int32_t column;  // −1: nothing, the path ends
    std::int32_t sign;    // of the weight that enters; 0: it leaves
  };
  /// The columns whose weights are not 0 below a kink, in the order in which they entered, and their signs.
  struct Support {
    std::vector<Index> columns;
    std::vector<double> signs;
  };
  std::size_t count() const { return c.size(); }
  Support support_below(std::size_t kink) const;
  /// Forgets all but the first `count` ≥ 1.
  void cut(std::size_t count);

  std::vector<double> c;  // falling; the last one may be 0
  std::vector<Event> events;
};

/// The weights at some kinks, one after the other: those that are not 0.
class WeightsAtKinks {
 public:
  struct Weights {
    std::span<const std::int32_t> column;
    std::span<const double> value;
  };
  /// The weights at a kink for which they are held.
  Weights at(std::size_t kink) const;
  void push_back(const std::vector<Index>& columns, const Vector& values);
  void forget_before(std::size_t kink);
  void forget_from(std::size_t kink);
  /// How many numbers they are.
  std::size_t count() const { return value_.size(); }

 private:
  std::size_t begin_of(std::size_t place) const { return place > 0 ? end_[place - 1] : 0; }

  std::size_t first_ = 0;  // the first kink they are held of
  std::vector<std::size_t> end_;
  std::vector<std::int32_t> column_;
  std::vector<double> value_;
};

/// G: the products of columns with each other, of which a path asks for those of its support alone.
class ColumnProducts {
 public:
  virtual ~ColumnProducts() = default;
  /// G_jj of all columns; 0 where one is constant.
  virtual const Vector& squares() const = 0;
  /// G_j, one number for each column. It stays where it is until another is asked for.
  virtual const double* row(Index column) = 0;
};

/// w(c) = argmin ½ wᵀGw − gᵀw + ½ ridge ‖w‖² + c ‖w‖₁ for every c ≥ 0, followed from the c at which w becomes
/// 0 downwards: between two kinks, at which a weight enters the support or leaves it, w is linear in c.
///
/// The path is kept as what happens at its kinks and the weights there. It may be cut back to one of them,
/// columns may be added to G (their correlations were below c so far), and the path goes on from there.
class LassoPath {
 public:
  enum class State {
    going,       ///< there is more of it below the last kink
    complete,    ///< it is known down to c = 0
    degenerate,  ///< rounding, or kinks at one place without end, let it be followed no further
  };
  /// G is asked where it is, and must stay there.
  LassoPath(ColumnProducts& gram, const Vector& slope, double ridge);

  /// Follows the path for so many kinks more, or to its end.
  void advance(std::size_t kinks);
  State state() const { return state_; }
  /// Operations so far.
  double flops() const { return flops_; }

  const LassoKinks& kinks() const { return kinks_; }
  /// From the kink on before which they have been forgotten.
  const WeightsAtKinks& weights() const { return weights_; }
  void forget_weights_before(std::size_t kink) { weights_.forget_before(kink); }

  /// Forgets what came after a kink whose weights are held, takes G and its slope as they are now, columns
  /// having been added at their ends, and goes on from there.
  void resume(std::size_t kink, const Vector& slope);

 private:
  struct Next {
    double length;
    Index column = -1;
    double sign = 0.0;
    Index place = -1;  // in the support, of one that leaves
  };
  bool add(Index column, double sign);
  void drop(Index place);
  void note_kink(Index column, double sign);
  /// Weights and correlations anew from the factor. False where they do not fit the conditions of a minimum.
  bool renew();
  void refactor();
  Next next_event() const;
  void pack(Index column, const double* products);
  /// How far rounding may take its correlation.
  double rounding_of(Index column) const;
  Index columns() const { return slope_.size(); }

  ColumnProducts& gram_;
  Vector square_;  // of the columns
  Vector slope_;
  double ridge_;
  State state_ = State::going;
  double flops_ = 0.0;

  double at_ = 0.0;        // c
  double largest_ = 0.0;   // the first c
  double least_ = 0.0;     // below, rounding is all there is
  double rounding_ = 0.0;  // of correlations, in scales of columns
  Vector correlation_;     // slope − (G + ridge) w
  std::vector<Index> support_;
  Vector sign_;                // of all columns, 0 outside the support
  Vector w_;                   // of the support
  GrowingCholesky factor_{2};  // of G on the support; its right-hand sides are the slope and the signs
  Matrix rows_;                // of G + ridge, those of the support, in any order
  std::vector<Index> slot_;    // where each has its row
  std::vector<char> depends_;  // on the support, by rounding: does not enter until that loses a column
  Index just_left_ = -1;
  double left_sign_ = 0.0;
  int standing_ = 0;
  int since_renewed_ = 0;
  Vector direction_, turn_, scratch_;

  LassoKinks kinks_;
  WeightsAtKinks weights_;
};

}  // namespace yosida
