#pragma once

#include "search/history_sampler.hpp"

namespace yosida::search {

/// TPE with what hyperopt's lacks: a start of few, evenly spread trials (in place of 20 random ones), no
/// forgetting, more trials in l(x), and every other proposal a step to the bottom of a parabola through known
/// trials (local_step). What TPE is good at, which valley, is left to it; what it is slow at, the floor of
/// a smooth valley, takes a few steps. Where no step promises anything the proposal is TPE's.
class Tpe2 : public HistorySampler {
 public:
  static constexpr const char* name = "tpe-2";
  struct Settings {
    std::int64_t startup = 4;
    std::int64_t refine = 2;
    std::int64_t candidates = 24;
    double gamma = 0.5;
    double prior_weight = 1.0;
  };
  static const std::vector<Setting<Settings>>& table();

  Tpe2(const Space& space, const SamplerOptions& options, const Settings& settings);

 private:
  Vector next_point() override;
  Vector spread_point(Index number) const;

  Settings settings_;
  Index startup_;
  Vector first_, stride_;  // of the startup sequence
};

}  // namespace yosida::search
