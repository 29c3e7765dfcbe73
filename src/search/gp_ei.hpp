#pragma once

#include <vector>

#include "search/gaussian_process.hpp"
#include "search/open_proposals.hpp"
#include "yosida/random.hpp"
#include "yosida/search/samplers.hpp"
#include "yosida/settings.hpp"

namespace yosida::search {

/// Expected improvement under a Gaussian process whose hyperparameters are sampled, not chosen:
/// GPEIOptChooser of Spearmint (Snoek, Larochelle and Adams 2012). Takes up to kSobolDimensions dimensions.
struct GpEi : Sampler {
  static constexpr const char* name = "gp-ei";
  struct Settings {
    std::int64_t grid = 20'000;
    std::int64_t burn_in = 100;
    std::int64_t samples = 10;
    std::int64_t polished = 20;
    double noise = 1e-3;  // Deviation: Spearmint's is 0.1, which takes narrow valleys for noise
  };
  static const std::vector<Setting<Settings>>& table();

  /// A process and the least value it knows of: improvement is what lies below.
  struct Model {
    GaussianProcess process;
    double best;
  };

  /// Throws InputError where the space has too many dimensions or a setting breaks its rule.
  GpEi(const Space& space, const SamplerOptions& options, const Settings& settings);

  std::optional<Proposal> ask() override;
  void tell(const Proposal& proposal, double value) override;

 private:
  struct Trial {
    Vector unit;
    std::optional<double> value;
  };

  bool is_taken(const Vector& unit, double room) const;
  Vector next_of_grid();
  std::vector<Index> fitted_trials() const;
  Vector most_promising();
  void sample(const Matrix& points, const Vector& values);
  std::vector<Model> models(const Matrix& points, const Vector& values) const;
  void spray_around(const Vector& unit);
  std::vector<Index> starts(const Vector& improvements) const;

  Space space_;
  Settings settings_;
  Random random_;
  OpenProposals open_;
  std::vector<Trial> trials_;  // by id
  Index told_ = 0;
  Matrix candidates_;                       // one a column: the grid, then points near the best so far
  Index grid_used_ = 0;                     // points of the grid that are taken, at least
  GpHyperparameters hyperparameters_;       // where the chain of samples is
  std::vector<GpHyperparameters> samples_;  // given the first `sampled_` values told
  Index sampled_ = 0;
};

}  // namespace yosida::search
