#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "problem/shared_rows.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/tune/tune_problem.hpp"

namespace yosida {

/// The forms of a problem, each made when it is first asked for, and once for all who ask.
class Forms {
 public:
  /// Null where the problem does not have this form. Throws RunEnded where making it is stopped.
  std::shared_ptr<const BilevelProblem> of(const std::shared_ptr<const LinearProblem>& problem, Form form,
                                           SharedRows* all, const StopToken& stop);
  /// Wall time of making it; 0 where it has not been made.
  double seconds(Form form) const { return made_[static_cast<std::size_t>(form)].seconds; }

 private:
  struct Made {
    std::once_flag once;
    std::shared_ptr<const BilevelProblem> problem;
    double seconds = 0.0;
  };
  std::array<Made, 4> made_;
};

/// A model on a split, with the penalty of the model. Copies share the forms.
struct ModelProblem {
  std::shared_ptr<const BilevelProblem> problem;
  const Split* split = nullptr;                 // the problem's own
  std::shared_ptr<const LinearProblem> linear;  // the same where the penalty is ℓ₂ alone, else null
  std::shared_ptr<Forms> forms = std::make_shared<Forms>();
  std::shared_ptr<SharedRows> all = nullptr;  // of all folds, where the problem is of one

  /// In its cheapest form for so many iterations. Throws RunEnded where making it is stopped.
  std::shared_ptr<const BilevelProblem> cheapest(double iterations, Coordinates coordinates,
                                                 const StopToken& stop) const;
};
/// `all` may be null.
ModelProblem make_problem(Split split, const Prepared& data, const NamedPenalty& penalty, bool intercept,
                          std::shared_ptr<SharedRows> all);

}  // namespace yosida
