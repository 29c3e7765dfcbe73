#include "yosida/tune/tune_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "linalg/tasks.hpp"
#include "problem/collapsed_least_squares.hpp"
#include "problem/counted_problem.hpp"
#include "problem/leave_one_out_problem.hpp"
#include "problem/newton.hpp"
#include "tune/model_problem.hpp"
#include "tune/penalty_groups.hpp"
#include "tune/reports.hpp"
#include "yosida/error.hpp"
#include "yosida/number_text.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/random.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

constexpr double kManyIterations = std::numeric_limits<double>::infinity();
/// What one exact inner solve may take.
constexpr double kOneSolve = 100.0;
/// What is left to the exact steps of a refit.
constexpr double kNearlyRefitted = 1e-6;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// All rows train. A problem has validation rows; nothing is asked of them.
Split all_training(const Dataset& rows) {
  const Index first[] = {0};
  Split all{.train = rows, .validation = select_rows(rows, first), .test = {}};
  all.validation.weight.resize(0);
  return all;
}

/// The problem, each of whose calls throws RunEnded where it is told to stop.
CountedProblem stoppable(const BilevelProblem& problem, const StopToken& stop) {
  return CountedProblem(problem, std::numeric_limits<std::int64_t>::max(), stop);
}

/// Whether the cheapest form for so many iterations begins with the products of columns.
bool takes_products(const ModelProblem& model, const Loss& loss, double iterations, Coordinates coordinates) {
  if (model.linear) return forms_of(*model.linear, iterations, coordinates)[0].form == Form::products;
  return loss.is_quadratic() && model.split->train.features() <= kMaxCholesky;
}

}  // namespace

TuneProblem::TuneProblem(Rows rows, const TuneOptions& options)
    : data_(prepare(std::move(rows), options)),
      penalty_(make_penalty(options, data_)),
      intercept_(options.intercept),
      numbers_(data_.split.train.rows() * data_.split.train.features()) {
  if (weighs_rows() && has_folds())
    throw InputError("lambda-per = row: does not go with folds: a row trains in several of them");
  problems_.resize(std::max<std::size_t>(data_.folds.size(), 1));
  if (options.validation.judges_by_rows()) {
    using Kind = LeaveOneOutProblem::Kind;
    const Kind kind = data_.criterion == "gcv" ? Kind::generalised : Kind::leave_one_out;
    const Dataset& train = data_.split.train;
    LeaveOneOutProblem::require_fits(*data_.loss, train.rows(), train.features(), kind);
    Split all = all_training(train);
    all.test = data_.split.test;
    problems_[0] = make_problem(std::move(all), data_, penalty_, intercept_, nullptr);
    if (!problems_[0].linear)  // of a model that the target has chosen; verify_model sees the others
      throw InputError(
          fmt::format("--criterion {}: does not go with --penalty {}: it jumps where a weight becomes 0; "
                      "use --criterion folds",
                      data_.criterion, options.penalty.kind));
    left_out_ = LeaveOneOutProblem::of(problems_[0].linear, kind);
    data_.notes.push_back(fmt::format(
        "pretreatment is fitted to all rows, also to the one that is left out: an error of about 1/{}",
        train.rows()));
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return;
  }
  const auto all = has_folds() ? std::make_shared<SharedRows>(data_.split.train.x) : nullptr;
  for_each_problem([&](Index k) {
    Split& split = data_.folds.empty() ? data_.split : data_.folds[static_cast<std::size_t>(k)];
    problems_[static_cast<std::size_t>(k)] = make_problem(std::move(split), data_, penalty_, intercept_, all);
  });
  data_.folds.clear();
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void TuneProblem::forget_forms() {
  for (ModelProblem& each : problems_) each.forms = std::make_shared<Forms>();
  if (problems_[0].all) problems_[0].all->forget_gram();
}

TuneProblem::~TuneProblem() = default;
TuneProblem::TuneProblem(TuneProblem&&) noexcept = default;

const Split& TuneProblem::split() const { return always_refits() ? data_.split : *problems_[0].split; }

std::string TuneProblem::criterion_in_words() const {
  if (has_folds())
    return data_.repeats > 1
               ? fmt::format("{}-fold, {} times", data_.fold_count / data_.repeats, data_.repeats)
               : fmt::format("{}-fold", data_.fold_count);
  if (!left_out_) return "hold-out";
  return data_.criterion == "gcv" ? "generalised cross-validation" : "leave-one-out";
}

Index TuneProblem::judging_rows() const {
  return always_refits() ? data_.split.train.rows() : split().validation.rows();
}

std::string TuneProblem::left_out_in_words(const Vector& lambda) const {
  if (!left_out_ || data_.loss->is_quadratic()) return "";
  Vector w = starting_weights(*left_out_);
  left_out_->inner_solve(lambda, {}, w);
  const auto at = left_out_->left_out_at(w, lambda);
  return fmt::format(
      "{} of {} rows were trained without in earnest, which changed it by {}; largest leverage {}",
      at->refits, at->of_rows.size(),
      signed_percent_text(at->change_by_refits / (at->value - at->change_by_refits)),
      number_text(at->largest_leverage, 2));
}

const Split& TuneProblem::fold(Index k) const { return *problems_.at(static_cast<std::size_t>(k)).split; }

void TuneProblem::for_each_problem(FunctionRef<void(Index)> each) const {
  linalg::run_side_by_side(std::ssize(problems_), std::ssize(problems_) * numbers_, each);
}

std::shared_ptr<const BilevelProblem> TuneProblem::joined(
    std::vector<std::shared_ptr<const BilevelProblem>> all) const {
  if (all.size() == 1) return all[0];
  const Index operations = std::ssize(all) * numbers_;
  return std::make_shared<const KFoldProblem>(std::move(all), data_.validation_share, operations);
}

std::shared_ptr<const BilevelProblem> TuneProblem::bilevel(double iterations, Coordinates coordinates,
                                                           const StopToken& stop) const {
  if (left_out_) return left_out_;
  if (const ModelProblem& first = problems_[0];
      first.all && takes_products(first, *data_.loss, iterations, coordinates))
    first.all->gram(*first.split, stop);  // by all threads, before each has a fold
  std::vector<std::shared_ptr<const BilevelProblem>> all(problems_.size());
  for_each_problem([&](Index k) {
    const auto at = static_cast<std::size_t>(k);
    all[at] = problems_[at].cheapest(iterations, coordinates, stop);
  });
  return joined(std::move(all));
}

std::vector<FormCost> TuneProblem::forms(double iterations, Coordinates coordinates) const {
  if (left_out_) return {{Form::direct, kUnknown}};
  std::vector<FormCost> sums;
  for (const ModelProblem& model : problems_)
    for (const FormCost& own : model.linear ? forms_of(*model.linear, iterations, coordinates)
                                            : std::vector<FormCost>{{Form::direct, kUnknown}}) {
      const auto at =
          std::find_if(sums.begin(), sums.end(), [&](const FormCost& sum) { return sum.form == own.form; });
      if (at == sums.end()) {
        sums.push_back(own);
      } else {
        at->seconds += own.seconds;
      }
    }
  return sums;
}

std::shared_ptr<const BilevelProblem> TuneProblem::in_form(Form form, const StopToken& stop) const {
  if (left_out_) return left_out_;
  std::vector<std::shared_ptr<const BilevelProblem>> all(problems_.size());
  for_each_problem([&](Index k) {
    const ModelProblem& model = problems_[static_cast<std::size_t>(k)];
    all[static_cast<std::size_t>(k)] =
        model.linear ? model.forms->of(model.linear, form, model.all.get(), stop) : model.problem;
  });
  for (const auto& made : all)
    if (!made) return nullptr;
  return joined(std::move(all));
}

Report TuneProblem::report(const Solution& solution, Reported parts) const {
  if (left_out_) {
    const auto at = left_out_->left_out_at(solution.point, solution.lambda);
    Report all = report(solution.w);
    all.validation =
        report_margins(split().train, *data_.loss, data_.pretreatment.y_scale, at->margins, at->value);
    return all;
  }
  return has_folds() ? mean_report(reports_of_folds(solution, parts), data_.validation_share)
                     : report(solution.w);
}

/// The weights of one fold after the other, then the intercepts of one after the other.
Vector TuneProblem::weights_of_fold(const Vector& all, Index k) const {
  const auto folds = static_cast<Index>(problems_.size());
  const Index intercepts = problems_[0].problem->intercepts();
  const Index penalised = all.size() / folds - intercepts;
  Vector w(penalised + intercepts);
  w << all.segment(k * penalised, penalised), all.segment(folds * penalised + k * intercepts, intercepts);
  return w;
}

std::vector<Report> TuneProblem::reports_of_folds(const Solution& solution, Reported parts) const {
  if (!has_folds()) return {};
  std::vector<Report> reports(problems_.size());
  for_each_problem([&](Index k) {
    const auto fold = static_cast<std::size_t>(k);
    reports[fold] = report_all(*problems_[fold].split, data_, data_.fold_y_scale[fold], intercept_,
                               weights_of_fold(solution.w, k), parts == Reported::all_parts);
  });
  return reports;
}

RowLosses TuneProblem::row_losses(const BilevelProblem& problem, const Vector& w,
                                  const Vector& lambda) const {
  if (left_out_) {
    const Vector& weight = split().train.weight;
    return {.loss = left_out_->left_out_at(w, lambda)->of_rows,
            .weight = weight.size() > 0 ? weight : Vector(Vector::Ones(split().train.rows()))};
  }
  const Vector all = problem.expand(w);
  Vector sum = Vector::Zero(judging_rows()), weight = Vector::Zero(judging_rows());
  for (std::size_t k = 0; k < problems_.size(); ++k) {
    const Dataset& rows = problems_[k].split->validation;
    const Vector own = has_folds() ? weights_of_fold(all, static_cast<Index>(k)) : all;
    const Vector m = margins(rows, intercept_, own, data_.loss->outputs());
    Vector loss(rows.rows());
    data_.loss->values(as_span(m), as_span(rows.y), as_span(loss));
    const double share = has_folds() ? data_.validation_share[k] : 1.0;
    for (Index i = 0; i < rows.rows(); ++i) {
      const Index place = has_folds() ? data_.judged_rows[k][static_cast<std::size_t>(i)] : i;
      const double counts =
          share * (rows.weight.size() > 0 ? rows.weight[i] : 1.0) / static_cast<double>(rows.rows());
      sum[place] += counts * loss[i];
      weight[place] += counts;
    }
  }
  RowLosses rows;
  const Index judging = (weight.array() > 0.0).count();
  rows.loss.resize(judging);
  rows.weight.resize(judging);
  for (Index i = 0, next = 0; i < weight.size(); ++i) {
    if (!(weight[i] > 0.0)) continue;
    rows.loss[next] = sum[i] / weight[i];
    rows.weight[next++] = weight[i] * static_cast<double>(judging);
  }
  return rows;
}

Report TuneProblem::report(const Vector& w) const {
  if (!always_refits()) return report_all(split(), data_, data_.pretreatment.y_scale, intercept_, w);
  // All rows are training rows and validation rows alike.
  const Split rows{.train = split().train, .validation = {}, .test = split().test};
  return report_all(rows, data_, data_.pretreatment.y_scale, intercept_, w);
}

void TuneProblem::require_one_lambda() const {
  if (hyperparameters() > 1)
    throw InputError(fmt::format("--oracle: searches one lambda; here are {} of them", hyperparameters()));
}

Oracle TuneProblem::oracle(const Start& start, const StopToken& stop) const {
  require_one_lambda();
  const auto tightly = bilevel(kManyIterations, Coordinates::any, stop);
  const CountedProblem watched = stoppable(*tightly, stop);
  const Start bounds = with_bounds(watched, start);
  return find_oracle(watched, bounds.low[0], bounds.high[0]);
}

OracleGap TuneProblem::gap(Oracle oracle, const Solution& solution, const StopToken& stop) const {
  const auto tightly = bilevel(kManyIterations, Coordinates::any, stop);
  const double at_solution = validation_at(stoppable(*tightly, stop), solution.lambda[0]);
  if (at_solution <
      oracle.validation) {  // a λ from outside the bounds may be the better one: then it is the truth
    oracle.validation = at_solution;
    oracle.lambda = solution.lambda[0];
  }
  return {.oracle = oracle,
          .gap = solution.loss.validation / oracle.validation - 1.0,
          .lambda_gap = at_solution / oracle.validation - 1.0};
}

Vector TuneProblem::refit(const Dataset& rows, const Vector& lambda, const StopToken& stop) const {
  const auto problem = make_problem(all_training(rows), data_, penalty_, intercept_, nullptr)
                           .cheapest(kOneSolve, Coordinates::any, stop);
  Vector w = starting_weights(*problem);
  const auto watched = stoppable(*problem, stop);
  // An exact solve takes a Hessian of all rows for each step, so it begins where a kept one has come to.
  if (const auto memory = problem->solve_memory())
    watched.inner_solve(lambda, {.proximal = {}, .tolerance = kNearlyRefitted, .memory = memory.get()}, w);
  watched.inner_solve(lambda, {}, w);
  return problem->expand(w);
}

Vector TuneProblem::mean_of_folds(const Solution& solution) const {
  if (!has_folds()) return solution.w;
  Vector sum = weights_of_fold(solution.w, 0);
  for (std::size_t k = 1; k < problems_.size(); ++k)
    sum += weights_of_fold(solution.w, static_cast<Index>(k));
  return sum / static_cast<double>(problems_.size());
}

std::vector<TuneProblem::FormCheck> TuneProblem::check_gradients(double lambda, std::uint64_t seed) const {
  // A collapsed form of a larger problem than this takes longer to build than a check is worth.
  constexpr double kMaxCollapse = 1e11;
  const auto check = [&](const char* form, const BilevelProblem& problem) -> FormCheck {
    Random random(seed);
    Vector w(problem.weights());
    for (double& value : w) value = random.normal() / std::sqrt(static_cast<double>(w.size()));
    return {form,
            yosida::check_gradients(problem, w, Vector::Constant(problem.hyperparameters(), lambda), seed)};
  };
  const ModelProblem& model = problems_[0];
  std::vector<FormCheck> forms = {check("direct", *model.problem)};
  if (model.linear && CollapsedLeastSquares::collapses(*model.linear) &&
      CollapsedLeastSquares::cost(*model.linear).setup < kMaxCollapse)
    forms.push_back(check("collapsed", CollapsedLeastSquares(model.linear)));
  return forms;
}

}  // namespace yosida
