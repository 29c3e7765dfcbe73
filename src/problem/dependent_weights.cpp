#include "problem/dependent_weights.hpp"

#include <cmath>

#include "linalg/factor.hpp"
#include "linalg/growing_cholesky.hpp"

namespace yosida {
namespace {

/// What earlier columns must leave of a column's square.
constexpr double kIndependent = 1e-11;

/// One factorisation by blocks, which is much faster than one that grows.
bool are_independent(const Matrix& h) {
  Matrix l = h;
  return cholesky_factor(l) && (l.diagonal().array().square() > kIndependent * h.diagonal().array()).all();
}

}  // namespace

int give_up_dependent(const Matrix& h, const std::vector<bool>& priced, Vector& x) {
  if (are_independent(h)) return 0;
  int given_up = 0;
  GrowingCholesky factor(0);
  std::vector<Index> kept;
  for (Index j = 0; j < x.size(); ++j) {
    if (!(h(j, j) > 0.0) || (priced[static_cast<std::size_t>(j)] && x[j] == 0.0)) continue;
    while (!factor.append(h.row(j)(kept), h(j, j), kIndependent, Vector())) {
      if (!priced[static_cast<std::size_t>(j)]) break;
      // Column j is that of the kept ones with these weights: they take over x_j, as far as signs allow.
      const Vector share = factor.solved(h.row(j)(kept));
      double length = x[j];
      Index first = -1;  // place of the kept weight that is 0 first
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const auto place = static_cast<Index>(k);
        const double until = -x[kept[k]] / share[place];  // of the move of x_j
        if (priced[static_cast<std::size_t>(kept[k])] && until * length > 0.0 &&
            std::abs(until) < std::abs(length)) {
          length = until;
          first = place;
        }
      }
      for (std::size_t k = 0; k < kept.size(); ++k) x[kept[k]] += length * share[static_cast<Index>(k)];
      x[j] -= length;
      ++given_up;
      if (first < 0) {
        x[j] = 0.0;
        break;
      }
      x[kept[static_cast<std::size_t>(first)]] = 0.0;
      kept.erase(kept.begin() + first);
      factor.remove(first);
    }
    if (factor.size() > std::ssize(kept)) kept.push_back(j);
  }
  return given_up;
}

}  // namespace yosida
