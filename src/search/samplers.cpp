#include "yosida/search/samplers.hpp"

#include <fmt/format.h>

#include "search/gp_ei.hpp"
#include "search/grid.hpp"
#include "search/hyperband.hpp"
#include "search/random_search.hpp"
#include "search/tpe.hpp"
#include "search/tpe_2.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida::search {
namespace {

/// A kind by its class: `name`, `Settings`, `table()` and a constructor of space, options and settings; one
/// that cuts trials short also has `effort_setting` and `default_trials`.
template <typename S>
SamplerKind kind(std::string summary) {
  const auto make = [](const SettingValues& values) -> SamplerFactory {
    const auto settings = settings::apply(S::name, S::table(), typename S::Settings{}, values);
    return [settings](const Space& space, const SamplerOptions& options) -> std::unique_ptr<Sampler> {
      if (options.trials < 1)
        throw InputError(fmt::format("{}: trials = {}: must be at least 1", S::name, options.trials));
      return std::make_unique<S>(space, options, settings);
    };
  };
  const auto all_settings = [](const SettingValues& values) {
    return settings::written(S::table(),
                             settings::apply(S::name, S::table(), typename S::Settings{}, values));
  };
  SamplerKind kind{S::name, std::move(summary), settings::describe(S::table(), typename S::Settings{}), make,
                   all_settings};
  if constexpr (requires { S::effort_setting; }) {
    kind.effort_setting = S::effort_setting;
    kind.default_trials = S::default_trials;
  }
  return kind;
}

}  // namespace

const std::vector<SamplerKind>& samplers() {
  static const std::vector<SamplerKind> all = {
      kind<RandomSearch>("uniform draws"),
      kind<Grid>("an even mesh over the box, its ends included"),
      kind<Tpe>("tree-structured Parzen estimators, as hyperopt has them (Bergstra 2011)"),
      kind<Tpe2>("TPE with an even start and parabolas through the best trials"),
      kind<GpEi>("expected improvement under a Gaussian process, as Spearmint has it (Snoek 2012)"),
      kind<Hyperband>("successive halving of random draws in brackets (Li 2018)"),
  };
  return all;
}

const SamplerKind& sampler(const std::string& name) {
  std::string known;
  for (const SamplerKind& each : samplers()) known += (known.empty() ? "" : ", ") + each.name;
  return entry_by_name(samplers(), name, "sampler", "there are: " + known);
}

std::unique_ptr<Sampler> make_sampler(const std::string& name, const Space& space,
                                      const SamplerOptions& options, const SettingValues& settings) {
  return sampler(name).make(settings)(space, options);
}

}  // namespace yosida::search
