#include <gtest/gtest.h>

#include "solver/elastic_net_data.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/problem/sparse_problem.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/solve.hpp"

namespace yosida {
namespace {

struct SearchRun {
  std::string name;
  std::shared_ptr<const BilevelProblem> problem;
};

/// Lasso, elastic net, group lasso, sparse group lasso and adaptive lasso, of several losses, with and
/// without folds: their h have kinks.
std::vector<SearchRun> runs() {
  std::vector<SearchRun> all;
  const std::vector<Index> group_of = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
  const Penalty shared = Penalty::shared(15), groups = Penalty::by_group(group_of, 3);
  const std::vector<std::pair<std::string, SparsePenalty>> penalties = {
      {"lasso", SparsePenalty::lasso(15)},
      {"elastic_net", SparsePenalty::elastic_net(15)},
      {"group", SparsePenalty({}, GroupNorms{groups, true, true}, {})},
      {"groups", SparsePenalty({}, GroupNorms{groups}, {})},
      {"sparse_group", SparsePenalty(shared, GroupNorms{groups}, {})},
      {"adaptive", SparsePenalty(Penalty::per_feature(15), {}, {})}};
  for (const auto& [name, penalty] : penalties)
    for (const Loss* loss : {&least_squares(), &logistic()})
      for (const std::uint64_t seed : {1, 2}) {
        const auto of_seed = [&](std::uint64_t own) {
          return std::make_shared<const SparseProblem>(test::sparse_truth(50, 15, own, *loss), *loss, true,
                                                       penalty);
        };
        const std::string full = name + " " + std::string(loss->name()) + " " + std::to_string(seed);
        if (seed == 1) {
          all.push_back({full, of_seed(seed)});
        } else {
          all.push_back({full + " folds", std::make_shared<const KFoldProblem>(
                                              std::vector<std::shared_ptr<const BilevelProblem>>{
                                                  of_seed(10), of_seed(11), of_seed(12)},
                                              std::vector<double>{0.3, 0.3, 0.4})});
        }
      }
  return all;
}

// Certified, at a kink too, in at least 95 % of 24 runs; and what is certified is a minimum along each λ, by
// a dense scan around it.
TEST(SparseSearch, IsCertifiedAndNeverFalsely) {
  int certified = 0;
  const std::vector<SearchRun> all = runs();
  ASSERT_EQ(all.size(), 24U);
  for (const auto& [name, problem] : all) {
    SolveOptions options;
    options.start.lambda = problem->traits().bounds->high.array() - 3.0;
    options.budget.iterations = 300;
    const Outcome outcome = solve(MyHpo{}, *problem, options);
    Start range = options.start;
    range.low = problem->traits().bounds->low;
    range.high = problem->traits().bounds->high;
    Solution best = outcome.best;
    const Certificate certificate = certify(*problem, best, range);
    if (certificate.verdict == Verdict::not_certified) {
      std::printf("%s: %s\n", name.c_str(), certificate.reason.c_str());
      continue;
    }
    ++certified;
    Vector w = best.point;
    const double here = test::tight_validation(*problem, best.lambda, w);
    for (Index j = 0; j < best.lambda.size(); ++j)
      for (double away = 2e-4; away < 0.02; away *= 1.7)
        for (const double sign : {-1.0, 1.0}) {
          Vector beside = best.lambda;
          beside[j] = std::clamp(beside[j] + sign * away, range.low[j], range.high[j]);
          // What the certificate's tolerance may hide of a slope.
          EXPECT_GE(test::tight_validation(*problem, beside, w),
                    here * (1.0 - 1e-6 - 2.0 * kCertified * away))
              << name << ": " << to_string(certificate.verdict) << ", lambda " << j << " by " << sign * away;
        }
  }
  EXPECT_GE(certified, 23);
}

// A kink that is a minimum is certified as one; one that is a maximum is not.
TEST(SparseSearch, KinksAreJudgedByBothSides) {
  const Split split = test::sparse_truth(40, 10, 4, logistic());
  const SparseProblem problem(split, logistic(), true, SparsePenalty::lasso(10));
  const Bounds bounds = *problem.traits().bounds;
  const auto support = [&](double lambda, Vector& w) {
    problem.inner_solve(Vector::Constant(1, lambda), {.proximal = {}, .tolerance = 1e-13}, w);
    return (w.array() != 0.0).count();
  };
  Vector w = Vector::Zero(problem.weights());
  int minima = 0, others = 0;
  double last = bounds.high[0];
  Index count = support(last, w);
  for (double lambda = last - 0.02; lambda > last - 6.0; lambda -= 0.02) {
    const Index now = support(lambda, w);
    if (now == count) continue;
    double low = lambda, high = lambda + 0.02;
    while (high - low > 1e-10) {
      const double middle = 0.5 * (low + high);
      (support(middle, w) == now ? low : high) = middle;
    }
    count = now;
    Vector at = Vector::Constant(1, high);
    support(high, w);
    const double here = test::tight_validation(problem, at, w);
    constexpr double kStep = 1e-4;
    Vector beside = w;
    const double below = (test::tight_validation(problem, at.array() - kStep, beside) - here) / kStep / here;
    const double above = (test::tight_validation(problem, at.array() + kStep, beside) - here) / kStep / here;
    if (std::min(std::abs(below), std::abs(above)) < 0.05) continue;  // too near to a smooth minimum
    const Solution solution{.lambda = at, .w = w, .point = w, .loss = {}, .iteration = 0};
    const Certificate certificate = certify(problem, solution, Start{});
    if (below > 0.0 && above > 0.0) {
      ++minima;
      EXPECT_EQ(certificate.verdict, Verdict::at_kink) << high << ": " << certificate.reason;
    } else {
      ++others;
      EXPECT_EQ(certificate.verdict, Verdict::not_certified) << high << ": " << certificate.reason;
    }
  }
  EXPECT_GE(minima + others, 3);
}

}  // namespace
}  // namespace yosida
