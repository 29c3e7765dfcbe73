#include "problem/row_space_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/factor.hpp"
#include "linalg/gram.hpp"

namespace yosida {
namespace {

/// Below these, factors of the set itself are as good. Where rows are many, the small matrix is not small.
constexpr Index kMostRows = 200;
constexpr std::size_t kSmallSet = 200;
constexpr std::size_t kTimesWider = 4;
constexpr int kMaxRefinements = 8;

}  // namespace

bool RowSpaceSystem::suits(const DataTerm& data, const Vector& c, std::size_t set) {
  const Index rows = data.design().rows();
  return data.outputs() == 1 && rows <= kMostRows &&
         set > std::max(kSmallSet, kTimesWider * static_cast<std::size_t>(rows)) &&
         c.head(data.penalisable()).minCoeff() > 0.0;
}

RowSpaceSystem::RowSpaceSystem(const DataTerm& data, const Vector& state, const Vector& c)
    : data_(data), c_(c), penalisable_(data.penalisable()) {
  data.row_curvatures(state, g_);
  g_ = g_.cwiseSqrt();
}

void RowSpaceSystem::factor(const std::vector<Index>& set) {
  set_ = set;
  if (!set_.empty() && set_.back() == penalisable_) set_.pop_back();
  const Design& x = data_.design();
  const Index n = x.rows();
  factor_ = Matrix::Identity(n, n);
  add_row_gram(x, g_, set_, c_, factor_);
  const auto rows = static_cast<double>(n);
  flops_ += rows * rows * (static_cast<double>(set_.size()) + rows / 3.0);
  cholesky_factor(factor_);  // I and more: positive definite
  border_ = g_;
  solve_lower(factor_, border_);
  solve_lower_transposed(factor_, border_);
}

Vector RowSpaceSystem::solve_rows(Vector b, double sum, double& beta) const {
  solve_lower(factor_, b);
  solve_lower_transposed(factor_, b);
  beta = 0.0;
  if (!data_.has_intercept()) return b;
  beta = (g_.dot(b) - sum) / g_.dot(border_);
  return b - beta * border_;
}

// With e = √h (A x + b₀), C x + Aᵀ √h e = b on the set, so that x = C⁻¹(b − Aᵀ √h e), and what is left is the
// small system of e. The intercept's own equation is √hᵀe = its b.
void RowSpaceSystem::add_solution(const Vector& b, Vector& x) {
  full_.setZero(data_.size());
  for (const Index j : set_) full_[j] = b[j] / c_[j];
  data_.margins(full_, rows_);
  double beta = 0.0;
  const double sum = data_.has_intercept() ? b[penalisable_] : 0.0;
  const Vector e = solve_rows(g_.cwiseProduct(rows_), sum, beta);
  data_.gather(g_.cwiseProduct(e), full_);
  for (const Index j : set_) x[j] += (b[j] - full_[j]) / c_[j];
  if (data_.has_intercept()) x[penalisable_] -= beta;
  flops_ += 2.0 * data_.design().product_flops();
}

Vector RowSpaceSystem::residual(const Vector& b, const Vector& x) {
  data_.margins(x, rows_);
  rows_ = rows_.cwiseProduct(g_.cwiseAbs2());
  data_.gather(rows_, full_);
  Vector rest = Vector::Zero(b.size());
  for (const Index j : set_) rest[j] = b[j] - full_[j] - c_[j] * x[j];
  if (data_.has_intercept()) rest[penalisable_] = b[penalisable_] - full_[penalisable_];
  flops_ += 2.0 * data_.design().product_flops();
  return rest;
}

double RowSpaceSystem::solve(const Vector& b, Vector& x) {
  x.setZero(data_.size());
  Vector rest = Vector::Zero(data_.size());
  for (const Index j : set_) rest[j] = b[j];
  if (data_.has_intercept()) rest[penalisable_] = b[penalisable_];
  const Vector right = rest;
  double norm = std::numeric_limits<double>::infinity();
  Vector next = x;
  for (int i = 0; i < kMaxRefinements; ++i) {
    add_solution(rest, next);
    rest = residual(right, next);
    const double now = rest.norm();
    if (!(now < norm)) break;  // rounding
    const bool is_last = now > 0.1 * norm || now == 0.0;
    norm = now;
    x = next;
    if (is_last) break;
  }
  return norm;
}

}  // namespace yosida
