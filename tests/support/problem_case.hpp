#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "problem/collapsed_least_squares.hpp"
#include "support/plain_problem.hpp"

namespace yosida::test {

/// One way to state a problem: what data, which loss, which form.
struct ProblemCase {
  const Loss* loss;
  bool sparse;
  bool intercept;
  bool collapsed;
  bool wide;                // fewer training rows than features
  bool many_valid = false;  // more validation rows than features

  std::string name() const {
    return std::string(loss->name()) + (sparse ? "_sparse" : "_dense") + (intercept ? "_intercept" : "") +
           (collapsed ? "_collapsed" : "_direct") + (wide ? "_wide" : "_tall") + (many_valid ? "_many" : "");
  }
  Split split(std::uint64_t seed = 1) const {
    const Index d = wide ? 31 : 13;
    return random_split(wide ? 17 : 41, many_valid ? 50 : 11, 5, d, seed, *loss, sparse ? 0.3 : 1.0);
  }
};

inline std::ostream& operator<<(std::ostream& out, const ProblemCase& c) { return out << c.name(); }

/// Every form a problem can take: dense and sparse × ridge and logistic × intercept or not × tall and wide,
/// least squares also collapsed, with few and with many validation rows.
inline std::vector<ProblemCase> all_problem_cases() {
  std::vector<ProblemCase> cases;
  for (const Loss* loss : {&least_squares(), &logistic()})
    for (const bool sparse : {false, true})
      for (const bool intercept : {false, true})
        for (const bool wide : {false, true}) {
          cases.push_back({loss, sparse, intercept, false, wide});
          if (!loss->is_quadratic()) continue;
          cases.push_back({loss, sparse, intercept, true, wide});
          cases.push_back({loss, sparse, intercept, true, wide, true});
        }
  return cases;
}

template <typename Predicate>
std::vector<ProblemCase> problem_cases(Predicate wanted) {
  std::vector<ProblemCase> cases = all_problem_cases();
  std::erase_if(cases, [&](const ProblemCase& c) { return !wanted(c); });
  return cases;
}

/// The library's problem beside the same in plain expressions. `basis` maps the problem's own coordinates to
/// one weight per feature and the intercept: the identity for a direct problem.
struct BuiltProblem {
  std::shared_ptr<const LinearProblem> direct;
  std::shared_ptr<const BilevelProblem> problem;
  PlainProblem plain;
  Eigen::MatrixXd basis;

  BuiltProblem(const Split& split, const Loss& loss, bool intercept, bool collapsed)
      : direct(std::make_shared<LinearProblem>(split, loss, intercept)), plain(split, loss, intercept) {
    problem = direct;
    if (collapsed) problem = std::make_shared<CollapsedLeastSquares>(direct);
    basis.resize(direct->weights(), problem->weights());
    for (Index j = 0; j < basis.cols(); ++j) basis.col(j) = problem->expand(Vector::Unit(basis.cols(), j));
  }
  explicit BuiltProblem(const ProblemCase& c, std::uint64_t seed = 1)
      : BuiltProblem(c.split(seed), *c.loss, c.intercept, c.collapsed) {}
};

inline Vector lambda_of(double value) { return Vector::Constant(1, value); }

}  // namespace yosida::test
