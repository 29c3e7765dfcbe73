#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "solver/along_line.hpp"
#include "solver/my_hpo_one.hpp"

namespace yosida {

/// Searches for one λ along lines in the space of several, one line after the other. They find the valley
/// from which several λ descend, and look once more through the answer.
class Lines {
 public:
  /// The lines that a search for several λ begins with. Where e^λ are penalties on squares, that of one λ
  /// shared by all; of an elastic net its ℓ₁ penalty, under a few ℓ₂ ones; none for other problems.
  static std::optional<Lines> to_begin_with(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                            const Start& start);
  /// The line of λ_j through λ, in search of an L_V below `level`; finely where j is 0.
  static Lines through(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& range,
                       const Vector& lambda, Index j, double level);

  /// One iteration. λ and w become those of the lowest L_V so far, where that is below the level.
  void step(Iterate& at);
  bool are_done() const { return left_.empty(); }
  /// How much of the search along all of them is done.
  double share_done() const;
  /// λ has been moved.
  bool have_led_lower() const { return have_led_lower_; }

 private:
  static std::optional<Lines> along_all(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                        const Start& start);
  Lines(const MyHpo::Settings& settings, double coarser, Start range);
  void begin_next();

  MyHpo::Settings settings_;
  Start range_;              // along each line
  bool only_scans_ = false;  // a line is done where its scan is: the best of its points is enough
  std::vector<std::unique_ptr<AlongLine>> left_;
  std::size_t searched_ = 0;              // lines that are done
  std::unique_ptr<SearchForOne> search_;  // along the last of these
  Iterate on_line_;
  double level_ = std::numeric_limits<double>::infinity();
  bool have_led_lower_ = false;
};

}  // namespace yosida
