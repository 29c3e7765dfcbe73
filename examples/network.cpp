// A problem of one's own that is not convex: a small neural network with one penalty per layer.
#include <cmath>
#include <iostream>

#include "yosida/solver/certificate.hpp"
#include "yosida/solver/my_hpo.hpp"

using namespace yosida;
using Rows = Eigen::MatrixX2d;  // x, y
/// f(x) = Σ_k v_k tanh(a_k x + b_k) + c, w = (a, b, v, c), and L = ½ mean (f(x) − y)² on either set of rows;
/// L_T = L + e^λ₁ (‖a‖² + ‖b‖²) + e^λ₂ (‖v‖² + c²).
class Network final : public BilevelProblem {
 public:
  Network(Rows train, Rows valid) : train_(std::move(train)), valid_(std::move(valid)) {
    traits_.start = 2.0 * Vector::LinSpaced(weights(), 1.0, 40.0).array().sin();  // units must differ
    traits_.bounds = Bounds{Eigen::Vector2d(-14.0, -14.0), Eigen::Vector2d(-2.0, -2.0)};
  }
  Index weights() const override { return 3 * kUnits + 1; }
  Index hyperparameters() const override { return 2; }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return loss(train_, w) + std::exp(lambda[0]) * w.head(2 * kUnits).squaredNorm() +
           std::exp(lambda[1]) * w.tail(kUnits + 1).squaredNorm();
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    loss(train_, w, &g);
    g.head(2 * kUnits) += 2.0 * std::exp(lambda[0]) * w.head(2 * kUnits);
    g.tail(kUnits + 1) += 2.0 * std::exp(lambda[1]) * w.tail(kUnits + 1);
  }
  double validation_loss(const Vector& w, const Vector&) const override { return loss(valid_, w); }
  double validation_gradient(const Vector& w, const Vector&, Vector& g) const override {
    return loss(valid_, w, &g);
  }

 private:
  static constexpr Index kUnits = 4;
  static double loss(const Rows& rows, const Vector& w, Vector* g = nullptr) {
    const auto v = w.segment(2 * kUnits, kUnits);
    Eigen::MatrixXd h = rows.col(0) * w.head(kUnits).transpose();
    h = (h.rowwise() + w.segment(kUnits, kUnits).transpose()).array().tanh();
    const Vector r = ((h * v - rows.col(1)).array() + w[3 * kUnits]) / static_cast<double>(rows.rows());
    const Eigen::MatrixXd back = (r * v.transpose()).array() * (1.0 - h.array().square());
    if (g) *g << back.transpose() * rows.col(0), back.colwise().sum().transpose(), h.transpose() * r, r.sum();
    return 0.5 * r.squaredNorm() * static_cast<double>(rows.rows());
  }
  Rows train_, valid_;
};

int main() {
  Rows train(30, 2), valid(30, 2);
  train.col(0) = Vector::LinSpaced(30, -1.0, 1.0), valid.col(0) = train.col(0).array() + 0.03;
  for (Rows* rows : {&train, &valid})
    rows->col(1) = (4.0 * rows->col(0)).array().sin() + 0.4 * (1000.0 * rows->col(0).array().square()).sin();
  const Network problem(train, valid);
  const Outcome outcome = solve(MyHpo{}, problem, {});
  std::cout.precision(12);
  std::cout << to_string(outcome.status) << "; " << to_string(certify(problem, outcome.best, {}).verdict)
            << "\nlambda " << outcome.best.lambda.transpose() << "\nvalidation "
            << outcome.best.loss.validation << "\nw " << outcome.best.w.transpose() << "\n";
}
