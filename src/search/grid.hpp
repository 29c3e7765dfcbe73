#pragma once

#include "search/open_proposals.hpp"
#include "yosida/search/samplers.hpp"

namespace yosida::search {

/// A mesh with the ends of every dimension in it: the largest k with k^D ≤ trials points per dimension, the
/// last dimension changing fastest. k = 1 is the middle of the box.
class Grid : public Sampler {
 public:
  static constexpr const char* name = "grid";
  struct Settings {};
  static const std::vector<Setting<Settings>>& table();

  Grid(const Space& space, const SamplerOptions& options, const Settings&);
  std::optional<std::int64_t> size() const override;
  std::optional<Proposal> ask() override;
  void tell(const Proposal& proposal, double value) override;

 private:
  Space space_;
  std::int64_t points_;             // per dimension
  std::vector<std::int64_t> next_;  // of every dimension; empty when done
  OpenProposals open_;
};

}  // namespace yosida::search
