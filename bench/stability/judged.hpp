#pragma once

#include <string>

#include "answer.hpp"

namespace yosida::bench {

/// One run and what the truth says of it.
struct Judged {
  std::string kind;
  std::uint64_t seed = 0;
  std::string model;
  Sharing sharing = Sharing::one;
  Index folds = 0;
  std::string problem;
  Answer answer;
  double truth_seconds = 0.0;
  double best_lambda = 0.0;  ///< the best shared λ
  double best = 0.0;         ///< its h
  double null_loss = 0.0;    ///< h of w = 0
  double value = 0.0;        ///< h of the answer's λ
  double start_value = 0.0;  ///< h of the first λ
  /// h of the answer over that of the best shared λ, − 1: with one λ the λ gap. Not negative.
  double gap = 0.0;
  /// h is not determined by the data: it changes by over 0.1 % where the last bits of the features do.
  bool is_undetermined = false;
  bool is_truth_incomplete = false;
  bool is_not_finite = false;
  bool is_worse_than_start = false;
  bool is_worse_than_shared = false;
  bool is_false_certificate = false;  ///< certified, though a small change of λ lowers h by over 0.1 %

  /// The method's own test holds, and the certificate says that it does not.
  bool is_contradiction() const {
    return answer.status == to_string(StopReason::converged) && !answer.is_certified() &&
           !answer.is_at_bound();
  }
  /// The answer is over 0.1 % above the best, and the data says so.
  bool is_above() const { return !(gap <= 1e-3) && !is_undetermined; }
  bool has_one_lambda() const { return sharing == Sharing::one; }
};

/// Singular values near the rounding of the data make h a matter of its last bits, for the truth as for the
/// program: features that differ by no more than that change h(λ) by over 0.1 %.
bool is_undetermined(const Case& drawn, const Vector& lambda, double value, const class Truth& truth,
                     double floor);

Judged judge(const Case& drawn, const std::string& method, double floor);

void print_table(const std::vector<Judged>& runs);
void print_worst(const std::vector<Judged>& runs, std::size_t count);
void print_words(const Judged& run);
void write_csv(const std::string& file, const std::vector<Judged>& runs);

}  // namespace yosida::bench
