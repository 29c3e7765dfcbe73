#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "problem/forwarding_problem.hpp"
#include "problem/memory_archive.hpp"

namespace yosida {

/// A problem whose answers are kept in a checkpoint, about once a second. Searches are deterministic: a run
/// that is done again asks the same, and gets from the checkpoint what the first has computed, with the same
/// bits; where that ends, it computes on. Where processes share rows, each reads the checkpoint and the first
/// writes it, so that another number of processes may go on. For one run in one thread.
class ReplayedProblem final : public ForwardingProblem {
 public:
  /// `run` says what else decides the answers. Throws InputError where the file is damaged or belongs to
  /// another run: to other rows, say.
  ReplayedProblem(const BilevelProblem& problem, std::filesystem::path file, std::string_view run,
                  const Vector& lambda);
  ~ReplayedProblem() override;
  ReplayedProblem(const ReplayedProblem&) = delete;
  ReplayedProblem& operator=(const ReplayedProblem&) = delete;

  /// Writes what is new. Where a run was stopped inside a solve, its last checkpoint stays.
  void write() const;
  /// Why no more is written; empty where all is.
  const std::string& fault() const { return fault_; }

  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  double validation_loss(const Vector& w, const Vector& lambda) const override;
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override;
  std::unique_ptr<SolveMemory> solve_memory() const override;
  std::optional<double> largest_curvature(SolveMemory& memory, Work& work) const override;
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override;
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  void fit_intercept(Vector& w) const override;
  Losses losses(const Vector& w, const Vector& lambda) const override;

 private:
  class HeldMemory;
  using Clock = std::chrono::steady_clock;

  struct Question;
  /// Fills `found` from the checkpoint or, where that has ended, by `compute`.
  template <typename Compute, typename... Answer>
  void answer(const Question& question, const Compute& compute, Answer&... found) const;
  template <typename... Answer>
  void keep(Question question, Answer&... found) const;
  void restore_memories() const;
  void write_file() const;
  static SolveMemory* inner(SolveMemory* memory);

  std::filesystem::path file_;
  std::string header_;
  std::string read_;                  // the file as it was
  mutable std::string_view answers_;  // of these, what is left to give
  std::string_view memories_;         // as they were after the last of them
  mutable std::string log_;           // all answers so far
  mutable bool is_full_ = false;      // no more are kept
  mutable std::string fault_;
  mutable bool changed_ = false;  // since the last write
  /// By the order in which they were made; null: gone. A memory may outlive the problem.
  using Held = std::vector<HeldMemory*>;
  const std::shared_ptr<Held> held_ = std::make_shared<Held>();
  mutable Clock::time_point written_ = Clock::now();
  mutable Clock::duration cost_{};  // of the last write
};

}  // namespace yosida
