#include "yosida/problem/k_fold_problem.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "linalg/tasks.hpp"
#include "problem/following_memory.hpp"
#include "problem/memory_archive.hpp"
#include "problem/stoppable_memory.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// Shares are quotients of counts; their sum may be wrong by rounding.
constexpr double kShareRounding = 1e-9;

/// The part of w that belongs to a fold, in the fold's own order: weights, then intercepts.
template <typename Fold>
void gather(const Fold& fold, const Vector& w, Vector& part) {
  part.head(fold.penalised) = w.segment(fold.first, fold.penalised);
  part.tail(fold.intercepts) = w.segment(fold.first_intercept, fold.intercepts);
}

template <typename Fold>
void scatter(const Fold& fold, const Vector& part, Vector& w) {
  w.segment(fold.first, fold.penalised) = part.head(fold.penalised);
  w.segment(fold.first_intercept, fold.intercepts) = part.tail(fold.intercepts);
}

/// The mean of the folds' work. Counts are whole numbers: gradients and Hessian products are rounded up in
/// their sum, so that it is 1 only where every fold has done with 1, and never above a limit that all held.
Work mean_of(const Work& sum, Index folds) {
  const std::int64_t k = folds;
  const auto rounded_up = [k](std::int64_t count) { return (count + k - 1) / k; };
  Work mean;
  mean.train_gradients = rounded_up(sum.train_gradients);
  const std::int64_t gradients = rounded_up(sum.train_gradients + sum.validation_gradients);
  mean.validation_gradients = gradients - mean.train_gradients;
  mean.hessian_products = rounded_up(sum.paper_count()) - gradients;
  mean.loss_evaluations = rounded_up(sum.loss_evaluations);
  mean.inner_solves = rounded_up(sum.inner_solves);
  mean.factorisations = sum.factorisations / static_cast<double>(k);
  return mean;
}

Work sum_of(std::span<const Work> works) {
  Work sum;
  for (const Work& work : works) sum += work;
  return sum;
}

/// The memories of all folds; null where a fold keeps nothing.
struct FoldMemories final : SolveMemory, StoppableMemory, ArchivedMemory {
  std::vector<std::unique_ptr<SolveMemory>> folds;

  /// The folds use what is large in the memory of the first, where they can.
  void share() {
    for (std::size_t k = 1; k < folds.size(); ++k)
      if (auto* const own = dynamic_cast<FollowingMemory*>(folds[k].get()); own != nullptr && folds[0])
        own->follow(*folds[0]);
  }
  void stop_by(const StopToken* stop) override {
    stop_ = stop;
    for (const auto& own : folds)
      if (auto* const stoppable = dynamic_cast<StoppableMemory*>(own.get())) stoppable->stop_by(stop);
  }
  bool is_stopped() const { return stop_requested(stop_); }
  void exchange(Archive& archive) override {
    for (const auto& own : folds)
      if (auto* const archived = dynamic_cast<ArchivedMemory*>(own.get())) archived->exchange(archive);
  }

 private:
  const StopToken* stop_ = nullptr;
};

}  // namespace

KFoldProblem::KFoldProblem(std::vector<std::shared_ptr<const BilevelProblem>> folds,
                           std::vector<double> validation_share, Index operations)
    : operations_(operations) {
  if (folds.empty()) throw InputError("folds: there are none; at least 1 is needed");
  if (folds.size() != validation_share.size())
    throw InputError("folds: " + std::to_string(folds.size()) + " problems but " +
                     std::to_string(validation_share.size()) + " shares; each problem needs one");
  double sum = 0.0;
  for (const double share : validation_share) {
    if (!(share >= 0.0)) throw InputError("share = " + std::to_string(share) + ": must be >= 0");
    sum += share;
  }
  if (!(std::abs(sum - 1.0) <= kShareRounding))
    throw InputError("shares: their sum is " + std::to_string(sum) + "; it must be 1");
  for (std::size_t k = 0; k < folds.size(); ++k) {
    const BilevelProblem& problem = *folds[k];
    if (problem.hyperparameters() != folds[0]->hyperparameters())
      throw InputError("fold " + std::to_string(k) + ": has " + std::to_string(problem.hyperparameters()) +
                       " hyperparameters, the first has " + std::to_string(folds[0]->hyperparameters()) +
                       "; they must be the same");
    if (dynamic_cast<const KFoldProblem*>(&problem) != nullptr)
      throw InputError("fold " + std::to_string(k) + ": is made of folds itself; give these instead");
    const Index penalised = problem.weights() - problem.intercepts();
    folds_.push_back({folds[k], validation_share[k], penalised_, penalised, 0, problem.intercepts()});
    penalised_ += penalised;
  }
  for (Fold& fold : folds_) {
    fold.first_intercept = penalised_ + intercepts_;
    intercepts_ += fold.intercepts;
  }
  fill_in_traits();
}

void KFoldProblem::fill_in_traits() {
  const auto all = [&](auto fact) {
    return std::all_of(folds_.begin(), folds_.end(),
                       [&](const Fold& fold) { return fact(fold.problem->traits()); });
  };
  const auto any = [&](auto fact) {
    return std::any_of(folds_.begin(), folds_.end(),
                       [&](const Fold& fold) { return fact(fold.problem->traits()); });
  };
  traits_.has_penalties = all([](const ProblemTraits& own) { return own.has_penalties; });
  traits_.has_closed_form = all([](const ProblemTraits& own) { return own.has_closed_form; });
  traits_.factors_cheaply = all([](const ProblemTraits& own) { return own.factors_cheaply; });
  traits_.has_train_gradient_lambda =
      all([](const ProblemTraits& own) { return own.has_train_gradient_lambda; });
  traits_.validation_depends_on_lambda =
      any([](const ProblemTraits& own) { return own.validation_depends_on_lambda; });
  traits_.validation_needs_optimum =
      any([](const ProblemTraits& own) { return own.validation_needs_optimum; });
  if (all([](const ProblemTraits& own) { return own.bounds.has_value(); })) {
    // The smallest that hold those of every fold.
    traits_.bounds = folds_.front().problem->traits().bounds;
    for (const Fold& fold : folds_) {
      const Bounds& own = *fold.problem->traits().bounds;
      traits_.bounds->low = traits_.bounds->low.cwiseMin(own.low);
      traits_.bounds->high = traits_.bounds->high.cwiseMax(own.high);
    }
  }
  if (all([](const ProblemTraits& own) { return own.largest_curvature.has_value(); })) {
    traits_.largest_curvature = 0.0;  // H is made of a block per fold
    for (const Fold& fold : folds_)
      traits_.largest_curvature =
          std::max(*traits_.largest_curvature, *fold.problem->traits().largest_curvature);
  }
  if (any([](const ProblemTraits& own) { return own.start.size() > 0; })) {
    traits_.start.resize(weights());
    for (const Fold& fold : folds_) scatter(fold, starting_weights(*fold.problem), traits_.start);
  }
  traits_.ones.resize(weights());
  traits_.feature_width = std::numeric_limits<double>::infinity();
  for (const Fold& fold : folds_) {
    const ProblemTraits& own = fold.problem->traits();
    Vector ones = own.ones;
    if (ones.size() == 0) {
      ones = Vector::Ones(fold.problem->weights());
      ones.tail(fold.intercepts).setZero();
    }
    scatter(fold, ones, traits_.ones);
    traits_.feature_width = std::min(traits_.feature_width, own.feature_width);
    traits_.train_rows = std::max(traits_.train_rows, own.train_rows);
    traits_.certificate_work += own.certificate_work;
    traits_.intercept_work += own.intercept_work;
    traits_.cross_work += own.cross_work;
    traits_.setup_work += own.setup_work;
  }
  for (Work* sum : {&traits_.certificate_work, &traits_.intercept_work, &traits_.cross_work})
    *sum = mean_of(*sum, folds());
  traits_.setup_work /= static_cast<double>(folds());
}

void KFoldProblem::for_each_fold(FunctionRef<void(const Fold&, Scratch&)> each, bool first_leads,
                                 FunctionRef<void(const Scratch&)> then) const {
  // One per fold: folds differ in size, and a vector that changes its size allocates.
  thread_local std::vector<Scratch> of_thread;
  std::vector<Scratch>& scratch = of_thread;
  if (scratch.size() < folds_.size()) scratch.resize(folds_.size());
  const auto run = [&](Index k) {
    Scratch& own = scratch[static_cast<std::size_t>(k)];
    const Index size = at(k).penalised + at(k).intercepts;
    for (Vector* vector : {&own.a, &own.b, &own.c}) vector->resize(size);
    own.of_lambda.resize(hyperparameters());
    each(at(k), own);
  };
  if (first_leads) run(0);
  const Index first = first_leads ? 1 : 0;
  linalg::run_side_by_side(folds() - first, operations_, [&](Index k) { run(first + k); });
  for (std::size_t k = 0; k < folds_.size(); ++k) then(scratch[k]);
}

double KFoldProblem::sum_of_values(FunctionRef<void(const Fold&, Scratch&)> each) const {
  double sum = 0.0;
  for_each_fold(each, false, [&](const Scratch& own) { sum += own.value; });
  return sum;
}

void KFoldProblem::sum_of_lambdas(const Vector& w, const Vector& lambda, Vector& out,
                                  FunctionRef<void(const Fold&, Scratch&)> each) const {
  require_sizes(*this, w, lambda);
  out.setZero(hyperparameters());
  const auto with_weights = [&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    each(fold, own);
  };
  for_each_fold(with_weights, false, [&](const Scratch& own) { out += own.of_lambda; });
}

Vector KFoldProblem::weights_of_fold(Index k, const Vector& w) const {
  require_weights(*this, w);
  if (k < 0 || k >= folds())
    throw InputError("fold " + std::to_string(k) + ": must be from 0 to " + std::to_string(folds() - 1));
  Vector part(at(k).penalised + at(k).intercepts);
  gather(at(k), w, part);
  return part;
}

double KFoldProblem::train_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  return sum_of_values([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    own.value = fold.problem->train_loss(own.a, lambda);
  });
}

void KFoldProblem::by_fold(const Vector& w, const Vector& lambda, Vector& out,
                           FunctionRef<void(const BilevelProblem&, const Vector&, Vector&)> each) const {
  require_sizes(*this, w, lambda);
  out.resize(weights());
  for_each_fold([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    each(*fold.problem, own.a, own.b);
    scatter(fold, own.b, out);
  });
}

void KFoldProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  by_fold(w, lambda, g, [&](const BilevelProblem& fold, const Vector& own, Vector& out) {
    fold.train_gradient(own, lambda, out);
  });
}

void KFoldProblem::smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  by_fold(w, lambda, g, [&](const BilevelProblem& fold, const Vector& own, Vector& out) {
    fold.smooth_gradient(own, lambda, out);
  });
}

void KFoldProblem::proximal_step(double step, const Vector& lambda, Vector& w) const {
  by_fold(w, lambda, w, [&](const BilevelProblem& fold, const Vector& own, Vector& out) {
    out = own;
    fold.proximal_step(step, lambda, out);
  });
}

void KFoldProblem::along(const Vector& w, const Vector& lambda, const Vector& p, Vector& out,
                         FunctionRef<void(const Fold&, Scratch&)> each) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(weights());
  for_each_fold([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    gather(fold, p, own.b);
    each(fold, own);
    scatter(fold, own.c, out);
  });
}

void KFoldProblem::smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                          Vector& out) const {
  along(w, lambda, p, out, [&](const Fold& fold, Scratch& own) {
    fold.problem->smooth_hessian_product(own.a, lambda, own.b, own.c);
  });
}

void KFoldProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                   Vector& out) const {
  along(w, lambda, p, out,
        [&](const Fold& fold, Scratch& own) { fold.problem->hessian_product(own.a, lambda, own.b, own.c); });
}

void KFoldProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const {
  require_sizes(*this, w, lambda);
  require_lambda(*this, q);
  out.resize(weights());
  for_each_fold([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    fold.problem->cross_product(own.a, lambda, q, own.b);
    scatter(fold, own.b, out);
  });
}

void KFoldProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                            Vector& out) const {
  require_weights(*this, p);
  sum_of_lambdas(w, lambda, out, [&](const Fold& fold, Scratch& own) {
    gather(fold, p, own.b);
    fold.problem->cross_product_transposed(own.a, lambda, own.b, own.of_lambda);
  });
}

void KFoldProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  sum_of_lambdas(w, lambda, out, [&](const Fold& fold, Scratch& own) {
    fold.problem->train_gradient_lambda(own.a, lambda, own.of_lambda);
  });
}

void KFoldProblem::validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  if (!traits().validation_depends_on_lambda) {
    require_sizes(*this, w, lambda);
    out.setZero(hyperparameters());
    return;
  }
  sum_of_lambdas(w, lambda, out, [&](const Fold& fold, Scratch& own) {
    fold.problem->validation_gradient_lambda(own.a, lambda, own.of_lambda);
    own.of_lambda *= fold.share;
  });
}

double KFoldProblem::validation_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  return sum_of_values([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    own.value = fold.share * fold.problem->validation_loss(own.a, lambda);
  });
}

double KFoldProblem::validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  require_sizes(*this, w, lambda);
  g.resize(weights());
  return sum_of_values([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    own.value = fold.share * fold.problem->validation_gradient(own.a, lambda, own.b);
    own.b *= fold.share;
    scatter(fold, own.b, g);
  });
}

void KFoldProblem::validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                              Vector& out) const {
  along(w, lambda, p, out, [&](const Fold& fold, Scratch& own) {
    fold.problem->validation_hessian_product(own.a, lambda, own.b, own.c);
    own.c *= fold.share;
  });
}

std::unique_ptr<SolveMemory> KFoldProblem::solve_memory() const {
  auto all = std::make_unique<FoldMemories>();
  for (const Fold& fold : folds_) all->folds.push_back(fold.problem->solve_memory());
  const bool any =
      std::any_of(all->folds.begin(), all->folds.end(), [](const auto& own) { return own != nullptr; });
  if (!any) return nullptr;
  all->share();
  return all;
}

std::optional<double> KFoldProblem::largest_curvature(SolveMemory& memory, Work& work) const {
  std::vector<std::optional<double>> largest(folds_.size());  // H is made of a block per fold
  std::vector<Work> works(folds_.size());
  const auto* const all = dynamic_cast<const FoldMemories*>(&memory);
  for_each_fold(
      [&](const Fold& fold, Scratch&) {
        SolveMemory* const own = memory_of(fold, &memory);
        if (own != nullptr && !all->is_stopped())
          largest[number_of(fold)] = fold.problem->largest_curvature(*own, works[number_of(fold)]);
      },
      true);
  const auto is_known = [](const std::optional<double>& each) { return each.has_value(); };
  if (!std::all_of(largest.begin(), largest.end(), is_known)) return {};
  work += mean_of(sum_of(works), folds());
  return *std::max_element(largest.begin(), largest.end());
}

SolveMemory* KFoldProblem::memory_of(const Fold& fold, SolveMemory* all) const {
  const auto* const memories = dynamic_cast<const FoldMemories*>(all);
  return memories == nullptr ? nullptr : memories->folds[number_of(fold)].get();
}

InnerReport KFoldProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  require_sizes(*this, w, lambda);
  std::vector<InnerReport> reports(folds_.size());
  for_each_fold(
      [&](const Fold& fold, Scratch& own) {
        if (stop_requested(options.stop)) return;  // a solve may read all rows before it asks
        InnerOptions part = options;
        part.proximal.reset();
        part.memory = memory_of(fold, options.memory);
        gather(fold, w, own.a);
        if (options.proximal) {
          gather(fold, options.proximal->u, own.b);
          gather(fold, options.proximal->v, own.c);
          part.proximal.emplace(ProximalTerm{own.b, own.c, options.proximal->rho});
        }
        reports[number_of(fold)] = fold.problem->inner_solve(lambda, part, own.a);
        scatter(fold, own.a, w);
      },
      options.memory != nullptr);
  InnerReport all;
  all.converged = true;
  double square = 0.0;
  for (const InnerReport& report : reports) {
    all.converged &= report.converged;
    all.blur = std::max(all.blur, report.blur);
    all.setup += report.setup;
    all.work += report.work;
    square += report.gradient_norm * report.gradient_norm;
  }
  all.gradient_norm = std::sqrt(square);
  all.setup /= static_cast<double>(folds());
  all.work = mean_of(all.work, folds());
  return all;
}

LinearReport KFoldProblem::joined(std::span<const LinearReport> reports) const {
  LinearReport all;
  all.converged = true;
  double square = 0.0;
  for (const LinearReport& report : reports) {
    all.converged &= report.converged;
    all.work += report.work;
    all.damping = std::max(all.damping, report.damping);
    square += report.residual_norm * report.residual_norm;
  }
  all.residual_norm = std::sqrt(square);
  all.work = mean_of(all.work, folds());
  return all;
}

LinearReport KFoldProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                         const LinearOptions& options, Vector& x) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, b);
  require_weights(*this, x);
  std::vector<LinearReport> reports(folds_.size());
  for_each_fold(
      [&](const Fold& fold, Scratch& own) {
        if (stop_requested(options.stop)) return;
        LinearReport& report = reports[number_of(fold)];
        gather(fold, w, own.a);
        gather(fold, b, own.b);
        gather(fold, x, own.c);
        if (own.b.isZero(0.0)) {  // no tolerance is relative to 0
          own.c.setZero();
          report.converged = true;
        } else {
          LinearOptions part = options;
          part.memory = memory_of(fold, options.memory);
          report = fold.problem->hessian_solve(own.a, lambda, own.b, part, own.c);
        }
        scatter(fold, own.c, x);
      },
      options.memory != nullptr);
  return joined(reports);
}

LinearReport KFoldProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                              const LinearOptions& options, Matrix& x) const {
  require_sizes(*this, w, lambda);
  std::vector<LinearReport> reports(folds_.size());
  for_each_fold(
      [&](const Fold& fold, Scratch& own) {
        if (stop_requested(options.stop)) return;
        gather(fold, w, own.a);
        Matrix right(own.a.size(), b.cols());
        Matrix left(own.a.size(), b.cols());
        const auto rows_of = [&](const Matrix& from, Matrix& part) {
          part.topRows(fold.penalised) = from.middleRows(fold.first, fold.penalised);
          part.bottomRows(fold.intercepts) = from.middleRows(fold.first_intercept, fold.intercepts);
        };
        rows_of(b, right);
        rows_of(x, left);
        LinearOptions part = options;
        part.memory = memory_of(fold, options.memory);
        reports[number_of(fold)] = fold.problem->hessian_solve_many(own.a, lambda, right, part, left);
        x.middleRows(fold.first, fold.penalised) = left.topRows(fold.penalised);
        x.middleRows(fold.first_intercept, fold.intercepts) = left.bottomRows(fold.intercepts);
      },
      options.memory != nullptr);
  return joined(reports);
}

void KFoldProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  out.setOnes();
  const auto scale = [&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    fold.problem->certificate_scale(own.a, lambda, own.of_lambda);
  };
  for_each_fold(scale, false, [&](const Scratch& own) { out = out.cwiseMax(own.of_lambda); });
}

bool KFoldProblem::one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions,
                                    double reach, Vector& slopes) const {
  require_sizes(*this, w, lambda);
  std::vector<Vector> all(folds_.size());
  std::vector<char> has_kink(folds_.size());
  for_each_fold([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    has_kink[number_of(fold)] =
        fold.problem->one_sided_slopes(own.a, lambda, directions, reach, all[number_of(fold)]);
  });
  slopes.setZero(directions.cols());
  for (const Fold& fold : folds_) slopes += fold.share * all[number_of(fold)];
  return std::any_of(has_kink.begin(), has_kink.end(), [](char has) { return has != 0; });
}

void KFoldProblem::closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const {
  std::vector<std::vector<CurvePoint>> all(folds_.size(), std::vector<CurvePoint>(points.size()));
  for_each_fold(
      [&](const Fold& fold, Scratch&) { fold.problem->closed_forms(lambdas, all[number_of(fold)]); });
  std::fill(points.begin(), points.end(), CurvePoint{});
  for (const Fold& fold : folds_) {
    const std::vector<CurvePoint>& own = all[number_of(fold)];
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].value += fold.share * own[i].value;
      points[i].slope += fold.share * own[i].slope;
      points[i].work += own[i].work / static_cast<double>(folds());
    }
  }
}

std::shared_ptr<const ExactCurve> KFoldProblem::exact_curve(const Vector& lambda, Index j,
                                                            const StopToken* stop, double least) const {
  std::vector<std::shared_ptr<const ExactCurve>> curves(folds_.size());
  for_each_fold([&](const Fold& fold, Scratch&) {
    curves[number_of(fold)] = fold.problem->exact_curve(lambda, j, stop, least);
  });
  std::vector<double> shares;
  for (const Fold& fold : folds_) {
    if (!curves[number_of(fold)]) return nullptr;
    shares.push_back(fold.share);
  }
  auto weights = [curves, folds = folds_, size = this->weights()](double at) {
    Vector w(size);
    for (std::size_t k = 0; k < folds.size(); ++k) scatter(folds[k], curves[k]->weights(at), w);
    return w;
  };
  return std::make_shared<const ExactCurve>(ExactCurve::sum(curves, shares, std::move(weights)));
}

std::optional<Vector> KFoldProblem::least_curvatures() const {
  std::optional<Vector> all;
  for (const Fold& fold : folds_) {
    const std::optional<Vector> own = fold.problem->least_curvatures();
    if (!own) return {};
    all = all ? Vector(all->cwiseMin(*own)) : own;
  }
  return all;
}

void KFoldProblem::fit_intercept(Vector& w) const {
  require_weights(*this, w);
  for_each_fold([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    fold.problem->fit_intercept(own.a);
    scatter(fold, own.a, w);
  });
}

Vector KFoldProblem::expand(const Vector& w) const {
  require_weights(*this, w);
  std::vector<Vector> parts(folds_.size());
  for_each_fold([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    parts[number_of(fold)] = fold.problem->expand(own.a);
  });
  Index size = 0;
  for (const Vector& part : parts) size += part.size();
  Vector full(size);
  Index next = 0;
  Index next_intercept = size - intercepts_;
  for (Index k = 0; k < folds(); ++k) {
    const Vector& part = parts[static_cast<std::size_t>(k)];
    const Index penalised = part.size() - at(k).intercepts;
    full.segment(next, penalised) = part.head(penalised);
    full.segment(next_intercept, at(k).intercepts) = part.tail(at(k).intercepts);
    next += penalised;
    next_intercept += at(k).intercepts;
  }
  return full;
}

Losses KFoldProblem::losses(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  std::vector<Losses> all(folds_.size());
  for_each_fold([&](const Fold& fold, Scratch& own) {
    gather(fold, w, own.a);
    all[number_of(fold)] = fold.problem->losses(own.a, lambda);
  });
  Losses mean{.train = 0.0, .validation = 0.0, .test = {}};
  for (const Fold& fold : folds_) {
    mean.train += all[number_of(fold)].train / static_cast<double>(folds());
    mean.validation += fold.share * all[number_of(fold)].validation;
  }
  return mean;
}

}  // namespace yosida
