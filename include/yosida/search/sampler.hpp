#pragma once

#include <cstdint>
#include <optional>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {
namespace search {

/// What to try next.
struct Proposal {
  /// Names the configuration. One that is asked for again, with a larger share, may go on from where it was.
  std::int64_t id = 0;
  Vector x;
  /// How much of the full effort to spend on it, 0 < share ≤ 1: below 1 only in Hyperband.
  double share = 1.0;
};

/// A black-box searcher: ask where to look, tell what was seen there, smaller is better. Repeatable by its
/// seed. Several proposals may be open at once; each is told once, in any order. May be used by one thread at
/// a time: whoever tries proposals in several threads asks and tells under a lock.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// How many proposals there are in all, where they come to an end (a grid).
  virtual std::optional<std::int64_t> size() const { return {}; }
  /// The next proposal; empty after the last one.
  virtual std::optional<Proposal> ask() = 0;
  /// A value that is not finite is a trial that failed: as bad as the worst.
  virtual void tell(const Proposal& proposal, double value) = 0;
};

}  // namespace search
}  // namespace yosida
