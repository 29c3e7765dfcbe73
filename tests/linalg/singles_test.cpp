// Rows of 4-byte numbers: the same sums as of the same numbers in 8 bytes.

#include <gtest/gtest.h>

#include <memory>

#include "linalg/columns.hpp"
#include "linalg/gram.hpp"
#include "support/compare.hpp"
#include "support/random_split.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

using test::matrix_of;
using test::random_matrix;
using test::random_vector;
using test::relative_error;

/// Terms are the same and added up in nearly the same order.
constexpr double kRounding = 1e-13;

/// The same numbers twice.
struct Twins {
  Design singles, doubles;

  Twins(Index rows, Index cols, Random& random) {
    auto numbers = std::make_shared<std::vector<float>>();
    Matrix wide(rows, cols + 2);  // of which a view leaves out the last two columns
    for (Index i = 0; i < wide.size(); ++i) {
      numbers->push_back(static_cast<float>(random.normal()));
      wide.data()[i] = static_cast<double>(numbers->back());
    }
    singles = dense_view(numbers->data(), rows, cols, cols + 2, numbers);
    doubles = Design(Matrix(wide.leftCols(cols)));
  }
  template <typename Change>
  Twins changed(const Change& change) const {
    Twins result = *this;
    result.singles = change(singles);
    result.doubles = change(doubles);
    return result;
  }
};

void expect_same(const Twins& x, Random& random) {
  EXPECT_EQ(to_matrix(x.singles), to_matrix(x.doubles));
  const Index n = x.doubles.rows(), d = x.doubles.cols();
  for (const Index outputs : {1, 3}) {
    const Vector w = random_vector((d + 1) * outputs, random);
    const auto map = [](Index, std::span<double> products) {
      double sum = 0.0;
      for (double& each : products) sum += (each = std::tanh(each));
      return sum;
    };
    Vector of_singles = Vector::Zero(w.size()), of_doubles = of_singles;
    const double sum = x.singles.fused_pass(as_span(w), map, as_span(of_singles), outputs);
    EXPECT_NEAR(sum, x.doubles.fused_pass(as_span(w), map, as_span(of_doubles), outputs),
                kRounding * static_cast<double>(n * outputs));
    EXPECT_LT(relative_error(of_singles, of_doubles), kRounding);
    const Vector r = random_vector(n * outputs, random);
    of_singles.setZero();
    of_doubles.setZero();
    x.singles.add_transposed_squares(as_span(r), as_span(of_singles), outputs);
    x.doubles.add_transposed_squares(as_span(r), as_span(of_doubles), outputs);
    EXPECT_LT(relative_error(of_singles, of_doubles), kRounding);
  }
  EXPECT_LT((weighted_gram(x.singles, {}) - weighted_gram(x.doubles, {})).norm(),
            kRounding * weighted_gram(x.doubles, {}).norm());
  const Matrix b = random_matrix(n, 2, random);
  EXPECT_LT((multiplied_transposed(x.singles, b) - multiplied_transposed(x.doubles, b)).norm(),
            kRounding * multiplied_transposed(x.doubles, b).norm());
  EXPECT_LT(relative_error(row_products(x.singles), row_products(x.doubles)), kRounding);
  EXPECT_LT(relative_error(row_products(x.singles, x.doubles), row_products(x.doubles)), kRounding);
}

TEST(Singles, GiveTheSumsOfDoubles) {
  Random random(4);
  for (const auto& [rows, cols] : {std::pair<Index, Index>(1, 1), {37, 5}, {300, 40}, {20, 1500}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const Twins plain(rows, cols, random);
    expect_same(plain, random);
    const Vector shift = random_vector(cols, random);
    const Vector scale = random_vector(cols, random).array().abs() + 0.5;
    expect_same(plain.changed([&](const Design& x) { return x.mapped({.shift = shift, .scale = scale}); }),
                random);
    std::vector<Index> chosen;
    for (Index i = rows - 1; i >= 0; i -= 2) chosen.push_back(i);
    expect_same(
        plain.changed([&](const Design& x) { return x.select_rows(chosen).mapped({.shift = shift}); }),
        random);
    expect_same(plain.changed([&](const Design& x) { return stack_rows(x.row_range(0, rows / 2), x); }),
                random);
  }
}

TEST(Singles, StackWithDoublesAsDoubles) {
  Random random(5);
  const Twins x(6, 3, random);
  EXPECT_EQ(to_matrix(stack_rows(x.singles, x.doubles)), to_matrix(stack_rows(x.doubles, x.doubles)));
}

TEST(Singles, AreMadeOfDoublesWithSevenDigits) {
  Random random(6);
  const Matrix m = random_matrix(9, 4, random);
  const Vector shift = random_vector(4, random);
  const std::vector<Index> chosen{7, 2, 3};
  const Design x = Design(m).select_rows(chosen).mapped({.shift = shift});
  const Matrix singles = to_matrix(with_singles(x));
  ASSERT_EQ(singles.rows(), 3);
  // A float has 24 bits; the shift is taken from it in double precision.
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j)
      EXPECT_EQ(
          singles(i, j),
          static_cast<double>(static_cast<float>(m(chosen[static_cast<std::size_t>(i)], j))) - shift[j]);
}

TEST(Singles, RefuseWhatTheyCannotHold) {
  Matrix m = Matrix::Zero(3, 2);
  m(1, 1) = 1e39;
  try {
    with_singles(Design(m));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("row 1, column 1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace yosida
