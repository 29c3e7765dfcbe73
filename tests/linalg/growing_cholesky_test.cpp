#include "linalg/growing_cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <vector>

#include "linalg/gram.hpp"
#include "support/dense.hpp"
#include "support/random_split.hpp"

namespace yosida {
namespace {

// Rows come and go at random; after each change the solution is that of a factorisation anew.
TEST(GrowingCholesky, SolvesWhatIsInIt) {
  Random random(1);
  const Index d = 90;
  const Eigen::MatrixXd a = test::random_matrix(150, d, random);
  const Eigen::MatrixXd g = a.transpose() * a / 150.0;
  const Eigen::MatrixXd right = test::random_matrix(d, 2, random);
  GrowingCholesky factor(2);
  std::vector<Index> set, others;
  for (Index j = 0; j < d; ++j) others.push_back(j);
  const Vector combined = (Vector(2) << 1.0, -0.3).finished();
  Vector x;
  for (int change = 0; change < 400; ++change) {
    if (set.empty() || (!others.empty() && random.uniform() < 0.6)) {
      const Index j = others.back();
      others.pop_back();
      Vector products(static_cast<Index>(set.size()));
      for (std::size_t i = 0; i < set.size(); ++i) products[static_cast<Index>(i)] = g(j, set[i]);
      ASSERT_TRUE(factor.append(products, g(j, j), 1e-12, right.row(j)));
      set.push_back(j);
    } else {
      const auto place = static_cast<std::ptrdiff_t>(random.uniform() * static_cast<double>(set.size()));
      factor.remove(place);
      others.insert(others.begin(), set[static_cast<std::size_t>(place)]);
      set.erase(set.begin() + place);
    }
    factor.solve(combined, x);
    ASSERT_EQ(x.size(), static_cast<Index>(set.size()));
    const Eigen::MatrixXd part = g(set, set);
    const Vector expected =
        test::symmetric_solution(part, Eigen::MatrixXd(right(set, Eigen::all)) * combined);
    ASSERT_LE((x - expected).norm(), 1e-11 * (1.0 + expected.norm())) << "change " << change;
  }
}

TEST(GrowingCholesky, RefusesRowsThatDepend) {
  GrowingCholesky factor(1);
  ASSERT_TRUE(factor.append(Vector(), 2.0, 1e-12, Vector::Ones(1)));
  EXPECT_FALSE(factor.append(Vector::Constant(1, 2.0), 2.0, 1e-12, Vector::Ones(1)));
  EXPECT_EQ(factor.size(), 1);
  ASSERT_TRUE(factor.append(Vector::Constant(1, 1.0), 2.0, 1e-12, Vector::Ones(1)));
  Vector x;
  factor.solve(Vector::Ones(1), x);
  EXPECT_NEAR(x[0], 1.0 / 3.0, 1e-15);
  EXPECT_NEAR(x[1], 1.0 / 3.0, 1e-15);
}

TEST(MultipliedTransposed, IsThatOfPlainMatrices) {
  Random random(2);
  const Matrix x = test::random_matrix(70, 3000, random);
  const Matrix b = test::random_matrix(70, 5, random);
  const Vector shift = test::random_vector(3000, random);
  const std::vector<Index> rows = {4, 60, 7, 7, 31};
  const Matrix some = b.topRows(5);
  for (const Design& design : {Design(x), Design(test::sparse_of(x))}) {
    EXPECT_LE((multiplied_transposed(design, b) - x.transpose() * b).norm(), 1e-11);
    EXPECT_LE((multiplied_transposed(design, b.col(1)) - x.transpose() * b.col(1)).norm(), 1e-11);
    const Design mapped = design.mapped({.shift = shift}).select_rows(rows);
    EXPECT_LE((multiplied_transposed(mapped, some) - to_matrix(mapped).transpose() * some).norm(), 1e-11);
  }
  const Design differences = Design(x).mapped({.differences = true});
  EXPECT_LE((multiplied_transposed(differences, b) - to_matrix(differences).transpose() * b).norm(), 1e-11);
}

}  // namespace
}  // namespace yosida
