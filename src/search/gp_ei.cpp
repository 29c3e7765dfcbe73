#include "search/gp_ei.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "search/cube_descent.hpp"
#include "search/gp_prior.hpp"
#include "search/sobol.hpp"
#include "search/standardise.hpp"
#include "setting_rules.hpp"
#include "yosida/error.hpp"

namespace yosida::search {
namespace {

/// Candidates near the best point so far, and the standard deviation of where they are.
constexpr Index kSpray = 10;
constexpr double kSprayWidth = 1e-3;
/// Points this close in every coordinate are one.
constexpr double kSame = 1e-6;
bool are_same(const auto& a, const auto& b) { return (a - b).template lpNorm<Eigen::Infinity>() < kSame; }
/// Starts of climbs are this far apart in some coordinate.
constexpr double kApart = 0.02;
/// Candidates are judged in blocks whose covariances with a hundred points stay in the second-level cache.
constexpr Index kBlock = 256;
/// EI is polished to this relative accuracy, samples of hyperparameters being far coarser.
constexpr double kPolish = 1e-6;
constexpr int kMaxPolishSteps = 50;

/// EI under each model, averaged, at every candidate.
Vector mean_improvements(const std::vector<GaussianProcess>& models, double best, const Matrix& candidates) {
  Vector sum = Vector::Zero(candidates.cols());
  Vector mean, variance;
  for (Index begin = 0; begin < candidates.cols(); begin += kBlock) {
    const Index count = std::min(kBlock, candidates.cols() - begin);
    for (const GaussianProcess& model : models) {
      model.predict(candidates, begin, count, mean, variance);
      for (Index i = 0; i < count; ++i)
        sum[begin + i] += expected_improvement(best, mean[i], variance[i]).value;
    }
  }
  return sum / static_cast<double>(models.size());
}

/// Climbs from x to where EI, averaged over models, is largest nearby; returns it. By its logarithm, whose
/// slopes are of order 1 however small EI is.
double polish(const std::vector<GaussianProcess>& models, double best, Vector& x) {
  double sum = 0.0;
  const auto minus_log = [&](const Vector& at, Vector& gradient) {
    gradient.setZero();
    sum = 0.0;
    for (const GaussianProcess& model : models) sum += model.add_improvement(best, at, gradient);
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
      settings::count("grid", &Settings::grid, "points of the Sobol sequence among which to look",
                      "Spearmint", 1'000'000),
      settings::count("burn_in", &Settings::burn_in,
                      "sweeps over the hyperparameters of the process before the first are used",
                      "Spearmint"),
      settings::count("samples", &Settings::samples, "hyperparameters to average over", "Spearmint"),
      settings::count("polished", &Settings::polished, "candidates from which to climb", "Spearmint"),
      settings::real("noise", &Settings::noise, Bound::positive(),
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
  tried_.resize(static_cast<std::size_t>(settings_.grid));
  hyperparameters_.lengths = Vector::Ones(space.size());
}

std::optional<Proposal> GpEi::ask() {
  // Spearmint's first two trials, and all that are asked for until two are told, go along the grid.
  const Vector unit = told_ < 2 ? next_of_grid() : most_promising();
  for (std::size_t i = 0; i < tried_.size(); ++i)
    if (are_same(candidates_.col(static_cast<Index>(i)), unit)) tried_[i] = true;
  trials_.push_back({unit, {}});
  return open_.open(space_.from_unit(unit));
}

void GpEi::tell(const Proposal& proposal, double value) {
  open_.close(proposal);
  trials_[static_cast<std::size_t>(proposal.id)].value = value;
  ++told_;
}

bool GpEi::is_tried(const Vector& unit) const {
  return std::any_of(trials_.begin(), trials_.end(),
                     [&](const Trial& trial) { return are_same(trial.unit, unit); });
}

/// The first point of the grid that is free; a random one where none is.
Vector GpEi::next_of_grid() {
  const auto free = std::find(tried_.begin(), tried_.end(), false);
  if (free != tried_.end()) return candidates_.col(free - tried_.begin());
  Vector unit(space_.size());
  for (double& each : unit) each = random_.uniform();
  return unit;
}

Vector GpEi::most_promising() {
  Matrix points(space_.size(), told_);
  Vector values(told_);
  Index column = 0;
  for (const Trial& trial : trials_) {
    if (!trial.value) continue;
    points.col(column) = trial.unit;
    values[column++] = *trial.value;
  }
  values = standardised(std::move(values));
  Index best_trial = 0;
  const double best = values.minCoeff(&best_trial);

  const std::vector<GaussianProcess> models = sample_models(points, values);
  spray_around(points.col(best_trial));
  const std::vector<Index> climbs = starts(mean_improvements(models, best, candidates_));
  Vector winner;
  double winning = -1.0;
  for (const Index start : climbs) {
    Vector x = candidates_.col(start);
    const double improvement = polish(models, best, x);
    // Deviation: Spearmint may propose a point again; here another climb, or the best start, goes first.
    if (improvement > winning && !is_tried(x)) {
      winning = improvement;
      winner = x;
    }
  }
  if (winner.size() > 0) return winner;
  return climbs.empty() ? next_of_grid() : Vector(candidates_.col(climbs.front()));
}

/// Processes with hyperparameters drawn given what was told. Each believes that open proposals will give what
/// it expects there, which keeps others away from them.
// Deviation: Spearmint averages over 100 random outcomes of open proposals, at 100 times the cost.
std::vector<GaussianProcess> GpEi::sample_models(const Matrix& points, const Vector& values) {
  hyperparameters_.mean = std::clamp(hyperparameters_.mean, values.minCoeff(), values.maxCoeff());
  if (!burnt_in_)
    for (std::int64_t i = 0; i < settings_.burn_in; ++i)
      sample_hyperparameters(points, values, settings_.noise, random_, hyperparameters_);
  burnt_in_ = true;

  const Index n = points.cols();
  const Index pending = std::ssize(trials_) - n;
  Matrix all_points(points.rows(), n + pending);
  all_points.leftCols(n) = points;
  Index column = n;
  for (const Trial& trial : trials_)
    if (!trial.value) all_points.col(column++) = trial.unit;
  Vector all_values(n + pending), expected, variance;
  all_values.head(n) = values;

  std::vector<GaussianProcess> models;
  for (std::int64_t i = 0; i < settings_.samples; ++i) {
    sample_hyperparameters(points, values, settings_.noise, random_, hyperparameters_);
    if (pending > 0) {
      GaussianProcess(points, values, hyperparameters_).predict(all_points, n, pending, expected, variance);
      all_values.tail(pending) = expected;
    }
    models.emplace_back(all_points, all_values, hyperparameters_);
  }
  return models;
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
  std::vector<Index> free;
  for (Index i = 0; i < improvements.size(); ++i)
    if (i < settings_.grid ? !tried_[static_cast<std::size_t>(i)] : !is_tried(candidates_.col(i)))
      free.push_back(i);
  const auto worse = [&](Index a, Index b) {
    return improvements[a] != improvements[b] ? improvements[a] < improvements[b] : a > b;
  };
  std::make_heap(free.begin(), free.end(), worse);
  std::vector<Index> chosen;
  for (auto end = free.end(); end != free.begin() && std::ssize(chosen) < settings_.polished; --end) {
    std::pop_heap(free.begin(), end, worse);
    const Index next = *(end - 1);
    const bool apart = std::all_of(chosen.begin(), chosen.end(), [&](Index other) {
      return (candidates_.col(next) - candidates_.col(other)).lpNorm<Eigen::Infinity>() >= kApart;
    });
    if (apart) chosen.push_back(next);
  }
  return chosen;
}

}  // namespace yosida::search
