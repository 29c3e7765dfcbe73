#include "search/random_search.hpp"

namespace yosida::search {

Vector uniform_point(Random& random, Index dimensions) {
  Vector unit(dimensions);
  for (double& each : unit) each = random.uniform();
  return unit;
}

const std::vector<Setting<RandomSearch::Settings>>& RandomSearch::table() {
  static const std::vector<Setting<Settings>> rows;
  return rows;
}

RandomSearch::RandomSearch(const Space& space, const SamplerOptions& options, const Settings&)
    : space_(space), random_(options.seed) {}

std::optional<Proposal> RandomSearch::ask() {
  return open_.open(space_.from_unit(uniform_point(random_, space_.size())));
}

void RandomSearch::tell(const Proposal& proposal, double) { open_.close(proposal); }

}  // namespace yosida::search
