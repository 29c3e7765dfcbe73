#include "search/open_proposals.hpp"

#include <fmt/format.h>

#include <utility>

#include "yosida/error.hpp"

namespace yosida::search {

Proposal OpenProposals::open(Vector x, double share) { return open_again(drawn_++, std::move(x), share); }

Proposal OpenProposals::open_again(std::int64_t id, Vector x, double share) {
  share_by_id_[id] = share;
  return {id, std::move(x), share};
}

void OpenProposals::close(const Proposal& proposal) {
  const auto found = share_by_id_.find(proposal.id);
  if (found == share_by_id_.end() || found->second != proposal.share)
    throw InputError(fmt::format("proposal id = {}, share = {}: {}", proposal.id, proposal.share,
                                 proposal.id >= 0 && proposal.id < drawn_
                                     ? "is not open: each may be told once"
                                     : "must be one that this sampler has made"));
  share_by_id_.erase(found);
}

}  // namespace yosida::search
