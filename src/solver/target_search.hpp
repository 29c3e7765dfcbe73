#pragma once

#include <vector>

#include "problem/many_targets.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// A λ of one target, or of all of them, with what its criterion does there.
struct TargetAnswer {
  double lambda = 0.0, value = 0.0, slope = 0.0;
  /// The bounds that it was searched in.
  double low = 0.0, high = 0.0;
};

/// Where to look: the bounds given stay, the data's own move on while h still falls there.
struct TargetRange {
  ManyTargets::Range range;
  bool is_given = false;
};

/// The best λ of each target. Every search is a BasinSearch of its own, as `my-hpo` has it for one λ that
/// costs little; all of them are asked for a point, and products of matrices evaluate these together. Targets
/// are taken in blocks whose numbers stay in the cache; blocks run side by side. Throws RunEnded where it is
/// told to stop.
std::vector<TargetAnswer> search_each_target(const ManyTargets& targets, const TargetRange& where,
                                             const StopToken& stop);
/// The λ at which the sum of the criteria of all targets, each times its share, is least.
TargetAnswer search_shared_lambda(const ManyTargets& targets, const TargetRange& where, const Vector& share,
                                  const StopToken& stop);

/// What the slope at an answer proves. It is what certify() says of a problem whose inner solves are exact.
/// `scale` is that of BilevelProblem::certificate_scale, `inner_gradient` belongs to the weights that are
/// returned.
Certificate certify_target(const TargetAnswer& answer, double scale, double inner_gradient);

}  // namespace yosida
