#include "problem/lasso_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/large_blocks.hpp"

namespace yosida {
namespace {

/// The path ends at this share of the largest c, times the ratio of the columns' scales: below it
/// correlations are rounding.
constexpr double kLeast = 1e-12;
/// Rounding of a correlation, as a share of the scale of its column.
constexpr double kRounding = 1e-13;
/// What the support must leave of the square of a column that enters.
constexpr double kIndependent = 1e-11;
/// A step by less than this share of c is none; so many of them one after the other have no end.
constexpr double kStands = 1e-13;
constexpr int kMostStanding = 200;
/// Columns that reach c within this share of it count as reaching it together: the first of them enters.
/// Rounding would otherwise choose between two columns that are alike in the training rows, and validation
/// rows may tell them apart.
constexpr double kTogether = 1e-11;
/// Correlations are computed anew after so many kinks, and may be off by so much of c.
constexpr int kRenewal = 32;
constexpr double kExact = 1e-9;
constexpr double kTolerable = 1e-6;

}  // namespace

LassoKinks::Support LassoKinks::support_below(std::size_t kink) const {
  Support support;
  for (const Event& event : std::span(events).first(kink + 1)) {
    if (event.column < 0) continue;
    if (event.sign != 0) {
      support.columns.push_back(event.column);
      support.signs.push_back(event.sign);
      continue;
    }
    const auto left = std::find(support.columns.begin(), support.columns.end(), event.column);
    support.signs.erase(support.signs.begin() + (left - support.columns.begin()));
    support.columns.erase(left);
  }
  return support;
}

void LassoKinks::cut(std::size_t count) {
  c.resize(count);
  events.resize(count);
}

WeightsAtKinks::Weights WeightsAtKinks::at(std::size_t kink) const {
  const std::size_t begin = begin_of(kink - first_);
  const std::size_t count = end_[kink - first_] - begin;
  return {.column = {column_.data() + begin, count}, .value = {value_.data() + begin, count}};
}

void WeightsAtKinks::push_back(const std::vector<Index>& columns, const Vector& values) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double value = values[static_cast<Index>(i)];
    if (value == 0.0) continue;
    column_.push_back(static_cast<std::int32_t>(columns[i]));
    value_.push_back(value);
  }
  end_.push_back(column_.size());
}

void WeightsAtKinks::forget_before(std::size_t kink) {
  const auto forgotten = static_cast<std::ptrdiff_t>(kink - first_);
  const std::size_t numbers = begin_of(kink - first_);
  end_.erase(end_.begin(), end_.begin() + forgotten);
  for (std::size_t& end : end_) end -= numbers;
  column_.erase(column_.begin(), column_.begin() + static_cast<std::ptrdiff_t>(numbers));
  value_.erase(value_.begin(), value_.begin() + static_cast<std::ptrdiff_t>(numbers));
  first_ = kink;
}

void WeightsAtKinks::forget_from(std::size_t kink) {
  const std::size_t numbers = begin_of(kink - first_);
  end_.resize(kink - first_);
  column_.resize(numbers);
  value_.resize(numbers);
}

LassoPath::LassoPath(ColumnProducts& gram, const Vector& slope, double ridge) : gram_(gram), ridge_(ridge) {
  resume(0, slope);
}

double LassoPath::rounding_of(Index column) const { return rounding_ * std::sqrt(square_[column]); }

void LassoPath::resume(std::size_t kink, const Vector& slope) {
  slope_ = slope;
  square_ = gram_.squares();
  depends_.assign(static_cast<std::size_t>(columns()), 0);
  sign_ = Vector::Zero(columns());
  support_.clear();
  just_left_ = -1;
  standing_ = since_renewed_ = 0;
  state_ = State::going;
  if (kink == 0) {
    kinks_ = {};
    weights_ = {};
    w_.resize(0);
    correlation_ = slope_;
    Index first = -1;
    largest_ = 0.0;
    for (Index j = 0; j < columns(); ++j)
      if (square_[j] > 0.0 && std::abs(slope_[j]) > (1.0 + kTogether) * largest_) {
        largest_ = std::abs(slope_[j]);
        first = j;
      }
    at_ = largest_;
    const Vector scale = square_.cwiseSqrt();
    double unit = 0.0;
    double ratio = 1.0;  // of the least scale to the largest
    for (Index j = 0; j < columns(); ++j) {
      if (!(scale[j] > 0.0)) continue;
      unit = std::max(unit, std::abs(slope_[j]) / scale[j]);
      ratio = std::min(ratio, scale[j] / scale.maxCoeff());
    }
    rounding_ = kRounding * unit;
    least_ = kLeast * ratio * largest_;
    refactor();
    if (first < 0) {
      state_ = State::complete;
      return;
    }
    add(first, std::copysign(1.0, slope_[first]));
    note_kink(first, sign_[first]);
    return;
  }
  kinks_.cut(kink + 1);
  weights_.forget_from(kink + 1);
  LassoKinks::Support support = kinks_.support_below(kink);
  for (std::size_t i = 0; i < support.columns.size(); ++i) sign_[support.columns[i]] = support.signs[i];
  support_ = std::move(support.columns);
  if (const LassoKinks::Event last = kinks_.events.back(); last.sign == 0 && last.column >= 0) {
    const auto entered =
        std::find_if(kinks_.events.rbegin() + 1, kinks_.events.rend(),
                     [&](const LassoKinks::Event& event) { return event.column == last.column; });
    just_left_ = last.column;
    left_sign_ = entered->sign;
  }
  at_ = kinks_.c.back();
  refactor();
  if (!renew()) state_ = State::degenerate;
}

void LassoPath::pack(Index column, const double* products) {
  const auto place = static_cast<Index>(slot_.size());
  if (rows_.rows() <= place || rows_.cols() != columns()) {
    Matrix more = linalg::unfilled(std::min(std::max<Index>(2 * place, 64), columns()), columns());
    if (rows_.cols() == columns()) more.topRows(place) = rows_.topRows(place);
    rows_.swap(more);
  }
  std::copy_n(products, columns(), rows_.row(place).data());
  rows_(place, column) += ridge_;
  slot_.push_back(place);
}

bool LassoPath::add(Index column, double sign) {
  const auto size = static_cast<Index>(support_.size());
  const double* const products = gram_.row(column);
  scratch_.resize(size);
  for (Index i = 0; i < size; ++i) scratch_[i] = products[support_[static_cast<std::size_t>(i)]];
  Vector right(2);
  right << slope_[column], sign;
  flops_ += static_cast<double>(size * size);
  if (!factor_.append(scratch_, square_[column] + ridge_, kIndependent, right)) {
    depends_[static_cast<std::size_t>(column)] = 1;
    return false;
  }
  support_.push_back(column);
  sign_[column] = sign;
  w_.conservativeResize(size + 1);
  w_[size] = 0.0;
  pack(column, products);
  return true;
}

void LassoPath::drop(Index place) {
  const auto at = static_cast<std::size_t>(place);
  const Index column = support_[at];
  flops_ += 3.0 * std::pow(static_cast<double>(factor_.size() - place), 2);
  factor_.remove(place);
  just_left_ = column;
  left_sign_ = sign_[column];
  sign_[column] = 0.0;
  support_.erase(support_.begin() + place);
  w_.segment(place, w_.size() - place - 1) = w_.tail(w_.size() - place - 1).eval();
  w_.conservativeResize(w_.size() - 1);
  // The last row takes the place of the one that is not needed any more.
  const auto last = static_cast<Index>(slot_.size()) - 1;
  const Index freed = slot_[at];
  if (freed != last) {
    rows_.row(freed) = rows_.row(last);
    *std::find(slot_.begin(), slot_.end(), last) = freed;
  }
  slot_.erase(slot_.begin() + place);
  std::fill(depends_.begin(), depends_.end(), 0);
}

void LassoPath::refactor() {
  const std::vector<Index> support = std::move(support_);
  support_.clear();
  slot_.clear();
  factor_.clear();
  rows_.resize(0, 0);
  w_.resize(0);
  for (const Index column : support)
    if (!add(column, sign_[column])) sign_[column] = 0.0;
}

void LassoPath::note_kink(Index column, double sign) {
  kinks_.c.push_back(at_);
  kinks_.events.push_back(
      {.column = static_cast<std::int32_t>(column), .sign = static_cast<std::int32_t>(sign)});
  weights_.push_back(support_, w_);
}

bool LassoPath::renew() {
  since_renewed_ = 0;
  const auto off = [&] {
    Vector combined(2);
    combined << 1.0, -at_;
    factor_.solve(combined, w_);
    Vector weight(w_.size());
    for (std::size_t i = 0; i < slot_.size(); ++i) weight[slot_[i]] = w_[static_cast<Index>(i)];
    add_up_rows(rows_, weight.size(), weight, turn_);
    correlation_ = slope_ - turn_;
    flops_ += static_cast<double>(w_.size() * (w_.size() + 2 * columns()));
    double worst = 0.0;
    for (const Index j : support_)
      worst = std::max(worst, std::abs(correlation_[j] - sign_[j] * at_) - rounding_of(j));
    return worst / at_;
  };
  double error = off();
  if (error > kExact) {
    refactor();
    error = off();
  }
  // A weight that is 0 here has just entered.
  for (std::size_t i = 0; i < support_.size(); ++i)
    if (w_[static_cast<Index>(i)] * sign_[support_[i]] < 0.0) w_[static_cast<Index>(i)] = 0.0;
  for (Index j = 0; j < columns(); ++j)
    if (sign_[j] == 0.0 && square_[j] > 0.0)
      error = std::max(error, (std::abs(correlation_[j]) - rounding_of(j)) / at_ - 1.0);
  return error <= kTolerable;
}

LassoPath::Next LassoPath::next_event() const {
  Next next{.length = at_};
  for (std::size_t i = 0; i < support_.size(); ++i) {
    const auto k = static_cast<Index>(i);
    if (!(direction_[k] * sign_[support_[i]] < 0.0)) continue;
    const double length = std::max(-w_[k] / direction_[k], 0.0);
    if (length < next.length) next = {.length = length, .column = support_[i], .sign = 0.0, .place = k};
  }
  for (Index j = 0; j < columns(); ++j) {
    if (sign_[j] != 0.0 || depends_[static_cast<std::size_t>(j)] != 0 || !(square_[j] > 0.0)) continue;
    for (const double side : {1.0, -1.0}) {
      const double closing = 1.0 - side * turn_[j];
      // A line meets its bound once: what has just left it does not meet it again.
      if (!(closing > 0.0) || (j == just_left_ && side == left_sign_)) continue;
      const double length = std::max(at_ - side * correlation_[j], 0.0) / closing;
      if (length < next.length - (next.place < 0 ? kTogether * at_ : 0.0))
        next = {.length = length, .column = j, .sign = side};
    }
  }
  return next;
}

void LassoPath::advance(std::size_t kinks) {
  const std::size_t until = kinks_.c.size() + kinks;
  Vector signs(2);
  signs << 0.0, 1.0;
  while (state_ == State::going && kinks_.c.size() < until) {
    // As c falls by one, w moves by the direction (G + ridge)⁻¹ sign on the support, correlations by its
    // turn.
    factor_.solve(signs, direction_);
    scratch_.resize(direction_.size());
    for (std::size_t i = 0; i < slot_.size(); ++i) scratch_[slot_[i]] = direction_[static_cast<Index>(i)];
    add_up_rows(rows_, scratch_.size(), scratch_, turn_);
    flops_ += static_cast<double>(direction_.size() * (direction_.size() + 2 * columns()));
    const Next next = next_event();
    const bool stands = next.length <= kStands * at_;
    standing_ = stands ? standing_ + 1 : 0;
    if (standing_ > kMostStanding || !direction_.allFinite()) {
      state_ = State::degenerate;
      return;
    }
    w_ += next.length * direction_;
    correlation_ -= next.length * turn_;
    at_ -= next.length;
    if (next.column < 0 || at_ <= least_) {
      if (next.column < 0) at_ = 0.0;
      state_ = next.column < 0 ? State::complete : State::degenerate;
      note_kink(-1, 0.0);
      return;
    }
    if (next.place >= 0) {
      drop(next.place);
    } else if (add(next.column, next.sign)) {
      just_left_ = -1;
    } else {
      continue;  // the path goes on without it, in the same direction
    }
    note_kink(next.column, next.sign);
    if (++since_renewed_ >= kRenewal && !renew()) {
      state_ = State::degenerate;
      return;
    }
  }
}

}  // namespace yosida
