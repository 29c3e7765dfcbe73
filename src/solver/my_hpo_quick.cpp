#include "solver/my_hpo_quick.hpp"

#include "problem/forwarding_problem.hpp"
#include "solver/my_hpo_one.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

/// The same problem as one whose exact solves are dear.
class Coarse final : public ForwardingProblem {
 public:
  explicit Coarse(const BilevelProblem& problem) : ForwardingProblem(problem) {
    traits_.factors_cheaply = false;
  }
};

class QuickSearch final : public MyHpo::Search {
 public:
  QuickSearch(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& start, Vector w,
              const std::shared_ptr<SolveMemory>& memory)
      : problem_(problem),
        settings_(settings),
        start_(start),
        w_(std::move(w)),
        coarse_(problem),
        range_(with_bounds(problem, start, memory.get())),
        search_(
            std::make_unique<SearchForOne>(coarse_, settings, range_, w_, memory, Scan::Depth::to_level)) {}

  void step(Iterate& at) override {
    search_->step(at);
    if (!is_quick_) return;
    at.share_done *= kShareOfQuick;
    if (search_->is_scanning() || (search_->tells_all() && is_sound(at))) return;
    is_quick_ = false;
    search_ = std::make_unique<SearchForOne>(problem_, settings_, start_, w_, nullptr);
    at.memory = nullptr;
    at.status = SolverStatus::running;
    at.inexact_solves = 0;
  }

 private:
  /// Nobody knows whether exact solves will follow.
  static constexpr double kShareOfQuick = 0.9;

  /// Beyond a bound of the data's own h may be lower still, unless it is level.
  bool is_sound(const Iterate& at) const {
    if (at.status == SolverStatus::running) return true;
    const double lambda = at.lambda[0];
    const bool is_inside = lambda > range_.low[0] && lambda < range_.high[0];
    const bool is_at_level = lambda <= range_.low[0] && search_->is_level();
    return at.status == SolverStatus::converged && (start_.is_bounded() || is_inside || is_at_level);
  }

  const BilevelProblem& problem_;
  MyHpo::Settings settings_;
  Start start_;
  Vector w_;  // before anything is trained
  Coarse coarse_;
  Start range_;
  std::unique_ptr<SearchForOne> search_;
  bool is_quick_ = true;
};

}  // namespace

std::unique_ptr<MyHpo::Search> search_for_one(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                              const Start& start, const Vector& w) {
  std::shared_ptr<SolveMemory> memory = problem.solve_memory();
  if (memory && problem.traits().factors_cheaply)
    return std::make_unique<QuickSearch>(problem, settings, start, w, memory);
  return std::make_unique<SearchForOne>(problem, settings, start, w, std::move(memory));
}

}  // namespace yosida
