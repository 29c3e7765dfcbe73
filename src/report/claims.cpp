#include "yosida/report/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "yosida/number_text.hpp"
#include "yosida/report/rows.hpp"

namespace yosida::report {
namespace {

std::string loss(double value) { return number_text(100.0 * value, 4); }

std::string more(double value, double than) {
  const double per_cent = 100.0 * (value / than - 1.0);
  return fmt::format("{:+.{}f} %", per_cent, std::abs(per_cent) < 10.0 ? 2 : 0);
}

bool is_of_paper(const MethodRow& row) {
  return row.method == "my-hpo-c" || (row.method == "my-hpo-bt" && has(row, "w_gradient", "shared"));
}

/// How each step size of SHO ended, the largest first; what it had on its way beside it.
std::string steps_of_sho(const ProblemContents& problem) {
  std::vector<const MethodRow*> rows;
  for (const MethodRow& row : problem.rows)
    if (row.method == "sho" && row.step) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [](const MethodRow* a, const MethodRow* b) { return *a->step > *b->step; });
  std::string text;
  for (const MethodRow* row : rows) {
    text += fmt::format("{}α {}: ", text.empty() ? "" : "; ", *row->step);
    if (row->diverged > 0) {
      text += fmt::format("{} of {} diverged", row->diverged, row->runs);
    } else if (const auto value = mean_validation(*row)) {
      const auto& best = row->best.empty() ? row->final[0].validation : row->best[0].validation;
      text += fmt::format("{} (at best {})",
                          with_error(100.0 * *value, 100.0 * final_of(*row).validation->deviation),
                          best ? loss(best->mean) : "-");
    }
  }
  return text;
}

/// The best rows of two kinds against each other.
std::string duel(const ProblemContents& problem, const std::function<bool(const MethodRow&)>& takes,
                 const std::function<bool(const MethodRow&)>& takes_other) {
  const MethodRow* row = best_row(problem, takes);
  const MethodRow* other = best_row(problem, takes_other);
  if (row == nullptr) return "";
  if (other == nullptr)
    return fmt::format("{} of {}; no setting of the other ended well for every seed",
                       loss(*mean_validation(*row)), row->label);
  return fmt::format("{} of {} against {} of {} ({})", loss(*mean_validation(*row)), row->label,
                     loss(*mean_validation(*other)), other->label,
                     more(*mean_validation(*row), *mean_validation(*other)));
}

std::string full_against_simplified(const ProblemContents& problem) {
  const MethodRow* full = best_row(problem, [](const MethodRow& row) { return row.method == "my-hpo-full"; });
  const MethodRow* simplified = best_row(problem, is_of_paper);
  if (full == nullptr || simplified == nullptr) return "";
  const auto described = [](const MethodRow& row) {
    return fmt::format("{} after {:.0f} iterations and {:.0f} of work", loss(*mean_validation(row)),
                       row.iterations ? row.iterations->mean : 0.0, row.work ? row.work->mean : 0.0);
  };
  return fmt::format("{}, against {} ({})", described(*full), described(*simplified), simplified->label);
}

/// The best of the searches at each of their budgets.
std::string searches(const ProblemContents& problem) {
  std::vector<double> budgets;
  const auto is_search = [](const MethodRow& row) {
    return row.settings.contains("train_steps") && !has(row, "train_steps", "exact") &&
           row.budget.has_value();
  };
  for (const MethodRow& row : problem.rows)
    if (is_search(row) && std::find(budgets.begin(), budgets.end(), *row.budget) == budgets.end())
      budgets.push_back(*row.budget);
  std::sort(budgets.begin(), budgets.end());
  std::string text;
  for (const double budget : budgets)
    if (const MethodRow* row = best_row(
            problem, [&](const MethodRow& each) { return is_search(each) && each.budget == budget; }))
      text += fmt::format("{}{} with {:.0f} gradients ({})", text.empty() ? "" : "; ",
                          loss(*mean_validation(*row)), budget, row->label);
  const MethodRow* paper = best_row(problem, is_of_paper);
  if (!text.empty() && paper != nullptr)
    text +=
        fmt::format("; MY-HPO {} with {:.0f}", loss(*mean_validation(*paper)), paper->budget.value_or(0.0));
  return text;
}

/// Against the λ that is next nearest, the validation loss that is next lowest, and what that cost.
std::string successor(const ProblemContents& problem) {
  const MethodRow* ours = best_row(problem, [](const MethodRow& row) { return row.method == "my-hpo"; });
  const auto is_other = [](const MethodRow& row) { return row.method != "my-hpo"; };
  const MethodRow* best = best_row(problem, is_other);
  if (ours == nullptr || best == nullptr || !ours->lambda_gap || !ours->work || !best->work) return "";
  const MethodRow* nearest = nullptr;
  for (const MethodRow& row : problem.rows)
    if (is_other(row) && row.lambda_gap && row.diverged + row.failed == 0)
      if (nearest == nullptr || row.lambda_gap->mean < nearest->lambda_gap->mean) nearest = &row;
  std::string text = fmt::format("lambda gap {} %", number_text(100.0 * ours->lambda_gap->mean, 2));
  if (nearest != nullptr)
    text +=
        fmt::format(" (next {} %, {})", number_text(100.0 * nearest->lambda_gap->mean, 2), nearest->label);
  return text + fmt::format("; validation {} against {} of {} ({}); work {:.0f} against {:.0f}",
                            loss(*mean_validation(*ours)), loss(*mean_validation(*best)), best->label,
                            more(*mean_validation(*ours), *mean_validation(*best)), ours->work->mean,
                            best->work->mean);
}

}  // namespace

std::vector<Claim> claims(const std::vector<const ProblemContents*>& problems) {
  std::vector<Claim> all;
  const auto add = [&](const char* claim, const std::function<std::string(const ProblemContents&)>& finding) {
    Claim next{.claim = claim, .findings = {}};
    for (const ProblemContents* problem : problems)
      if (std::string text = finding(*problem); !text.empty())
        next.findings.emplace_back(problem->name, std::move(text));
    if (!next.findings.empty()) all.push_back(std::move(next));
  };
  add("SHO is unstable at larger steps", steps_of_sho);
  add("MY-HPO takes larger steps and ends better than SHO", [](const ProblemContents& problem) {
    return duel(problem, is_of_paper, [](const MethodRow& row) { return row.method == "sho"; });
  });
  add("Backtracking helps", [](const ProblemContents& problem) {
    return duel(
        problem, [](const MethodRow& row) { return row.method == "my-hpo-bt" && is_of_paper(row); },
        [](const MethodRow& row) { return row.method == "my-hpo-c"; });
  });
  add("The full algorithm needs fewer, dearer iterations", full_against_simplified);
  add("Black-box searches need about five times the budget", searches);
  add("Ours: my-hpo finds the best lambda, for less", successor);
  return all;
}

}  // namespace yosida::report
