#pragma once

#include <optional>
#include <vector>

#include "problem/following_memory.hpp"
#include "problem/kept_hessian.hpp"
#include "problem/memory_archive.hpp"
#include "problem/newton.hpp"
#include "problem/stoppable_memory.hpp"

namespace yosida {

/// What inner and linear solves of a LinearProblem keep from one λ to the next, and the solves that use it.
///
/// Inner problems are solved by limited-memory quasi-Newton steps that start from a kept Hessian plus the
/// penalties of today. A change of λ needs no pass over the data: the data term's gradient at the last
/// weights is kept, and so are the pairs of the limited memory, to which a penalty adds a known share.
///
/// A follower uses the Hessian of its leader. That of another fold is nearly as good as its own where rows
/// are many for each column, and takes neither memory nor time. A follower for which it is not takes its own.
class QuasiNewton final : public SolveMemory,
                          public StoppableMemory,
                          public ArchivedMemory,
                          public FollowingMemory {
 public:
  /// One that neither leads nor follows.
  explicit QuasiNewton(KeptHessian::Kind kind) : kind_(kind) {}
  explicit QuasiNewton(const DataTerm& data);

  /// Whether a search of many λ is predicted to take less time with a kept Hessian than without, where all
  /// weights always have the same penalty or not.
  static bool pays(const DataTerm& data, bool is_one_penalty);

  bool follow(SolveMemory& leader) override;
  void stop_by(const StopToken* stop) override { stop_ = stop; }
  /// BilevelProblem::largest_curvature, at the weights `zero`: the first Hessian is the one that is needed.
  std::optional<double> largest_curvature(const DataTerm& data, const Vector& zero, double flops_per_gradient,
                                          Work& work);
  /// Does what newton() does, for tolerances that are not tight. The report says `not converged` where there
  /// is no more progress.
  InnerReport minimise(const InnerProblem& problem, Vector& a);
  /// Does what yosida::hessian_solve() does, by preconditioned conjugate gradients.
  LinearReport solve(const DataTerm& data, const Vector& c, const Vector& w, const Vector& b,
                     const LinearOptions& options, double flops_per_gradient, const Vector* curvatures,
                     Vector& x);
  /// Keeps a Hessian that has been taken elsewhere, with the penalties c in its diagonal.
  void adopt(const DataTerm& data, const Vector& c, Matrix hessian);
  /// Margins are computed anew, with the same bits.
  void exchange(Archive& archive) override;

 private:
  /// The data term at weights.
  struct Point {
    Vector w, gradient;
    double value = 0.0;
    Vector margins = {};  // empty where they are not known any more
  };
  /// A step and how the data term's gradient has changed by it.
  struct Pair {
    Vector step, change;
  };
  class Minimiser;

  /// Takes the gradient at w, or finds it among those that are kept. Returns how many passes that took.
  std::int64_t go_to(const DataTerm& data, const Vector& w);
  /// v becomes B⁻¹v, where B is M updated by the pairs. Pairs hold changes of the data term's gradient alone,
  /// so the penalties' share c∘s is added to each.
  void apply_inverse(const Vector& c, Vector& v) const;
  void remember(Pair pair);
  /// What a later solve that starts from here will ask for.
  void keep_point();
  void require_margins(const DataTerm& data);
  /// Takes the Hessian anew where passes that it would have saved since the last time have taken longer than
  /// that will. Returns its operations.
  double refresh(const DataTerm& data, const Vector& c, const StopToken* stop);
  void begin_with_new_hessian(const Vector& c);
  /// The Hessian in use: its own or the leader's. Null where there is none.
  const KeptHessian* hessian() const;
  bool set_penalties(const Vector& c);
  bool follows() const { return leader_ != nullptr && !is_alone_; }
  /// What is to be done before a solve of a follower.
  void begin_to_follow();
  /// Has a Hessian with the penalties c for the followers. Returns the operations that this took.
  double end_to_lead(const DataTerm& data, const Vector& c, const StopToken* stop);
  /// Takes the one of the two Hessians whose penalties are nearer to c.
  void choose_hessian(const Vector& c);
  void exchange_hessians();
  /// How many passes may be wasted before another Hessian is taken.
  double passes_worth_a_hessian(const DataTerm& data) const;

  KeptHessian::Kind kind_;
  const StopToken* stop_ = nullptr;
  bool may_follow_ = false;
  bool leads_ = false;
  const QuasiNewton* leader_ = nullptr;  // null where it has none
  bool is_alone_ = false;                // a follower that has taken a Hessian of its own
  double leaders_hessians_ = 0.0;        // that the leader had taken at the last solve of a follower
  double largest_ = 0.0;                 // the largest curvature of a leader
  Vector diagonal_;                      // of its Hessian there
  Point point_;
  Point last_;               // where a step has come from
  std::vector<Point> kept_;  // where solves have ended, without margins
  std::vector<Pair> pairs_;
  KeptHessian hessian_;
  KeptHessian other_;                           // the one before: a search comes back to where it has been
  double penalty_ = 0.0, other_penalty_ = 0.0;  // logarithms of those they were taken for
  double wasted_passes_ = 0.0, other_wasted_passes_ = 0.0;  // since they were taken
  KeptHessian::Rows rows_ = KeptHessian::Rows::some;        // what the next is taken from
  double hessians_ = 0.0;                                   // taken so far
  int solves_ = 0;                                          // inner and linear ones since the last was taken
};

}  // namespace yosida
