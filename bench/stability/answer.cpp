#include "answer.hpp"

#include <cmath>
#include <limits>

#include "statistics.hpp"
#include "tune/start_and_bounds.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/problem/elastic_net_problem.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida::bench {
namespace {

std::shared_ptr<const BilevelProblem> make_problem(const Case& drawn, const Method& method,
                                                   Coordinates coordinates) {
  using Kind = ElasticNetProblem::Kind;
  const double iterations = method.expected_work > 0.0     ? method.expected_work
                            : method.solves_inner_problems ? std::numeric_limits<double>::infinity()
                                                           : static_cast<double>(method.default_iterations);
  std::vector<std::shared_ptr<const BilevelProblem>> problems;
  for (const Split& split : drawn.splits) {
    if (!drawn.penalty) {
      const bool is_lasso = drawn.model->penalty == PenaltyForm::l1;
      problems.push_back(std::make_shared<const ElasticNetProblem>(
          split, drawn.loss, drawn.intercept, is_lasso ? Kind::lasso : Kind::elastic_net));
      continue;
    }
    const auto linear =
        std::make_shared<const LinearProblem>(split, drawn.loss, drawn.intercept, *drawn.penalty);
    problems.push_back(in_cheapest_form(linear, iterations, coordinates));
  }
  if (drawn.folds == 0) return problems[0];
  return std::make_shared<const KFoldProblem>(std::move(problems), drawn.share);
}

}  // namespace

std::shared_ptr<const BilevelProblem> problem_of(const Case& drawn) {
  const Method& chosen = method(kDefaultMethod);
  return make_problem(drawn, chosen, coordinates_of(chosen, *chosen.make({})));
}

Answer answer(const Case& drawn, const std::string& method_name) {
  Answer answer;
  const double begin = cpu_seconds();
  try {
    const Method& chosen = method(method_name);
    const std::unique_ptr<Solver> solver = chosen.make({});
    const auto problem = make_problem(drawn, chosen, coordinates_of(chosen, *solver));
    SolveOptions options;
    options.start.lambda = drawn.lambda0 ? Vector::Constant(problem->hyperparameters(), *drawn.lambda0)
                                         : default_start(*problem, chosen.lambda0);
    options.start.seed = drawn.seed;
    if (!chosen.counts_trials) options.budget.iterations = chosen.default_iterations_of({});
    options.trace_every = std::numeric_limits<std::int64_t>::max();  // the first point and the last
    answer.lambda0 = options.start.lambda;
    const Outcome outcome = solve(*solver, *problem, options);
    answer.seconds = cpu_seconds() - begin;
    answer.status = to_string(outcome.status);
    answer.message = outcome.message;
    answer.lambda = outcome.best.lambda;
    answer.validation = outcome.best.loss.validation;
    answer.start_loss = outcome.trace.front().loss.validation;
    answer.work = outcome.work.gradient_equivalents();
    const Certificate certificate =
        certify(*problem, outcome.best, judged_inside(*problem, options.start, chosen, outcome));
    answer.verdict = to_string(certificate.verdict);
    answer.reason = certificate.reason;
  } catch (const std::exception& error) {
    answer.seconds = cpu_seconds() - begin;
    answer.is_error = true;
    answer.status = "error";
    answer.message = error.what();
  }
  return answer;
}

}  // namespace yosida::bench
