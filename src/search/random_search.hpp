#pragma once

#include "search/open_proposals.hpp"
#include "yosida/random.hpp"
#include "yosida/search/samplers.hpp"

namespace yosida::search {

/// Uniform on the unit cube.
Vector uniform_point(Random& random, Index dimensions);

/// Uniform on the scale of each dimension, whatever it is told.
class RandomSearch : public Sampler {
 public:
  static constexpr const char* name = "random";
  struct Settings {};
  static const std::vector<Setting<Settings>>& table();

  RandomSearch(const Space& space, const SamplerOptions& options, const Settings&);
  std::optional<Proposal> ask() override;
  void tell(const Proposal& proposal, double value) override;

 private:
  Space space_;
  Random random_;
  OpenProposals open_;
};

}  // namespace yosida::search
