#pragma once

#include "solver/exact_lines.hpp"
#include "solver/my_hpo_descent.hpp"
#include "solver/my_hpo_lines.hpp"

namespace yosida {

/// my-hpo for several hyperparameters. It begins where searches along lines have ended, or at the start
/// given, and descends: by proximal steps where the response fits in a matrix (DescentOfFew), else by
/// limited-memory steps (DescentOfMany). An elastic net has narrow valleys: its answer is looked at once more
/// along lines, and a second descent begins at the start given.
class SearchForSeveral final : public MyHpo::Search {
 public:
  SearchForSeveral(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& start);

  void step(Iterate& at) override;

 private:
  /// Where a descent has ended, and how.
  struct Answer {
    double validation;
    Vector lambda, w;
    SolverStatus status;
  };

  void advance(Iterate& at);
  bool step_lines(Iterate& at);
  void begin_descent(Iterate& at);
  bool looks_along_line(const Iterate& at);
  void compare_descents(Iterate& at);

  const BilevelProblem& problem_;
  MyHpo::Settings settings_;
  Start range_;
  std::unique_ptr<ExactLines> exact_;  // of an elastic net that knows h along its ℓ₁ penalty
  std::optional<Lines> lines_;         // while they are searched
  std::unique_ptr<Descent> descent_;   // the one under way, or the last where λ has not been moved since
  std::optional<Vector> rival_;        // the start given, until the first descent has begun
  SolverStatus ended_ = SolverStatus::running;  // how the last descent has, while lines are searched
  int looks_ = 0;                               // along lines through an answer
  std::optional<Answer> first_;                 // of two descents
};

}  // namespace yosida
