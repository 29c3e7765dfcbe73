#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// The global minimum of a smooth h on [low, high] from few values and slopes: a coarse scan from the high
/// end to the low one, then every promising basin refined by cubic interpolation. It knows nothing of
/// bi-level problems: it proposes, the caller evaluates.
///
/// What makes a coarse scan enough: h(λ) = L_V(w*(λ)) is built of terms like 1/(s² + e^λ), whose features in
/// λ are a few units wide.
class BasinSearch {
 public:
  /// What is known at one point.
  struct Sample {
    double x;
    double value;
    std::optional<double> slope;  ///< missing where only the scan has been here
    /// The sample may be that of an x so far away: a later one as near as this takes its place.
    double blur = 0.0;
  };
  /// The value of a point the scan could not resolve: unknown, never the best, no reason to look there.
  static constexpr double kUnresolved = std::numeric_limits<double>::infinity();
  /// What to evaluate next.
  struct Proposal {
    double x;
    bool scanning;
  };

  /// The scan also looks at `start`. Where h is said to be plain below some x, moving along a single
  /// exponential there, points are further apart.
  BasinSearch(double low, double high, double spacing, double start,
              double plain_below = -std::numeric_limits<double>::infinity());

  /// The scan takes one point in `stride` and both ends at first, and `kept`, where it is one of them.
  void skim(std::size_t stride, double kept);
  /// The scan goes on with the middle one of the points that were left out between two samples, wherever h
  /// may be lower there than anywhere else; the others are looked at no more.
  void scan_between();
  /// The scan goes on, from an end of the range to a new one.
  void extend(double from, double to, double spacing);
  /// The range begins at x, which is a sample.
  void forget_below(double x);
  void end_scan() { next_scan_ = scan_.size(); }
  bool scanning() const { return next_scan_ < scan_.size(); }
  /// The points that are still to be scanned, in this order. Adding a sample makes them another list.
  std::span<const double> left_to_scan() const { return std::span(scan_).subspan(next_scan_); }
  /// The next point of the scan, which is not over.
  double next_scanned() const { return scan_[next_scan_]; }
  /// Nothing where the scan is over and no basin promises more than `relative_gain` of the best value. With
  /// `tolerance` the least distance from samples at which another is worth its cost.
  /// `blur_of_value`: by what share of itself a value may be wrong for each unit of its blur; between slopes
  /// that blurred, no less than that is worth a look.
  std::optional<Proposal> propose(double relative_gain, double tolerance, double blur_of_value = 0.0) const;
  /// Adds a sample, or replaces the one at the same x.
  void add(const Sample& sample);
  /// The lowest refined sample (with a slope), the lowest of all where none has been refined.
  const Sample& best() const;
  /// The best sample. Where h is flat from there to an end of the range and still falls towards it, rounding
  /// alone decides which sample is lowest: then it is the end. Less than this share of h is level.
  const Sample& settled(double level) const;
  double best_value() const { return samples_.empty() ? 0.0 : best().value; }
  const std::vector<Sample>& samples() const { return samples_; }
  Index scan_points() const { return static_cast<Index>(scan_.size()); }
  /// The share of the scan that is done, if every point that was left out is still wanted.
  double share_scanned() const;

 private:
  struct Candidate {
    double x;
    double value;  // estimated
    double width;
  };
  std::optional<Candidate> candidate(std::size_t i) const;
  bool is_lowest_around(std::size_t i) const;

  std::vector<double> scan_;  // high to low
  std::size_t next_scan_ = 0;
  std::vector<double> left_out_;  // high to low; between samples once these are scanned
  std::vector<Sample> samples_;   // x rising
  std::vector<double> walls_;     // where a refinement found nothing
};

}  // namespace yosida
