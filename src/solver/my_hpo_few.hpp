#pragma once

#include <vector>

#include "solver/my_hpo_descent.hpp"

namespace yosida {

/// The descent of few hyperparameters, by proximal steps: their response Φ₁ is a matrix, and h has a
/// quadratic model.
class DescentOfFew final : public Descent {
 public:
  DescentOfFew(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& range,
               std::shared_ptr<SolveMemory> memory);

 private:
  /// A quadratic model of h around λ and its proximal term, in shares θ of the penalties: a step δ minimises
  ///   gᵀδ + ½ δᵀBδ + ρ/2 δᵀPδ   subject to   low ≤ δ ≤ high.
  struct Model {
    Vector rate;              // dλ/dθ
    Vector g;                 // dh/dθ
    Eigen::MatrixXd b;        // d²h/dθ², with the sizes of its eigenvalues
    Eigen::MatrixXd p;        // Φ₁ᵀΦ₁ + εtI
    Vector low, high;         // both 0 where a bound holds λ_j
    std::vector<Index> free;  // the components that none holds

    double predicted_fall(const Vector& move) const { return -(g.dot(move) + 0.5 * move.dot(b * move)); }
  };

  void respond(Iterate& at) override;
  bool move(Iterate& at) override;
  bool move_to_bounds(const Vector& scale, Iterate& at) override;
  void tighten(double wanted, bool has_moved) override;

  void solve_for_response(const Matrix& negative_c, Iterate& at);
  Matrix negative_cross_products(const Iterate& at) const;
  void add_curvature_of_response(const Iterate& at);
  void measure_shares(const Matrix& negative_c, const Iterate& at);
  Model model_of(const Iterate& at) const;
  void limit(Model& model, const Iterate& at) const;
  void begin_rho(const Model& model);
  void learn_curvature(const Vector& s, const Vector& y, const Eigen::MatrixXd& b);
  double try_step(const Model& model, const Vector& move, double predicted, Iterate& at);

  Matrix phi1_;                // Φ₁
  Vector q_;                   // H q = ∇L_V, where least curvatures are known
  Eigen::MatrixXd curvature_;  // d²h/dλ², as far as it is known
  Eigen::MatrixXd learnt_;     // A, what steps have shown beyond that; empty before any has
  Vector kappa_;  // curvatures that penalties are measured by; empty where λ are no such penalties
  double rho_ = 0.0;
};

}  // namespace yosida
