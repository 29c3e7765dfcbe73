#include <gtest/gtest.h>

#include "problem/forwarding_problem.hpp"
#include "support/compare.hpp"
#include "support/problem_case.hpp"
#include "yosida/problem/gradient_check.hpp"

namespace yosida {
namespace {

using test::BuiltProblem;
using test::lambda_of;
using test::ProblemCase;
using test::random_vector;
using test::relative_error;

/// Two ways to add up some 50 products: they differ by rounding alone.
constexpr double kRounding = 1e-12;

class Derivatives : public testing::TestWithParam<ProblemCase> {
 protected:
  Derivatives() : built(GetParam()), problem(*built.problem), random(9), size(problem.weights()) {
    w = random_vector(size, random);
    p = random_vector(size, random);
    full = built.basis * w;
    out.resize(size);
  }
  BuiltProblem built;
  const BilevelProblem& problem;
  Random random;
  Index size;
  Vector w, p, full, out;
  const double lambda = -1.5;
};
INSTANTIATE_TEST_SUITE_P(Every, Derivatives, testing::ValuesIn(test::all_problem_cases()),
                         [](const auto& each) { return each.param.name(); });

TEST_P(Derivatives, MatchFiniteDifferences) {
  for (const double at : {-4.0, 0.5})
    for (const GradientCheck& check : check_gradients(problem, w, lambda_of(at), 3))
      EXPECT_LE(check.error, 1e-6) << check.name << " at lambda " << at;
}

TEST_P(Derivatives, LossesEqualThePlainExpressions) {
  EXPECT_LE(relative_error(problem.train_loss(w, lambda_of(lambda)), built.plain.train_loss(full, lambda)),
            kRounding);
  EXPECT_LE(relative_error(problem.validation_loss(w, lambda_of(lambda)), built.plain.validation_loss(full)),
            kRounding);
}

// A collapsed problem's derivatives are Bᵀ times the direct ones at B w.
TEST_P(Derivatives, TrainingOnesEqualThePlainExpressions) {
  const Eigen::MatrixXd& b = built.basis;
  problem.train_gradient(w, lambda_of(lambda), out);
  EXPECT_LE(relative_error(out, b.transpose() * built.plain.train_gradient(full, lambda)), kRounding);
  problem.hessian_product(w, lambda_of(lambda), p, out);
  EXPECT_LE(relative_error(out, b.transpose() * built.plain.train_hessian(full, lambda) * (b * p)),
            kRounding);
  problem.cross_product(w, lambda_of(lambda), lambda_of(0.7), out);
  EXPECT_LE(relative_error(out, 0.7 * b.transpose() * built.plain.cross(full, lambda)), kRounding);
  Vector transposed(1);
  problem.cross_product_transposed(w, lambda_of(lambda), p, transposed);
  EXPECT_LE(relative_error(transposed[0], built.plain.cross(full, lambda).dot(b * p)), kRounding);
}

TEST_P(Derivatives, ValidationOnesEqualThePlainExpressions) {
  const Eigen::MatrixXd& b = built.basis;
  problem.validation_gradient(w, lambda_of(lambda), out);
  EXPECT_LE(relative_error(out, b.transpose() * built.plain.validation_gradient(full)), kRounding);
  problem.validation_hessian_product(w, lambda_of(lambda), p, out);
  EXPECT_LE(relative_error(out, b.transpose() * built.plain.validation_hessian(full) * (b * p)), kRounding);
}

// The basis is orthonormal (so norms and inner products carry over) and holds the ones vector (so means do).
TEST_P(Derivatives, CoordinatesKeepNormsAndMeans) {
  const Eigen::MatrixXd& b = built.basis;
  EXPECT_LE(relative_error(b.transpose() * b, Eigen::MatrixXd::Identity(size, size)), kRounding);
  EXPECT_LE(relative_error(b * problem.traits().ones, built.plain.penalised), kRounding);
  EXPECT_NEAR(problem.traits().ones.dot(w), built.plain.penalised.dot(full),
              kRounding * full.norm() * std::sqrt(size));
}

TEST_P(Derivatives, LossesOnEverySplitAreDataTerms) {
  const Losses losses = problem.losses(w, lambda_of(lambda));
  EXPECT_LE(
      relative_error(losses.train, built.plain.data_term(built.plain.x_train, built.plain.y_train, full)),
      kRounding);
  EXPECT_LE(relative_error(losses.validation, built.plain.validation_loss(full)), kRounding);
  const Dataset& test = *built.direct->split().test;
  Eigen::MatrixXd x(test.rows(), full.size());
  x.setOnes();
  x.leftCols(test.features()) = test::matrix_of(test.x);
  ASSERT_TRUE(losses.test.has_value());
  EXPECT_LE(relative_error(*losses.test, built.plain.data_term(x, test.y, full)), kRounding);
}

/// A problem with one function wrong, by 1e-3 of its size in the first entry.
class WrongProblem : public ForwardingProblem {
 public:
  WrongProblem(const BilevelProblem& problem, std::string wrong)
      : ForwardingProblem(problem), wrong_(std::move(wrong)) {}

  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    problem_.train_gradient(w, lambda, g);
    spoil("train_gradient", g);
  }
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override {
    problem_.hessian_product(w, lambda, p, out);
    spoil("hessian_product", out);
  }
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override {
    problem_.cross_product(w, lambda, q, out);
    spoil("cross_product", out);
  }
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override {
    problem_.cross_product_transposed(w, lambda, p, out);
    spoil("cross_product_transposed", out);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    const double loss = problem_.validation_gradient(w, lambda, g);
    spoil("validation_gradient", g);
    return loss;
  }
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.train_gradient_lambda(w, lambda, out);
    spoil("train_gradient_lambda", out);
  }
  // Of a validation loss that is λ² larger.
  double validation_loss(const Vector& w, const Vector& lambda) const override {
    return problem_.validation_loss(w, lambda) + lambda.squaredNorm();
  }
  void validation_gradient_lambda(const Vector&, const Vector& lambda, Vector& out) const override {
    out = 2.0 * lambda;
    spoil("validation_gradient_lambda", out);
  }
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override {
    problem_.validation_hessian_product(w, lambda, p, out);
    spoil("validation_hessian_product", out);
  }

 private:
  void spoil(const char* function, Vector& out) const {
    if (wrong_ == function) out[0] += 1e-3 * out.norm();
  }
  std::string wrong_;
};

class GradientChecker : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Every, GradientChecker,
                         testing::Values("train_gradient", "hessian_product", "cross_product",
                                         "cross_product_transposed", "train_gradient_lambda",
                                         "validation_gradient", "validation_gradient_lambda",
                                         "validation_hessian_product"),
                         [](const auto& each) { return std::string(each.param); });

// The error of the spoiled function shows at its own size; every function that does not build on it stays
// clean.
TEST_P(GradientChecker, CatchesADerivativeWrongByAThousandth) {
  const std::string wrong = GetParam();
  const BuiltProblem built(ProblemCase{&logistic(), false, true, false, false});
  Random random(10);
  const Vector w = random_vector(built.problem->weights(), random);
  const WrongProblem problem(*built.problem, wrong);
  bool checked = false;
  for (const GradientCheck& check : check_gradients(problem, w, lambda_of(-1.0), 5)) {
    const bool builds_on_it =
        (wrong == "train_gradient" && check.name.find("validation") == std::string::npos &&
         check.name != "train_gradient_lambda") ||
        (wrong == "validation_gradient" && check.name == "validation_hessian_product");
    if (check.name == wrong) {
      checked = true;
      EXPECT_GT(check.error, 1e-4);
      EXPECT_LT(check.error, 1e-2);
    } else if (!builds_on_it) {
      EXPECT_LE(check.error, 1e-6) << check.name;
    }
  }
  EXPECT_TRUE(checked) << "no check of that name";
}

}  // namespace
}  // namespace yosida
