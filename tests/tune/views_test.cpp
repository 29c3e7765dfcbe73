// tune() on rows that it may only read, wherever they lie.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "support/random_split.hpp"
#include "yosida/error.hpp"
#include "yosida/model/models.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida {
namespace {

/// 72 rows of 6 columns with means apart from 0, and targets of the kind that the model wants. Sparse: with
/// zeros, but for the last column.
Dataset data_of(const Model& model, bool sparse) {
  Random random(7);
  constexpr Index rows = 72, cols = 6;
  Matrix x = test::random_matrix(rows, cols, random);
  const Vector w = test::random_vector(cols, random);
  Dataset data;
  data.y = x * w / std::sqrt(static_cast<double>(cols));
  for (Index j = 0; j < cols; ++j) x.col(j).array() += 0.5 * static_cast<double>(j);
  const SharedLoss loss = model.loss(3);
  for (double& y : data.y) y = test::target_of(y + 0.4 * random.normal(), loss);
  if (sparse)
    for (Index j = 0; j + 1 < cols; ++j)
      for (Index i = 0; i < rows; ++i)
        if (random.uniform() < 0.5) x(i, j) = 0.0;
  data.x = sparse ? Design(test::sparse_of(x)) : Design(x);
  data.source = "rows";
  return data;
}

/// The same rows in storages of their own, cut at odd places.
Dataset in_pieces(const Dataset& data) {
  const Matrix x = to_matrix(data.x);
  std::vector<Design> pieces;
  Index begin = 0;
  for (const Index size : {1, 0, 19, 33, 19, 0}) {
    const Matrix rows = x.middleRows(begin, size);
    pieces.push_back(data.x.omits_zeros() ? Design(test::sparse_of(rows)) : Design(rows));
    begin += size;
  }
  Dataset result = data;
  result.x = stack_rows(pieces);
  return result;
}

constexpr const char* kDenseSteps[] = {"raw", "center", "standardize", "minmax", "difference,minmax"};
constexpr const char* kSparseSteps[] = {"raw", "center", "standardize", "minmax", "center,standardize"};

template <typename Visit>
void for_all_options(bool sparse, const Visit& visit) {
  for (const char* x : sparse ? kSparseSteps : kDenseSteps)
    for (const std::optional<Index> folds : {std::optional<Index>(), std::optional<Index>(3)})
      visit(TuneOptions{.x = x, .validation = {.folds = folds}});
}

void expect_same_bits(const Tuned& a, const Tuned& b) {
  EXPECT_EQ(a.lambda(), b.lambda());
  EXPECT_EQ(a.outcome.best.w, b.outcome.best.w);
  EXPECT_EQ(a.outcome.best.loss.train, b.outcome.best.loss.train);
  EXPECT_EQ(a.outcome.best.loss.validation, b.outcome.best.loss.validation);
  EXPECT_EQ(a.best.validation->values, b.best.validation->values);
  EXPECT_EQ(a.model->weights, b.model->weights);
  EXPECT_EQ(a.model->intercept, b.model->intercept);
}

class TuneViews : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  const Model& model_ = model(std::get<0>(GetParam()));
  const bool sparse_ = std::get<1>(GetParam());
};
std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& each : models()) names.emplace_back(each.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Models, TuneViews,
                         testing::Combine(testing::ValuesIn(model_names()), testing::Bool()),
                         [](const auto& each) {
                           std::string name = std::get<0>(each.param);
                           std::erase(name, '-');
                           return name + (std::get<1>(each.param) ? "_sparse" : "_dense");
                         });

TEST_P(TuneViews, OfSeveralPiecesAreTheSameBits) {
  const Dataset one = data_of(model_, sparse_);
  const Dataset pieces = in_pieces(one);
  for_all_options(sparse_, [&](TuneOptions options) {
    SCOPED_TRACE(options.x + (options.validation.folds ? ", folds" : ""));
    options.model = model_.name;
    for (const std::optional<double> copy_bytes : {std::optional<double>(), std::optional<double>(0.0)}) {
      options.copy_bytes = copy_bytes;
      expect_same_bits(tune(one, options), tune(pieces, options));
    }
  });
}

// A view adds up in another order than a copy does: the same answer but for rounding, which inner solves to
// 1e-11 and the search for λ leave at this.
TEST_P(TuneViews, FindTheAnswerOfCopies) {
  const Dataset data = data_of(model_, sparse_);
  for_all_options(sparse_, [&](TuneOptions options) {
    SCOPED_TRACE(options.x + (options.validation.folds ? ", folds" : ""));
    options.model = model_.name;
    const Tuned copies = tune(data, options);
    options.copy_bytes = 0.0;
    const Tuned views = tune(data, options);
    const double loss = copies.outcome.best.loss.validation;
    EXPECT_NEAR(views.outcome.best.loss.validation, loss, 1e-8 * std::abs(loss));
  });
}

/// Pages that end the program when they are written to.
class ReadOnlyPages {
 public:
  template <typename Number>
  explicit ReadOnlyPages(const std::vector<Number>& numbers)
      : bytes_(std::max<std::size_t>(numbers.size() * sizeof(Number), 1)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    std::memcpy(memory_, numbers.data(), numbers.size() * sizeof(Number));
    mprotect(memory_, bytes_, PROT_READ);
  }
  ReadOnlyPages(const ReadOnlyPages&) = delete;
  ReadOnlyPages& operator=(const ReadOnlyPages&) = delete;
  ~ReadOnlyPages() { munmap(memory_, bytes_); }
  template <typename Number>
  std::span<const Number> as(std::size_t count) const {
    return {static_cast<const Number*>(memory_), count};
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

TEST(TuneReadOnly, DenseRowsWithAStride) {
  Dataset data = data_of(model("ridge"), false);
  const Matrix x = to_matrix(data.x);
  constexpr Index stride = 11;
  std::vector<double> wide(static_cast<std::size_t>(x.rows() * stride), std::nan(""));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(wide.data(), x.rows(), x.cols(), Eigen::OuterStride<>(stride)) =
      x;
  const auto pages = std::make_shared<const ReadOnlyPages>(wide);
  const Dataset own = data;
  data.x = dense_view(pages->as<double>(wide.size()).data(), x.rows(), x.cols(), stride, pages);
  for_all_options(false, [&](TuneOptions options) {
    for (const std::optional<double> copy_bytes : {std::optional<double>(), std::optional<double>(0.0)}) {
      options.copy_bytes = copy_bytes;
      expect_same_bits(tune(data, options), tune(own, options));
    }
    options.fill_missing = true;
    EXPECT_NO_THROW(tune(data, options));
  });
}

TEST(TuneReadOnly, MissingValuesAreFilledInACopy) {
  Dataset data = data_of(model("ridge"), false);
  Matrix x = to_matrix(data.x);
  x(3, 2) = x(40, 0) = std::nan("");
  const auto pages =
      std::make_shared<const ReadOnlyPages>(std::vector<double>(x.data(), x.data() + x.size()));
  data.x = dense_view(pages->as<double>(static_cast<std::size_t>(x.size())).data(), x.rows(), x.cols(),
                      x.cols(), pages);
  for_all_options(false, [&](TuneOptions options) {
    options.fill_missing = true;
    const Tuned tuned = tune(data, options);
    EXPECT_TRUE(tuned.model->predict(data).allFinite());
  });
}

TEST(TuneReadOnly, CompressedSparseRows) {
  Dataset data = data_of(model("logistic"), true);
  const SparseRows rows = test::sparse_of(to_matrix(data.x));
  const Dataset own = data;
  struct Pages {
    ReadOnlyPages row_start, column, value;
  };
  const std::shared_ptr<const Pages> pages(
      new Pages{ReadOnlyPages(rows.row_start), ReadOnlyPages(rows.column), ReadOnlyPages(rows.value)});
  data.x = sparse_view(pages->row_start.as<std::int64_t>(rows.row_start.size()),
                       pages->column.as<std::int32_t>(rows.column.size()),
                       pages->value.as<double>(rows.value.size()), rows.columns, pages);
  for_all_options(true, [&](TuneOptions options) {
    options.model = "logistic";
    for (const std::optional<double> copy_bytes : {std::optional<double>(), std::optional<double>(0.0)}) {
      options.copy_bytes = copy_bytes;
      expect_same_bits(tune(data, options), tune(own, options));
    }
  });
}

// Means of a million deviations: rows that are standardised before they are multiplied keep ten digits of
// what varies, and so must views. The reference has the same rows standardised by hand.
TEST(TuneDigits, FeaturesFarFromZeroKeepThem) {
  for (const char* name : {"ridge", "logistic"})
    for (const std::optional<Index> folds : {std::optional<Index>(), std::optional<Index>(4)}) {
      SCOPED_TRACE(name);
      Dataset far = data_of(model(name), false);
      Matrix x = to_matrix(far.x);
      for (Index j = 0; j < x.cols(); ++j) x.col(j).array() += 1e6 * static_cast<double>(j + 1);
      Dataset near = far;
      far.x = Design(x);
      // Exact: both numbers have the same magnitude.
      for (Index j = 0; j < x.cols(); ++j) x.col(j).array() -= 1e6 * static_cast<double>(j + 1);
      near.x = Design(x);
      const TuneOptions options{.model = name, .copy_bytes = 0.0, .validation = {.folds = folds}};
      const Tuned found = tune(far, options), expected = tune(near, options);
      EXPECT_NEAR(found.lambda()[0], expected.lambda()[0], 1e-6);
      TuneOptions fixed = options;
      fixed.bounds = {{expected.lambda()[0], expected.lambda()[0] + 1e-9}};
      const Vector w = tune(far, fixed).outcome.best.w, reference = tune(near, fixed).outcome.best.w;
      EXPECT_LT((w - reference).norm(), 1e-8 * reference.norm());
    }
}

TEST(TunePieces, OfOtherColumnsAreRefused) {
  const Design x(Matrix::Ones(3, 2));
  EXPECT_THROW(stack_rows(x, Design(Matrix::Ones(3, 3))), InputError);
}

}  // namespace
}  // namespace yosida
