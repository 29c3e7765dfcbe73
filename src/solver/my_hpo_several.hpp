#pragma once

#include "solver/exact_lines.hpp"
#include "solver/my_hpo_descent.hpp"
#include "solver/my_hpo_lines.hpp"

namespace yosida {

/// my-hpo for several hyperparameters. It begins where searches along lines have ended, or at the start
/// given, and descends: by proximal steps where the response fits in a matrix (DescentOfFew), else by
/// limited-memory steps (DescentOfMany). An elastic net has narrow valleys. Where it knows exact curves,
/// these lead to the answer (ExactLines). Elsewhere the answer is looked at once more along lines, and a
/// second descent begins at the start given. Where more λ have kinks, a descent begins below the best λ for
/// all, see begin_below().
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
  void begin_below(Iterate& at);
  bool is_above_shared(Iterate& at);

  const BilevelProblem& problem_;
  MyHpo::Settings settings_;
  Start range_;
  std::unique_ptr<ExactLines>
      exact_;                   // of an elastic net that knows h along its ℓ₁ penalty, until it is done
  bool knows_curves_;           // there has been one
  std::optional<Lines> lines_;  // while they are searched
  std::unique_ptr<Descent> descent_;  // the one under way, or the last where λ has not been moved since
  std::optional<Vector> rival_;       // the start given, until the first descent has begun
  SolverStatus ended_ = SolverStatus::running;  // how the last descent has, while lines are searched
  int looks_ = 0;                               // along lines through an answer
  std::optional<Answer> first_;                 // of two descents
  std::optional<Answer> shared_;                // the best λ for all, while a descent has begun below it
};

}  // namespace yosida
