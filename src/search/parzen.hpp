#pragma once

#include <vector>

#include "search/trial_history.hpp"
#include "yosida/random.hpp"

namespace yosida::search {

/// The density Σ_k w_k N(t; μ_k, σ_k²), cut off outside [0, 1) and scaled to an integral of 1. Samples are
/// drawn from exactly this density.
class ParzenMixture {
 public:
  /// One component at least; weights are scaled to a sum of 1.
  ParzenMixture(std::vector<double> centres, std::vector<double> widths, const std::vector<double>& weights);

  /// Never −inf for the mixtures of hyperopt_mixture, whose prior reaches everywhere.
  double log_density(double t) const;
  double sample(Random& random) const;

 private:
  std::vector<double> centres_, widths_;
  std::vector<double> cumulative_;  // of the weights
  std::vector<double> heights_;     // w_k / (σ_k √2π), over the part inside
  std::vector<double> curvatures_;  // −1 / (2 σ_k²)
};

/// The trials divided into good and other ones, and what each weighs in its part.
struct Split {
  std::vector<bool> is_below;
  std::vector<double> weights;
};
/// The best `below` trials against the others. In either part the newest `forgetting` weigh 1, older ones
/// less, down to 1/(number in the part) for the oldest (hyperopt's linear forgetting).
Split split_trials(const TrialHistory& history, Index below, Index forgetting);

/// hyperopt's adaptive_parzen_normal for one dimension of one part of the trials. The prior, N(1/2, 1²), is a
/// component like the trials; a width is the larger of the gaps to both neighbours.
ParzenMixture hyperopt_mixture(const TrialHistory& history, Index dimension, const Split& split, bool below,
                               double prior_weight);

}  // namespace yosida::search
