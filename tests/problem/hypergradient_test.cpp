#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "support/general_case.hpp"

namespace yosida {
namespace {

using test::GeneralCase;

class Hypergradient : public testing::TestWithParam<GeneralCase> {};
INSTANTIATE_TEST_SUITE_P(Every, Hypergradient, testing::ValuesIn(test::all_general_cases()),
                         [](const auto& each) { return each.param.name(); });

// ∇h = −Cᵀ H⁻¹ ∇L_V against five-point differences of h(λ) = L_V(w*(λ)), coordinate by coordinate. With steps
// of 1e-3 and inner solves to 1e-12 the differences are good to some 1e-9.
TEST_P(Hypergradient, EqualsFiniteDifferencesOfTheValidationLoss) {
  const auto problem = GetParam().build();
  const Index size = problem->weights();
  const Vector lambda = GetParam().lambda(problem->hyperparameters());
  Vector w = Vector::Zero(size);
  ASSERT_TRUE(problem->inner_solve(lambda, {.proximal = {}, .tolerance = 1e-12}, w).converged);
  Vector gradient(size);
  problem->validation_gradient(w, lambda, gradient);
  Vector adjoint = Vector::Zero(size);
  problem->hessian_solve(w, lambda, gradient, {.tolerance = 1e-12}, adjoint);
  Vector given(lambda.size());
  problem->cross_product_transposed(w, lambda, adjoint, given);
  given = -given;

  const auto h = [&](Index j, double step) {
    Vector at = lambda;
    at[j] += step;
    Vector moved = w;
    problem->inner_solve(at, {.proximal = {}, .tolerance = 1e-12}, moved);
    return problem->validation_loss(moved, at);
  };
  Vector numerical(lambda.size());
  constexpr double step = 1e-3;
  for (Index j = 0; j < lambda.size(); ++j)
    numerical[j] =
        (8.0 * (h(j, step) - h(j, -step)) - (h(j, 2.0 * step) - h(j, -2.0 * step))) / (12.0 * step);
  EXPECT_LE(test::relative_error(given, numerical), 1e-5);
}

}  // namespace
}  // namespace yosida
