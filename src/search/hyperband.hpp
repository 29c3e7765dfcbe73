#pragma once

#include <list>
#include <unordered_map>

#include "search/open_proposals.hpp"
#include "yosida/random.hpp"
#include "yosida/search/samplers.hpp"

namespace yosida::search {

/// Hyperband (Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, JMLR 18, 2018, Algorithm 1): brackets of
/// successive halving, from many configurations of little effort each to few of the full effort, and over
/// again with new ones. A trial is one configuration at one share; one that is promoted keeps its id.
///
/// Told of each proposal before the next is asked for, it is the paper's algorithm. With several proposals
/// open, ask() never waits: where a rung lacks results, the next bracket begins, and goes on only where all
/// brackets before it wait.
class Hyperband : public Sampler {
 public:
  static constexpr const char* name = "hyperband";
  static constexpr const char* effort_setting = "resource";
  /// The trials of one pass through the brackets at R = 81, η = 3.
  static constexpr std::int64_t default_trials = 206;
  struct Settings {
    std::int64_t resource = 81;
    std::int64_t eta = 3;
  };
  static const std::vector<Setting<Settings>>& table();

  Hyperband(const Space& space, const SamplerOptions& options, const Settings& settings);
  std::optional<Proposal> ask() override;
  void tell(const Proposal& proposal, double value) override;

 private:
  struct Configuration {
    std::int64_t id;
    Vector x;
    double value;  // at the last rung that was told; +inf before, and where it failed
  };
  /// One run of successive halving, at one of its rungs.
  struct Bracket {
    std::int64_t s;
    std::int64_t rung = 0;
    std::int64_t size;                                       // n_i: configurations at this rung
    std::vector<Configuration> of_rung;                      // asked for or promoted
    std::unordered_map<std::int64_t, std::size_t> place_of;  // of an id in of_rung
    std::int64_t asked = 0;                                  // of this rung
    std::int64_t told = 0;
  };

  void begin_bracket();
  Proposal propose(Bracket& bracket);
  void promote(Bracket& bracket) const;

  Space space_;
  Settings settings_;
  Random random_;
  std::int64_t s_max_ = 0;
  std::int64_t next_s_;
  std::list<Bracket> running_;  // the oldest first
  OpenProposals open_;
};

}  // namespace yosida::search
