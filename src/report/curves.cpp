#include "report/curves.hpp"

#include <algorithm>
#include <cmath>

#include "report/thinning.hpp"

namespace yosida::report {
namespace {

template <typename T>
std::vector<T> at_places(const std::vector<T>& values, const std::vector<std::size_t>& places) {
  std::vector<T> result;
  result.reserve(places.size());
  for (const std::size_t place : places) result.push_back(values[place]);
  return result;
}

/// The place of an iteration in a picture whose axis is logarithmic.
double position_of(double iteration) { return std::log1p(std::max(iteration, 0.0)); }

double median_of(std::vector<double>& values) {
  if (values.empty()) return kMissing;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  return below + 0.5 * (*middle - below);
}

/// A run read from its start, one iteration after the other.
class Reader {
 public:
  Reader(const RunDigest& run, bool is_scaled)
      : run_(run), scale_(is_scaled ? run.scale() : 1.0), next_(run.samples.begin()) {}

  void go_to(std::int32_t iteration) {
    while (next_ != run_.samples.end() && next_->iteration <= iteration) ++next_;
    is_over_ = run_.state == State::diverged && next_ == run_.samples.end() &&
               iteration > run_.samples.back().iteration;
  }
  bool has_begun() const { return next_ != run_.samples.begin(); }
  const Sample& sample() const { return *(next_ - 1); }
  double validation() const { return is_over_ ? kMissing : scale_ * sample().validation; }
  double gap() const { return is_over_ ? kMissing : run_.gap_of(sample().validation); }

 private:
  const RunDigest& run_;
  double scale_;
  std::vector<Sample>::const_iterator next_;
  bool is_over_ = false;
};

std::vector<std::int32_t> iterations_of(const Runs& runs) {
  std::vector<std::int32_t> iterations;
  for (const RunDigest* run : runs) {
    const std::size_t before = iterations.size();
    for (const Sample& sample : run->samples) iterations.push_back(sample.iteration);
    // Runs mostly have the same ones: what there is twice goes at once.
    std::inplace_merge(iterations.begin(), iterations.begin() + static_cast<std::ptrdiff_t>(before),
                       iterations.end());
    iterations.erase(std::unique(iterations.begin(), iterations.end()), iterations.end());
  }
  return iterations;
}

/// Ends a curve at the first point after which no run is left.
void cut_after_last_run(Curve& curve) {
  const auto last = std::find_if(curve.running.rbegin(), curve.running.rend(),
                                 [](std::int64_t count) { return count > 0; });
  const auto kept = static_cast<std::size_t>(curve.running.rend() - last) + 1;
  if (kept >= curve.running.size()) return;
  for (auto* values : {&curve.iterations, &curve.work, &curve.seconds, &curve.median, &curve.low, &curve.high,
                       &curve.gap, &curve.gap_low, &curve.gap_high})
    if (!values->empty()) values->resize(kept);
  curve.running.resize(kept);
}

/// Adds the median and the range of the values that are finite. Returns how many these are.
std::size_t add_point(std::vector<double>& values, std::vector<double>& median, std::vector<double>& low,
                      std::vector<double>& high) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  low.push_back(values.empty() ? kMissing : *least);
  high.push_back(values.empty() ? kMissing : *most);
  median.push_back(median_of(values));
  return values.size();
}

}  // namespace

Curve curve_of(const Runs& runs, bool is_scaled) {
  Curve curve;
  std::vector<Reader> readers;
  for (const RunDigest* run : runs)
    if (!run->samples.empty()) readers.emplace_back(*run, is_scaled);
  curve.seeds = static_cast<std::int64_t>(readers.size());
  const bool has_oracle = std::any_of(
      runs.begin(), runs.end(), [](const RunDigest* run) { return std::isfinite(run->oracle_validation); });
  std::vector<double> losses, gaps, work, seconds;
  for (const std::int32_t iteration : iterations_of(runs)) {
    losses.clear(), gaps.clear(), work.clear(), seconds.clear();
    for (Reader& reader : readers) {
      reader.go_to(iteration);
      if (!reader.has_begun()) continue;
      work.push_back(reader.sample().work);
      seconds.push_back(reader.sample().seconds);
      losses.push_back(reader.validation());
      gaps.push_back(reader.gap());
    }
    curve.running.push_back(
        static_cast<std::int64_t>(add_point(losses, curve.median, curve.low, curve.high)));
    if (has_oracle) add_point(gaps, curve.gap, curve.gap_low, curve.gap_high);
    // A run that begins later than others must not turn the curve back.
    const auto not_below_last = [](std::vector<double>& axis, double value) {
      axis.push_back(axis.empty() ? value : std::max(axis.back(), value));
    };
    curve.iterations.push_back(iteration);
    not_below_last(curve.work, median_of(work));
    not_below_last(curve.seconds, median_of(seconds));
  }
  cut_after_last_run(curve);
  return curve;
}

Curve thinned(const Curve& curve, std::size_t limit) {
  std::vector<double> positions(curve.iterations.size());
  std::transform(curve.iterations.begin(), curve.iterations.end(), positions.begin(), position_of);
  std::vector<std::span<const double>> series = {curve.median, curve.low, curve.high};
  if (!curve.gap.empty()) series.emplace_back(curve.gap);
  const auto places = keep_extremes(positions, series, limit);
  const auto kept = [&](const std::vector<double>& values) {
    return values.empty() ? values : at_places(values, places);
  };
  return {.row = curve.row,
          .seeds = curve.seeds,
          .iterations = at_places(curve.iterations, places),
          .work = at_places(curve.work, places),
          .seconds = at_places(curve.seconds, places),
          .median = at_places(curve.median, places),
          .low = at_places(curve.low, places),
          .high = at_places(curve.high, places),
          .gap = kept(curve.gap),
          .gap_low = kept(curve.gap_low),
          .gap_high = kept(curve.gap_high),
          .running = at_places(curve.running, places)};
}

std::vector<Sample> thinned(const std::vector<Sample>& samples, std::size_t limit) {
  std::vector<double> positions, losses;
  for (const Sample& sample : samples) {
    positions.push_back(position_of(sample.iteration));
    losses.push_back(sample.validation);
  }
  return at_places(samples, keep_extremes(positions, {losses}, limit));
}

namespace {

/// λ and losses apart, for thinning.
std::vector<ResponsePoint> thinned(const std::vector<ResponsePoint>& points, bool is_by_lambda,
                                   std::size_t limit) {
  std::vector<double> positions, lambdas, losses;
  for (const auto& [lambda, loss] : points) {
    positions.push_back(is_by_lambda ? lambda : position_of(static_cast<double>(positions.size())));
    lambdas.push_back(lambda);
    losses.push_back(loss);
  }
  return at_places(points, keep_extremes(positions, {lambdas, losses}, limit));
}

std::vector<ResponsePoint> path_of(const RunDigest& run, double scale) {
  std::vector<ResponsePoint> points;
  for (const Sample& sample : run.samples) {
    if (run.is_search && sample.iteration == 0) continue;  // where it stood before its first trial
    const ResponsePoint point(sample.lambda, scale * sample.validation);
    if (!std::isfinite(point.first) || !std::isfinite(point.second)) continue;
    if (points.empty() || points.back() != point) points.push_back(point);
  }
  return points;
}

TrustBand band_of(const Trust& trust, std::size_t row, double scale) {
  const double at = trust.minimum[0];
  TrustBand band{.row = row,
                 .curve = {},
                 .minimum = at,
                 .one_standard_error = at + trust.one_standard_error,
                 .interval = {at + trust.interval.low, at + trust.interval.high},
                 .paired = {at + trust.paired.low, at + trust.paired.high}};
  for (const CriterionPoint& point : trust.curve)
    band.curve.push_back({.lambda = at + point.shift,
                          .loss = scale * point.value,
                          .standard_error = scale * point.standard_error});
  return band;
}

/// What all losses of a seed are multiplied by. With folds the scaled loss is no multiple of the loss: runs
/// of the same curve would lie on different ones if each had a factor of its own.
double common_scale(const Runs& runs) {
  for (const RunDigest* run : runs)
    if (const double scale = run->scale(); std::isfinite(scale)) return scale;
  return kMissing;
}

}  // namespace

Response response_of(std::uint64_t seed, const Runs& runs, const std::vector<std::size_t>& rows,
                     bool is_scaled, std::size_t limit) {
  Response response{.seed = seed, .curve = {}, .oracle = {}, .bounds = {}, .paths = {}};
  double least = std::numeric_limits<double>::infinity();
  const double scale = is_scaled ? common_scale(runs) : 1.0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunDigest& run = *runs[i];
    if (!response.bounds && std::isfinite(run.low) && std::isfinite(run.high) && run.low < run.high)
      response.bounds.emplace(run.low, run.high);
    if (!std::isfinite(scale)) continue;
    for (const auto& [lambda, loss] : run.trials)
      if (std::isfinite(scale * loss)) response.curve.emplace_back(lambda, scale * loss);
    if (!response.oracle && std::isfinite(run.oracle_lambda) && std::isfinite(scale * run.oracle_validation))
      response.oracle.emplace(run.oracle_lambda, scale * run.oracle_validation);
    if (run.trust && run.trust->value < least) {
      least = run.trust->value;
      response.trust = band_of(*run.trust, rows[i], scale);
    }
    if (auto path = path_of(run, scale); !path.empty())
      response.paths.push_back({rows[i], run.is_search, thinned(path, false, limit)});
  }
  std::sort(response.curve.begin(), response.curve.end());
  response.curve.erase(std::unique(response.curve.begin(), response.curve.end()), response.curve.end());
  response.curve = thinned(response.curve, true, limit);
  return response;
}

}  // namespace yosida::report
