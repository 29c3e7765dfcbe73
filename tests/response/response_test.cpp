#include <gtest/gtest.h>

#include "response/mean_anchored.hpp"
#include "response/tangent.hpp"
#include "support/compare.hpp"
#include "support/own_problem.hpp"
#include "support/problem_case.hpp"
#include "yosida/response/linear_response.hpp"

namespace yosida {
namespace {

using test::lambda_of;
using test::OwnProblem;
using test::random_split;
using test::random_vector;
using test::relative_error;

class Response : public testing::TestWithParam<ResponseKind> {
 protected:
  const LinearProblem problem{random_split(30, 10, 0, 6, 3, least_squares()), least_squares(), true};
  const double lambda = -2.0;
  Vector v = Vector::Zero(7);
  void SetUp() override { problem.inner_solve(lambda_of(lambda), {}, v); }
};
std::string name_of(const testing::TestParamInfo<ResponseKind>& each) {
  std::string name = response_names()[static_cast<std::size_t>(each.param)];
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Every, Response,
                         testing::Values(ResponseKind::mean_anchored, ResponseKind::tangent,
                                         ResponseKind::hypernetwork),
                         name_of);
// A hypernetwork goes on learning.
class ComputedResponse : public Response {};
INSTANTIATE_TEST_SUITE_P(Every, ComputedResponse,
                         testing::Values(ResponseKind::mean_anchored, ResponseKind::tangent), name_of);
// The slope that is anchored at the mean is the paper's, not that of w*.
class TrueResponse : public Response {};
INSTANTIATE_TEST_SUITE_P(Every, TrueResponse,
                         testing::Values(ResponseKind::tangent, ResponseKind::hypernetwork), name_of);

// Whatever its slope: G(λ) = v.
TEST_P(Response, PassesThroughItsAnchor) {
  LinearResponse response{.phi0 = Vector::Zero(7), .phi1 = Vector::Zero(7)};
  anchor(GetParam(), problem, v, lambda, response);
  EXPECT_FALSE(response.is_flat);
  Vector out(7);
  response.respond(lambda, out);
  EXPECT_LE(relative_error(out, v), 1e-13);
}

// Nothing of an earlier anchor is left, whatever was there before.
TEST_P(ComputedResponse, IsAnchoredAnew) {
  LinearResponse fresh{.phi0 = Vector::Zero(7), .phi1 = Vector::Zero(7)}, used = fresh;
  anchor(GetParam(), problem, 2.0 * v, lambda - 1.0, used);
  used.is_flat = true;
  anchor(GetParam(), problem, v, lambda, fresh);
  anchor(GetParam(), problem, v, lambda, used);
  EXPECT_LE(relative_error(used.phi1, fresh.phi1), 1e-7);  // the tangent is solved to 1e-8 from another start
  EXPECT_LE(relative_error(used.phi0, fresh.phi0), 1e-7);
  EXPECT_EQ(used.is_flat, fresh.is_flat);
}

// A learned slope is nearer to the true one than none.
TEST_P(TrueResponse, PredictsTheNextWeightsWhereItIsTrue) {
  LinearResponse response{.phi0 = Vector::Zero(7), .phi1 = Vector::Zero(7)};
  anchor(GetParam(), problem, v, lambda, response);
  Vector next = v, predicted(7);
  problem.inner_solve(lambda_of(lambda + 0.1), {}, next);
  response.respond(lambda + 0.1, predicted);
  EXPECT_LT((predicted - next).norm(), 0.5 * (v - next).norm());
}

TEST(MeanAnchored, IsTheMeanAndTheRest) {
  const LinearProblem problem(random_split(9, 5, 0, 3, 1, least_squares()), least_squares(), true);
  Vector v(4);
  v << 1.0, 2.0, 6.0, 0.25;  // the last is the intercept
  LinearResponse response;
  anchor_at_mean(problem, v, -2.0, response);
  Vector phi0(4), phi1(4);
  phi0 << 3.0, 3.0, 3.0, 0.25;
  phi1 << 1.0, 0.5, -1.5, 0.0;
  EXPECT_LE(relative_error(response.phi0, phi0), 1e-15);
  EXPECT_LE(relative_error(response.phi1, phi1), 1e-15);
  EXPECT_FALSE(response.is_flat);
}

// A problem that does not state its vector of ones has one all the same.
TEST(MeanAnchored, NeedsNoVectorOfOnes) {
  const OwnProblem problem(3, 1, 0.0);
  ASSERT_EQ(problem.traits().ones.size(), 0);
  LinearResponse response;
  anchor_at_mean(problem, Eigen::Vector3d(1.0, 2.0, 6.0), -2.0, response);
  EXPECT_LE(relative_error(response.phi0, Vector::Constant(3, 3.0)), 1e-15);
  EXPECT_LE(relative_error(response.phi1, Eigen::Vector3d(1.0, 0.5, -1.5)), 1e-15);
  anchor_at_mean(problem, Vector::Constant(3, 0.7), -2.0, response);
  EXPECT_TRUE(response.is_flat);
}

// dw*/dλ against differences of trained weights, by nothing but gradients of a problem of one's own.
TEST(TangentResponse, HasTheSlopeOfTheTrainedWeights) {
  const OwnProblem problem(6, 1, 0.0);
  Tangent tangent;
  tangent.lambda = -1.0;
  tangent.v = problem.trained(lambda_of(-1.0));
  EXPECT_TRUE(tangent.anchor(problem, 1e-9).converged);
  const double step = 1e-4;
  const Vector numerical =
      (problem.trained(lambda_of(-1.0 + step)) - problem.trained(lambda_of(-1.0 - step))) / (2.0 * step);
  EXPECT_LE(relative_error(tangent.phi1, numerical), 1e-6);
  Vector out(6);
  tangent.respond(-0.9, out);
  EXPECT_LE(relative_error(out, tangent.v + 0.1 * tangent.phi1), 1e-15);
}

}  // namespace
}  // namespace yosida
