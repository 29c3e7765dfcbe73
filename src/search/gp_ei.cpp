#include "search/gp_ei.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "search/cube_descent.hpp"
#include "search/gp_prior.hpp"
#include "search/sobol.hpp"
#include "search/standardise.hpp"
#include "yosida/error.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida::search {
namespace {

constexpr std::int64_t kLargestGrid = 1'000'000;
constexpr std::int64_t kMostSweeps = 10'000;
constexpr std::int64_t kMostClimbs = 1'000;
/// Candidates near the best point so far, and the standard deviation of where they are.
constexpr Index kSpray = 10;
constexpr double kSprayWidth = 1e-3;
/// Points closer than this in every coordinate are one.
constexpr double kSame = 1e-6;
/// Starts of climbs differ by this in some coordinate, and so does a proposal from those that are open.
constexpr double kApart = 0.02;
/// Candidates are judged in blocks whose covariances with a hundred points stay in the second-level cache.
constexpr Index kBlock = 256;
/// EI is polished to this relative accuracy, samples of hyperparameters being far coarser.
constexpr double kPolish = 1e-6;
constexpr int kMaxPolishSteps = 50;
/// Up to so many trials told, the process is fitted to all of them; beyond, to half as many.
constexpr Index kMostFitted = 200;

/// EI under each model, averaged, at every candidate.
Vector mean_improvements(const std::vector<GpEi::Model>& models, const Matrix& candidates) {
  Vector sum = Vector::Zero(candidates.cols());
  Vector mean, variance;
  for (Index begin = 0; begin < candidates.cols(); begin += kBlock) {
    const Index count = std::min(kBlock, candidates.cols() - begin);
    for (const auto& [process, best] : models) {
      process.predict(candidates, begin, count, mean, variance);
      for (Index i = 0; i < count; ++i)
        sum[begin + i] += expected_improvement(best, mean[i], variance[i]).value;
    }
  }
  return sum / static_cast<double>(models.size());
}

/// Climbs from x to where EI, averaged over models, is largest nearby; returns it.
// Deviation: by its logarithm, which has the same maxima and slopes of order 1 however small EI is.
double polish(const std::vector<GpEi::Model>& models, Vector& x) {
  double sum = 0.0;
  const auto minus_log = [&](const Vector& at, Vector& gradient) {
    gradient.setZero();
    sum = 0.0;
    for (const auto& [process, best] : models) sum += process.add_improvement(best, at, gradient);
    gradient /= -sum;
    return -std::log(sum);
  };
  descend_in_unit_cube(minus_log, kPolish, kMaxPolishSteps, x);
  Vector gradient(x.size());
  minus_log(x, gradient);
  return sum / static_cast<double>(models.size());
}

}  // namespace

const std::vector<Setting<GpEi::Settings>>& GpEi::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::whole("grid", &Settings::grid, 1, kLargestGrid,
                      fmt::format("a whole number from 1 to {}", kLargestGrid),
                      "points of the Sobol sequence among which to look", "Spearmint"),
      settings::whole("burn_in", &Settings::burn_in, 1, kMostSweeps,
                      fmt::format("a whole number from 1 to {}", kMostSweeps),
                      "sweeps over the hyperparameters of the process before the first are used",
                      "Spearmint"),
      settings::whole("samples", &Settings::samples, 1, kMostSweeps,
                      fmt::format("a whole number from 1 to {}", kMostSweeps),
                      "hyperparameters to average over", "Spearmint"),
      settings::whole("polished", &Settings::polished, 1, kMostClimbs,
                      fmt::format("a whole number from 1 to {}", kMostClimbs),
                      "candidates from which to climb", "Spearmint"),
      settings::real("noise", &Settings::noise, LowerLimit::positive(),
                     "scale of the prior of the noise, its variance over that of the values",
                     "ours: Spearmint's 0.1 takes narrow valleys for noise"),
  };
  return rows;
}

GpEi::GpEi(const Space& space, const SamplerOptions& options, const Settings& settings)
    : space_(space), settings_(settings), random_(options.seed) {
  settings::verify(name, table(), settings_);
  if (space.size() > kSobolDimensions)
    throw InputError(
        fmt::format("{}: {} dimensions: takes at most {}", name, space.size(), kSobolDimensions));
  candidates_.setZero(space.size(), settings_.grid + kSpray);
  candidates_.leftCols(settings_.grid) = sobol_points(space.size(), settings_.grid).transpose();
  hyperparameters_.lengths = Vector::Ones(space.size());
}

std::optional<Proposal> GpEi::ask() {
  // Spearmint's first two trials, and all that are asked for until two are told, go along the grid.
  const Vector unit = told_ < 2 ? next_of_grid() : most_promising();
  trials_.push_back({unit, {}});
  return open_.open(space_.from_unit(unit));
}

void GpEi::tell(const Proposal& proposal, double value) {
  open_.close(proposal);
  trials_[static_cast<std::size_t>(proposal.id)].value = value;
  ++told_;
}

/// Whether a trial was made at `unit`, or one is open closer than `room`.
bool GpEi::is_taken(const Vector& unit, double room) const {
  return std::any_of(trials_.begin(), trials_.end(), [&](const Trial& trial) {
    return (trial.unit - unit).lpNorm<Eigen::Infinity>() < (trial.value ? kSame : room);
  });
}

/// The first point of the grid that is free; a random one where none is.
Vector GpEi::next_of_grid() {
  while (grid_used_ < settings_.grid && is_taken(candidates_.col(grid_used_), kSame)) ++grid_used_;
  if (grid_used_ < settings_.grid) return candidates_.col(grid_used_);
  Vector unit(space_.size());
  for (double& each : unit) each = random_.uniform();
  return unit;
}

/// The trials that the process is fitted to, in the order they were proposed.
// Deviation: Spearmint's process knows every trial, and a proposal costs the cube of their number. Where
// there are many, the best say where the minimum is, and the newest what was learned of other places since.
std::vector<Index> GpEi::fitted_trials() const {
  std::vector<Index> told;
  for (std::size_t i = 0; i < trials_.size(); ++i)
    if (trials_[i].value) told.push_back(static_cast<Index>(i));
  if (told_ <= kMostFitted) return told;
  constexpr std::ptrdiff_t kBest = kMostFitted / 4;
  const auto value = [&](Index trial) {
    const double told_value = *trials_[static_cast<std::size_t>(trial)].value;
    return std::isfinite(told_value) ? told_value : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(told.begin(), told.end(), [&](Index a, Index b) { return value(a) < value(b); });
  std::sort(told.begin() + kBest, told.end(), std::greater<>());
  told.resize(kMostFitted / 2);
  std::sort(told.begin(), told.end());
  return told;
}

Vector GpEi::most_promising() {
  const std::vector<Index> fitted = fitted_trials();
  Matrix points(space_.size(), std::ssize(fitted));
  Vector values(std::ssize(fitted));
  Index column = 0;
  for (const Index i : fitted) {
    const Trial& trial = trials_[static_cast<std::size_t>(i)];
    points.col(column) = trial.unit;
    values[column++] = *trial.value;
  }
  values = standardised(std::move(values));
  Index best_trial = 0;
  values.minCoeff(&best_trial);

  sample(points, values);
  const std::vector<Model> average = models(points, values);
  spray_around(points.col(best_trial));
  const std::vector<Index> climbs = starts(mean_improvements(average, candidates_));
  Vector winner;
  double winning = -1.0;
  for (const Index start : climbs) {
    Vector x = candidates_.col(start);
    const double improvement = polish(average, x);
    // Deviation: Spearmint may propose a point again; here another climb, or the best start, goes first.
    if (improvement > winning && !is_taken(x, kApart)) {
      winning = improvement;
      winner = x;
    }
  }
  if (winner.size() > 0) return winner;
  return climbs.empty() ? next_of_grid() : Vector(candidates_.col(climbs.front()));
}

/// Draws hyperparameters given what was told, unless that was done.
// Deviation: Spearmint draws anew for every question. Between two tells that only adds noise, in which open
// proposals are proposed again.
void GpEi::sample(const Matrix& points, const Vector& values) {
  if (sampled_ == told_) return;
  hyperparameters_.mean = std::clamp(hyperparameters_.mean, values.minCoeff(), values.maxCoeff());
  const std::int64_t burn_in = sampled_ == 0 ? settings_.burn_in : 0;
  samples_.clear();
  for (std::int64_t i = 0; i < burn_in + settings_.samples; ++i) {
    sample_hyperparameters(points, values, settings_.noise, random_, hyperparameters_);
    if (i >= burn_in) samples_.push_back(hyperparameters_);
  }
  sampled_ = told_;
}

/// A process for each sample. Each believes that open proposals will give what it expects there.
// Deviation: Spearmint averages over 100 random outcomes of open proposals, at 100 times the cost. Either way
// EI has its peaks next to open proposals where the process is sure of itself: hence `kApart`.
std::vector<GpEi::Model> GpEi::models(const Matrix& points, const Vector& values) const {
  const Index n = points.cols();
  const Index pending = std::ssize(trials_) - told_;
  Matrix all_points(points.rows(), n + pending);
  all_points.leftCols(n) = points;
  Index column = n;
  for (const Trial& trial : trials_)
    if (!trial.value) all_points.col(column++) = trial.unit;
  Vector all_values(n + pending), expected, variance;
  all_values.head(n) = values;

  std::vector<Model> all;
  for (const GpHyperparameters& hyperparameters : samples_) {
    if (pending > 0) {
      GaussianProcess(points, values, hyperparameters).predict(all_points, n, pending, expected, variance);
      all_values.tail(pending) = expected;
    }
    all.push_back({GaussianProcess(all_points, all_values, hyperparameters), all_values.minCoeff()});
  }
  return all;
}

void GpEi::spray_around(const Vector& unit) {
  for (Index i = settings_.grid; i < candidates_.cols(); ++i)
    for (Index d = 0; d < unit.size(); ++d)
      candidates_(d, i) = std::clamp(unit[d] + kSprayWidth * random_.normal(), 0.0, 1.0);
}

/// Free candidates to climb from, the best first.
// Deviation: Spearmint takes the best 20. In few dimensions these are neighbours, on one peak; here they keep
// apart.
std::vector<Index> GpEi::starts(const Vector& improvements) const {
  std::vector<Index> heap(static_cast<std::size_t>(improvements.size()));
  std::iota(heap.begin(), heap.end(), Index{0});
  const auto worse = [&](Index a, Index b) {
    return improvements[a] != improvements[b] ? improvements[a] < improvements[b] : a > b;
  };
  std::make_heap(heap.begin(), heap.end(), worse);
  std::vector<Index> chosen;
  for (auto end = heap.end(); end != heap.begin() && std::ssize(chosen) < settings_.polished; --end) {
    std::pop_heap(heap.begin(), end, worse);
    const Index next = *(end - 1);
    const bool apart = std::all_of(chosen.begin(), chosen.end(), [&](Index other) {
      return (candidates_.col(next) - candidates_.col(other)).lpNorm<Eigen::Infinity>() >= kApart;
    });
    if (apart && !is_taken(candidates_.col(next), kApart)) chosen.push_back(next);
  }
  return chosen;
}

}  // namespace yosida::search
