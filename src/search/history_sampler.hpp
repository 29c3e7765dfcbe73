#pragma once

#include <utility>

#include "search/open_proposals.hpp"
#include "search/trial_history.hpp"
#include "yosida/random.hpp"
#include "yosida/search/samplers.hpp"

namespace yosida::search {

/// A sampler whose proposals come of the history of its trials.
class HistorySampler : public Sampler {
 public:
  std::optional<Proposal> ask() final {
    const Vector unit = next_point();
    history_.add(unit);
    return open_.open(space_.from_unit(unit));
  }
  void tell(const Proposal& proposal, double value) final {
    open_.close(proposal);
    history_.tell(proposal.id, value);
  }

 protected:
  HistorySampler(Space space, std::uint64_t seed)
      : space_(std::move(space)), random_(seed), history_(space_.size()) {}
  /// Where to look next, in the unit cube.
  virtual Vector next_point() = 0;

  const Space space_;
  Random random_;
  TrialHistory history_;

 private:
  OpenProposals open_;
};

}  // namespace yosida::search
