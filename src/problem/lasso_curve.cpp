#include "problem/lasso_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "linalg/columns.hpp"
#include "linalg/factor.hpp"
#include "linalg/gram.hpp"
#include "linalg/growing_cholesky.hpp"
#include "linalg/row_numbers.hpp"
#include "problem/newton.hpp"

namespace yosida {
namespace {

/// With at most so many columns the whole Gram matrix is computed.
constexpr Index kAllColumns = kMaxCholesky;
/// A working set begins with so many, or as many for each row; it grows by as many, to at most so many.
constexpr Index kFewest = 500;
constexpr double kPerRow = 8.0;
constexpr Index kMostColumns = 5000;
/// A support has no more columns than there are rows: of at most so many, products are computed as they are
/// asked for.
constexpr Index kFewRows = 500;
/// Residuals of validation rows that are held at a time.
constexpr Index kBlockNumbers = Index{1} << 20;
/// Kinks that are followed before they are checked and evaluated.
constexpr std::size_t kBatch = 48;
/// Validation rows are multiplied by the weights of a batch. Where one column in so many, or fewer, has a
/// weight there, the others are left out.
constexpr Index kMostUsed = 2;
/// All columns are looked at at one kink in so many. Between two of these, residuals are so near to the line
/// from one to the other that few columns can be above c there: these are looked at by themselves, unless
/// they are more than one in so many.
constexpr Index kSpacing = 6;
constexpr Index kMostDoubtful = 4;
/// Kinks at which all columns are looked at at once.
constexpr Index kKinksOfAll = 16;
/// A correlation may be above c by so much of it: rounding.
constexpr double kSlack = 1e-9;
/// A column of so small a share of its mean is constant.
constexpr double kConstant = 1e-13;
/// Products of all columns that are kept after the path, of each fold: a megabyte.
constexpr Index kKeptNumbers = Index{1} << 17;
/// A path of so many operations is followed to its end whatever h does; one of so many is given up.
constexpr double kLittle = 6e7;
constexpr double kMost = 3e11;
/// Numbers that the weights at kinks may take.
constexpr std::size_t kMostNumbers = std::size_t{1} << 25;
/// Heuristic: the path ends where h has risen to so much of its least, for so long, and by more than so much
/// of the training loss that is left. What another column explains lowers both losses by about as much.
constexpr double kFarAbove = 1.3;
constexpr double kUnexplained = 2.0;
constexpr double kForSoLong = 0.5;  // in λ

/// How long h has been far above its least, as the path goes down in c.
struct Rise {
  double best = std::numeric_limits<double>::infinity();  // the least h so far
  double since = 0.0;  // the c from which on h is far above it; 0: it is not

  void look_at(std::span<const ExactCurve::Piece> pieces) {
    for (const ExactCurve::Piece& piece : pieces) {
      best = std::min(best, piece.value);
      if (!(piece.value > kFarAbove * best)) {
        since = 0.0;
      } else if (since == 0.0) {
        since = piece.begin;
      }
    }
  }
  bool is_long_at(double c) const { return since > 0.0 && c < since * std::exp(-kForSoLong); }
};

}  // namespace

struct KnownWeights {
  LassoKinks kinks;
  WeightsAtKinks weights;
  std::vector<Index> columns;  // of the design, for each column of the path
  Vector mean;
  double y_mean;
  Index size;
  bool intercept;

  void add(std::size_t kink, double share, Vector& w) const {
    const auto [column, value] = weights.at(kink);
    for (std::size_t i = 0; i < column.size(); ++i)
      w[columns[static_cast<std::size_t>(column[i])]] += share * value[i];
  }
  Vector at(double lambda) const {
    const double c = std::exp(lambda);
    Vector w = Vector::Zero(size);
    const auto below =
        std::partition_point(kinks.c.begin(), kinks.c.end(), [c](double each) { return each > c; });
    const auto next = static_cast<std::size_t>(below - kinks.c.begin());
    if (next > 0 && next < kinks.count()) {
      const double share = (kinks.c[next - 1] - c) / (kinks.c[next - 1] - kinks.c[next]);
      add(next - 1, 1.0 - share, w);
      add(next, share, w);
    } else if (next == kinks.count()) {
      add(next - 1, 1.0, w);
    }
    if (intercept) w[w.size() - 1] = y_mean - mean.dot(w.head(w.size() - 1));
    return w;
  }
};

void WorkingProducts::set_all(Matrix gram) {
  gram_ = std::move(gram);
  squares_ = gram_.diagonal();
}

void WorkingProducts::set_rows(Matrix rows) {
  const auto before = static_cast<Index>(place_.size());
  rows_ = std::move(rows);
  const Index added = rows_.cols() - before;
  place_.resize(static_cast<std::size_t>(rows_.cols()), -1);
  squares_.conservativeResize(rows_.cols());
  squares_.tail(added) = rows_.rightCols(added).colwise().squaredNorm();
  if (kept_.empty()) return;
  const Matrix columns = rows_(Eigen::all, kept_of_).transpose();
  const Matrix products = product(columns, rows_.rightCols(added));
  flops_ += 2.0 * static_cast<double>(products.size() * rows_.rows());
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    kept_[k].conservativeResize(rows_.cols());
    kept_[k].tail(added) = products.row(static_cast<Index>(k));
  }
}

void WorkingProducts::leave_out(Index column) { squares_[column] = 0.0; }

const double* WorkingProducts::row(Index column) {
  if (gram_.size() > 0) return gram_.row(column).data();
  Index& at = place_[static_cast<std::size_t>(column)];
  if (at < 0) {
    at = std::ssize(kept_);
    kept_of_.push_back(column);
    add_up_rows(rows_, rows_.rows(), rows_.col(column), kept_.emplace_back());
    flops_ += 2.0 * static_cast<double>(rows_.size());
  }
  return kept_[static_cast<std::size_t>(at)].data();
}

Vector LassoCurves::shares() const {
  const auto n = static_cast<double>(split_.train.rows());
  const Vector& weight = split_.train.weight;
  return weight.size() > 0 ? Vector(weight / n) : Vector::Constant(split_.train.rows(), 1.0 / n);
}

Vector LassoCurves::targets() const { return split_.train.y.array() - y_mean_; }

bool LassoCurves::prepare(const StopToken* stop) {
  if (!is_ready_) {
    prepare_rows(stop);
  } else if (gram_.is_empty()) {
    make_products(stop);
  }
  is_ready_ = !stop_requested(stop);
  return is_ready_;
}

void LassoCurves::prepare_rows(const StopToken* stop) {
  const Dataset& train = split_.train;
  const auto n = static_cast<double>(train.rows());
  mean_ = Vector::Zero(train.features());
  x_ = train.x;
  const bool is_weighted = train.weight.size() > 0;
  if (intercept_) {
    if (is_weighted) {
      const Vector share = train.weight / sum_of(train.x, train.weight);
      train.x.add_transposed(as_span(share), as_span(mean_));
    } else {
      mean_ = rough_means(train.x);
    }
    y_mean_ = mean_of(train.x, train.y, train.weight);
    x_ = train.x.mapped({.shift = mean_});
  }
  const auto square = (train.y.array() - y_mean_).square().matrix();
  y_square_ = (is_weighted ? dot_of(x_, train.weight, square) : sum_of(x_, square)) / n;
  is_in_.assign(static_cast<std::size_t>(train.features()), 0);
  columns_.clear();
  forget_products();
  if (train.features() <= kAllColumns) {
    columns_.resize(static_cast<std::size_t>(train.features()));
    std::iota(columns_.begin(), columns_.end(), Index{0});
    prepare_all(stop);
    flops_ += n * static_cast<double>(train.features()) * static_cast<double>(train.features());
  } else {
    const Vector weighted = shares().cwiseProduct(targets());
    all_slopes_ = Vector::Zero(train.features());
    x_.add_transposed(as_span(weighted), as_span(all_slopes_));
    const Vector one = Vector::Ones(train.features());
    lengths_ = std::sqrt(n) * column_deviations(x_, one, Vector::Zero(train.features()));
    grow(all_slopes_);
  }
}

void LassoCurves::prepare_all(const StopToken* stop) {
  const auto n = static_cast<double>(split_.train.rows());
  if (split_.train.weight.size() > 0) {
    const Vector weighted = shares().cwiseProduct(targets());
    slope_ = Vector::Zero(x_.cols());
    x_.add_transposed(as_span(weighted), as_span(slope_));
    make_products(stop);
  } else if (!prepare_from_shared(stop)) {
    const Vector y = targets();
    RowSums sums = row_sums(x_, y, stop);
    if (intercept_) {
      mean_ += sums.centre(n, sum_of(x_, y));
      x_ = split_.train.x.mapped({.shift = mean_});
    }
    slope_ = sums.with_y / n;
    sums.gram /= n;
    gram_.set_all(std::move(sums.gram));
    leave_out_constant();
  }
  all_slopes_ = slope_;
}

bool LassoCurves::prepare_from_shared(const StopToken* stop) {
  of_all_ = shared_ ? shared_->gram(split_, stop != nullptr ? *stop : StopToken()) : nullptr;
  if (!of_all_) return false;
  const auto n = static_cast<double>(split_.train.rows());
  Matrix ones_and_y = Matrix::Ones(x_.rows(), 2);
  ones_and_y.col(1) = targets();
  Matrix sums = Matrix::Zero(x_.cols(), 2);
  x_.add_transposed({ones_and_y.data(), static_cast<std::size_t>(ones_and_y.size())},
                    {sums.data(), static_cast<std::size_t>(sums.size())}, 2);
  slope_ = sums.col(1) / n;
  if (intercept_) {
    const Vector left = sums.col(0) / n;  // by rough means
    slope_ -= sum_of(x_, ones_and_y.col(1)) / n * left;
    mean_ += left;
    x_ = split_.train.x.mapped({.shift = mean_});
  }
  make_products(stop);
  return of_all_ != nullptr;
}

void LassoCurves::make_products(const StopToken* stop) {
  if (is_wide() && x_.rows() <= kFewRows) {
    gram_.set_rows(shares().cwiseSqrt().asDiagonal() * to_matrix(working_));
  } else if (is_wide()) {
    gram_.set_all(weighted_gram(working_, as_span(shares())));
    const auto size = static_cast<double>(columns_.size());
    flops_ += static_cast<double>(x_.rows()) * size * size;
  } else if (of_all_) {
    std::optional<Matrix> sums = of_all_->of(x_, split_.validation.x, stop);
    if (!sums) {
      of_all_.reset();
      return;
    }
    *sums /= static_cast<double>(x_.rows());
    gram_.set_all(std::move(*sums));
  } else {
    gram_.set_all(weighted_gram(x_, as_span(shares()), stop));
  }
  leave_out_constant();
}

void LassoCurves::forget_products() { gram_ = {}; }

void LassoCurves::forget_large_products() {
  if (is_wide() || gram_.all().size() > kKeptNumbers) forget_products();
}

Matrix LassoCurves::products_on(const std::vector<Index>& columns) {
  if (gram_.all().size() > 0) return gram_.all()(columns, columns);
  if (of_all_)
    if (std::optional<Matrix> sums = of_all_->of(x_, split_.validation.x, columns)) {
      *sums /= static_cast<double>(x_.rows());
      return std::move(*sums);
    }
  return weighted_gram(x_.with_columns(columns), as_span(shares()));
}

void LassoCurves::leave_out_constant() {
  for (std::size_t k = 0; k < columns_.size(); ++k)
    if (const auto j = static_cast<Index>(k);
        !(std::sqrt(gram_.squares()[j]) > kConstant * std::abs(mean_[columns_[k]])))
      gram_.leave_out(j);
}

void LassoCurves::grow(const Vector& score) {
  const Dataset& train = split_.train;
  std::vector<Index> others;
  for (Index j = 0; j < train.features(); ++j)
    if (is_in_[static_cast<std::size_t>(j)] == 0) others.push_back(j);
  const auto wanted = static_cast<std::size_t>(std::max(
      static_cast<double>(kFewest), kPerRow * static_cast<double>(std::min<Index>(train.rows(), 500))));
  const auto last = others.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, others.size()));
  std::nth_element(others.begin(), last - 1, others.end(),
                   [&](Index a, Index b) { return std::abs(score[a]) > std::abs(score[b]); });
  std::sort(others.begin(), last);  // of two that are alike the path takes the first
  for (auto each = others.begin(); each != last; ++each) {
    columns_.push_back(*each);
    is_in_[static_cast<std::size_t>(*each)] = 1;
  }
  working_ = x_.with_columns(columns_);
  validation_ = split_.validation.x.with_columns(columns_);
  slope_ = all_slopes_(columns_);
  make_products(nullptr);
}

KnownWeights LassoCurves::known_weights(LassoKinks kinks, WeightsAtKinks weights) const {
  return {.kinks = std::move(kinks),
          .weights = std::move(weights),
          .columns = columns_,
          .mean = mean_,
          .y_mean = y_mean_,
          .size = split_.train.features() + (intercept_ ? 1 : 0),
          .intercept = intercept_};
}

Vector LassoCurves::followed_to(double ridge, double lambda) {
  const std::lock_guard lock(mutex_);
  prepare(nullptr);
  LassoPath path(gram_, slope_, ridge);
  while (path.state() == LassoPath::State::going && path.kinks().c.back() > std::exp(lambda)) {
    path.forget_weights_before(path.kinks().count() - 1);
    path.advance(1);
  }
  forget_large_products();
  return known_weights(path.kinks(), path.weights()).at(lambda);
}

Matrix LassoCurves::weights_from(const LassoPath& path, std::size_t first) const {
  const std::size_t end = path.kinks().count();
  Matrix w = Matrix::Zero(static_cast<Index>(columns_.size()) + 1, static_cast<Index>(end - first));
  for (std::size_t kink = first; kink < end; ++kink) {
    const auto [column, value] = path.weights().at(kink);
    const auto at = static_cast<Index>(kink - first);
    double intercept = y_mean_;
    for (std::size_t i = 0; i < column.size(); ++i) {
      w(column[i], at) = value[i];
      intercept -= value[i] * mean_[columns_[static_cast<std::size_t>(column[i])]];
    }
    w(w.rows() - 1, at) = intercept;
  }
  return w;
}

std::vector<Index> LassoCurves::doubtful(const LassoKinks& kinks, std::size_t first, const Matrix& residual) {
  const Index count = residual.cols();
  std::vector<Index> anchors;
  for (Index k = 0; k < count - 1; k += kSpacing) anchors.push_back(k);
  anchors.push_back(count - 1);
  const Matrix correlation = multiplied_transposed(x_, residual(Eigen::all, anchors));
  flops_ += 2.0 * static_cast<double>(anchors.size()) * x_.product_flops();
  // How far the residuals between two anchors are from the line through theirs, at most.
  Vector off = Vector::Zero(std::ssize(anchors));
  for (std::size_t i = 1; i < anchors.size(); ++i) {
    const Vector from = residual.col(anchors[i - 1]);
    const Vector line = residual.col(anchors[i]) - from;
    for (Index k = anchors[i - 1] + 1; k < anchors[i]; ++k) {
      const Vector move = residual.col(k) - from;
      const double share = line.isZero(0.0) ? 0.0 : std::clamp(move.dot(line) / line.squaredNorm(), 0.0, 1.0);
      off[static_cast<Index>(i)] = std::max(off[static_cast<Index>(i)], (move - share * line).norm());
    }
  }
  const auto c_at = [&](std::size_t i) { return kinks.c[first + static_cast<std::size_t>(anchors[i])]; };
  std::vector<Index> found;
  for (Index j = 0; j < correlation.rows(); ++j) {
    if (is_in_[static_cast<std::size_t>(j)] != 0) continue;
    bool is_below = std::abs(correlation(j, 0)) <= c_at(0);
    for (std::size_t i = 1; i < anchors.size() && is_below; ++i) {
      const auto at = static_cast<Index>(i);
      const double most = std::max(std::abs(correlation(j, at - 1)), std::abs(correlation(j, at)));
      is_below = most + lengths_[j] * off[at] <= c_at(i);  // the least c of these kinks
    }
    if (!is_below) found.push_back(j);
  }
  return found;
}

std::size_t LassoCurves::first_violation(const LassoPath& path, std::size_t first, Vector& score) {
  const LassoKinks& kinks = path.kinks();
  const std::size_t end = kinks.count();
  Matrix w = weights_from(path, first);
  w.row(w.rows() - 1).setZero();  // columns and targets are centred
  Matrix residual(x_.rows(), w.cols());
  working_.multiply({w.data(), static_cast<std::size_t>(w.size())},
                    {residual.data(), static_cast<std::size_t>(residual.size())}, w.cols());
  const Vector share = shares(), y = targets();
  for (Index i = 0; i < residual.rows(); ++i)
    residual.row(i).array() = share[i] * (y[i] - residual.row(i).array());
  std::vector<Index> looked_at = doubtful(kinks, first, residual);
  if (looked_at.empty()) return end;
  const bool are_many = std::ssize(looked_at) * kMostDoubtful > x_.cols();
  const Design columns = are_many ? x_ : x_.with_columns(looked_at);
  // Where all columns are looked at, only a few kinks are taken at a time: there is a correlation for each
  // column and kink, and the first violation ends the search.
  const Index step = are_many ? kKinksOfAll : w.cols();
  Index worst = w.cols();
  for (Index begin = 0; begin < worst; begin += step) {
    const Index count = std::min(step, worst - begin);
    const Matrix correlation = multiplied_transposed(columns, Matrix(residual.middleCols(begin, count)));
    flops_ += 2.0 * static_cast<double>(correlation.size() * residual.rows());
    for (Index row = 0; row < correlation.rows(); ++row) {
      if (are_many && is_in_[static_cast<std::size_t>(row)] != 0) continue;
      for (Index k = begin; k < std::min(begin + count, worst); ++k)
        if (std::abs(correlation(row, k - begin)) >
            (1.0 + kSlack) * kinks.c[first + static_cast<std::size_t>(k)])
          worst = k;
    }
  }
  if (worst < w.cols()) score = multiplied_transposed(x_, residual.col(worst)).col(0);
  return first + static_cast<std::size_t>(worst);
}

std::vector<Index> LassoCurves::few_columns(const Matrix& w) const {
  const Design& x = split_.validation.x;
  std::vector<Index> used;
  if (is_wide() || !may_leave_out_columns(x)) return used;
  for (Index j = 0; j + 1 < w.rows(); ++j)
    if (!w.row(j).isZero(0.0)) used.push_back(j);
  if (std::ssize(used) * kMostUsed > x.cols()) used.clear();
  return used;
}

void LassoCurves::add_pieces(const LassoPath& path, std::size_t first,
                             std::vector<ExactCurve::Piece>& pieces) {
  const Dataset& rows = split_.validation;
  const Matrix w = weights_from(path, first);
  const Index count = w.cols();
  const Design& x = is_wide() ? validation_ : rows.x;
  const std::vector<Index> used = few_columns(w);
  const Matrix of_used = w(used, Eigen::all);
  flops_ += static_cast<double>(rows.rows()) * 2.0 * static_cast<double>(w.size());
  Eigen::ArrayXd value = Eigen::ArrayXd::Zero(count), slope = value, curvature = value;
  // In blocks of rows: all residuals at all kinks may be more numbers than the design has.
  const Index block = std::clamp<Index>(kBlockNumbers / count, 1, rows.rows());
  Matrix residual(block, count);
  for (Index i = 0; i < rows.rows(); ++i) {
    const Index place = i % block;
    if (place == 0) {
      const Index held = std::min(block, rows.rows() - i);
      if (used.empty()) {
        x.row_range(i, held).multiply({w.data(), static_cast<std::size_t>(w.size())},
                                      {residual.data(), static_cast<std::size_t>(held * count)}, count);
      } else {
        residual.topRows(held) = multiplied(x.row_range(i, held), used, of_used);
        residual.topRows(held).rowwise() += w.row(w.rows() - 1);
      }
    }
    const double s = rows.weight.size() > 0 ? rows.weight[i] : 1.0;
    auto r = residual.row(place).array();
    r -= rows.y[i];
    value += s * r.square().transpose();
    const auto move = r.tail(count - 1) - r.head(count - 1);
    slope.head(count - 1) += s * (r.head(count - 1) * move).transpose();
    curvature.head(count - 1) += s * move.square().transpose();
  }
  const double m = static_cast<double>(rows.rows());
  for (Index k = 0; k + 1 < count; ++k) {
    const std::size_t kink = first + static_cast<std::size_t>(k);
    const double begin = path.kinks().c[kink];
    const double width = begin - path.kinks().c[kink + 1];
    if (!(width > 0.0)) continue;  // two kinks at one place
    pieces.push_back({.begin = begin,
                      .value = 0.5 * value[k] / m,
                      .slope = slope[k] / m / width,
                      .curvature = 0.5 * curvature[k] / m / width / width});
  }
}

double LassoCurves::train_loss(const LassoPath& path, std::size_t kink, double ridge) const {
  const auto [column, value] = path.weights().at(kink);
  double sum = y_square_;
  for (std::size_t i = 0; i < column.size(); ++i)
    sum -= value[i] * slope_[column[i]] + path.kinks().c[kink] * std::abs(value[i]) +
           ridge * value[i] * value[i];
  return 0.5 * sum;
}

Matrix LassoCurves::hessian_on(const std::vector<Index>& set) {
  const std::lock_guard lock(mutex_);
  if (!is_ready_) prepare(nullptr);
  const bool has_intercept = intercept_ && !set.empty() && set.back() == x_.cols();
  const std::vector<Index> columns(set.begin(), set.end() - (has_intercept ? 1 : 0));
  Matrix h = products_on(columns);
  if (!intercept_) return h;
  const double total = sum_of(x_, shares());
  const Vector mean = mean_(columns);
  h.noalias() += (total * mean) * mean.transpose();
  if (!has_intercept) return h;
  const Index d = h.rows();
  h.conservativeResize(d + 1, d + 1);
  h.row(d).head(d) = total * mean.transpose();
  h.col(d).head(d) = total * mean;
  h(d, d) = total;
  return h;
}

std::shared_ptr<const ExactCurve> LassoCurves::curve(double ridge, const StopToken* stop, double least) {
  const std::lock_guard lock(mutex_);
  if (last_ && last_ridge_ == ridge && last_least_ <= least) return last_;
  last_ = followed(ridge, stop, least);
  last_ridge_ = ridge;
  last_least_ = least;
  return last_;
}

std::shared_ptr<const ExactCurve> LassoCurves::followed(double ridge, const StopToken* stop, double least) {
  flops_ = 0.0;
  if (!prepare(stop) || !gram_.all().allFinite() || !gram_.squares().allFinite() || !slope_.allFinite() ||
      !std::isfinite(ridge))
    return nullptr;
  LassoPath path(gram_, slope_, ridge);
  if (path.state() == LassoPath::State::complete) return nullptr;  // no column matters
  std::vector<ExactCurve::Piece> pieces;
  std::size_t known = 0;  // the last kink that has been checked and evaluated
  Rise rise;
  while (path.state() == LassoPath::State::going && path.kinks().c[known] > std::exp(least)) {
    if (stop_requested(stop)) return nullptr;
    path.advance(kBatch);
    if (is_wide()) {
      Vector score;
      const std::size_t violated = first_violation(path, known + 1, score);
      if (violated < path.kinks().count()) {
        if (static_cast<Index>(columns_.size()) >= kMostColumns) return nullptr;
        grow(score);
        path.resume(violated - 1, slope_);
        if (violated == known + 1) continue;
      }
    }
    const std::size_t before = pieces.size();
    add_pieces(path, known, pieces);
    known = path.kinks().count() - 1;
    if (!keeps_weights()) path.forget_weights_before(known);
    rise.look_at(std::span(pieces).subspan(before));
    flops_ += gram_.take_flops();
    const double flops = flops_ + path.flops();
    if (flops > kMost || path.weights().count() > kMostNumbers) break;
    if (flops > kLittle && rise.is_long_at(path.kinks().c[known]) && !pieces.empty() &&
        pieces.back().value - kUnexplained * train_loss(path, known, ridge) > rise.best)
      break;
  }
  if (pieces.empty()) return nullptr;
  for (const ExactCurve::Piece& piece : pieces)
    if (!std::isfinite(piece.value) || !std::isfinite(piece.slope) || !std::isfinite(piece.curvature))
      return nullptr;
  ExactCurve::Weights weights;
  if (keeps_weights()) {
    auto kept = std::make_shared<const KnownWeights>(known_weights(path.kinks(), path.weights()));
    weights = [kept](double lambda) { return kept->at(lambda); };
  } else {
    weights = [this, ridge](double lambda) { return followed_to(ridge, lambda); };
  }
  if (only_one_ && (of_all_ || is_wide())) forget_large_products();
  return std::make_shared<const ExactCurve>(std::move(pieces), path.kinks().c[known],
                                            (flops_ + path.flops()) / flops_per_gradient_,
                                            std::move(weights));
}

}  // namespace yosida
