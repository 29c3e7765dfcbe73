// A problem of one's own whose validation loss depends on λ: kernel ridge regression, its penalty and the
// width of its kernel tuned together. Losses and gradients are all that is written here.
#include <cmath>
#include <iostream>

#include "yosida/solver/certificate.hpp"
#include "yosida/solver/my_hpo.hpp"

using namespace yosida;

/// λ = (log c, log s) and w the dual coefficients: with K_ij = exp(−(x_i − x_j)²/2s²) and K_V that of
/// validation against training rows,  L_T = ½ wᵀ(K + c I)w − yᵀw,  L_V = ½ mean (K_V w − y_V)².
class KernelRidge final : public BilevelProblem {
 public:
  KernelRidge(Vector x, Vector y, Vector x_valid, Vector y_valid)
      : x_(std::move(x)), y_(std::move(y)), x_valid_(std::move(x_valid)), y_valid_(std::move(y_valid)) {
    traits_.validation_depends_on_lambda = true;  // through K_V
    traits_.bounds = Bounds{Eigen::Vector2d(-6.0, -3.5), Eigen::Vector2d(3.0, 1.0)};
  }
  Index weights() const override { return x_.size(); }
  Index hyperparameters() const override { return 2; }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return 0.5 * w.dot(system(lambda) * w) - y_.dot(w);
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = system(lambda) * w - y_;
  }
  double validation_loss(const Vector& w, const Vector& lambda) const override {
    return 0.5 * (kernel(x_valid_, lambda) * w - y_valid_).squaredNorm() /
           static_cast<double>(y_valid_.size());
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    const Eigen::MatrixXd k = kernel(x_valid_, lambda);
    g = k.transpose() * (k * w - y_valid_) / static_cast<double>(y_valid_.size());
    return validation_loss(w, lambda);
  }

 private:
  Eigen::MatrixXd kernel(const Vector& at, const Vector& lambda) const {
    const Eigen::MatrixXd away = at.replicate(1, x_.size()) - x_.transpose().replicate(at.size(), 1);
    return (-0.5 * std::exp(-2.0 * lambda[1]) * away.array().square()).exp();
  }
  Eigen::MatrixXd system(const Vector& lambda) const {
    return kernel(x_, lambda) + std::exp(lambda[0]) * Eigen::MatrixXd::Identity(x_.size(), x_.size());
  }
  Vector x_, y_, x_valid_, y_valid_;
};

int main() {
  const Vector x = Vector::LinSpaced(50, 0.0, 1.0), x_valid = x.array() + 0.01;
  const auto target = [](double at) { return std::sin(6.0 * at) + 0.8 * std::sin(1000.0 * at * at); };
  const KernelRidge problem(x, x.unaryExpr(target), x_valid, x_valid.unaryExpr(target));
  const Outcome outcome = solve(MyHpo{}, problem, {});
  const Certificate proof = certify(problem, outcome.best, {});
  std::cout.precision(12);
  std::cout << to_string(outcome.status) << "; " << to_string(proof.verdict) << "\nlambda "
            << outcome.best.lambda.transpose() << "\nvalidation " << outcome.best.loss.validation << "\n";
  return std::isfinite(outcome.best.loss.validation) ? 0 : 1;
}
