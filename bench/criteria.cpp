// What criteria and trust are worth, on rows that took no part: bench_criteria many | nested | left-out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>

#include "linalg/row_numbers.hpp"
#include "problem/leave_one_out_problem.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/random.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida {
namespace {

/// y = xᵀβ + noise of variance 1, x standard normal.
Dataset drawn(Index rows, const Vector& beta, Random& random) {
  Matrix x(rows, beta.size());
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  Dataset data{.x = Design(x), .y = x * beta, .feature_names = {}, .target_name = "y", .source = "drawn"};
  for (double& y : data.y) y += random.normal();
  return data;
}

/// Five weights of ±1 among zeros, or all of them normal.
Vector truth(bool sparse, Index features, Random& random) {
  Vector beta(features);
  for (Index j = 0; j < features; ++j)
    beta[j] = sparse ? (j % 6 == 0 ? (j % 12 == 0 ? 1.0 : -1.0) : 0.0) : 0.4 * random.normal();
  return beta;
}

/// Columns, their squares and products.
Dataset with_products(const Dataset& data) {
  const Matrix x = to_matrix(data.x);
  const Index d = x.cols();
  std::vector<Vector> columns;
  for (Index j = 0; j < d; ++j) columns.emplace_back(x.col(j));
  for (Index j = 0; j < d; ++j)
    for (Index k = j; k < d; ++k)
      if (Vector both = x.col(j).cwiseProduct(x.col(k));
          j != k || (x.col(j).array() - x.col(j)[0]).abs().maxCoeff() > 0.0)
        columns.push_back(both);
  Matrix all(x.rows(), static_cast<Index>(columns.size()));
  for (Index j = 0; j < all.cols(); ++j) all.col(j) = columns[static_cast<std::size_t>(j)];
  Dataset more = data;
  more.feature_names.clear();
  more.x = Design(all);
  return more;
}

/// Training rows and rows to judge by.
using Draw = std::pair<Dataset, Dataset>;
Draw draw_of(const std::string& kind, const std::optional<Dataset>& file, std::uint64_t seed) {
  Random random(seed);
  if (kind != "file") {
    const Vector beta = truth(kind == "sparse", 30, random);
    Dataset train = drawn(80, beta, random);
    return {std::move(train), drawn(4000, beta, random)};
  }
  std::vector<Index> order(static_cast<std::size_t>(file->rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  random.shuffle(order);
  const std::span<const Index> all(order);
  return {select_rows(*file, all.first(150)), select_rows(*file, all.subspan(150))};
}

double test_loss(Draw draw, TuneOptions options) {
  const TuneProblem problem({.train = std::move(draw.first), .test = std::move(draw.second)}, options);
  const Tuned tuned = tune(problem, options);
  return (*tuned.refit->test)[kLoss].value();
}

/// One λ against one per feature, with and without what draws them together.
void many(int draws, const std::string& file) {
  std::optional<Dataset> rows;
  if (!file.empty()) rows = with_products(read_dataset(file, {.target = "-1"}));
  struct Way {
    const char* name;
    const char* criterion;
    bool many;
    std::optional<double> shrink;
    bool chooses = false;
  };
  const Way ways[] = {{"one lambda, loo", "loo", false, {}},
                      {"per feature, loo, 0", "loo", true, 0.0},
                      {"per feature, loo, 0.003", "loo", true, 0.003},
                      {"per feature, loo, default", "loo", true, {}},
                      {"per feature, loo, 0.03", "loo", true, 0.03},
                      {"per feature, loo, nested", "loo", true, {}, true},
                      {"per feature, 5 folds, default", "folds", true, {}}};
  for (const char* kind : {"sparse", "dense", "file"}) {
    if (std::string(kind) == "file" && !rows) continue;
    double reference = 0.0;
    for (const Way& way : ways) {
      double sum = 0.0;
      for (int seed = 0; seed < draws; ++seed) {
        TuneOptions options;
        options.model = "ridge";
        options.validation.criterion = way.criterion;
        if (way.many) options.penalty.lambda_per = "feature";
        options.trust.shrinkage = way.shrink;
        const Draw draw = draw_of(kind, rows, static_cast<std::uint64_t>(seed));
        if (way.chooses) options.trust.shrinkage = choose_shrinkage({.train = draw.first}, options);
        sum += test_loss(draw, options);
      }
      const double mean = sum / draws;
      if (reference == 0.0) reference = mean;
      fmt::print("{:<8} {:<32} {:.4f}  {:+.1f} %\n", kind, way.name, mean, 100.0 * (mean / reference - 1.0));
      std::fflush(stdout);
    }
  }
}

/// How often the interval of the nested score, two standard errors, holds the loss on fresh rows of models
/// that were tuned alike.
void nested(int draws) {
  int covered = 0, promised = 0;
  double score = 0.0, fresh = 0.0, own = 0.0;
  for (int seed = 0; seed < draws; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Vector beta = truth(true, 12, random);
    const Dataset train = drawn(100, beta, random), test = drawn(4000, beta, random);
    TuneOptions options;
    options.model = "ridge";
    options.validation.criterion = "loo";
    options.trust.nested = 10;
    options.trust.report = true;
    const TuneProblem problem({.train = train, .test = test}, options);
    const Tuned tuned = tune(problem, options);
    const double truth = (*tuned.refit->test)[kLoss].value();
    const NestedScore found = nested_score({.train = train}, options);
    covered += std::abs(found.loss - truth) <= 2.0 * found.standard_error ? 1 : 0;
    promised += std::abs(tuned.trust->value - truth) <= 2.0 * tuned.trust->standard_error ? 1 : 0;
    score += found.loss / draws;
    own += tuned.trust->value / draws;
    fresh += truth / draws;
  }
  fmt::print("nested {:.4f}, leave-one-out at its least {:.4f}, fresh rows {:.4f}\n", score, own, fresh);
  fmt::print("two standard errors of the nested score hold it in {} of {} draws, of leave-one-out in {}\n",
             covered, draws, promised);
}

/// Leave-one-out of a logistic regression against the refits of all rows.
void against_refits(const std::string& file) {
  ReadOptions how;
  how.target = "-1";
  Dataset data = read_dataset(file, how);
  Matrix x = to_matrix(data.x);
  const auto n = static_cast<double>(x.rows());
  for (Index j = 0; j < x.cols(); ++j) {
    x.col(j).array() -= x.col(j).mean();
    x.col(j) /= std::sqrt(x.col(j).squaredNorm() / n);
  }
  data.x = Design(x);
  for (double& y : data.y) y = y > 0.5 ? 1.0 : -1.0;
  const Index first[] = {0};
  const Split all{.train = data, .validation = select_rows(data, first), .test = {}};
  const auto direct = std::make_shared<const LinearProblem>(all, logistic(), true);
  const auto problem = LeaveOneOutProblem::of(direct, LeaveOneOutProblem::Kind::leave_one_out);
  fmt::print("lambda   exact      error with refits, without  refits\n");
  for (double at = -12.0; at <= 0.0; at += 2.0) {
    const Vector lambda = Vector::Constant(1, at);
    Vector w = starting_weights(*problem);
    problem->inner_solve(lambda, {}, w);
    const auto found = problem->left_out_at(w, lambda);
    double exact = 0.0;
    for (Index i = 0; i < data.rows(); ++i) {
      std::vector<Index> others;
      for (Index k = 0; k < data.rows(); ++k)
        if (k != i) others.push_back(k);
      const Index own[] = {i};
      const LinearProblem without(
          {.train = select_rows(data, others), .validation = select_rows(data, own), .test = {}}, logistic(),
          true);
      Vector v = w;
      without.inner_solve(lambda, {}, v);
      exact += without.validation_loss(v, lambda) / n;
    }
    fmt::print("{:>6.0f} {:>9.6f} {:>+12.1e} {:>+12.1e} {:>9}\n", at, exact, found->value / exact - 1.0,
               (found->value - found->change_by_refits) / exact - 1.0, found->refits);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace yosida

int main(int argc, char** argv) {
  CLI::App app("criteria and trust, against rows that took no part");
  int draws = 12;
  std::string file;
  auto* const many = app.add_subcommand("many", "many penalties on few rows");
  auto* const nested = app.add_subcommand("nested", "the nested score against fresh rows");
  auto* const left_out = app.add_subcommand("left-out", "leave-one-out against all refits");
  for (CLI::App* const each : {many, nested}) each->add_option("--draws", draws, "of the data");
  many->add_option("--file", file, "a third kind of data: a CSV file, the target last");
  left_out->add_option("--file", file, "a CSV file, the target (0 or 1) last")->required();
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  if (many->parsed()) yosida::many(draws, file);
  if (nested->parsed()) yosida::nested(draws);
  if (left_out->parsed()) yosida::against_refits(file);
}
