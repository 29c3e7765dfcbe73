#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/formats.hpp"
#include "study/numpy_random.hpp"
#include "study/suites.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/design.hpp"

namespace yosida::study {
namespace {

/// The seeds that the suites' authors draw by.
constexpr std::uint64_t kLassoBenchSeed = 42, kCovtypeSeed = 2442, kCleaningSeed = 32, kElasticNetSeed = 42;

std::uint32_t seed_from(std::uint64_t theirs, std::uint64_t seed) {
  return static_cast<std::uint32_t>(theirs + seed);
}

/// scikit-learn's train_test_split: the rows that are drawn first are the test rows.
struct Parted {
  std::vector<Index> train, test;
};

Parted train_test_split(const std::vector<Index>& rows, double share, NumpyRandom& random) {
  const auto count = static_cast<Index>(rows.size());
  const auto tests = static_cast<Index>(std::ceil(share * static_cast<double>(count)));
  Parted parts;
  for (const Index place : random.permutation(count))
    (std::ssize(parts.test) < tests ? parts.test : parts.train)
        .push_back(rows[static_cast<std::size_t>(place)]);
  return parts;
}

std::vector<Index> all_of(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

Dataset made_rows(Matrix x, Vector y, const Experiment& experiment) {
  Dataset data;
  data.x = Design(std::move(x));
  data.y = std::move(y);
  data.source = experiment.name;
  return data;
}

// ---- LassoBench ----

struct Made {
  Matrix x;
  Vector y, truth;
};

/// An AR(1) process along the columns, drawn column after column; the truth is ±1 at every so many-th column.
Made lassobench_rows(Index rows, Index features, Index support, double signal_over_noise,
                     NumpyRandom& random) {
  constexpr double kCorrelation = 0.6;
  Made made{.x = Matrix(rows, features), .y = {}, .truth = Vector::Zero(features)};
  const double fresh = std::sqrt(1.0 - kCorrelation * kCorrelation);
  for (Index j = 0; j < features; ++j)
    for (Index i = 0; i < rows; ++i)
      made.x(i, j) = j == 0 ? random.normal() : kCorrelation * made.x(i, j - 1) + fresh * random.normal();
  for (Index k = 0; k < support; ++k) made.truth[k * (features / support)] = k % 2 == 0 ? 1.0 : -1.0;
  const Vector clean = made.x * made.truth;
  Vector noise(rows);
  for (double& each : noise) each = random.normal();
  made.y = clean + noise * (clean.norm() / noise.norm() / signal_over_noise);
  return made;
}

Made lassobench_rows(const Experiment& experiment, NumpyRandom& random) {
  const double ratio = experiment.name.ends_with("_10") ? 10.0 : 3.0;
  if (experiment.name.find("simple") != std::string::npos) return lassobench_rows(30, 60, 3, ratio, random);
  if (experiment.name.find("medium") != std::string::npos) return lassobench_rows(50, 100, 5, ratio, random);
  return lassobench_rows(150, 300, 15, ratio, random);
}

/// scikit-learn's KFold(5, shuffle=True), as the fold of each row.
Vector five_folds(Index rows, NumpyRandom random) {
  constexpr Index kFolds = 5;
  const std::vector<Index> order = random.permutation(rows);
  Vector fold(rows);
  Index at = 0;
  for (Index k = 0; k < kFolds; ++k)
    for (const Index end = at + rows / kFolds + (k < rows % kFolds ? 1 : 0); at < end; ++at)
      fold[order[static_cast<std::size_t>(at)]] = static_cast<double>(k);
  return fold;
}

Drawn draw_lassobench(const Experiment& experiment, const Dataset& of_files, std::uint64_t seed) {
  const std::uint32_t theirs = seed_from(kLassoBenchSeed, seed);
  Dataset all = of_files;
  Vector truth;
  if (experiment.data.empty()) {
    NumpyRandom random(theirs);
    Made made = lassobench_rows(experiment, random);
    truth = std::move(made.truth);
    all = made_rows(std::move(made.x), std::move(made.y), experiment);
  }
  NumpyRandom splits(theirs);
  const Parted parts = train_test_split(all_of(all.rows()), 0.15, splits);
  Drawn drawn{.rows = {.train = select_rows(all, parts.train),
                       .validation = {},
                       .test = select_rows(all, parts.test)}};
  Dataset& train = drawn.rows.train;
  train.fold = five_folds(train.rows(), NumpyRandom(theirs));
  const Matrix x = to_matrix(train.x);
  const auto rows = static_cast<double>(train.rows());
  const double width = std::log(experiment.data.empty() ? 100.0 : 1e5);
  const double highest = std::log((x.transpose() * train.y).cwiseAbs().maxCoeff() / rows);
  drawn.bounds = Interval{.low = highest - width, .high = highest};
  drawn.factor = 2.0;  // their squares have no half
  if (truth.size() > 0) drawn.factor /= (train.y - x * truth).squaredNorm() / rows;
  return drawn;
}

// ---- VF-iDCA ----

/// Noise of half the norm of the signal.
void add_noise(Vector& y, NumpyRandom& random) {
  Vector noise(y.size());
  for (double& each : noise) each = random.normal();
  y += noise * (0.5 * y.norm() / noise.norm());
}

Drawn in_parts(Matrix x, Vector y, Index train, Index validation, const Experiment& experiment) {
  const Dataset all = made_rows(std::move(x), std::move(y), experiment);
  Split parts = split_rows(all, all_of(all.rows()), train, validation);
  return {.rows = {.train = std::move(parts.train),
                   .validation = std::move(parts.validation),
                   .test = std::move(parts.test)}};
}

/// Rows of N(0, 0.5^|i − j|), 15 weights of 1.
Drawn draw_elastic_net(const Experiment& experiment, std::uint64_t seed) {
  constexpr Index kRows = 370, kFeatures = 250, kOnes = 15;
  constexpr double kCorrelation = 0.5;
  NumpyRandom random(seed_from(kElasticNetSeed, seed));
  Matrix x(kRows, kFeatures);
  const double fresh = std::sqrt(1.0 - kCorrelation * kCorrelation);
  for (Index i = 0; i < kRows; ++i)
    for (Index j = 0; j < kFeatures; ++j)
      x(i, j) = j == 0 ? random.normal() : kCorrelation * x(i, j - 1) + fresh * random.normal();
  Vector truth = Vector::Zero(kFeatures);
  const std::vector<Index> places = random.permutation(kFeatures);
  for (Index k = 0; k < kOnes; ++k) truth[places[static_cast<std::size_t>(k)]] = 1.0;
  Vector y = x * truth;
  add_noise(y, random);
  return in_parts(std::move(x), std::move(y), 100, 20, experiment);
}

/// Standard normal rows, the weights (1, 2, 3, 4, 5, 0, …) in each of three groups.
Drawn draw_sparse_groups(const Experiment& experiment, std::uint64_t seed) {
  constexpr Index kRows = 300, kFeatures = 600, kTrue = 3;
  NumpyRandom random(seed_from(0, seed));
  Matrix x(kRows, kFeatures);
  for (Index i = 0; i < kRows; ++i)
    for (Index j = 0; j < kFeatures; ++j) x(i, j) = random.normal();
  Vector truth = Vector::Zero(kFeatures);
  for (Index g = 0; g < kTrue; ++g)
    for (Index k = 0; k < 5; ++k) truth[g * (kFeatures / kTrue) + k] = static_cast<double>(k + 1);
  Vector y = x * truth;
  add_noise(y, random);
  return in_parts(std::move(x), std::move(y), 100, 100, experiment);
}

// ---- benchmark_bilevel ----

/// The rows of both files one after the other: the first is trained on, the second judges.
constexpr Index kIjcnn1Rows = 49990;

Drawn draw_covtype(const Dataset& all, std::uint64_t seed) {
  NumpyRandom random(seed_from(kCovtypeSeed, seed));
  const Parted first = train_test_split(all_of(all.rows()), 0.2, random);
  const Parted second = train_test_split(first.train, 0.2, random);
  return {.rows = {.train = select_rows(all, second.train),
                   .validation = select_rows(all, second.test),
                   .test = select_rows(all, first.test)}};
}

/// MNIST's training rows; its test rows follow.
constexpr Index kMnistRows = 60000;

/// Of the training rows 5000 judge and 20 000 train, where each label is drawn anew with the experiment's
/// probability, from all ten.
Drawn draw_cleaning(const Experiment& experiment, const Dataset& all, std::uint64_t seed) {
  constexpr Index kValidation = 5000, kTrain = 20000;
  constexpr std::uint32_t kLastClass = 9;
  const double share = 0.1 * static_cast<double>(experiment.name.back() - '0');
  NumpyRandom random(seed_from(kCleaningSeed, seed));
  std::vector<Index> order = random.permutation(kMnistRows);
  std::rotate(order.begin(), order.begin() + kValidation, order.begin() + kValidation + kTrain);
  order.resize(kValidation + kTrain);
  for (Index row = kMnistRows; row < all.rows(); ++row) order.push_back(row);
  Split parts = split_rows(all, order, kTrain, kValidation);
  std::vector<Index> changed;
  for (Index i = 0; i < kTrain; ++i)
    if (random.uniform() < share) changed.push_back(i);
  for (const Index i : changed) parts.train.y[i] = random.up_to(kLastClass);
  return {.rows = {.train = std::move(parts.train),
                   .validation = std::move(parts.validation),
                   .test = std::move(parts.test)}};
}

}  // namespace

Dataset suite_rows(const Experiment& experiment, const std::vector<std::filesystem::path>& files) {
  if (experiment.data == "mnist") {
    const auto part = [&](std::size_t images) {
      return read_dataset(files.at(images), {.target = {}, .target_file = files.at(images + 1)});
    };
    return train_and_validation({.train = part(0), .validation = part(2), .test = {}});
  }
  ReadOptions options;
  options.dense = true;
  if (experiment.suite == suites().front()) {  // LIBSVM text, whatever the ending of its name
    ByteStream stream = open_text(files.at(0), options.max_memory);
    Dataset all = read_libsvm(files, stream, options);
    all.x = Design(to_matrix(all.x));
    return all;
  }
  if (experiment.data == "covtype-part") options.target = "Cover_Type";
  if (experiment.data == "covtype") options.target = "-1";
  Dataset all = read_dataset(files.at(0), options);
  if (experiment.data != "ijcnn1") return all;
  return train_and_validation({.train = all, .validation = read_dataset(files.at(1), options), .test = {}});
}

Drawn draw_suite(const Experiment& experiment, const Dataset& rows, std::uint64_t seed) {
  if (experiment.name == "groups_elastic_net") return draw_elastic_net(experiment, seed);
  if (experiment.name == "groups_sparse") return draw_sparse_groups(experiment, seed);
  if (experiment.suite == suites().front()) return draw_lassobench(experiment, rows, seed);
  if (experiment.data == "mnist") return draw_cleaning(experiment, rows, seed);
  if (experiment.data != "ijcnn1") return draw_covtype(rows, seed);
  Split parts = split_rows(rows, all_of(rows.rows()), kIjcnn1Rows, rows.rows() - kIjcnn1Rows);
  return {.rows = {.train = std::move(parts.train), .validation = std::move(parts.validation)}};
}

}  // namespace yosida::study
