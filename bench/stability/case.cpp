#include "case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "random_draw.hpp"
#include "yosida/data/folds.hpp"
#include "yosida/data/pretreatment.hpp"
#include "yosida/error.hpp"

namespace yosida::bench {
namespace {

Size size_of(const std::string& model) {
  if (model == "ridge") return Size::large;
  return model == "softmax" || model == "elastic-net" ? Size::small : Size::medium;
}

/// Kinds of the same seed have nothing in common (FNV-1a of the name).
std::uint64_t seed_of(const std::string& kind_name, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char each : kind_name) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211ULL;
  return hash ^ seed;
}

template <typename T>
const T& pick(const std::vector<T>& values, Random& random) {
  return values[random.below(values.size())];
}

std::string draw_model(const std::vector<std::string>& all, const CaseOptions& options, Random& random,
                       const std::string& kind) {
  std::vector<std::string> possible;
  for (const std::string& each : all) {
    const bool is_asked_for =
        options.models.empty() ||
        std::find(options.models.begin(), options.models.end(), each) != options.models.end();
    const bool has_groups = model(each).penalty == PenaltyForm::l2;
    if (is_asked_for && (has_groups || options.sharing == Sharing::one)) possible.push_back(each);
  }
  if (possible.empty())
    throw InputError(fmt::format("models: kind {} has none of them with such lambdas", kind));
  return pick(possible, random);
}

/// The target that a model wants, from signals and noise or from the classes that the rows have.
Vector target_of(const DrawnRows& rows, const std::string& name, double noise, Random& random) {
  const Index n = rows.x.rows();
  Vector y(n);
  for (Index i = 0; i < n; ++i) {
    const double signal = rows.signals.size() > 0 ? rows.signals(i, 0) + noise * random.normal() : 0.0;
    const bool has_label = !rows.label.empty();
    if (name == "softmax") {
      Index best = has_label ? rows.label[static_cast<std::size_t>(i)] : 0;
      if (!has_label) {
        Vector scores = rows.signals.row(i).transpose();
        for (double& score : scores) score += noise * random.normal();
        scores.maxCoeff(&best);
      }
      y[i] = static_cast<double>(best);
    } else if (name == "logistic" || name == "svm") {
      const bool is_second = has_label ? rows.label[static_cast<std::size_t>(i)] > 0 : signal > 0.0;
      y[i] = is_second ? 1.0 : -1.0;
    } else if (name == "poisson") {
      const double log_mean = 0.7 + 0.7 * rows.signals(i, 0) + 0.2 * std::min(noise, 2.0) * random.normal();
      y[i] = poisson_count(random, std::exp(std::min(log_mean, 3.4)));
    } else if (name == "huber") {
      y[i] = signal + (random.uniform() < 0.05 ? 10.0 * random.normal() : 0.0);
    } else {
      y[i] = signal;
    }
  }
  return y;
}

/// Every class in at least so many rows, so that each fold can train and validate on it.
void fill_classes(Vector& y, const std::vector<double>& classes, Index least) {
  Index next = 0;
  for (const double each : classes) {
    auto count = std::count(y.begin(), y.end(), each);
    for (; count < least && next < y.size(); ++next) {
      if (y[next] == each || std::count(y.begin(), y.end(), y[next]) <= least) continue;
      y[next] = each;
      ++count;
    }
  }
}

std::optional<Penalty> draw_penalty(const Case& drawn, Index features, Random& random) {
  if (drawn.model->penalty != PenaltyForm::l2) return {};
  const Index outputs = drawn.loss->outputs();
  if (drawn.sharing == Sharing::one) return Penalty::shared(features * outputs);
  if (drawn.sharing == Sharing::feature) return Penalty::per_feature(features, outputs);
  if (outputs > 1) return Penalty::per_class(features, outputs);
  const Index groups = std::min<Index>(features, 2 + static_cast<Index>(random.below(4)));
  std::vector<Index> group(static_cast<std::size_t>(features));
  for (std::size_t j = 0; j < group.size(); ++j)
    group[j] = j < static_cast<std::size_t>(groups)
                   ? static_cast<Index>(j)
                   : static_cast<Index>(random.below(static_cast<std::uint64_t>(groups)));
  return Penalty::by_group(group, groups);
}

void split_and_pretreat(Case& drawn, Dataset data, const std::string& x_steps, YStep y_step, Random& random) {
  const bool is_classes = drawn.loss->is_classification();
  if (drawn.folds > 0) {
    drawn.splits = fold_splits(data, draw_folds(data, drawn.folds, is_classes, drawn.seed));
  } else {
    drawn.splits.push_back(split_rows(
        data,
        {.validation_fraction = uniform(random, 0.2, 0.4), .stratified = is_classes, .seed = drawn.seed}));
  }
  double rows = 0.0;
  for (Split& split : drawn.splits) {
    const Pretreatment fitted = fit_pretreatment(split.train, parse_x_steps(x_steps), y_step);
    split.train = fitted.apply(split.train);
    split.validation = fitted.apply(split.validation);
    rows += static_cast<double>(split.validation.rows());
  }
  for (const Split& split : drawn.splits)
    drawn.share.push_back(static_cast<double>(split.validation.rows()) / rows);
}

/// The draws of the sweep of methods, as a case: the same problem from the same start.
Case draw_random_case(std::uint64_t seed) {
  constexpr Index kLargestLogistic = 300;
  const Draw draw = draw_random(seed, kLargestLogistic);
  Case drawn;
  drawn.kind = "random";
  drawn.seed = seed;
  drawn.model = &model(draw.is_logistic() ? "logistic" : "ridge");
  drawn.loss = draw.problem->loss();
  drawn.splits.push_back(draw.problem->split());
  drawn.share = {1.0};
  drawn.intercept = draw.problem->intercepts() > 0;
  drawn.penalty = draw.problem->penalty();
  drawn.lambda0 = draw.lambda0;
  drawn.text = draw.text();
  return drawn;
}

}  // namespace

Case draw_case(const std::string& kind_name, std::uint64_t seed, const CaseOptions& options) {
  if (kind_name == "random") return draw_random_case(seed);
  const Kind& from = kind(kind_name);
  Random random(seed_of(kind_name, seed));
  Case drawn;
  drawn.kind = kind_name;
  drawn.seed = seed;
  drawn.sharing = options.sharing;
  const std::string name = draw_model(from.models, options, random, kind_name);
  drawn.model = &model(name);
  const bool is_hold_out = random.below(2) == 0;
  // A softmax and the elastic net take the longest to scan.
  const auto k = 3 + static_cast<Index>(random.below(size_of(name) == Size::small ? 3 : 8));
  drawn.folds = options.folds == Folds::hold_out || (options.folds == Folds::any && is_hold_out) ? 0 : k;
  drawn.intercept = random.below(4) != 0;
  const std::string x_steps = pick(from.x_steps, random);
  const bool is_raw_target = random.below(3) == 0;
  const YStep y_step = is_raw_target && drawn.model->y_may_change ? YStep::raw : drawn.model->y;
  const double noise = log_uniform(random, 0.03, 3.0);

  const DrawnRows rows = from.draw(random, size_of(name));
  Dataset data;
  data.y = target_of(rows, name, noise, random);
  const Index least = std::max<Index>(drawn.folds, 4);
  const Index classes = rows.classes > 0 ? rows.classes : 3;
  if (name == "softmax") {
    std::vector<double> all;
    for (Index c = 0; c < classes; ++c) all.push_back(static_cast<double>(c));
    fill_classes(data.y, all, least);
  } else if (drawn.model->code) {
    fill_classes(data.y, {-1.0, 1.0}, least);
  }
  data.x = Design(rows.x);
  data.source = fmt::format("{} {}", kind_name, seed);
  drawn.loss = drawn.model->loss(classes);
  drawn.penalty = draw_penalty(drawn, rows.x.cols(), random);
  drawn.text = fmt::format("{} {} x {} ({}), {}, {}x {}, noise {:.2g}", name, rows.x.rows(), rows.x.cols(),
                           rows.shape, drawn.folds > 0 ? fmt::format("{} folds", drawn.folds) : "hold-out",
                           drawn.intercept ? "intercept, " : "", x_steps, noise);
  split_and_pretreat(drawn, std::move(data), x_steps, y_step, random);
  return drawn;
}

}  // namespace yosida::bench
