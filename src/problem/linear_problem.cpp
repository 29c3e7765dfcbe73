#include "yosida/problem/linear_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/missing_values.hpp"
#include "linalg/columns.hpp"
#include "linalg/factor.hpp"
#include "linalg/rates.hpp"
#include "linalg/row_numbers.hpp"
#include "problem/batches_of.hpp"
#include "problem/newton.hpp"
#include "problem/quasi_newton.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// With more groups than this their curvatures come from the diagonal of the Hessian.
constexpr Index kMaxExactGroups = 64;

/// Columns whose curvatures differ by more than this are of different scales.
constexpr double kDifferentScales = 1e4;

/// A Newton step of an exact solve reads the rows so many times and takes so many seconds for each of them:
/// losses along the line, slope and curvature. An exact search makes hundreds of steps, so where one takes
/// longer than this, a kept Hessian is faster by far. It is no match for columns of different scales, whose
/// valleys are many, nor for a loss that jumps.
constexpr double kPassesOfStep = 3.0;
constexpr double kSecondsOfRow = 1e-7;
constexpr double kLongStep = 3e-3;
/// Where it takes longer than this, a search tries solves by a kept Hessian first.
constexpr double kShortStep = 5e-5;
/// The least share of the curvature of a column that the others may leave of it then: directions of less
/// decide on h where penalties are so small that solves by a memory are lost in rounding.
constexpr double kOwnShare = 1e-6;

bool has_steps_over(double seconds, const DataTerm& data) {
  if (data.loss().is_quadratic() || data.loss().has_jumps() || data.outputs() > 1) return false;
  constexpr double kBytesPerFlop = 4.0;  // of a product with the rows
  return kPassesOfStep * kBytesPerFlop * data.design().product_flops() / rates().bytes +
             kSecondsOfRow * static_cast<double>(data.design().rows()) >
         seconds;
}

/// Whether each column has some curvature of its own, or none at all.
bool are_independent(const DataTerm& data, const Vector& state) {
  Matrix factor = data.hessian_at(state);
  factor.diagonal() = (factor.diagonal().array() > 0.0).select(factor.diagonal(), 1.0);
  const Vector all = factor.diagonal();
  return cholesky_factor(factor) && (factor.diagonal().array().square() / all.array()).minCoeff() > kOwnShare;
}

/// Gradients and losses are products of two features or targets, weights a target over a feature. Solvers
/// square them all: the fourth powers of numbers beyond these overflow or vanish.
constexpr double kMaxMagnitude = 1e75;
constexpr double kMinMagnitude = 1e-75;

bool is_small(double magnitude) { return magnitude < kMaxMagnitude; }
bool is_large(double magnitude) { return !(magnitude > 0.0) || magnitude >= kMinMagnitude; }

/// Throws InputError naming the feature or target whose powers would overflow or, in training rows, all
/// vanish.
void check_magnitudes(const Dataset& data, const Loss& loss, bool is_train, const std::string& name) {
  const char* for_features = "--x standardize or minmax rescales features by the training rows";
  const char* for_target = loss.link() == Link::exponential ? "give the target in another unit"
                                                            : "--y standardize rescales the target";
  const auto require_small = [&](double largest, const std::string& what, const char* advice) {
    if (!is_small(largest))
      throw InputError(fmt::format(
          "{}: {} holds {:.3g} after pretreatment, whose fourth power is not finite: magnitudes must "
          "be below {:g}; {}",
          name, what, largest, kMaxMagnitude, advice));
  };
  const auto require_large = [&](double largest, const std::string& what, const char* advice) {
    if (!is_large(largest))
      throw InputError(
          fmt::format("{}: {} reaches {:.3g} after pretreatment, whose fourth power vanishes: the largest "
                      "magnitude must be at "
                      "least {:g}; {}",
                      name, what, largest, kMinMagnitude, advice));
  };
  const Vector features = largest_magnitudes(data.x);
  // Names are made of the columns alone that are refused.
  for (Index j = 0; j < features.size(); ++j)
    if (!is_small(features[j])) {
      require_values(data, j, name);
      require_small(features[j], feature_in_words(data, j), for_features);
    }
  const double target = largest_of(data.x, data.y);
  const std::string target_in_words =
      data.target_name.empty() ? "the target" : fmt::format("the target \"{}\"", data.target_name);
  require_small(target, target_in_words, for_target);
  if (!is_train) return;
  for (Index j = 0; j < features.size(); ++j)
    if (!is_large(features[j])) require_large(features[j], feature_in_words(data, j), for_features);
  require_large(target, target_in_words, for_target);
}

void check(const Dataset& data, const Dataset& train, const Loss& loss, const char* part) {
  const std::string name = std::string(part) + " rows (" + data.source + ")";
  if (data.rows() == 0) throw InputError(name + ": there are none; at least 1 is needed");
  if (data.y.size() != data.rows())
    throw InputError(name + ": " + std::to_string(data.rows()) + " rows but " +
                     std::to_string(data.y.size()) + " targets; each row needs one");
  if (data.features() != train.features())
    throw InputError(name + ": " + std::to_string(data.features()) + " features, the training rows have " +
                     std::to_string(train.features()) + "; they must be the same");
  check_magnitudes(data, loss, &data == &train, name);
  if (count_of(data.x, [&](Index i) { return !loss.accepts(data.y[i]); }) > 0)
    throw InputError(name + ": targets must be " + loss.targets() + " for a " + std::string(loss.name()) +
                     " problem");
  if (data.weight.size() > 0 && data.weight.size() != data.rows())
    throw InputError(name + ": " + std::to_string(data.rows()) + " rows but " +
                     std::to_string(data.weight.size()) + " weights; each row needs one");
  if (data.weight.size() == 0) return;
  const double sum = sum_of(data.x, data.weight);
  if (count_of(data.x, [&](Index i) { return !(data.weight[i] >= 0.0); }) > 0 || !(sum > 0.0) ||
      !std::isfinite(sum))
    throw InputError(name + ": row weights must be numbers >= 0, not all of them 0, with a finite sum");
}

/// Σ s_i v_i / Σ s_i as a vector of multipliers s_i / Σ s_i.
Vector mean_weights(const Dataset& data) {
  if (data.weight.size() == 0) return Vector::Constant(data.rows(), 1.0 / static_cast<double>(data.rows()));
  return data.weight / sum_of(data.x, data.weight);
}

}  // namespace

void check_split(const Split& split, const Loss& loss) {
  if (split.train.features() == 0)
    throw InputError("training rows (" + split.train.source + "): no features");
  check(split.train, split.train, loss, "training");
  check(split.validation, split.train, loss, "validation");
  if (split.test) check(*split.test, split.train, loss, "test");
}

/// What inner solves in row space need: with fewer rows than features, w*(λ) lies in the span of
/// the rows. Xᵀ = Q R, so X Q = Rᵀ is a square design of N_T unknowns, and what a proximal term
/// adds at right angles to the rows has a closed form.
struct LinearProblem::RowSpace {
  Matrix q;
  Design design;
};

LinearProblem::LinearProblem(Split split, SharedLoss loss, bool intercept)
    : split_(std::move(split)),
      shared_loss_(std::move(loss)),
      intercept_(intercept),
      penalty_(Penalty::shared(features() * loss_.outputs())) {
  prepare();
}

LinearProblem::LinearProblem(Split split, SharedLoss loss, bool intercept, Penalty penalty)
    : split_(std::move(split)),
      shared_loss_(std::move(loss)),
      intercept_(intercept),
      penalty_(std::move(penalty)) {
  prepare();
}

void LinearProblem::prepare() {
  check_split(split_, loss_);
  if (penalty_.weights() != features() * loss_.outputs())
    throw InputError("penalty: of " + std::to_string(penalty_.weights()) + " weights, the model has " +
                     std::to_string(features() * loss_.outputs()));
  fill_in_traits();
}

/// What is known where all weights are 0.
struct LinearProblem::AtZero {
  Vector train_mean;         // x̄ of the training rows, where an intercept needs it
  double target_mean = 0.0;  // ȳ
  Vector weights;            // none, the intercepts fitted
  Vector gradient;           // the measure of inner tolerances
};

const LinearProblem::AtZero& LinearProblem::at_zero() const {
  std::call_once(at_zero_once_, [&] {
    AtZero at{.train_mean = {}, .weights = Vector::Zero(weights()), .gradient = Vector(weights())};
    if (intercept_ && loss_.is_quadratic()) {
      const Vector mean = mean_weights(split_.train);
      at.train_mean = Vector::Zero(features());
      split_.train.x.add_transposed(as_span(mean), as_span(at.train_mean));
      at.target_mean = dot_of(split_.train.x, mean, split_.train.y);
      at.weights[features()] = at.target_mean;
    } else if (intercept_) {
      train_term().fit_intercepts(at.weights);
    }
    train_term().gradient(at.weights, at.gradient);
    at_zero_ = std::make_unique<const AtZero>(std::move(at));
  });
  return *at_zero_;
}

void LinearProblem::fill_in_traits() {
  constexpr double kWidthOfJumps = 1.0;
  traits_.has_penalties = true;
  traits_.ones = Vector::Ones(weights());
  traits_.ones.tail(intercepts()).setZero();
  traits_.has_train_gradient_lambda = true;
  traits_.train_rows = split_.train.rows();
  traits_.factors_cheaply = factors_cheaply();
  // A loss whose second derivative jumps has narrower valleys; they are looked for where that costs little.
  if (loss_.has_jumps() && traits_.factors_cheaply) traits_.feature_width = kWidthOfJumps;
  // The margins and one product with the design make one with the Hessian; each further group is a product.
  traits_.certificate_work.hessian_products = 1;
  const bool by_diagonal = penalty_.groups() > kMaxExactGroups || penalty_.groups() == penalty_.weights();
  if (!by_diagonal)
    traits_.certificate_work.factorisations = 0.5 * static_cast<double>(penalty_.groups() - 1);
  // A quadratic loss needs only means; any other a product with the design, as a loss does.
  if (intercept_ && !loss_.is_quadratic()) traits_.intercept_work.loss_evaluations = 1;
}

/// The scales of the columns, as curvatures of the data term at 0.
struct LinearProblem::Columns {
  Vector curvatures;       // the diagonal of its Hessian
  Vector centred;          // the same with intercepts refitted, without these
  bool differ = false;     // by so much that solves take note of it
  bool are_plain = false;  // by solves with a memory a search is told h, and sooner than by exact ones
};

const LinearProblem::Columns& LinearProblem::columns() const {
  std::call_once(columns_once_, [&] { columns_ = std::make_unique<Columns>(measured_columns()); });
  return *columns_;
}

const Vector* LinearProblem::units() const { return columns().differ ? &columns().curvatures : nullptr; }

LinearProblem::Columns LinearProblem::measured_columns() const {
  const DataTerm data = train_term();
  Columns measured;
  Vector& curvatures = measured.curvatures;
  Vector& centred = measured.centred;
  const Index k = loss_.outputs();
  Vector m;
  Vector state;
  data.products(at_zero().weights, m);
  data.add_intercepts(at_zero().weights, m);
  data.state_at(m, state);
  data.hessian_diagonal_at(state, curvatures);
  centred = curvatures.head(penalty_.weights());
  if (intercept_) {
    // What an intercept takes of a column: its mean, weighted by the curvatures of the rows.
    Vector mean;
    data.hessian_border_at(state, mean);
    for (Index o = 0; o < k; ++o) {
      const double own = mean[penalty_.weights() + o];
      if (!(own > 0.0)) continue;
      for (Index i = o; i < penalty_.weights(); i += k)
        centred[i] -= std::min(mean[i] * mean[i] / own, curvatures[i] * (1.0 - 1e-15));
    }
  }
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (Index i = 0; i < penalty_.weights(); ++i) {
    if (!(curvatures[i] > 0.0)) continue;
    least = std::min(least, curvatures[i]);
    most = std::max(most, curvatures[i]);
  }
  measured.differ = most > kDifferentScales * least;
  const HessianSystem hessian{data, traits_.ones, state, gradient_flops()};
  measured.are_plain = penalty_.groups() == 1 && !measured.differ && has_steps_over(kShortStep, data) &&
                       hessian.factor_flops() <= kSoonFlops && !has_steps_over(kLongStep, data) &&
                       QuasiNewton::pays(data, penalty_.is_shared()) && are_independent(data, state);
  return measured;
}

Bounds LinearProblem::column_curvatures() const {
  Bounds range{Vector::Constant(hyperparameters(), std::numeric_limits<double>::infinity()),
               Vector::Zero(hyperparameters())};
  for (Index i = 0; i < penalty_.weights(); ++i) {
    const Index g = penalty_.group(i);
    const double own = columns().centred[i];
    if (g == Penalty::kNone || !(own > 0.0)) continue;
    range.low[g] = std::min(range.low[g], own);
    range.high[g] = std::max(range.high[g], own);
  }
  return range;
}

LinearProblem::~LinearProblem() = default;

DataTerm LinearProblem::train_term() const { return {split_.train, loss_, intercept_}; }
DataTerm LinearProblem::validation_term() const { return {split_.validation, loss_, intercept_}; }

double LinearProblem::train_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  return train_term().value(w) + penalty_.value(w, lambda);
}

void LinearProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  require_sizes(*this, w, lambda);
  g.resize(weights());
  if (w.head(penalty_.weights()).isZero(0.0) && w == at_zero().weights) {
    g = at_zero().gradient;
  } else {
    train_term().gradient(w, g);
  }
  penalty_.add_product(lambda, w, g);
}

void LinearProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                    Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(weights());
  train_term().hessian_product(w, p, out);
  penalty_.add_product(lambda, p, out);
}

void LinearProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const {
  require_sizes(*this, w, lambda);
  require_lambda(*this, q);
  out.resize(weights());
  penalty_.cross_product(w, lambda, q, out);
}

void LinearProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                             Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(hyperparameters());
  penalty_.cross_product_transposed(w, lambda, p, out);
}

void LinearProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  penalty_.cross_product_transposed(w, lambda, w, out);  // 2e^λ Σ w²
  out *= 0.5;
}

Batches LinearProblem::batches(Index rows) const {
  return batches_of(split_, rows, [&](Split own, Index) {
    return std::make_shared<LinearProblem>(std::move(own), shared_loss_, intercept_, penalty_);
  });
}

double LinearProblem::validation_loss(const Vector& w, const Vector&) const {
  require_weights(*this, w);
  return validation_term().value(w);
}

double LinearProblem::validation_gradient(const Vector& w, const Vector&, Vector& g) const {
  require_weights(*this, w);
  g.resize(weights());
  return validation_term().gradient(w, g);
}

void LinearProblem::validation_hessian_product(const Vector& w, const Vector&, const Vector& p,
                                               Vector& out) const {
  require_weights(*this, w);
  require_weights(*this, p);
  out.resize(weights());
  validation_term().hessian_product(w, p, out);
}

bool LinearProblem::solves_in_row_space() const {
  const Design& x = split_.train.x;
  // The orthogonal factor of the rows is dense: it only replaces rows that are dense, too.
  const bool full = x.product_flops() >= 2.0 * static_cast<double>(x.rows()) * static_cast<double>(x.cols());
  return penalty_.is_shared() && loss_.outputs() == 1 && full && x.rows() < x.cols() &&
         x.rows() <= kMaxCholesky;
}

const LinearProblem::RowSpace& LinearProblem::row_space() const {
  std::call_once(row_space_once_, [&] {
    auto space = std::make_unique<RowSpace>();
    Qr factors = qr(to_matrix(split_.train.x).transpose());
    space->q = std::move(factors.q);
    space->design = Design(Matrix(factors.r.transpose()));
    row_space_ = std::move(space);
  });
  return *row_space_;
}

Vector LinearProblem::penalty_curvatures(const Vector& lambda) const {
  Vector c = Vector::Zero(weights());
  penalty_.add_product(lambda, traits_.ones, c);
  return c;
}

double LinearProblem::gradient_flops() const {
  return 2.0 * split_.train.x.product_flops() * static_cast<double>(loss_.outputs());
}

std::unique_ptr<SolveMemory> LinearProblem::solve_memory() const {
  const bool pays =
      traits_.factors_cheaply ? columns().are_plain : QuasiNewton::pays(train_term(), penalty_.is_shared());
  if (!pays) return nullptr;
  return std::make_unique<QuasiNewton>(train_term());
}

std::optional<double> LinearProblem::largest_curvature(SolveMemory& memory, Work& work) const {
  auto* const own = dynamic_cast<QuasiNewton*>(&memory);
  if (own == nullptr) return {};
  return own->largest_curvature(train_term(), at_zero().weights, gradient_flops(), work);
}

InnerReport LinearProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  require_sizes(*this, w, lambda);
  Vector c = penalty_curvatures(lambda);
  Vector linear = Vector::Zero(weights());
  add_proximal(options.proximal, traits_.ones, c, linear);
  InnerReport report;
  const bool exact = options.tolerance <= kExactTolerance && options.blur == 0.0;
  // In one basis or the other: the data term, the penalties and the linear term there.
  const auto inner_problem = [&](const DataTerm& data, const Vector& penalties, const Vector& slopes,
                                 double scale) {
    return InnerProblem{.data = data,
                        .c = penalties,
                        .linear = slopes,
                        .relative = options.tolerance,
                        .tolerance = options.tolerance * scale,
                        .blur = options.blur,
                        .exact = exact,
                        .max_count = options.max_count,
                        .flops_per_gradient = gradient_flops(),
                        .stop = options.stop};
  };
  if (exact && solves_in_row_space()) {
    const Index d = features();
    const RowSpace& space = row_space();
    const Index rank = space.q.cols();
    // One λ for all: c is the same number everywhere but at the intercept, in any coordinates.
    Vector reduced_c = Vector::Zero(rank + intercepts());
    reduced_c.head(rank).setConstant(c[0]);
    Vector reduced_linear = Vector::Zero(rank + intercepts());
    reduced_linear.head(rank) = space.q.transpose() * linear.head(d);
    Vector a(rank + intercepts());
    a.head(rank) = space.q.transpose() * w.head(d);
    a.tail(intercepts()) = w.tail(intercepts());
    const DataTerm data(space.design, split_.train.y, split_.train.weight, loss_, intercept_);
    const double scale = std::max(at_zero().gradient.norm(), linear.norm());
    report = newton(inner_problem(data, reduced_c, reduced_linear, scale), a);
    w.head(d) = space.q * a.head(rank);
    if (options.proximal) w.head(d) -= (linear.head(d) - space.q * reduced_linear.head(rank)) / c[0];
    w.tail(intercepts()) = a.tail(intercepts());
    report.work.factorisations += 2.0;  // four products with Q, each half a gradient
    // Q R of d × n with Q formed: 4 d n² operations, a gradient 4 n d.
    report.setup = static_cast<double>(split_.train.rows());
  } else {
    const double scale =
        std::max(gradient_norm(at_zero().gradient, c, units()), gradient_norm(linear, c, units()));
    const DataTerm data = train_term();
    InnerProblem inner = inner_problem(data, c, linear, scale);
    inner.curvatures = units();
    if (auto* const memory = dynamic_cast<QuasiNewton*>(options.memory); memory != nullptr && !exact)
      report = memory->minimise(inner, w);
    inner.max_count -= report.work.paper_count();
    if (!report.converged && inner.max_count > 0 && !stop_requested(options.stop)) {
      const Work before = report.work;
      report = newton(inner, w);
      report.work += before;
    }
  }
  report.setup += 1.5 + (intercept_ ? 1.0 : 0.0);  // the gradient at 0, the curvatures of the columns
  return report;
}

LinearReport LinearProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                          const LinearOptions& options, Vector& x) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, b);
  require_weights(*this, x);
  const Vector c = penalty_curvatures(lambda);
  LinearOptions left = options;
  Work work;
  if (auto* const memory = dynamic_cast<QuasiNewton*>(options.memory)) {
    const LinearReport report = memory->solve(train_term(), c, w, b, options, gradient_flops(), units(), x);
    left.max_count -= report.work.paper_count();
    if (report.converged || left.max_count < 1 || stop_requested(options.stop)) return report;
    work = report.work;
  }
  LinearReport report = yosida::hessian_solve(train_term(), c, w, b, left, gradient_flops(), units(), x);
  report.work += work;
  return report;
}

LinearReport LinearProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                               const LinearOptions& options, Matrix& x) const {
  require_sizes(*this, w, lambda);
  constexpr double kProductsPerColumn = 20.0;  // what conjugate gradients would need at the least
  const DataTerm data = train_term();
  Vector m;
  Vector state;
  data.margins(w, m);
  data.state_at(m, state);
  const Vector c = penalty_curvatures(lambda);
  const HessianSystem hessian{data, c, state, gradient_flops(), nullptr, options.stop};
  if (!hessian.factors(kProductsPerColumn * static_cast<double>(b.cols())))
    return BilevelProblem::hessian_solve_many(w, lambda, b, options, x);
  Matrix whole;
  LinearReport report = hessian.solve_many(b, options.tolerance, whole, x);
  report.work.factorisations += 0.5;  // the margins
  if (auto* const memory = dynamic_cast<QuasiNewton*>(options.memory);
      memory != nullptr && !stop_requested(options.stop))
    memory->adopt(data, c, std::move(whole));
  return report;
}

void LinearProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  const DataTerm data = train_term();
  const Index groups = penalty_.groups();
  Vector products;  // of the penalised weights
  data.products(w, products);
  Vector m = products;
  data.add_intercepts(w, m);
  Vector state;
  data.state_at(m, state);
  Vector square = Vector::Zero(groups);
  Vector count = Vector::Zero(groups);
  for (Index i = 0; i < penalty_.weights(); ++i) {
    const Index g = penalty_.group(i);
    if (g == Penalty::kNone) continue;
    square[g] += w[i] * w[i];
    count[g] += 1.0;
  }
  // The diagonal is exact for a group of one weight, and serves where there are too many groups or w is 0.
  const auto along_weights = [&](Index g) {
    return groups <= kMaxExactGroups && square[g] > 0.0 && count[g] > 1.0;
  };
  Vector kappa = Vector::Zero(groups);
  bool with_diagonal = false;
  for (Index g = 0; g < groups; ++g) {
    if (!along_weights(g)) {
      with_diagonal = true;
      continue;
    }
    if (penalty_.is_shared()) {
      kappa[g] = data.curvature_of(state, products) / square[g];
      continue;
    }
    Vector part = Vector::Zero(weights());
    for (Index i = 0; i < penalty_.weights(); ++i)
      if (penalty_.group(i) == g) part[i] = w[i];
    kappa[g] = data.curvature_along(state, part) / square[g];
  }
  if (with_diagonal) {
    Vector diagonal;
    data.hessian_diagonal_at(state, diagonal);
    for (Index i = 0; i < penalty_.weights(); ++i) {
      const Index g = penalty_.group(i);
      if (g == Penalty::kNone || along_weights(g)) continue;
      kappa[g] += diagonal[i] * (square[g] > 0.0 ? w[i] * w[i] / square[g] : 1.0 / count[g]);
    }
  }
  for (Index g = 0; g < groups; ++g) out[g] = certificate_scale_of(kappa[g], std::exp(lambda[g]));
}

bool LinearProblem::factors_cheaply() const {
  const DataTerm data = train_term();
  const auto n = static_cast<double>(split_.train.rows());
  const auto d = static_cast<double>(features());
  // Row space needs the orthogonal factors once, then a system of n unknowns.
  const bool instant = 4.0 * d * n * n <= 10.0 * kInstantFlops && 1.4 * n * n * n <= kInstantFlops;
  const bool few_rows = solves_in_row_space() && (n <= kCheapFactor || instant);
  const HessianSystem hessian{data, traits_.ones, traits_.ones, gradient_flops()};
  // A search makes hundreds of factorisations where they are cheap: cheap beside a gradient is not enough.
  if (!few_rows && !(hessian.factors(kCheapFactor) && hessian.factor_flops() <= kSoonFlops)) return false;
  return penalty_.groups() > 1 || !has_steps_over(kLongStep, data) || columns().differ;
}

void LinearProblem::fit_intercept(Vector& w) const {
  require_weights(*this, w);
  if (!intercept_) return;
  if (w.head(penalty_.weights()).isZero(0.0)) {
    w.tail(intercepts()) = at_zero().weights.tail(intercepts());
  } else if (loss_.is_quadratic()) {
    w[features()] = at_zero().target_mean - at_zero().train_mean.dot(w.head(features()));
  } else {
    train_term().fit_intercepts(w);
  }
}

Losses LinearProblem::losses(const Vector& w, const Vector& lambda) const {
  require_weights(*this, w);
  Losses result{.train = train_term().value(w), .validation = validation_loss(w, lambda), .test = {}};
  if (split_.test) result.test = mean_loss(*split_.test, loss_, intercept_, w);
  return result;
}

namespace {

void require_size(const Vector& w, Index size) {
  if (w.size() != size)
    throw InputError(fmt::format("w: has {} numbers; rows and loss need {}", w.size(), size));
}

}  // namespace

double mean_loss(const Dataset& data, const Loss& loss, bool intercept, const Vector& w) {
  const DataTerm term(data, loss, intercept);
  require_size(w, term.size());
  return term.value(w);
}

Vector margins(const Dataset& data, bool intercept, const Vector& w, Index outputs) {
  Vector m(data.rows() * outputs);
  const Index used = (data.features() + (intercept ? 1 : 0)) * outputs;
  require_size(w, used);
  data.x.multiply({w.data(), static_cast<std::size_t>(used)}, as_span(m), outputs);
  return m;
}

}  // namespace yosida
