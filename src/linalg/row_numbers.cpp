#include "linalg/row_numbers.hpp"

#include <set>

namespace yosida {

double sum_of(const Design& x, const Vector& numbers) {
  return x.sum_rows(1,
                    [&](Index first, Index count, double*) { return numbers.segment(first, count).sum(); });
}

double dot_of(const Design& x, const Vector& a, const Vector& b) {
  return x.sum_rows(1, [&](Index first, Index count, double*) {
    return a.segment(first, count).dot(b.segment(first, count));
  });
}

double largest_of(const Design& x, const Vector& numbers) {
  return x.rows() == 0 ? 0.0 : numbers.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

std::vector<double> distinct_of(const Design&, const Vector& numbers) {
  const std::set<double> values(numbers.begin(), numbers.end());
  return {values.begin(), values.end()};
}

}  // namespace yosida
