#include "yosida/problem/exact_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace yosida {
namespace {

double value_at(const ExactCurve::Piece& piece, double c) {
  const double t = piece.begin - c;
  return piece.value + t * (piece.slope + t * piece.curvature);
}

/// dh/dλ = c dh/dc
double slope_at(const ExactCurve::Piece& piece, double c) {
  return -c * (piece.slope + 2.0 * (piece.begin - c) * piece.curvature);
}

}  // namespace

ExactCurve::ExactCurve(std::vector<Piece> pieces, double end, double work, Weights weights)
    : pieces_(std::move(pieces)), end_(end), work_(work), weights_(std::move(weights)) {
  if (pieces_.empty()) throw std::logic_error("an exact curve needs a piece");
}

ExactCurve ExactCurve::sum(std::span<const std::shared_ptr<const ExactCurve>> curves,
                           std::span<const double> shares, Weights weights) {
  double end = 0.0;
  double work = 0.0;
  std::vector<double> begins;
  for (const auto& curve : curves) {
    end = std::max(end, curve->end_);
    work += curve->work_ / static_cast<double>(curves.size());
    for (const Piece& piece : curve->pieces_) begins.push_back(piece.begin);
  }
  std::sort(begins.begin(), begins.end(), std::greater<>());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<Piece> merged;
  double last = end;
  std::vector<std::size_t> at(curves.size(), 0);  // the first piece that begins below the one that holds c
  for (const double begin : begins) {
    if (!(begin > end) && !merged.empty()) break;
    Piece all{.begin = begin, .value = 0.0, .slope = 0.0, .curvature = 0.0};
    for (std::size_t k = 0; k < curves.size(); ++k) {
      const std::vector<Piece>& own = curves[k]->pieces_;
      while (at[k] < own.size() && own[at[k]].begin >= begin) ++at[k];
      if (at[k] == 0) {  // above the first kink of this one
        all.value += shares[k] * own.front().value;
        continue;
      }
      const Piece& piece = own[at[k] - 1];
      all.value += shares[k] * value_at(piece, begin);
      all.slope += shares[k] * (piece.slope + 2.0 * (piece.begin - begin) * piece.curvature);
      all.curvature += shares[k] * piece.curvature;
    }
    merged.push_back(all);
    last = begin;
  }
  return {std::move(merged), std::min(end, last), work, std::move(weights)};
}

double ExactCurve::lowest() const { return std::log(end_); }

std::vector<double> ExactCurve::kinks() const {
  std::vector<double> all;
  for (const Piece& piece : pieces_) all.push_back(std::log(piece.begin));
  return all;
}

double ExactCurve::end_of(std::size_t piece) const {
  return piece + 1 < pieces_.size() ? pieces_[piece + 1].begin : end_;
}

std::size_t ExactCurve::piece_below(double c) const {
  if (c > pieces_.front().begin) return pieces_.size();
  const auto next = std::partition_point(pieces_.begin(), pieces_.end(),
                                         [c](const Piece& piece) { return piece.begin >= c; });
  return static_cast<std::size_t>(next - pieces_.begin()) - 1;
}

ExactCurve::Point ExactCurve::at(double lambda) const {
  const double c = std::exp(lambda);
  const std::size_t below = piece_below(c);
  if (below == pieces_.size())
    return {.lambda = lambda, .value = pieces_.front().value, .slope_below = 0.0, .slope_above = 0.0};
  const Piece& piece = pieces_[below];
  Point point{
      .lambda = lambda, .value = value_at(piece, c), .slope_below = slope_at(piece, c), .slope_above = 0.0};
  if (c < piece.begin) {
    point.slope_above = point.slope_below;
  } else if (below > 0) {
    point.slope_above = slope_at(pieces_[below - 1], c);
  }
  return point;
}

ExactCurve::Point ExactCurve::minimum(double low, double high) const {
  const double least = std::max(std::exp(low), end_);
  const double most = std::max(std::exp(high), least);
  double best = most;
  double value = at(std::log(most)).value;
  const auto look_at = [&](const Piece& piece, double c) {
    const double here = value_at(piece, c);
    if (!(here < value)) return;
    value = here;
    best = c;
  };
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    const double from = std::min(piece.begin, most);
    const double to = std::max(end_of(i), least);
    if (to > from) continue;
    look_at(piece, from);
    if (piece.curvature > 0.0) {
      const double bottom = piece.begin + 0.5 * piece.slope / piece.curvature;
      if (bottom < from && bottom > to) look_at(piece, bottom);
    }
    look_at(piece, to);
  }
  Point point = at(std::clamp(std::log(best), low, high));
  point.value = value;
  // Rounding of the logarithm may have left a kink: its slopes are those of the pieces that meet there.
  const std::size_t below = piece_below(best);
  if (below < pieces_.size() && best == pieces_[below].begin) {
    point.slope_below = slope_at(pieces_[below], best);
    point.slope_above = below > 0 ? slope_at(pieces_[below - 1], best) : 0.0;
  }
  return point;
}

Vector ExactCurve::weights(double lambda) const {
  if (!(lambda >= lowest() - 1e-12 * std::abs(lowest())))
    throw std::logic_error("an exact curve is asked for weights beyond its end");
  return weights_(lambda);
}

}  // namespace yosida
