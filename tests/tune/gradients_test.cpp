#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solver/direct_term.hpp"
#include "yosida/error.hpp"
#include "yosida/random.hpp"
#include "yosida/tune/tune_problem.hpp"

namespace yosida {
namespace {

constexpr Index kRows = 42, kFeatures = 4;

/// A criterion, a loss (by its model), a penalty and which weights share a λ: every combination, as
/// `yosida tune` takes it.
struct Case {
  std::string criterion, model, penalty, per;

  friend std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.name(); }

  std::string name() const {
    std::string all = criterion + "_" + model + "_" + penalty + "_" + per;
    std::replace(all.begin(), all.end(), '-', '_');
    return all;
  }
  bool has_norms() const { return penalty.ends_with("group-lasso"); }
  bool judges_by_rows() const { return criterion == "loo" || criterion == "gcv"; }
  bool has_jumps() const { return model == "huber" || model == "svm"; }

  TuneOptions options(bool intercept) const {
    TuneOptions options;
    options.model = model;
    options.intercept = intercept;
    options.seed = 3;
    options.penalty.kind = penalty;
    options.penalty.lambda_per = per;
    if (per == "group" || has_norms()) options.penalty.groups = {"left=a,b", "right=c,d"};
    if (judges_by_rows()) options.validation.criterion = criterion;
    if (criterion.find("folds") != std::string::npos) options.validation.folds = 3;
    if (criterion.starts_with("repeated")) options.validation.repeats = 2;
    options.validation.grouped = criterion.starts_with("grouped");
    return options;
  }

  /// Three rows each belong together, where the criterion asks for that.
  Dataset rows(bool weighted) const {
    Random random(7);
    Matrix x(kRows, kFeatures);
    Dataset data;
    data.y.resize(kRows);
    data.weight.resize(weighted ? kRows : 0);
    for (Index i = 0; i < kRows; ++i) {
      for (double& each : x.row(i)) each = random.normal();
      const double signal = x(i, 0) - 0.7 * x(i, 1) + 0.4 * x(i, 2) + 0.8 * random.normal();
      data.y[i] = target(signal, i);
      if (weighted) data.weight[i] = 0.5 + random.uniform();
      if (criterion.starts_with("grouped")) data.id.push_back(std::to_string(i / 3));
    }
    data.x = Design(std::move(x));
    data.feature_names = {"a", "b", "c", "d"};
    data.source = "rows";
    return data;
  }
  double target(double signal, Index row) const {
    if (model == "softmax") return signal < -0.5 ? 0.0 : signal < 0.6 ? 1.0 : 2.0;
    if (model == "logistic" || model == "svm") return signal < 0.0 ? 0.0 : 1.0;
    if (model == "poisson") return std::floor(std::exp(0.5 * signal) + 0.5);
    return signal + (row % 9 == 0 ? 4.0 : 0.0);  // some far from the others, for huber
  }

  /// Why it is refused: any of these reasons; none where it must work.
  std::vector<std::string> reasons() const {
    std::vector<std::string> all;
    if (judges_by_rows() && penalty != "l2") all.emplace_back("it jumps where a weight becomes 0");
    if (criterion == "gcv" && model != "ridge") all.emplace_back("is defined for least squares");
    if (per == "class" && model != "softmax")
      all.emplace_back("is for softmax, which has weights for each class");
    if (has_norms() && (per == "feature" || per == "class"))
      all.emplace_back("groups have one lambda each (group), or one for all of them (shared)");
    return all;
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* criterion :
       {"holdout", "grouped-holdout", "folds", "repeated-folds", "grouped-folds", "loo", "gcv"})
    for (const char* model : {"ridge", "huber", "svm", "logistic", "poisson", "softmax"})
      for (const char* penalty : {"l2", "l1", "elastic-net", "group-lasso", "sparse-group-lasso"})
        for (const char* per : {"shared", "feature", "class", "group"})
          all.push_back({criterion, model, penalty, per});
  return all;
}

/// w*(λ), to the last digits that solves give.
Vector trained(const BilevelProblem& problem, const Vector& lambda, Vector w) {
  problem.inner_solve(lambda, {.proximal = {}, .tolerance = 1e-13}, w);
  return w;
}

/// ∂F/∂λ − Cᵀq, H q = ∂F/∂w
Vector hypergradient(const BilevelProblem& problem, const Vector& lambda, const Vector& w) {
  Vector g(problem.weights()), q = Vector::Zero(problem.weights()), slope(lambda.size());
  problem.validation_gradient(w, lambda, g);
  problem.hessian_solve(w, lambda, g, {.tolerance = 1e-13}, q);
  problem.cross_product_transposed(w, lambda, q, slope);
  slope = -slope;
  add_direct_term(problem, w, lambda, slope);
  return slope;
}

/// ∇h by central differences of full solves of two steps, extrapolated; `is_smooth` where both steps agree,
/// as they do not where a kink or a jump lies between them.
struct Differences {
  Vector slope;
  bool is_smooth = true;
};
Differences differences(const BilevelProblem& problem, const Vector& lambda, const Vector& w, double size) {
  constexpr double kStep = 5e-4;  // its fourth power, and rounding over it, are far below 1e-6
  constexpr double kAgree = 5e-7;
  Differences found{.slope = Vector(lambda.size())};
  for (Index j = 0; j < lambda.size(); ++j) {
    const auto along = [&](double step) {
      const auto h = [&](double away) {
        const Vector at = lambda + away * Vector::Unit(lambda.size(), j);
        return problem.validation_loss(trained(problem, at, w), at);
      };
      return (h(step) - h(-step)) / (2.0 * step);
    };
    const double wide = along(kStep), narrow = along(0.5 * kStep);
    found.slope[j] = (4.0 * narrow - wide) / 3.0;
    found.is_smooth &= std::abs(wide - narrow) <= kAgree * size;
  }
  return found;
}

/// Where a λ is looked at: among those that matter, each a little elsewhere.
Vector lambda_at(const BilevelProblem& problem, const SparsePenalty* sparse, double below) {
  const Index count = problem.hyperparameters();
  Vector at(count);
  for (Index k = 0; k < count; ++k) at[k] = 0.3 - below - 0.17 * std::sin(3.0 * static_cast<double>(k));
  if (sparse == nullptr) return at;
  at += problem.traits().bounds->high;
  at.tail(count - sparse->first_l2_lambda()).array() -= 5.0;
  return at;
}

constexpr double kBelow[] = {0.9, 1.4, 1.8, 2.3, 2.7};

/// Compares gradients at all λ or, of an h with kinks or jumps, where it is smooth. Returns at how many.
int compare_gradients(const BilevelProblem& problem, const SparsePenalty* sparse, bool is_smooth) {
  int compared = 0;
  for (const double below : kBelow) {
    const Vector lambda = lambda_at(problem, sparse, below);
    const Vector w = trained(problem, lambda, starting_weights(problem));
    const Vector slope = hypergradient(problem, lambda, w);
    // Where h hardly moves, rounding in h decides its differences.
    const double size =
        std::max(slope.lpNorm<Eigen::Infinity>(), 1e-3 * std::abs(problem.validation_loss(w, lambda)));
    const Differences truth = differences(problem, lambda, w, size);
    if (!is_smooth && !truth.is_smooth) continue;
    ++compared;
    EXPECT_LE((slope - truth.slope).lpNorm<Eigen::Infinity>(), 1e-6 * size)
        << below << " below: " << slope.transpose() << " against " << truth.slope.transpose();
  }
  return compared;
}

class Gradients : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, Gradients, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name(); });

// With and without row weights and intercept, in every form that the problem has.
TEST_P(Gradients, AreThoseOfFullSolves) {
  const Case& own = GetParam();
  if (!own.reasons().empty()) return;  // the other test's
  const bool is_smooth = own.penalty == "l2" && !own.has_jumps();
  for (const bool weighted : {false, true}) {
    const TuneOptions options = own.options(weighted);
    verify_model(options);
    const TuneProblem tuned(Rows{.train = own.rows(weighted)}, options);
    for (const FormCost& each : tuned.forms(std::numeric_limits<double>::infinity(), Coordinates::any)) {
      const auto problem = tuned.in_form(each.form);
      if (problem == nullptr) continue;
      SCOPED_TRACE(to_string(each.form));
      EXPECT_GE(compare_gradients(*problem, tuned.sparse_penalty(), is_smooth), 2);
    }
  }
}

TEST_P(Gradients, OrTheCombinationIsRefusedWithTheReason) {
  const Case& own = GetParam();
  const std::vector<std::string> reasons = own.reasons();
  std::string refused;
  try {
    verify_model(own.options(true));
    const TuneProblem tuned(Rows{.train = own.rows(false)}, own.options(true));
  } catch (const InputError& error) {
    refused = error.what();
  }
  const auto is_named = [&](const std::string& reason) { return refused.find(reason) != std::string::npos; };
  if (reasons.empty()) {
    EXPECT_EQ(refused, "");
  } else {
    EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), is_named)) << "refused by: " << refused;
  }
}

}  // namespace
}  // namespace yosida
