// Passes, Gram matrices, factors and statistics of designs that are views, against plain Eigen on the rows
// that the view stands for; and the same bits wherever these rows lie.
#include <gtest/gtest.h>

#include <numeric>

#include "linalg/columns.hpp"
#include "linalg/factor.hpp"
#include "linalg/gram.hpp"
#include "support/random_split.hpp"

namespace yosida {
namespace {

using test::random_vector;

/// As in passes_test.cpp, with a few digits less for what a shift after the sum costs: columns below have
/// means of up to 3 deviations.
constexpr double kTolerance = 1e-11;

/// Steps that a pretreatment could have fitted.
std::vector<std::vector<ColumnStep>> chains(Index cols, Random& random, bool with_differences) {
  const auto positive = [&](Index size) {
    return Vector(random_vector(size, random).cwiseAbs().array() + 0.5);
  };
  std::vector<std::vector<ColumnStep>> all = {
      {},
      {{.scale = positive(cols)}},
      {{.shift = random_vector(cols, random)}},
      {{.shift = random_vector(cols, random), .scale = positive(cols)}},
      {{.shift = random_vector(cols, random)},
       {.shift = random_vector(cols, random), .scale = positive(cols)}}};
  if (with_differences && cols > 2) {
    all.push_back({{.differences = true}});
    all.push_back({{.scale = positive(cols)},
                   {.differences = true},
                   {.shift = random_vector(cols - 1, random), .scale = positive(cols - 1)}});
  }
  return all;
}

Matrix through(Matrix x, const std::vector<ColumnStep>& steps) {
  for (const ColumnStep& step : steps) {
    if (step.differences) x = Matrix(x.rightCols(x.cols() - 1) - x.leftCols(x.cols() - 1));
    if (step.shift.size() > 0) x.rowwise() -= step.shift.transpose();
    if (step.scale.size() > 0) x.array().rowwise() /= step.scale.transpose().array();
  }
  return x;
}

Design through(Design x, const std::vector<ColumnStep>& steps) {
  for (const ColumnStep& step : steps) x = x.mapped(step);
  return x;
}

/// Everything that linalg computes of a design.
struct Results {
  Vector products, transposed, squares, fused, fused2;
  Matrix gram, part, row_gram, rotated, factor, copy;
  Vector low, high, means, deviations, largest;
  ColumnStatistics statistics;
  double values[2];
};

Results computed(const Design& x, Index outputs, bool intercepts, std::uint64_t seed) {
  Random random(seed);
  const Index size = (x.cols() + (intercepts ? 1 : 0)) * outputs;
  const Vector w = random_vector(size, random), p = random_vector(size, random);
  const Vector r = random_vector(x.rows() * outputs, random);
  Results found;
  found.products.resize(r.size());
  x.multiply(as_span(w), as_span(found.products), outputs);
  for (Vector* sums : {&found.transposed, &found.squares, &found.fused, &found.fused2})
    *sums = Vector::Ones(size);
  x.add_transposed(as_span(r), as_span(found.transposed), outputs);
  x.add_transposed_squares(as_span(r), as_span(found.squares), outputs);
  found.values[0] = x.fused_pass(
      as_span(w),
      [&](Index first, std::span<double> m) {
        double sum = 0.0;
        for (std::size_t i = 0; i < m.size(); ++i) {
          sum += m[i];
          m[i] *= r[first * outputs + static_cast<Index>(i)];
        }
        return sum;
      },
      as_span(found.fused), outputs);
  found.values[1] = x.fused_pass2(
      as_span(w), as_span(p),
      [&](Index, std::span<double> m, std::span<const double> s) {
        double sum = 0.0;
        for (std::size_t i = 0; i < m.size(); ++i) {
          sum += m[i] * s[i];
          m[i] += 2.0 * s[i];
        }
        return sum;
      },
      as_span(found.fused2), outputs);
  const Vector weight = random_vector(x.rows(), random).cwiseAbs();
  std::vector<Index> set;
  for (Index j = 0; j < x.cols(); j += 2) set.push_back(j);
  const Vector c = random_vector(x.cols(), random).cwiseAbs().array() + 0.1;
  found.row_gram = Matrix::Zero(x.rows(), x.rows());
  if (x.rows() < 300) add_row_gram(x, weight, set, c, found.row_gram);
  set.push_back(x.cols());
  found.gram = weighted_gram(x, as_span(weight));
  found.part = weighted_gram(x, as_span(weight), set);
  found.rotated = multiplied(x, Matrix(random_vector(x.cols() * 3, random).reshaped(x.cols(), 3)));
  const Vector shift = random_vector(x.cols(), random);
  found.factor = triangular_factor(x, shift, true, random_vector(x.rows(), random), 0.5);
  found.copy = to_matrix(x);
  const ColumnRange range = column_range(x);
  found.low = range.low;
  found.high = range.high;
  found.means = column_means(x, Vector::Ones(x.cols()));
  found.deviations = column_deviations(x, Vector::Ones(x.cols()), found.means);
  found.largest = largest_magnitudes(x);
  found.statistics = column_statistics(x);
  return found;
}

Vector flat(const Matrix& m) { return Eigen::Map<const Vector>(m.data(), m.size()); }

/// The same, in plain expressions.
void expect_truth(const Results& found, const Matrix& rows, Index outputs, bool intercepts,
                  std::uint64_t seed) {
  Random random(seed);
  const Index d = rows.cols();
  Matrix x = Matrix::Ones(rows.rows(), d + (intercepts ? 1 : 0));
  x.leftCols(d) = rows;
  const auto as_matrix = [&](const Vector& v) {
    return Matrix(Eigen::Map<const Matrix>(v.data(), v.size() / outputs, outputs));
  };
  const auto near = [&](const auto& a, const auto& b, const char* what) {
    EXPECT_LE((a - b).norm(), kTolerance * (1.0 + b.norm() + static_cast<double>(rows.rows()))) << what;
  };
  const Index size = x.cols() * outputs;
  const Vector w = random_vector(size, random), p = random_vector(size, random);
  const Vector r = random_vector(x.rows() * outputs, random);
  const Matrix m = x * as_matrix(w), s = x * as_matrix(p);
  near(found.products, flat(m), "products");
  near(found.transposed, Vector(flat(x.transpose() * as_matrix(r)).array() + 1.0), "transposed");
  near(found.squares, Vector(flat(x.cwiseAbs2().transpose() * as_matrix(r)).array() + 1.0), "squares");
  near(found.fused, Vector(flat(x.transpose() * m.cwiseProduct(as_matrix(r))).array() + 1.0), "fused");
  near(found.fused2, Vector(flat(x.transpose() * (m + 2.0 * s)).array() + 1.0), "fused 2");
  EXPECT_NEAR(found.values[0], m.sum(), kTolerance * (1.0 + m.cwiseAbs().sum()));
  EXPECT_NEAR(found.values[1], m.cwiseProduct(s).sum(), kTolerance * (1.0 + m.norm() * s.norm()));
  const Vector weight = random_vector(x.rows(), random).cwiseAbs();
  std::vector<Index> set;
  for (Index j = 0; j < d; j += 2) set.push_back(j);
  const Vector c = random_vector(d, random).cwiseAbs().array() + 0.1;
  near(found.gram, Matrix(rows.transpose() * weight.asDiagonal() * rows), "Gram matrix");
  Matrix part(rows.rows(), static_cast<Index>(set.size()) + 1);
  part << rows(Eigen::all, set), Vector::Ones(rows.rows());
  near(found.part, Matrix(part.transpose() * weight.asDiagonal() * part), "a part of it");
  if (rows.rows() < 300) {
    const Matrix scaled = weight.asDiagonal() * Matrix(rows(Eigen::all, set)) *
                          Vector(c(set)).cwiseSqrt().cwiseInverse().asDiagonal();
    Matrix products = scaled * scaled.transpose();
    products = products.triangularView<Eigen::Lower>();
    Matrix lower = found.row_gram.triangularView<Eigen::Lower>();
    near(lower, products, "products of rows");
  }
  near(found.rotated, Matrix(rows * Matrix(random_vector(d * 3, random).reshaped(d, 3))), "rotated");
  Matrix joined(rows.rows(), d + 2);
  const Vector shift = random_vector(d, random);
  joined << rows.rowwise() - shift.transpose(), Vector::Ones(rows.rows()),
      Vector(random_vector(rows.rows(), random).array() - 0.5);
  near(Matrix(found.factor.transpose() * found.factor), Matrix(joined.transpose() * joined), "factor");
  near(found.copy, rows, "copy");
  near(found.low, Vector(rows.colwise().minCoeff()), "low");
  near(found.high, Vector(rows.colwise().maxCoeff()), "high");
  near(found.largest, Vector(rows.cwiseAbs().colwise().maxCoeff()), "largest");
  const Vector mean = rows.colwise().mean();
  near(found.means, mean, "means");
  near(found.deviations, Vector((rows.rowwise() - mean.transpose()).cwiseAbs2().colwise().mean().cwiseSqrt()),
       "deviations");
  const ColumnStatistics& of = found.statistics;
  near(of.range.low, found.low, "low of the statistics");
  near(of.range.high, found.high, "high of the statistics");
  near(of.mean.cwiseQuotient(of.scale), found.means, "means of the statistics");
  near(of.deviation.cwiseQuotient(of.scale), found.deviations, "deviations of the statistics");
}

void expect_same_bits(const Results& a, const Results& b) {
  EXPECT_EQ(a.products, b.products);
  EXPECT_EQ(a.transposed, b.transposed);
  EXPECT_EQ(a.squares, b.squares);
  EXPECT_EQ(a.fused, b.fused);
  EXPECT_EQ(a.fused2, b.fused2);
  EXPECT_EQ(a.values[0], b.values[0]);
  EXPECT_EQ(a.values[1], b.values[1]);
  EXPECT_EQ(a.gram, b.gram);
  EXPECT_EQ(a.part, b.part);
  EXPECT_EQ(a.row_gram, b.row_gram);
  EXPECT_EQ(a.rotated, b.rotated);
  EXPECT_EQ(a.factor, b.factor);
  EXPECT_EQ(a.copy, b.copy);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.means, b.means);
  EXPECT_EQ(a.deviations, b.deviations);
  EXPECT_EQ(a.statistics.mean, b.statistics.mean);
  EXPECT_EQ(a.statistics.deviation, b.statistics.deviation);
  EXPECT_EQ(a.largest, b.largest);
}

/// The rows in pieces of these sizes, each with storage of its own.
Design in_pieces(const Matrix& rows, bool sparse, const std::vector<Index>& sizes) {
  std::vector<Design> pieces;
  Index begin = 0;
  for (const Index size : sizes) {
    const Matrix piece = rows.middleRows(begin, size);
    pieces.push_back(sparse ? Design(test::sparse_of(piece)) : Design(piece));
    begin += size;
  }
  return stack_rows(pieces);
}

/// The same rows in another way: with a stride, drawn from others, in pieces.
std::vector<std::pair<const char*, Design>> layouts(const Matrix& rows, bool sparse, Random& random) {
  const Index n = rows.rows(), d = rows.cols();
  std::vector<std::pair<const char*, Design>> all;
  if (!sparse) {
    const auto wide = std::make_shared<Matrix>(Matrix::Constant(n, d + 3, std::nan("")));
    wide->leftCols(d) = rows;
    all.emplace_back("with a stride", dense_view(wide->data(), n, d, d + 3, wide));
  }
  // Rows of a larger design, shuffled there.
  std::vector<Index> place(static_cast<std::size_t>(2 * n));
  std::iota(place.begin(), place.end(), Index{0});
  random.shuffle(place);
  place.resize(static_cast<std::size_t>(n));
  Matrix larger = Matrix::Constant(2 * n, d, 7.0);
  for (Index i = 0; i < n; ++i) larger.row(place[static_cast<std::size_t>(i)]) = rows.row(i);
  all.emplace_back("selected",
                   (sparse ? Design(test::sparse_of(larger)) : Design(larger)).select_rows(place));
  const Index third = n / 3;
  all.emplace_back("in pieces", in_pieces(rows, sparse, {0, third, 1, 0, n - third - 1, 0}));
  const Index half = larger.rows() / 2 + 1;
  all.emplace_back("selected from pieces",
                   in_pieces(larger, sparse, {1, half - 1, larger.rows() - half}).select_rows(place));
  return all;
}

class Views : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Designs, Views, testing::Values(false, true),
                         [](const auto& each) { return each.param ? "sparse" : "dense"; });

// 2700 rows of 50 are over 2^17 numbers, added up in chunks, more than one block of every kind.
TEST_P(Views, EqualPlainExpressionsAndAreTheSameBitsWhereverRowsLie) {
  Random random(11);
  for (const auto& [n, d] : {std::pair<Index, Index>{5, 3}, {37, 12}, {4, 70}, {120, 40}, {2700, 50}}) {
    Matrix rows = test::random_matrix(n, d, random);
    rows.col(0).array() += 3.0;
    if (GetParam())
      for (double& value : rows.reshaped())
        if (random.uniform() < 0.6) value = 0.0;
    const Design base = GetParam() ? Design(test::sparse_of(rows)) : Design(rows);
    const auto others = layouts(rows, GetParam(), random);
    for (const auto& steps : chains(d, random, n < 1000))
      for (const Index outputs : {1, 3}) {
        SCOPED_TRACE(testing::Message()
                     << n << " x " << d << ", " << steps.size() << " steps, " << outputs << " outputs");
        const bool intercepts = (n + outputs) % 2 == 0;
        const Results one = computed(through(base, steps), outputs, intercepts, 5);
        expect_truth(one, through(rows, steps), outputs, intercepts, 5);
        for (const auto& [name, other] : others) {
          SCOPED_TRACE(name);
          expect_same_bits(one, computed(through(other, steps), outputs, intercepts, 5));
        }
      }
  }
}

// A packed copy is what pretreatment in place would have left: its passes are those of plain rows.
TEST(PackedRows, AreTheSameBitsAsPlainOnes) {
  Random random(12);
  const Matrix rows = test::random_matrix(60, 20, random);
  for (const auto& steps : chains(20, random, true)) {
    const Design packed = through(Design(rows), steps).packed();
    EXPECT_EQ(packed.bytes_to_pack(), 0.0);
    expect_same_bits(computed(packed, 1, true, 6), computed(Design(through(rows, steps)), 1, true, 6));
  }
}

TEST(SumRows, AddsUpEachRangeOnce) {
  for (const Index rows : {1, 7, 100, 20000, 300000}) {
    const Design x = dense_view(static_cast<const double*>(nullptr), rows, 0, 0, nullptr);
    std::vector<int> visits(static_cast<std::size_t>(rows), 0);
    double sums[2] = {1.0, 2.0};
    const double total = x.sum_rows(
        2,
        [&](Index first, Index count, double* own) {
          for (Index i = first; i < first + count; ++i) {
            ++visits[static_cast<std::size_t>(i)];
            own[0] += 1.0;
            own[1] += static_cast<double>(i);
          }
          return static_cast<double>(count);
        },
        sums);
    const auto n = static_cast<double>(rows);
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
    EXPECT_EQ(total, n);
    EXPECT_EQ(sums[0], 1.0 + n);
    EXPECT_EQ(sums[1], 2.0 + 0.5 * n * (n - 1.0));
  }
}

TEST(Columns, PassOverWhatIsMissing) {
  const double nan = std::nan("");
  const Design x((Matrix(3, 2) << 1, nan, nan, nan, 5, nan).finished());
  EXPECT_EQ(means_of_present(x)[0], 3.0);
  EXPECT_TRUE(std::isnan(means_of_present(x)[1]));
  EXPECT_TRUE(std::isnan(largest_magnitudes(x)[0]));
  EXPECT_EQ(column_range(x).high[0], 5.0);
  EXPECT_TRUE(complete_rows(x).empty());
  EXPECT_EQ(complete_rows(Design((Matrix(3, 1) << 1, nan, 2).finished())), (std::vector<Index>{0, 2}));
  EXPECT_EQ(means_of_present(test::sparse_of((Matrix(2, 2) << 1, 0, nan, 4).finished())),
            (Vector(2) << 1, 2).finished())
      << "zeros of a sparse design are values";
}

TEST(Columns, HaveStatisticsWhereSumsOverflow) {
  const Design x((Matrix(3, 1) << 1.5e308, 1.4e308, 1.3e308).finished());
  const ColumnStatistics of = column_statistics(x);
  EXPECT_NEAR(of.mean[0] / of.scale[0] / 1.4e308, 1.0, 1e-14);
  EXPECT_NEAR(of.deviation[0] / of.scale[0] / 1e307, std::sqrt(2.0 / 3.0), 1e-13);
}

}  // namespace
}  // namespace yosida
