#include <gtest/gtest.h>

#include <vector>

#include "linalg/gram.hpp"
#include "linalg/kernels.hpp"
#include "support/random_split.hpp"
#include "support/threads_guard.hpp"
#include "yosida/linalg/design.hpp"

namespace yosida {
namespace {

using test::matrix_of;
using test::random_design;
using test::random_vector;

/// Sums of up to a few thousand terms, added in another order, differ by some 1e-15 of Σ |terms|: the scale
/// that every comparison below is relative to.
constexpr double kTolerance = 1e-12;

std::span<const double> view(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
std::span<double> view(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// A design with all that a pass over it needs, and the truth in plain Eigen: with intercepts every row ends
/// with a 1, and with several outputs w and its kin are matrices.
struct Case {
  Design x;
  Index outputs;
  Vector w, p, y, out;  // out: what passes add to; y: one number per product
  Matrix plain;

  Case(Index rows, Index cols, double density, std::uint64_t seed, Index outputs_ = 1,
       bool intercepts = false)
      : outputs(outputs_) {
    Random random(seed);
    x = random_design(rows, cols, density, random);
    const Index size = (cols + (intercepts ? 1 : 0)) * outputs;
    w = random_vector(size, random);
    p = random_vector(size, random);
    y = random_vector(rows * outputs, random);
    out = random_vector(size, random);
    plain = Matrix::Ones(rows, cols + (intercepts ? 1 : 0));
    plain.leftCols(cols) = matrix_of(x);
  }
  Eigen::Map<const Matrix> as_matrix(const Vector& v) const {
    return {v.data(), v.size() / outputs, outputs};
  }
  static Vector flat(const Matrix& m) { return Eigen::Map<const Vector>(m.data(), m.size()); }
  Vector products(const Vector& v) const { return flat(plain * as_matrix(v)); }
  Vector transposed(const Vector& r) const { return flat(plain.transpose() * as_matrix(r)); }
  double product_scale(const Vector& v) const { return (plain.cwiseAbs() * as_matrix(v).cwiseAbs()).norm(); }
  double product_scale() const { return product_scale(w); }
  double transposed_scale(const Vector& r) const {
    return (plain.cwiseAbs().transpose() * as_matrix(r).cwiseAbs() + as_matrix(out).cwiseAbs()).norm();
  }
};

void expect_near(const Vector& actual, const Vector& expected, double scale) {
  EXPECT_LE((actual - expected).norm(), kTolerance * scale);
}

/// The maps used below: r_i = m_i y_i + 1 with value Σ m_i², and r_i = m_i y_i + s_i with value Σ m_i s_i.
struct Maps {
  const Vector& y;
  Index outputs;
  std::vector<int> visits;
  explicit Maps(const Case& c)
      : y(c.y), outputs(c.outputs), visits(static_cast<std::size_t>(c.y.size()), 0) {}

  double one(Index first, std::span<double> m) {
    double sum = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) {
      const Index at = first * outputs + static_cast<Index>(i);
      ++visits[static_cast<std::size_t>(at)];
      sum += m[i] * m[i];
      m[i] = m[i] * y[at] + 1.0;
    }
    return sum;
  }
  double two(Index first, std::span<double> m, std::span<const double> s) {
    double sum = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) {
      const Index at = first * outputs + static_cast<Index>(i);
      ++visits[static_cast<std::size_t>(at)];
      sum += m[i] * s[i];
      m[i] = m[i] * y[at] + s[i];
    }
    return sum;
  }
  void expect_each_row_once() const { EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)); }
};

void check_multiply(const Case& c) {
  Vector m = Vector::Constant(c.y.size(), 7.0);  // overwritten, not added to
  c.x.multiply(view(c.w), view(m), c.outputs);
  expect_near(m, c.products(c.w), c.product_scale());
}

void check_add_transposed(const Case& c) {
  Vector out = c.out;
  c.x.add_transposed(view(c.y), view(out), c.outputs);
  expect_near(out, c.out + c.transposed(c.y), c.transposed_scale(c.y));
}

void check_add_transposed_squares(const Case& c) {
  Vector out = c.out;
  c.x.add_transposed_squares(view(c.y), view(out), c.outputs);
  Case squares = c;
  squares.plain = c.plain.cwiseAbs2();
  expect_near(out, c.out + squares.transposed(c.y), squares.transposed_scale(c.y));
}

void check_product_passes(const Case& c) {
  Maps maps(c);
  const double value = c.x.product_pass(
      view(c.w), [&](Index first, std::span<double> m) { return maps.one(first, m); }, c.outputs);
  maps.expect_each_row_once();
  const Vector m = c.products(c.w);
  EXPECT_NEAR(value, m.squaredNorm(), kTolerance * c.product_scale() * c.product_scale());
  Maps maps2(c);
  const double value2 = c.x.product_pass2(
      view(c.w), view(c.p),
      [&](Index first, std::span<double> r, std::span<const double> s) { return maps2.two(first, r, s); },
      c.outputs);
  maps2.expect_each_row_once();
  const double scale = c.product_scale() + c.product_scale(c.p);
  EXPECT_NEAR(value2, m.dot(c.products(c.p)), kTolerance * scale * scale);
}

void check_fused_pass(const Case& c) {
  Maps maps(c);
  Vector out = c.out;
  const double value = c.x.fused_pass(
      view(c.w), [&](Index first, std::span<double> m) { return maps.one(first, m); }, view(out), c.outputs);
  maps.expect_each_row_once();
  const Vector m = c.products(c.w);
  const Vector r = (m.array() * c.y.array() + 1.0).matrix();
  EXPECT_NEAR(value, m.squaredNorm(), kTolerance * c.product_scale() * c.product_scale());
  expect_near(out, c.out + c.transposed(r), c.transposed_scale(r) + c.plain.norm() * c.product_scale());
}

void check_fused_pass2(const Case& c) {
  Maps maps(c);
  Vector out = c.out;
  const double value = c.x.fused_pass2(
      view(c.w), view(c.p),
      [&](Index first, std::span<double> m, std::span<const double> s) { return maps.two(first, m, s); },
      view(out), c.outputs);
  maps.expect_each_row_once();
  const Vector m = c.products(c.w);
  const Vector s = c.products(c.p);
  const Vector r = m.cwiseProduct(c.y) + s;
  const double scale = c.product_scale() + c.product_scale(c.p);
  EXPECT_NEAR(value, m.dot(s), kTolerance * scale * scale);
  expect_near(out, c.out + c.transposed(r), c.transposed_scale(r) + c.plain.norm() * scale);
}

void check_weighted_gram(const Case& c) {
  const Vector weight = c.y.cwiseAbs();
  const Matrix gram = weighted_gram(c.x, view(weight));
  const Matrix expected = c.plain.transpose() * weight.asDiagonal() * c.plain;
  EXPECT_LE((gram - expected).norm(), kTolerance * (expected.norm() + 1e-300));
  EXPECT_EQ(gram, Matrix(gram.transpose()));
}

void check_passes(const Case& c) {
  check_multiply(c);
  check_add_transposed(c);
  check_add_transposed_squares(c);
  check_product_passes(c);
  check_fused_pass(c);
  check_fused_pass2(c);
}

class Passes : public testing::TestWithParam<double> {};  // the density; 1 is dense
INSTANTIATE_TEST_SUITE_P(Designs, Passes, testing::Values(1.0, 0.5, 0.05), [](const auto& each) {
  return each.param == 1.0 ? std::string("dense")
                           : "sparse" + std::to_string(static_cast<int>(each.param * 100));
});

TEST_P(Passes, EqualPlainExpressionsForEverySmallShape) {
  const Index sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 31, 33, 64, 65, 70};
  for (const Index rows : sizes)
    for (const Index cols : sizes) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cols);
      const Case c(rows, cols, GetParam(), 1);
      check_passes(c);
      check_weighted_gram(c);
      check_passes(Case(rows, cols, GetParam(), 1, 1, true));
    }
}

TEST_P(Passes, EqualPlainExpressionsWithSeveralOutputs) {
  const Index sizes[] = {1, 2, 5, 8, 17, 33, 300};
  for (const Index rows : sizes)
    for (const Index cols : sizes)
      for (const Index outputs : {2, 3, 4, 10, 13, 16, 17})
        for (const bool intercepts : {false, true}) {
          SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", " << outputs << " outputs");
          check_passes(Case(rows, cols, GetParam(), 1, outputs, intercepts));
        }
}

// Over 2^17 numbers: added up in chunks. 5001 rows of 70 are also more than one block of a Gram matrix.
TEST_P(Passes, EqualPlainExpressionsOverLargeDesigns) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{5001, 70}, {9, 20011}, {401, 331}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const Case c(rows, cols, GetParam(), 2);
    check_passes(c);
    if (cols < 1000) check_weighted_gram(c);
    check_passes(Case(rows, cols, GetParam(), 2, 1, true));
    check_passes(Case(rows, cols, GetParam(), 2, 3, true));
  }
}

// Fewer rows than chunks, however many numbers.
TEST(Passes, EqualPlainExpressionsOverFewLongRows) {
  for (const double density : {1.0, 0.5})
    for (const Index outputs : {1, 4}) check_passes(Case(7, 40001, density, 3, outputs, true));
}

/// All sums of passes are the same bits with any number of threads.
void check_threads(const Case& c) {
  const test::ThreadsGuard guard;
  const Index outputs = c.outputs;
  struct Result {
    Vector m, transposed, squares, fused, fused2;
    double values[4];
  };
  const auto run = [&](int count) {
    set_threads(count);
    Result result{Vector(c.y.size()), c.out, c.out, c.out, c.out, {}};
    Maps maps(c);
    const auto one = [&](Index first, std::span<double> m) { return maps.one(first, m); };
    const auto two = [&](Index first, std::span<double> m, std::span<const double> s) {
      return maps.two(first, m, s);
    };
    c.x.multiply(view(c.w), view(result.m), outputs);
    c.x.add_transposed(view(c.y), view(result.transposed), outputs);
    c.x.add_transposed_squares(view(c.y), view(result.squares), outputs);
    result.values[0] = c.x.product_pass(view(c.w), one, outputs);
    result.values[1] = c.x.product_pass2(view(c.w), view(c.p), two, outputs);
    result.values[2] = c.x.fused_pass(view(c.w), one, view(result.fused), outputs);
    result.values[3] = c.x.fused_pass2(view(c.w), view(c.p), two, view(result.fused2), outputs);
    return result;
  };
  const Result one = run(1);
  for (const int count : {2, 3, 8}) {
    const Result many = run(count);
    EXPECT_EQ(one.m, many.m);
    EXPECT_EQ(one.transposed, many.transposed);
    EXPECT_EQ(one.squares, many.squares);
    EXPECT_EQ(one.fused, many.fused);
    EXPECT_EQ(one.fused2, many.fused2);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(one.values[k], many.values[k]) << "value " << k;
  }
}

// Over 2^20 numbers: as many threads as there may be.
TEST_P(Passes, DoNotDependOnTheNumberOfThreads) {
  for (const Index outputs : {1, 3}) {
    const Index rows = GetParam() == 1.0 ? 19013 : GetParam() == 0.5 ? 38011 : 40009;
    const Index cols = GetParam() == 0.05 ? 530 : 61;
    const Case c(rows, cols, GetParam(), 4, outputs, true);
    ASSERT_GT(c.x.product_flops() / 2.0, 1 << 20) << "too small for threads";
    check_threads(c);
  }
}

// More columns than an eighth of the entries: transposed products go over ranges of columns.
TEST(Passes, OfWideSparseRowsGoOverRangesOfColumns) {
  for (const Index outputs : {1, 8}) {
    Case c(150, 30000, 0.03, 5, outputs, true);
    ASSERT_GT(c.x.product_flops() / 2.0, 1 << 17);
    check_passes(c);
    check_threads(c);
  }
}

TEST(Threads, RefusesLessThanOne) {
  const test::ThreadsGuard guard;
  EXPECT_THROW(set_threads(0), std::runtime_error);
  set_threads(3);
  EXPECT_EQ(threads(), 3);
}

/// The kernel tables this machine can run.
std::vector<std::pair<const char*, const linalg::Kernels*>> kernel_tables() {
  std::vector<std::pair<const char*, const linalg::Kernels*>> tables{{"baseline", &linalg::kernels_baseline}};
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v3")) tables.emplace_back("v3", &linalg::kernels_v3);
  if (__builtin_cpu_supports("x86-64-v4")) tables.emplace_back("v4", &linalg::kernels_v4);
#endif
  return tables;
}

// At most 70 (row_products) or 70 (add_rows) terms a sum: 1e-13 of Σ |terms| is 450 roundings.
TEST(Kernels, OfEveryInstructionSetAgree) {
  for (const auto& [name, table] : kernel_tables()) {
    for (Index rows = 1; rows <= 70; rows += 3)
      for (Index cols = 1; cols <= 70; ++cols) {
        SCOPED_TRACE(testing::Message() << name << ", " << rows << " x " << cols);
        const Case c(rows, cols, 1.0, 5);
        Vector m = Vector::Constant(rows, 7.0);
        std::vector<const double*> row;
        for (Index i = 0; i < rows; ++i) row.push_back(c.plain.row(i).data());
        table->doubles.row_products(row.data(), rows, cols, c.w.data(), m.data());
        EXPECT_LE((m - c.plain * c.w).norm(), 1e-13 * c.product_scale());
        Vector out = c.out;
        table->doubles.add_rows(row.data(), rows, cols, c.y.data(), out.data());
        EXPECT_LE((out - c.out - c.plain.transpose() * c.y).norm(), 1e-13 * c.transposed_scale(c.y));

        const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> singles =
            c.plain.cast<float>();
        const Matrix exact = singles.cast<double>();
        std::vector<const float*> single;
        for (Index i = 0; i < rows; ++i) single.push_back(singles.row(i).data());
        table->singles.row_products(single.data(), rows, cols, c.w.data(), m.data());
        EXPECT_LE((m - exact * c.w).norm(), 1e-13 * c.product_scale());
        out = c.out;
        table->singles.add_rows(single.data(), rows, cols, c.y.data(), out.data());
        EXPECT_LE((out - c.out - exact.transpose() * c.y).norm(), 1e-13 * c.transposed_scale(c.y));
      }
  }
}

// Least and largest numbers and sums in the order of rows: the same bits on every machine.
TEST(Kernels, LookAtColumnsAsOneWould) {
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const auto& [name, table] : kernel_tables())
    for (const Index cols : {1, 7, 130, 2500})
      for (const Index rows : {1, 4, 11}) {
        SCOPED_TRACE(testing::Message() << name << ", " << rows << " x " << cols);
        Case c(rows, cols, 1.0, 5);
        c.plain(rows - 1, 0) = nan;
        c.plain(0, cols - 1) = -infinite;
        std::vector<const double*> row;
        for (Index i = 0; i < rows; ++i) row.push_back(c.plain.row(i).data());
        Vector low = Vector::Constant(cols, infinite), high = -low, sum = Vector::Zero(cols);
        table->doubles.look(row.data(), rows, cols, low.data(), high.data(), sum.data());
        for (Index j = 0; j < cols; ++j) {
          double least = infinite, most = -infinite, total = 0.0;
          for (Index i = 0; i < rows; ++i) {
            least = std::fmin(least, c.plain(i, j));
            most = std::fmax(most, c.plain(i, j));
            total += c.plain(i, j);
          }
          EXPECT_EQ(low[j], least);
          EXPECT_EQ(high[j], most);
          EXPECT_TRUE(sum[j] == total || (std::isnan(sum[j]) && std::isnan(total)));
        }
      }
}

}  // namespace
}  // namespace yosida
