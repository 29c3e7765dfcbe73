#pragma once

#include <cmath>

#include "support/random_split.hpp"

namespace yosida::test {

/// The bi-level problem of algorithms.md §1 in plain dense expressions: what the library is compared with.
/// Weights end with the intercept where there is one; then each row ends with a 1 and `penalised` with a 0.
struct PlainProblem {
  Eigen::MatrixXd x_train, x_valid;
  Vector y_train, y_valid;
  Vector penalised;  // 1 where e^λ w² is paid
  bool logistic;
  bool intercept;

  PlainProblem(const Split& split, const Loss& loss, bool with_intercept)
      : x_train(rows_of(split.train, with_intercept)),
        x_valid(rows_of(split.validation, with_intercept)),
        y_train(split.train.y),
        y_valid(split.validation.y),
        penalised(Vector::Ones(x_train.cols())),
        logistic(loss.is_classification()),
        intercept(with_intercept) {
    if (intercept) penalised[penalised.size() - 1] = 0.0;
  }

  double train_loss(const Vector& w, double lambda) const {
    return data_term(x_train, y_train, w) + std::exp(lambda) * w.cwiseProduct(penalised).squaredNorm();
  }
  Vector train_gradient(const Vector& w, double lambda) const {
    return data_gradient(x_train, y_train, w) + 2.0 * std::exp(lambda) * w.cwiseProduct(penalised);
  }
  Eigen::MatrixXd train_hessian(const Vector& w, double lambda) const {
    Eigen::MatrixXd h = data_hessian(x_train, y_train, w);
    h.diagonal() += 2.0 * std::exp(lambda) * penalised;
    return h;
  }
  /// ∂/∂λ of the training gradient.
  Vector cross(const Vector& w, double lambda) const {
    return 2.0 * std::exp(lambda) * w.cwiseProduct(penalised);
  }
  double validation_loss(const Vector& w) const { return data_term(x_valid, y_valid, w); }
  Vector validation_gradient(const Vector& w) const { return data_gradient(x_valid, y_valid, w); }
  Eigen::MatrixXd validation_hessian(const Vector& w) const { return data_hessian(x_valid, y_valid, w); }

  double data_term(const Eigen::MatrixXd& x, const Vector& y, const Vector& w) const {
    double sum = 0.0;
    for (Index i = 0; i < x.rows(); ++i) {
      const double m = x.row(i).dot(w);
      sum += logistic ? std::log(1.0 + std::exp(-y[i] * m)) : 0.5 * (y[i] - m) * (y[i] - m);
    }
    return sum / static_cast<double>(x.rows());
  }
  Vector data_gradient(const Eigen::MatrixXd& x, const Vector& y, const Vector& w) const {
    Vector g = Vector::Zero(w.size());
    for (Index i = 0; i < x.rows(); ++i) {
      const double m = x.row(i).dot(w);
      g += (logistic ? -y[i] / (1.0 + std::exp(y[i] * m)) : m - y[i]) * x.row(i).transpose();
    }
    return g / static_cast<double>(x.rows());
  }
  Eigen::MatrixXd data_hessian(const Eigen::MatrixXd& x, const Vector& y, const Vector& w) const {
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(w.size(), w.size());
    for (Index i = 0; i < x.rows(); ++i) {
      const double p = 1.0 / (1.0 + std::exp(y[i] * x.row(i).dot(w)));
      h += (logistic ? p * (1.0 - p) : 1.0) * x.row(i).transpose() * x.row(i);
    }
    return h / static_cast<double>(x.rows());
  }

 private:
  static Eigen::MatrixXd rows_of(const Dataset& data, bool with_intercept) {
    Eigen::MatrixXd x(data.rows(), data.features() + (with_intercept ? 1 : 0));
    x.leftCols(data.features()) = matrix_of(data.x);
    if (with_intercept) x.col(data.features()).setOnes();
    return x;
  }
};

}  // namespace yosida::test
