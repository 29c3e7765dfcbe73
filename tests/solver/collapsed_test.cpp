// A solver run on a collapsed problem takes the same path as on the direct one.
#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::relative_error;

struct Case {
  const char* method;
  SettingValues settings;
  bool wide;
  bool intercept;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool wide : {true, false})
    for (const bool intercept : {false, true}) {
      // Steps within 2/(largest curvature), which is about 100 for the wide and 4 for the tall rows.
      const char* const step = wide ? "0.005" : "0.1";
      all.push_back({"sho", {{"alpha", step}, {"beta", "0.1"}}, wide, intercept});
      all.push_back({"my-hpo-c", {{"alpha", step}, {"beta", step}, {"delta", "0.1"}}, wide, intercept});
      all.push_back({"my-hpo-bt",
                     {{"alpha", "0.1"}, {"beta", "0.1"}, {"delta", "0.5"}, {"w_gradient", "own"}},
                     wide,
                     intercept});
      all.push_back({"my-hpo-bt", {{"alpha", "0.1"}, {"beta", "0.1"}, {"delta", "0.5"}}, wide, intercept});
      all.push_back({"my-hpo-full", {{"epsilon", "0"}}, wide, intercept});
      // Steps on the intercept itself leave the span of the centred rows where these are few.
      if (wide && intercept) continue;
      for (const char* const unrolled : {"reverse", "forward"})
        all.push_back({unrolled, {{"steps", "10"}}, wide, intercept});
      all.push_back({"stn", {}, wide, intercept});
    }
  return all;
}

class CollapsedRun : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, CollapsedRun, testing::ValuesIn(cases()), [](const auto& each) {
  std::string name = each.param.method;
  std::replace(name.begin(), name.end(), '-', '_');
  if (each.param.settings.count("w_gradient")) name += "_own";
  return name + (each.param.wide ? "_wide" : "_tall") + (each.param.intercept ? "_intercept" : "");
});

// 200 iterations on spectra-like data, 34 × 699 or 60 × 20. Rounding enters at 1e-16 an iteration; stable
// runs do not let it grow, so 1e-9 of λ and of w holds at every one of them.
TEST_P(CollapsedRun, TakesThePathOfTheDirectOne) {
  const auto& [name, settings, wide, intercept] = GetParam();
  const Split split = wide ? test::smooth_split(34, 17, 0, 699, 2) : test::smooth_split(60, 40, 0, 20, 2);
  const auto direct = std::make_shared<LinearProblem>(split, least_squares(), intercept);
  const CollapsedLeastSquares collapsed(direct);
  const auto solver = method(name).make(settings);
  const Start start{.lambda = lambda_of(-1.0), .seed = 7};
  const auto direct_run = solver->start(*direct, start);
  const auto collapsed_run = solver->start(collapsed, start);
  for (int iteration = 1; iteration <= 200; ++iteration) {
    direct_run->step();
    collapsed_run->step();
    const Iterate& a = direct_run->iterate();
    const Iterate& b = collapsed_run->iterate();
    ASSERT_LE(relative_error(b.lambda[0], a.lambda[0]), 1e-9) << "iteration " << iteration;
    ASSERT_LE(relative_error(collapsed.expand(b.w), a.w), 1e-9) << "iteration " << iteration;
    ASSERT_EQ(a.skipped_steps, b.skipped_steps) << "iteration " << iteration;
  }
  const double lambda = direct_run->iterate().lambda[0];
  EXPECT_TRUE(std::isfinite(lambda));
  EXPECT_GT(std::abs(lambda + 1.0), 1e-3) << "lambda did not move: the test shows little";
}

// Classes told by the difference of two columns that agree to 1e-7: the penalty must be far below every share
// of a column's own curvature, and exact solves must still tell there.
TEST(Rotated, TheSearchReachesWhatTheLeastSingularValueDecides) {
  Split split = test::random_split(60, 40, 0, 4, 5, logistic());
  Random random(7);
  for (Dataset* part : {&split.train, &split.validation}) {
    Matrix x = to_matrix(part->x);
    const Vector signal = test::random_vector(x.rows(), random);
    x.col(3) = x.col(0) + 1e-7 * signal;
    part->x = Design(x);
    for (Index i = 0; i < x.rows(); ++i) part->y[i] = signal[i] + 0.3 * random.normal() > 0.0 ? 1.0 : -1.0;
  }
  const auto direct = std::make_shared<LinearProblem>(split, logistic(), true);
  SolveOptions options;
  options.start.lambda = lambda_of(-1.0);
  const auto found = [&](const BilevelProblem& problem) {
    return solve(*method("my-hpo").make({}), problem, options).best;
  };
  const Solution best = found(*in_cheapest_form(direct, 1.0, Coordinates::any));
  EXPECT_LT(best.lambda[0], std::log(1e-14));
  EXPECT_LT(best.loss.validation, 0.3);  // log 2 is that of a guess
  EXPECT_LT(direct->validation_loss(best.w, best.lambda), 0.3);
}

}  // namespace
}  // namespace yosida
