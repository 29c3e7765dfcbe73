#pragma once

#include <Eigen/Dense>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/random_split.hpp"
#include "yosida/problem/cleaning_problem.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida::test {

/// What the hyperparameters are.
enum class Hyper { shared, groups, per_feature, per_class, rows };

/// One way to state a problem of any loss with any kind of hyperparameters.
struct GeneralCase {
  const Loss* loss;
  bool sparse;
  bool intercept;
  Hyper hyper;
  bool weighted;

  static constexpr Index kTrain = 24, kFeatures = 6;

  std::string name() const {
    const char* const kinds[] = {"shared", "groups", "per_feature", "per_class", "rows"};
    return std::string(loss->name()) + (sparse ? "_sparse_" : "_dense_") + kinds[static_cast<int>(hyper)] +
           (intercept ? "_intercept" : "") + (weighted ? "_weighted" : "");
  }
  Split split() const {
    Split split = random_split(kTrain, 11, 5, kFeatures, 1, *loss, sparse ? 0.6 : 1.0);
    Random random(2);
    if (weighted)
      for (Dataset* data : {&split.train, &split.validation, &*split.test}) {
        data->weight.resize(data->rows());
        for (double& s : data->weight) s = 2.0 * random.uniform();
      }
    return split;
  }
  /// The second group has two features and the last feature is not penalised.
  Penalty penalty() const {
    const Index k = loss->outputs();
    if (hyper == Hyper::groups) return Penalty::by_group({0, 1, 2, 0, 1, Penalty::kNone}, 3, k);
    if (hyper == Hyper::per_feature) return Penalty::per_feature(kFeatures, k);
    if (hyper == Hyper::per_class) return Penalty::per_class(kFeatures, k);
    return Penalty::shared(kFeatures * k);
  }
  std::unique_ptr<BilevelProblem> build() const {
    if (hyper == Hyper::rows) return std::make_unique<CleaningProblem>(split(), *loss, intercept, 0.05);
    return std::make_unique<LinearProblem>(split(), *loss, intercept, penalty());
  }
  /// Different from each other, and of a size at which both terms count.
  Vector lambda(Index size) const {
    Vector values(size);
    for (Index i = 0; i < size; ++i)
      values[i] = (hyper == Hyper::rows ? 0.5 : -3.0) + std::cos(3.0 * static_cast<double>(i));
    return values;
  }
};

inline std::ostream& operator<<(std::ostream& out, const GeneralCase& c) { return out << c.name(); }

inline std::vector<const Loss*> all_losses() {
  static const SharedLoss of_three = softmax(3);
  return {&least_squares(), &logistic(), &squared_hinge(), &huber(), &poisson(), &*of_three};
}

inline std::vector<GeneralCase> all_general_cases() {
  std::vector<GeneralCase> cases;
  for (const Loss* loss : all_losses())
    for (const bool sparse : {false, true})
      for (const bool intercept : {false, true})
        for (const Hyper hyper :
             {Hyper::shared, Hyper::groups, Hyper::per_feature, Hyper::per_class, Hyper::rows})
          for (const bool weighted : {false, true})
            if (hyper != Hyper::per_class || loss->outputs() > 1)
              cases.push_back({loss, sparse, intercept, hyper, weighted});
  return cases;
}

/// ∇²_ww L_T, column by column.
inline Eigen::MatrixXd dense_hessian(const BilevelProblem& problem, const Vector& w, const Vector& lambda) {
  Eigen::MatrixXd h(problem.weights(), problem.weights());
  Vector column(problem.weights());
  for (Index j = 0; j < problem.weights(); ++j) {
    problem.hessian_product(w, lambda, Vector::Unit(problem.weights(), j), column);
    h.col(j) = column;
  }
  return h;
}

/// argmin L_T + uᵀ(w − v) + ρ/2 ‖w − v‖² over the weights (not the intercepts) by Newton's method with dense
/// least-norm steps: nothing of the library but gradients and Hessian products.
inline Vector dense_newton(const BilevelProblem& problem, const Vector& lambda, const Vector& u,
                           const Vector& v, double rho) {
  Vector part = Vector::Ones(problem.weights());
  part.tail(problem.intercepts()).setZero();
  const auto objective = [&](const Vector& w) {
    const Vector away = (w - v).cwiseProduct(part);
    return problem.train_loss(w, lambda) + u.dot(away) + 0.5 * rho * away.squaredNorm();
  };
  Vector w = Vector::Zero(problem.weights());
  Vector g(w.size());
  for (int iteration = 0; iteration < 100; ++iteration) {
    problem.train_gradient(w, lambda, g);
    g += (u + rho * (w - v)).cwiseProduct(part);
    Eigen::MatrixXd h = dense_hessian(problem, w, lambda);
    h.diagonal() += rho * part;
    const Vector step = -test::shortest_solution(h, g);
    double scale = 1.0;
    while (scale > 1e-6 && objective(w + scale * step) > objective(w) + 1e-4 * scale * g.dot(step) + 1e-15)
      scale *= 0.5;
    w += scale * step;
    if (step.norm() <= 1e-13 * (1.0 + w.norm())) break;
  }
  return w;
}

}  // namespace yosida::test
