#pragma once

#include <cstdint>
#include <map>

#include "yosida/search/sampler.hpp"

namespace yosida::search {

/// What a sampler has proposed and not been told of yet. Configurations are numbered 0, 1, … as they are
/// drawn; a proposal is known by its id and share, so x may have been through a file meanwhile.
class OpenProposals {
 public:
  /// Proposes a new configuration.
  Proposal open(Vector x, double share = 1.0);
  /// Proposes an old one again.
  Proposal open_again(std::int64_t id, Vector x, double share);
  /// Throws InputError unless the proposal is open: never made, or told before.
  void close(const Proposal& proposal);

 private:
  std::int64_t drawn_ = 0;
  std::map<std::int64_t, double> share_by_id_;
};

}  // namespace yosida::search
