#include "linalg/ranks.hpp"

#include <gtest/gtest.h>

#include "linalg/columns.hpp"
#include "linalg/gram.hpp"
#include "linalg/row_numbers.hpp"
#include "support/thread_ranks.hpp"
#include "yosida/linalg/design.hpp"
#include "yosida/random.hpp"

namespace yosida {
namespace {

using test::ThreadRanks;

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal();
  return values;
}

/// A sparse design of about a tenth of the numbers.
Design sparse_rows(Index rows, Index cols) {
  Random random(5);
  SparseRows held;
  held.columns = cols;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j)
      if (random.uniform() < 0.1) {
        held.column.push_back(static_cast<std::int32_t>(j));
        held.value.push_back(random.normal());
      }
    held.row_start.push_back(static_cast<std::int64_t>(held.value.size()));
  }
  return held;
}

/// All that is summed over the rows of a design, one number behind the other.
std::vector<double> all_sums(const Design& x) {
  std::vector<double> all;
  const auto keep = [&](const auto& numbers) { all.insert(all.end(), numbers.begin(), numbers.end()); };
  const Vector w = Vector::LinSpaced(x.cols() + 1, -1.0, 1.0);
  Vector m(x.rows()), g = Vector::Zero(x.cols() + 1), squares = g;
  x.multiply(as_span(w), as_span(m));
  keep(m);
  // Each row's number is its own process's alone before it is summed.
  Vector own = Vector::Zero(x.rows());
  all.push_back(x.fused_pass(
      as_span(w),
      [&](Index first, std::span<double> products) {
        double total = 0.0;
        for (std::size_t i = 0; i < products.size(); ++i) {
          own[first + static_cast<Index>(i)] = products[i] * products[i];
          total += products[i];
        }
        return total;
      },
      as_span(g)));
  keep(g);
  all.insert(all.end(), {sum_of(x, own), largest_of(x, own), dot_of(x, own, m)});
  for (const double each : distinct_of(x, own.array().round())) all.push_back(each);
  const auto ordered = in_order_of(x, own, m);
  all.insert(all.end(), {ordered.front().first, ordered.back().second});
  x.add_transposed_squares(as_span(own), as_span(squares));
  keep(squares);
  keep(weighted_gram(x, as_span(own)).reshaped());
  keep(rough_weighted_gram(x, as_span(own)).reshaped());
  const Index set[] = {1, 3};
  keep(weighted_gram(x, as_span(own), set).reshaped());
  const ColumnStatistics of = column_statistics(x);
  for (const Vector& each : {of.range.low, of.range.high, of.mean, of.deviation, largest_magnitudes(x),
                             largest_magnitudes(x.mapped({.shift = of.mean}))})
    keep(each);
  return all;
}

TEST(Ranks, SumsHaveTheSameBitsOnAnyNumber) {
  const Matrix dense = random_matrix(40'001, 7, 1);
  const Matrix many = random_matrix(530'000, 4, 2);  // in 64 blocks
  const std::vector<Design> designs = {Design(dense), Design(many), sparse_rows(40'000, 30),
                                       Design(random_matrix(500, 9, 4)),
                                       Design(dense).mapped({.shift = Vector::Constant(7, 0.5)})};
  for (const Design& x : designs) {
    const std::vector<double> alone = all_sums(x);
    for (const int size : {1, 2, 3, 7, 11}) {
      ThreadRanks ranks(size);
      ranks.run([&](int rank) {
        const std::vector<double> shared = all_sums(x);
        EXPECT_EQ(shared, alone) << x.rows() << " rows, rank " << rank << " of " << size;
      });
      EXPECT_EQ(ranks.gathers() > 0, size > 1 && x.rows() >= linalg::kSharedRows);
    }
  }
}

TEST(Ranks, EachHasAShareOfTheBlocks) {
  for (const int size : {1, 2, 3, 7, 20}) {
    ThreadRanks ranks(size);
    std::vector<linalg::OwnBlocks> shares(static_cast<std::size_t>(size));
    ranks.run([&](int rank) { shares[static_cast<std::size_t>(rank)] = linalg::own_blocks(1 << 20, 64); });
    Index next = 0;
    for (const linalg::OwnBlocks& share : shares) {
      EXPECT_EQ(share.first, next);
      EXPECT_LE(share.count(), 64 / size + 1);
      next = share.end;
    }
    EXPECT_EQ(next, 64);
  }
}

TEST(Ranks, AnswersAreThoseOfAllOfThem) {
  ThreadRanks ranks(3);
  ranks.run([&](int rank) {
    EXPECT_FALSE(linalg::any_rank(false));
    EXPECT_TRUE(linalg::any_rank(rank == 2));
    const std::vector<std::string> texts = {"", "of one", "longer than a word of eight bytes"};
    EXPECT_EQ(linalg::gather_texts(texts[static_cast<std::size_t>(rank)]), texts);
  });
}

}  // namespace
}  // namespace yosida
