#include "yosida/tune/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "linalg/gram.hpp"
#include "linalg/row_numbers.hpp"
#include "linalg/tasks.hpp"
#include "solver/target_search.hpp"
#include "tune/penalty_groups.hpp"
#include "tune/reports.hpp"
#include "yosida/error.hpp"
#include "yosida/model/models.hpp"
#include "yosida/settings.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida {
namespace {

/// The rows are held as numbers, with a few matrices of their size beside them.
constexpr double kMostNumbers = 2e8;

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw InputError(fmt::format("{}: {}", option, why));
}

/// What several targets do not go with.
void verify_options(const TuneOptions& options) {
  const std::string several = "does not go with several targets: ";
  if (options.model != "ridge")
    refuse("--model " + options.model, several + "it must be ridge, whose targets share one factorisation");
  if (!options.penalty.kind.empty() && options.penalty.kind != "l2")
    refuse("--penalty " + options.penalty.kind, several + "it must be l2");
  const std::string& per = options.penalty.lambda_per;
  if (!per.empty() && per != "shared" && per != "target" && per != "group")
    refuse("--lambda-per " + per, several + "it must be shared, target or group");
  if (options.method != kDefaultMethod)
    refuse("--method " + options.method, several + fmt::format("it must be {}", kDefaultMethod));
  if (options.oracle) refuse("--oracle", several + "it searches one lambda");
  if (options.trust.report || options.trust.rule != Rule::minimum || options.trust.nested ||
      options.trust.chooses_shrinkage)
    refuse("--trust, --rule, --nested", several + "tune such a target by itself");
  if (options.limits.gradients || options.limits.iterations)
    refuse("--budget-gradients, --max-iterations", several + "their searches share products of matrices");
}

/// Every number must be there, and each target vary.
void verify_targets(const Targets& targets, const Rows& rows) {
  if (static_cast<Index>(targets.names.size()) != targets.count() || targets.count() == 0)
    throw InputError(fmt::format("targets: {} names for {} columns", targets.names.size(), targets.count()));
  std::vector<std::string> sorted = targets.names;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw InputError(fmt::format("targets: \"{}\" is named twice", *twice));
  const auto check = [&](const Matrix& y, const Dataset& part) {
    if (y.rows() != part.rows() || y.cols() != targets.count())
      throw InputError(fmt::format("{}: {} rows and {} targets of {} rows: each row needs {} targets",
                                   part.source, part.rows(), y.cols(), y.rows(), targets.count()));
    for (Index i = 0; i < y.rows(); ++i)
      for (Index t = 0; t < y.cols(); ++t)
        if (!std::isfinite(y(i, t)))
          throw InputError(fmt::format("{}: row {} has target \"{}\" = {}: must be a finite number",
                                       part.source, i + 1, targets.names[static_cast<std::size_t>(t)],
                                       y(i, t)));
  };
  check(targets.train, rows.train);
  if (rows.validation) check(targets.validation, *rows.validation);
  if (rows.test) check(targets.test, *rows.test);
  for (Index t = 0; t < targets.count(); ++t)
    if ((targets.train.col(t).array() == targets.train(0, t)).all())
      throw InputError(
          fmt::format("{}: target \"{}\" is {} in every training row: a constant target cannot be "
                      "learned",
                      rows.train.source, targets.names[static_cast<std::size_t>(t)], targets.train(0, t)));
}

/// What is done to each target, by the training rows.
struct TargetSteps {
  Eigen::RowVectorXd shift, scale;

  TargetSteps(const Matrix& y, const Vector& weight, YStep step)
      : shift(Eigen::RowVectorXd::Zero(y.cols())), scale(Eigen::RowVectorXd::Ones(y.cols())) {
    if (step == YStep::raw) return;
    const auto n = static_cast<double>(y.rows());
    const Vector share = weight.size() > 0 ? Vector(weight / n) : Vector(Vector::Constant(y.rows(), 1.0 / n));
    shift = share.transpose() * y;
    if (step == YStep::center) return;
    scale = (share.transpose() * (y.rowwise() - shift).cwiseAbs2()).cwiseSqrt();
    scale = (scale.array() > 0.0).select(scale, 1.0);
  }
  Matrix apply(const Matrix& y) const { return (y.rowwise() - shift).array().rowwise() / scale.array(); }
};

/// A part of the rows without what reports and factors do not look at.
Dataset bare(const Dataset& rows) {
  Dataset part;
  part.x = rows.x;
  part.weight = rows.weight;
  part.source = rows.source;
  return part;
}

/// The targets of a part, which knows the numbers of its rows.
Matrix rows_named(const Matrix& all, const Dataset& part) {
  Matrix own(part.rows(), all.cols());
  for (Index i = 0; i < part.rows(); ++i) own.row(i) = all.row(part.row_number[static_cast<std::size_t>(i)]);
  return own;
}

/// Rows with their targets, pretreated.
struct PreparedPart {
  Dataset rows;
  Matrix y;

  PreparedPart() = default;
  PreparedPart(const Dataset& part, const Matrix& all, const TargetSteps& steps)
      : rows(bare(part)), y(steps.apply(rows_named(all, part))) {}
  TargetRows numbers() const { return {to_matrix(rows.x), y, rows.weight}; }
};

void number(Dataset& rows) {
  rows.row_number.resize(static_cast<std::size_t>(rows.rows()));
  std::iota(rows.row_number.begin(), rows.row_number.end(), Index{0});
}

/// Several targets on prepared rows, one λ on all weights of a target.
class TargetProblem {
 public:
  TargetProblem(Prepared data, const Targets& targets, bool intercept)
      : data_(std::move(data)), intercept_(intercept), steps_(steps_of(data_.split.train, targets.train)) {
    const double numbers = static_cast<double>(data_.split.train.rows()) *
                           static_cast<double>(data_.split.train.features()) *
                           static_cast<double>(std::max<Index>(data_.fold_count, 1));
    if (numbers > kMostNumbers)
      throw InputError(
          fmt::format("targets: {:.2g} numbers in the rows of all parts: several targets are tuned "
                      "from factors of the rows, of at most {:g}",
                      numbers, kMostNumbers));
    const Matrix& judged = targets.validation.size() > 0 ? targets.validation : targets.train;
    train_ = {data_.split.train, targets.train, steps_};
    if (data_.criterion == "holdout") validation_ = {data_.split.validation, judged, steps_};
    if (data_.split.test)
      test_.emplace(*data_.split.test, targets.test.size() > 0 ? targets.test : targets.train, steps_);
    for (const Split& fold : data_.folds) {
      fold_steps_.push_back(steps_of(fold.train, targets.train));
      folds_.push_back({PreparedPart(fold.train, targets.train, fold_steps_.back()),
                        PreparedPart(fold.validation, targets.train, fold_steps_.back())});
    }
  }

  const Prepared& data() const { return data_; }
  const TargetSteps& steps() const { return steps_; }
  bool always_refits() const { return data_.criterion != "holdout"; }
  Index rows() const { return train_.rows.rows(); }
  Index validation_rows() const { return validation_.rows.rows(); }
  Index test_rows() const { return test_ ? test_->rows.rows() : 0; }

  /// Columns of the rows are multiplied by these first.
  ManyTargets criterion(const Vector& column_scale = {}) const {
    const auto scaled = [&](const PreparedPart& part) {
      TargetRows rows = part.numbers();
      if (column_scale.size() > 0) rows.x = rows.x * column_scale.asDiagonal();
      return rows;
    };
    using Criterion = ManyTargets::Criterion;
    if (data_.criterion == "loo") return {scaled(train_), intercept_, Criterion::leave_one_out};
    if (data_.criterion == "gcv") return {scaled(train_), intercept_, Criterion::generalised};
    std::vector<ManyTargets::Part> parts;
    for (std::size_t k = 0; k < folds_.size(); ++k)
      parts.push_back({scaled(folds_[k].train), scaled(folds_[k].validation), data_.validation_share[k]});
    if (parts.empty()) parts.push_back({scaled(train_), scaled(validation_)});
    return {parts, intercept_};
  }

  /// The variance of each pretreated target over the training rows.
  Vector variances() const {
    const TargetSteps spread(train_.y, train_.rows.weight, YStep::standardize);
    return spread.scale.cwiseAbs2().transpose();
  }

  /// Weights and intercepts on training and validation rows together, or on all rows.
  Matrix refit(const Vector& lambda) const {
    if (always_refits()) return FactoredRows(train_.numbers(), intercept_).weights(lambda);
    TargetRows both;
    const Design all = stack_rows(train_.rows.x, validation_.rows.x);
    both.x = to_matrix(all);
    both.y.resize(both.x.rows(), train_.y.cols());
    both.y << train_.y, validation_.y;
    const auto weight = [](const PreparedPart& part) {
      return part.rows.weight.size() > 0 ? part.rows.weight : Vector(Vector::Ones(part.rows.rows()));
    };
    both.weight.resize(both.x.rows());
    both.weight << weight(train_), data_.validation_weight * weight(validation_);
    both.weight /= mean_of(all, both.weight);
    return FactoredRows(both, intercept_).weights(lambda);
  }

  /// ‖∇L_T‖ of the weights of each target on the training rows, relative to that of no weights.
  Vector inner_gradients(const Matrix& w, const Vector& lambda) const {
    const Index d = w.rows() - 1;
    const Matrix x = to_matrix(train_.rows.x);
    const auto n = static_cast<double>(x.rows());
    const Vector share = train_.rows.weight.size() > 0 ? Vector(train_.rows.weight / n)
                                                       : Vector(Vector::Constant(x.rows(), 1.0 / n));
    Matrix residual = x * w.topRows(d) - train_.y;
    residual.rowwise() += w.row(d);
    Matrix zero = -train_.y;
    if (intercept_) zero.rowwise() += share.transpose() * train_.y;
    const Matrix gradient = x.transpose() * (share.asDiagonal() * residual) +
                            w.topRows(d) * (2.0 * lambda.array().exp()).matrix().asDiagonal();
    const Matrix at_zero = x.transpose() * (share.asDiagonal() * zero);
    Vector relative = gradient.colwise().norm().transpose();
    if (intercept_)
      relative =
          (relative.array().square() + (share.transpose() * residual).transpose().array().square()).sqrt();
    const Vector unit = at_zero.colwise().norm().transpose();
    return (unit.array() > 0.0).select(relative.array() / unit.array(), relative.array());
  }

  /// A report for each target, by weights whose last row are the intercepts.
  std::vector<Report> reports(const Matrix& w) const {
    const auto margins = [&](const PreparedPart& part) { return margins_of(part, w); };
    const Matrix train = margins(train_);
    const Matrix validation = validation_.rows.rows() > 0 ? margins(validation_) : Matrix();
    const Matrix test = test_ ? margins(*test_) : Matrix();
    return for_each_target([&](Index t) {
      Report report{.train = part_report(train_, train, steps_, t)};
      if (validation.size() > 0) report.validation = part_report(validation_, validation, steps_, t);
      if (test_) report.test = part_report(*test_, test, steps_, t);
      return report;
    });
  }

  /// With folds the means over them, by the weights of each; where rows judge themselves, by what they lose.
  std::vector<Report> judged_reports(const ManyTargets& criterion, const Vector& lambda) const {
    if (data_.criterion == "holdout") return reports(criterion.trained()[0].weights(lambda));
    if (folds_.empty()) {
      std::vector<Report> all = reports(criterion.trained()[0].weights(criterion.own(lambda)));
      std::vector<Index> every(static_cast<std::size_t>(lambda.size()));
      std::iota(every.begin(), every.end(), Index{0});
      const Matrix m = train_.y - criterion.left_out_residuals(every, lambda);
      for (Index t = 0; t < lambda.size(); ++t)
        all[static_cast<std::size_t>(t)].validation = part_report(train_, m, steps_, t);
      return all;
    }
    std::vector<Matrix> train, validation;
    for (std::size_t k = 0; k < folds_.size(); ++k) {
      const Matrix w = criterion.trained()[k].weights(lambda);
      train.push_back(margins_of(folds_[k].train, w));
      validation.push_back(margins_of(folds_[k].validation, w));
    }
    return for_each_target([&](Index t) {
      std::vector<Report> of_folds;
      for (std::size_t k = 0; k < folds_.size(); ++k)
        of_folds.push_back(
            {.train = part_report(folds_[k].train, train[k], fold_steps_[k], t),
             .validation = part_report(folds_[k].validation, validation[k], fold_steps_[k], t)});
      return mean_report(of_folds, data_.validation_share);
    });
  }

 private:
  struct Fold {
    PreparedPart train, validation;
  };
  TargetSteps steps_of(const Dataset& train, const Matrix& y) const {
    return {rows_named(y, train), train.weight, data_.y_step};
  }
  static Matrix margins_of(const PreparedPart& part, const Matrix& w) {
    const Index d = w.rows() - 1;
    Matrix m = multiplied(part.rows.x, w.topRows(d));
    m.rowwise() += w.row(d);
    return m;
  }
  PartReport part_report(const PreparedPart& part, const Matrix& margins, const TargetSteps& steps,
                         Index t) const {
    Dataset own = part.rows;
    own.y = part.y.col(t);
    const Vector m = margins.col(t);
    const Eigen::ArrayXd square = (m - own.y).array().square();
    const double mean = own.weight.size() > 0 ? (square * own.weight.array()).mean() : square.mean();
    return report_margins(own, *data_.loss, steps.scale[t], m, 0.5 * mean);
  }
  template <typename Make>
  std::vector<Report> for_each_target(const Make& make) const {
    std::vector<Report> all(static_cast<std::size_t>(train_.y.cols()));
    linalg::run_tasks(train_.y.cols(), train_.y.size() * 64,
                      [&](Index t) { all[static_cast<std::size_t>(t)] = make(t); });
    return all;
  }

  Prepared data_;
  bool intercept_;
  TargetSteps steps_;
  PreparedPart train_, validation_;
  std::optional<PreparedPart> test_;
  std::vector<Fold> folds_;
  std::vector<TargetSteps> fold_steps_;
};

/// The model of weights and intercepts (last) of pretreated targets, in the units of these.
FittedModel model_of(const Prepared& data, const TargetSteps& steps, const Matrix& w,
                     const std::vector<std::string>& names, const std::string& method) {
  const Index d = w.rows() - 1;
  FittedModel model{.model = "ridge",
                    .method = method,
                    .lambda = {},
                    .weights = w.topRows(d) * steps.scale.asDiagonal(),
                    .intercept = (w.row(d).array() * steps.scale.array() + steps.shift.array()).transpose(),
                    .pretreatment = data.pretreatment,
                    .features = data.features,
                    .feature_names = data.feature_names,
                    .target_name = "",
                    .labels = {},
                    .table = data.table,
                    .target_names = names};
  model.pretreatment.y_shift = 0.0;
  model.pretreatment.y_scale = 1.0;
  return model;
}

TargetRange range_of(const ManyTargets& criterion, const TuneOptions& options) {
  if (options.bounds) return {{options.bounds->low, options.bounds->high}, true};
  return {criterion.bounds()};
}

std::vector<Index> all_of(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// One λ for each target, or one for all of them.
void tune_levels(const TargetProblem& problem, const TuneOptions& options, TunedTargets& tuned) {
  const ManyTargets criterion = problem.criterion();
  const TargetRange where = range_of(criterion, options);
  const Index count = criterion.targets();
  std::vector<TargetAnswer> answers;
  if (tuned.is_shared) {
    answers.assign(static_cast<std::size_t>(count),
                   search_shared_lambda(criterion, where, problem.variances().cwiseInverse(), options.stop));
  } else {
    answers = search_each_target(criterion, where, options.stop);
  }
  Vector lambda(count);
  for (Index t = 0; t < count; ++t) lambda[t] = answers[static_cast<std::size_t>(t)].lambda;
  const std::vector<Index> every = all_of(count);
  const Vector scales = criterion.certificate_scales(every, lambda);
  const ManyTargets::Points at = criterion.at(every, lambda);
  const bool refits = problem.always_refits() || options.refit;
  const Matrix w = refits ? problem.refit(lambda) : criterion.trained()[0].weights(lambda);
  const Vector inner =
      problem.inner_gradients(problem.always_refits() ? w : criterion.trained()[0].weights(lambda), lambda);
  const std::vector<Report> judged = problem.judged_reports(criterion, lambda);
  const std::vector<Report> refitted = refits ? problem.reports(w) : std::vector<Report>();
  for (Index t = 0; t < count; ++t) {
    const auto place = static_cast<std::size_t>(t);
    TunedTarget& target = tuned.targets[place];
    target.lambda = Vector::Constant(1, lambda[t]);
    target.criterion = at.value[t];
    target.certificate = certify_target(answers[place], tuned.is_shared ? scales.maxCoeff() : scales[t],
                                        tuned.is_shared ? inner.maxCoeff() : inner[t]);
    target.report = judged[place];
    if (refits) target.refit = refitted[place];
  }
  tuned.model = model_of(problem.data(), problem.steps(), w, tuned.model.target_names, options.method);
}

/// How penalties are shared out among groups where targets start: equal, and one group after the other with
/// nearly none. A row for each, e^−λ of the groups relative to each other.
Matrix shared_directions(Index groups) {
  constexpr double kSmall = 0.02;
  Matrix all = Matrix::Constant(groups > 1 ? groups + 1 : 1, groups, kSmall);
  all.row(0).setOnes();
  for (Index g = 0; g < groups && groups > 1; ++g) all(g + 1, g) = 1.0;
  return all;
}

/// λ of each group and target at the best of the shared directions: one factorisation each.
Matrix banded_starts(const TargetProblem& problem, const NamedPenalty& penalty, const TuneOptions& options,
                     Index count) {
  const Index groups = penalty.penalty.groups();
  const Matrix directions = shared_directions(groups);
  Matrix lambda(count, groups);
  Vector best = Vector::Constant(count, std::numeric_limits<double>::infinity());
  for (Index k = 0; k < directions.rows(); ++k) {
    Vector scale = Vector::Ones(penalty.penalty.weights());
    for (Index j = 0; j < scale.size(); ++j)
      if (const Index g = penalty.penalty.group(j); g != Penalty::kNone)
        scale[j] = std::sqrt(directions(k, g));
    const ManyTargets criterion = problem.criterion(scale);
    const std::vector<TargetAnswer> answers =
        search_each_target(criterion, range_of(criterion, options), options.stop);
    for (Index t = 0; t < count; ++t) {
      const TargetAnswer& answer = answers[static_cast<std::size_t>(t)];
      if (!(answer.value < best[t])) continue;
      best[t] = answer.value;
      lambda.row(t) = answer.lambda - directions.row(k).array().log();
    }
  }
  return lambda;
}

/// One λ for each group and target: every target by itself, from the best shared direction.
void tune_bands(const TargetProblem& problem, const Rows& rows, const Targets& targets,
                const TuneOptions& options, TunedTargets& tuned) {
  const NamedPenalty penalty = make_penalty(options, problem.data());
  const Index count = targets.count();
  const Matrix starts = banded_starts(problem, penalty, options, count);
  tuned.lambda_names = penalty.names;
  Matrix w(problem.data().split.train.features() + 1, count);
  std::vector<std::string> failures(static_cast<std::size_t>(count));
  TargetSteps steps = problem.steps();
  constexpr Index kManyOperations = Index{1} << 40;
  linalg::run_tasks(count, kManyOperations, [&](Index t) {
    const auto place = static_cast<std::size_t>(t);
    Rows own = rows;
    own.train.y = targets.train.col(t);
    if (own.validation) own.validation->y = targets.validation.col(t);
    if (own.test) own.test->y = targets.test.col(t);
    TuneOptions from = options;
    from.lambda_start = starts.row(t).transpose();
    const TuneProblem single(std::move(own), from);
    Tuned found = run_method(single, from);
    complete(found, single, from);
    TunedTarget& target = tuned.targets[place];
    target.lambda = found.lambda();
    target.criterion = found.outcome.best.loss.validation;
    target.certificate = found.certificate;
    target.report = found.best;
    target.refit = found.refit;
    for (const std::string& warning : found.warnings) failures[place] += warning;
    if (!found.model) return;
    w.col(t) << found.model->weights.col(0), found.model->intercept;
    steps.shift[t] = found.model->pretreatment.y_shift;
    steps.scale[t] = found.model->pretreatment.y_scale;
  });
  for (std::size_t t = 0; t < failures.size(); ++t)
    if (!failures[t].empty())
      tuned.warnings.push_back(fmt::format("{}: {}", tuned.targets[t].name, failures[t]));
  tuned.model = model_of(problem.data(), steps, w, tuned.model.target_names, options.method);
}

Report mean_of_targets(const std::vector<TunedTarget>& targets, bool refitted) {
  std::vector<Report> all;
  for (const TunedTarget& target : targets) all.push_back(refitted ? *target.refit : target.report);
  return mean_report(all, std::vector<double>(all.size(), 1.0 / static_cast<double>(all.size())));
}

/// Where a column of this name or index stands among the features, of a file whose target was column `first`.
Index place_of(const Dataset& rows, const std::string& name, std::optional<Index> first) {
  const auto& names = rows.feature_names;
  if (const auto found = std::find(names.begin(), names.end(), name); found != names.end())
    return static_cast<Index>(found - names.begin());
  for (const TableColumn& column : rows.table.columns)
    if (column.name == name && column.kind == ColumnKind::category)
      throw InputError(
          fmt::format("{}: target \"{}\" is text: several targets must be numbers", rows.source, name));
  double index = 0.0;
  const Index all = rows.features() + 1;
  const bool is_index =
      first && settings::parse_real(name, {-1e9, false}, index) && index == std::floor(index);
  if (is_index && index < 0.0) index += static_cast<double>(all);
  if (!is_index || index < 0.0 || index >= static_cast<double>(all))
    throw InputError(fmt::format("{}: there is no column \"{}\" to be a target", rows.source, name));
  const auto place = static_cast<Index>(index);
  if (place == *first)
    throw InputError(fmt::format("--target: column {} of {} is named twice", place, rows.source));
  return place - (place > *first ? 1 : 0);
}

/// The columns at these places become the targets of a part, behind its own.
Matrix take_columns(Dataset& rows, const std::vector<Index>& places) {
  const Matrix all = to_matrix(rows.x);
  Matrix y(all.rows(), static_cast<Index>(places.size()) + 1), x(all.rows(), all.cols() - std::ssize(places));
  y.col(0) = rows.y;
  std::vector<std::string> names;
  for (Index j = 0, next = 0; j < all.cols(); ++j) {
    const auto found = std::find(places.begin(), places.end(), j);
    if (found != places.end()) {
      y.col(found - places.begin() + 1) = all.col(j);
      continue;
    }
    x.col(next++) = all.col(j);
    if (!rows.feature_names.empty()) names.push_back(rows.feature_names[static_cast<std::size_t>(j)]);
  }
  rows.x = Design(std::move(x));
  rows.feature_names = std::move(names);
  return y;
}

}  // namespace

std::vector<std::string> split_targets(const std::string& text) {
  std::vector<std::string> names(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  if (quoted) throw InputError(fmt::format("--target {}: a quotation mark is not closed", text));
  if (names.size() > 1 && std::find(names.begin(), names.end(), "") != names.end())
    throw InputError(fmt::format("--target {}: a name is empty", text));
  return names;
}

Targets take_targets(Rows& rows, const std::vector<std::string>& names) {
  Targets targets{.names = names, .train = {}};
  std::optional<Index> first;
  double index = 0.0;
  if (settings::parse_real(names[0], {-1e9, false}, index) && index == std::floor(index))
    first =
        static_cast<Index>(index < 0.0 ? index + static_cast<double>(rows.train.features()) + 1.0 : index);
  if (!rows.train.target_name.empty()) targets.names[0] = rows.train.target_name;
  const auto take = [&](Dataset& part) {
    std::vector<Index> places;
    for (std::size_t k = 1; k < names.size(); ++k) {
      if (names[k] == names[0] || std::count(names.begin(), names.end(), names[k]) > 1)
        throw InputError(fmt::format("--target: \"{}\" is named twice", names[k]));
      places.push_back(place_of(part, names[k], first));
      if (!part.feature_names.empty())
        targets.names[k] = part.feature_names[static_cast<std::size_t>(places.back())];
    }
    std::vector<TableColumn>& columns = part.table.columns;
    std::erase_if(columns, [&](const TableColumn& column) {
      return std::find(targets.names.begin() + 1, targets.names.end(), column.name) != targets.names.end();
    });
    return take_columns(part, places);
  };
  if (!rows.train.table.classes.empty())
    throw InputError(fmt::format("{}: target \"{}\" is text: several targets must be numbers",
                                 rows.train.source, names[0]));
  targets.train = take(rows.train);
  if (rows.validation) targets.validation = take(*rows.validation);
  if (rows.test) targets.test = take(*rows.test);
  return targets;
}

TunedTargets tune_targets(Rows rows, Targets targets, const TuneOptions& given) {
  const auto begin = std::chrono::steady_clock::now();
  TuneOptions options = given;
  if (options.model.empty()) options.model = "ridge";
  verify_options(options);
  const bool is_banded = options.penalty.lambda_per == "group" ||
                         (options.penalty.lambda_per.empty() &&
                          (!options.penalty.groups.empty() || !options.penalty.groups_file.empty()));
  if (!is_banded && !options.penalty.unpenalised.empty())
    refuse("--unpenalised", "with several targets goes with groups");
  TunedTargets tuned;
  tuned.is_shared = options.penalty.lambda_per == "shared";
  options.penalty.lambda_per = is_banded ? "group" : "";
  verify_run(options);
  verify_targets(targets, rows);
  number(rows.train);
  rows.train.y = targets.train.col(0);
  if (rows.validation) {
    number(*rows.validation);
    rows.validation->y = targets.validation.col(0);
  }
  if (rows.test) {
    number(*rows.test);
    rows.test->y = targets.test.col(0);
  }
  const Rows again = is_banded ? rows : Rows{};
  const TargetProblem problem(prepare(std::move(rows), options), targets, options.intercept);
  for (const std::string& name : targets.names)
    tuned.targets.push_back({.name = name, .lambda = {}, .report = {}});
  tuned.model.target_names = targets.names;
  tuned.lambda_names = {"all"};
  if (is_banded) {
    tune_bands(problem, again, targets, options, tuned);
  } else {
    tune_levels(problem, options, tuned);
  }
  for (const TunedTarget& target : tuned.targets)
    tuned.model.lambda.insert(tuned.model.lambda.end(), target.lambda.begin(), target.lambda.end());
  tuned.criterion = problem.data().criterion;
  tuned.notes = problem.data().notes;
  tuned.rows = problem.rows();
  tuned.validation_rows = problem.validation_rows();
  tuned.test_rows = problem.test_rows();
  tuned.folds = problem.data().fold_count;
  tuned.mean = mean_of_targets(tuned.targets, false);
  if (tuned.targets[0].refit) tuned.mean_refit = mean_of_targets(tuned.targets, true);
  tuned.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return tuned;
}

}  // namespace yosida
