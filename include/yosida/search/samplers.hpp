#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/search/sampler.hpp"
#include "yosida/search/space.hpp"
#include "yosida/settings.hpp"

namespace YOSIDA_EXPORT yosida {
namespace search {

/// What a sampler must know beside its own settings.
struct SamplerOptions {
  std::uint64_t seed = 0;
  /// How many proposals will be asked for, where that must be known in advance (a grid); >= 1.
  std::int64_t trials = 25;
};
using SamplerFactory = std::function<std::unique_ptr<Sampler>(const Space&, const SamplerOptions&)>;

/// A sampler by name, for anything that chooses at run time. Its functions may be called from several
/// threads.
struct SamplerKind {
  std::string name;
  std::string summary;
  std::vector<SettingInfo> settings;
  /// Throws InputError for an unknown setting or a value outside its bounds.
  std::function<SamplerFactory(const SettingValues&)> make;
  /// All settings, those given and the defaults of the others; throws as make does.
  std::function<SettingValues(const SettingValues&)> all_settings;
  /// The setting that says in how many steps the full effort is cut, where proposals ask for a share of it
  /// (Hyperband); empty where each asks for all.
  std::string effort_setting = {};
  /// Trials of a search that was asked for no number of them.
  std::int64_t default_trials = 25;
};
/// All samplers there are, in the order in which they are shown.
const std::vector<SamplerKind>& samplers();
/// Throws InputError with the nearest name where there is no such sampler.
const SamplerKind& sampler(const std::string& name);

/// The sampler of this name, ready to be asked.
std::unique_ptr<Sampler> make_sampler(const std::string& name, const Space& space,
                                      const SamplerOptions& options = {}, const SettingValues& settings = {});

}  // namespace search
}  // namespace yosida
