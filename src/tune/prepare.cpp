#include "yosida/tune/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "linalg/row_order.hpp"
#include "linalg/tasks.hpp"
#include "tune/row_weights.hpp"
#include "yosida/data/folds.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

std::vector<Dataset*> parts_of(Rows& rows) {
  std::vector<Dataset*> parts{&rows.train};
  if (rows.validation) parts.push_back(&*rows.validation);
  if (rows.test) parts.push_back(&*rows.test);
  return parts;
}

/// Targets are checked here and not only where the problem is made, because rows still have the places that
/// they have in the file.
void require_targets(const Dataset& data, const Model& model) {
  if (data.y.size() == 0)
    throw InputError(fmt::format("{}: no target: each row needs one to train and to judge by", data.source));
  if (model.code) return;
  const SharedLoss own = model.loss(0);
  const Loss& loss = own;
  for (Index i = 0; i < data.y.size(); ++i)
    if (!std::isnan(data.y[i]) && !loss.accepts(data.y[i]))
      throw InputError(fmt::format("{}: row {} has target {}: must be {} for --model {}", data.source, i + 1,
                                   data.y[i], loss.targets(), model.name));
}

/// A row of weight 0 is not there: no statistic, class or fold knows of it. Where all are 0, they are left
/// for a message.
void leave_out_weightless(Rows& rows) {
  const Vector given = rows.train.weight;
  const auto counts = [](const Vector& weight) {
    return [&weight](Index row) { return row < 0 || row >= weight.size() || weight[row] != 0.0; };
  };
  for (RowParts& parts : rows.parts)
    for (std::vector<Index>* part : {&parts.train, &parts.validation})
      if (std::any_of(part->begin(), part->end(), counts(given)))
        std::erase_if(*part, std::not_fn(counts(given)));
  for (Dataset* part : parts_of(rows)) {
    const Vector& weight = part->weight;
    if (!(weight.array() == 0.0).any() || !(weight.array() != 0.0).any()) continue;
    if (part == &rows.train && !rows.parts.empty()) continue;  // their numbers are those of all rows
    std::vector<Index> kept;
    for (Index i = 0; i < weight.size(); ++i)
      if (weight[i] != 0.0) kept.push_back(i);
    if (part == &rows.train && kept.size() == 1)
      throw InputError(
          fmt::format("{}: {}{} of {} rows have weight 0: at least 2 rows must count", part->source,
                      part->weight_name.empty() ? "" : fmt::format("column {}: ", part->weight_name),
                      weight.size() - 1, weight.size()));
    *part = select_rows(*part, kept);
  }
}

/// Whether rows are cross-validated.
bool has_folds_of(const Rows& rows, const ValidationOptions& validation) {
  return validation.folds || rows.train.fold.size() > 0 || !rows.parts.empty() ||
         validation.criterion == "folds";
}

/// What a criterion, or rows that stay together, do not go with, as far as the rows say it.
void verify_criterion(const Rows& rows, const ValidationOptions& validation) {
  const bool are_given = rows.train.fold.size() > 0 || !rows.parts.empty();
  if (validation.grouped && rows.train.id.empty())
    throw InputError(fmt::format("{}: --group-rows: no row has a group", rows.train.source));
  if (validation.grouped && (are_given || rows.validation))
    throw InputError(
        "--group-rows: does not go with folds or validation rows that are given: it says how they are drawn");
  if (validation.repeats > 1 && are_given)
    throw InputError("--repeats: does not go with folds that are given: only drawn ones are drawn again");
  const auto refuse = [&](const char* why) {
    throw InputError(fmt::format("--criterion {}: {}", validation.criterion, why));
  };
  if (validation.criterion == "holdout" && are_given) refuse("does not go with folds that are given");
  if (validation.criterion == "folds" && rows.validation) refuse("does not go with --valid");
  if (!validation.judges_by_rows()) return;
  if (rows.validation) refuse("does not go with --valid: all rows train, and each judges");
  if (are_given) refuse("does not go with folds that are given: every row is left out by itself");
}

void verify_parts(const Rows& rows, const ValidationOptions& validation) {
  if (rows.parts.empty()) return;
  if (validation.folds || validation.fraction || validation.test_fraction != 0.0 || rows.validation ||
      rows.train.fold.size() > 0)
    throw InputError("parts: are given, so that neither folds nor validation rows are drawn or given again");
  for (const RowParts& parts : rows.parts)
    if (parts.train.empty() || parts.validation.empty())
      throw InputError(
          fmt::format("parts: {} training and {} validation rows: each part needs at least 1 row",
                      parts.train.size(), parts.validation.size()));
}

void verify_rows(Rows& rows, const TuneOptions& options, const Model& model) {
  for (const Dataset* part : parts_of(rows)) {
    require_whole(*part);
    require_targets(*part, model);
  }
  // Before a split by classes fails on a target that has none.
  if (model.code) find_labels(rows.train, *model.code);
  const ValidationOptions& validation = options.validation;
  verify_parts(rows, validation);
  verify_criterion(rows, validation);
  if (rows.train.fold.size() > 0 && validation.folds)
    throw InputError("--folds: does not go with --fold-column: folds are drawn or given");
  if (has_folds_of(rows, validation) && (rows.validation || validation.fraction))
    throw InputError(fmt::format("{}: does not go with {}: every row is a validation row of one fold",
                                 validation.folds ? "--folds" : "--fold-column",
                                 rows.validation ? "--valid" : "--valid-fraction"));
  if (rows.validation && validation.fraction)
    throw InputError("--valid-fraction: does not go with --valid: the validation rows are given");
  if (rows.test && validation.test_fraction != 0.0)
    throw InputError("--test-fraction: does not go with --test: the test rows are given");
  if (rows.validation && validation.test_fraction != 0.0)
    throw InputError("--test-fraction: goes with --valid-fraction; give the test rows as --test FILE");
}

/// Sparse rows say only how many columns they use: all parts get the most of them. Columns with names are put
/// in the order of the training rows.
void align(Rows& rows) {
  Index most = 0;
  for (const Dataset* part : parts_of(rows)) most = std::max(most, part->features());
  for (Dataset* part : parts_of(rows)) part->x = part->x.widened(most);
  for (Dataset* part : parts_of(rows))
    if (part != &rows.train)
      align_features(*part, rows.train.feature_names, rows.train.features(), rows.train.source, false);
}

/// Draws parts, of whole groups where rows belong together.
Split drawn(const Dataset& rows, const SplitOptions& how, bool grouped) {
  return grouped ? split_grouped_rows(rows, rows.id, how) : split_rows(rows, how);
}

/// Training and validation rows; for cross-validation, and where rows judge themselves, all rows but the test
/// rows are both.
Split split_of(Rows rows, const TuneOptions& options, bool has_folds, bool stratified) {
  const ValidationOptions& validation = options.validation;
  if (rows.validation)
    return {.train = std::move(rows.train),
            .validation = std::move(*rows.validation),
            .test = std::move(rows.test)};
  Split split;
  if (!has_folds) {
    split = drawn(rows.train,
                  {.validation_fraction = validation.fraction.value_or(0.25),
                   .test_fraction = validation.test_fraction,
                   .stratified = stratified,
                   .seed = options.seed},
                  validation.grouped);
  } else if (validation.test_fraction != 0.0) {
    Split parts = drawn(
        rows.train,
        {.validation_fraction = validation.test_fraction, .stratified = stratified, .seed = options.seed},
        validation.grouped);
    split = {.train = std::move(parts.train), .validation = {}, .test = std::move(parts.validation)};
  } else {
    split.train = std::move(rows.train);
  }
  if (rows.test) split.test = std::move(rows.test);
  if (has_folds) split.validation = split.train;
  return split;
}

/// Every class must be among the training rows of every fold.
void require_classes(const std::vector<Split>& folds, const Labels& labels) {
  for (std::size_t k = 0; k < folds.size(); ++k) {
    const Vector& y = folds[k].train.y;
    for (const double label : labels.values)
      if (std::find(y.begin(), y.end(), label) == y.end())
        throw InputError(fmt::format("{}: without fold {} (of {}) no row of class {} is left to train on",
                                     folds[k].train.source, k + 1, folds.size(), label));
  }
}

/// The folds, and which rows judge in each.
void make_folds(const Dataset& rows, const std::vector<RowParts>& parts, const TuneOptions& options,
                bool stratified, Prepared& prepared) {
  constexpr Index kDefaultFolds = 5;
  for (const RowParts& each : parts) {
    prepared.folds.push_back({.train = select_rows(rows, each.train),
                              .validation = select_rows(rows, each.validation),
                              .test = {}});
    prepared.judged_rows.push_back(each.validation);
  }
  if (!parts.empty()) return;
  const ValidationOptions& validation = options.validation;
  for (Index repeat = 0; repeat < validation.repeats; ++repeat) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(repeat);
    const Index count = validation.folds.value_or(kDefaultFolds);
    const std::vector<Index> fold = rows.fold.size() > 0 ? given_folds(rows)
                                    : validation.grouped ? draw_grouped_folds(rows.id, count, seed)
                                                         : draw_folds(rows, count, stratified, seed);
    for (Split& each : fold_splits(rows, fold)) prepared.folds.push_back(std::move(each));
    const std::size_t first = prepared.judged_rows.size();
    prepared.judged_rows.resize(prepared.folds.size());
    for (std::size_t k = first; k < prepared.folds.size(); ++k)
      prepared.judged_rows[k].reserve(static_cast<std::size_t>(prepared.folds[k].validation.rows()));
    for (std::size_t i = 0; i < fold.size(); ++i)
      prepared.judged_rows[first + static_cast<std::size_t>(fold[i])].push_back(static_cast<Index>(i));
  }
  prepared.repeats = validation.repeats;
}

/// Classes get the codes of the loss; a target that is a number must vary.
void label(Prepared& prepared) {
  const std::optional<ClassCode> code = prepared.model->code;
  Split& split = prepared.split;
  if (code) {
    prepared.labels = find_labels(split.train, *code);
    require_classes(prepared.folds, *prepared.labels);
    split = map_labels(*prepared.labels, *code, std::move(split));
    for (Split& fold : prepared.folds) {
      fold.train = map_labels(*prepared.labels, *code, std::move(fold.train));
      fold.validation = map_labels(*prepared.labels, *code, std::move(fold.validation));
    }
  } else {
    require_varying_target(split.train);
    for (const Split& fold : prepared.folds) require_varying_target(fold.train);
  }
  prepared.loss = prepared.model->loss(prepared.labels ? prepared.labels->classes() : 0);
}

void weigh(Prepared& prepared, const std::string& class_weights) {
  std::optional<ClassWeights> classes;
  if (!class_weights.empty()) classes.emplace(class_weights, *prepared.labels, *prepared.model->code);
  const MeanWeights means = weigh_rows(prepared.split, classes);
  prepared.validation_weight = means.validation / means.train;
  std::vector<double>& share = prepared.validation_share;
  for (Split& fold : prepared.folds) share.push_back(weigh_rows(fold, classes).validation);
  if (share.empty()) return;
  const double most = *std::max_element(share.begin(), share.end());
  double all = 0.0;
  for (std::size_t k = 0; k < share.size(); ++k) {
    share[k] = share[k] / most * static_cast<double>(prepared.folds[k].validation.rows());
    all += share[k];
  }
  for (double& each : share) each /= all;
}

/// Each fold by its own training rows. With folds, the split holds the same rows twice.
void pretreat(Prepared& prepared, const TuneOptions& options) {
  const std::vector<XStep> x_steps = parse_x_steps(options.x);
  const auto treat = [&](Split& split) {
    Pretreatment fitted = fit_pretreatment(split.train, x_steps, prepared.y_step, options.fill_missing);
    split.train = fitted.apply(std::move(split.train));
    return fitted;
  };
  prepared.fold_y_scale.resize(prepared.folds.size());
  Split& split = prepared.split;
  const Index folds = std::ssize(prepared.folds);
  const Index numbers = split.train.rows() * split.train.features();
  linalg::run_side_by_side(folds, folds * numbers, [&](Index k) {
    const auto place = static_cast<std::size_t>(k);
    Split& fold = prepared.folds[place];
    const Pretreatment own = treat(fold);
    fold.validation = own.apply(std::move(fold.validation));
    prepared.fold_y_scale[place] = own.y_scale;
  });
  prepared.pretreatment = treat(split);
  if (prepared.folds.empty()) split.validation = prepared.pretreatment.apply(std::move(split.validation));
  if (split.test) split.test = prepared.pretreatment.apply(std::move(*split.test));
}

/// Rows are read where they are, in whatever order, and their pretreatment is carried in the products. A copy
/// of them, packed and pretreated, is read faster: rows of 50 numbers in random order take 1.4 times as long,
/// of 10 numbers 2.3 times, of 784 hardly longer. It is made where all copies together are so small that
/// nobody misses their memory. The copies of K folds are K times the data; where each row is in one part only
/// they may be larger, and larger still where rows are short and in random order.
void pack_where_it_pays(Prepared& prepared, std::optional<double> most) {
  constexpr double kMostOfFolds = 8e6, kMost = 64e6, kMostOfShortRows = 512e6;  // bytes
  constexpr double kShortRow = 512.0;
  std::vector<Dataset*> parts = {&prepared.split.train};
  if (prepared.folds.empty()) parts.push_back(&prepared.split.validation);
  if (prepared.split.test) parts.push_back(&*prepared.split.test);
  for (Split& fold : prepared.folds) parts.insert(parts.end(), {&fold.train, &fold.validation});
  double bytes = 0.0;
  double rows = 0.0;
  bool are_scattered = false;
  for (const Dataset* part : parts) {
    bytes += part->x.bytes_to_pack();
    rows += static_cast<double>(part->rows());
    are_scattered |= linalg::is_scattered(part->x);
  }
  const double each_once = are_scattered && bytes <= kShortRow * rows ? kMostOfShortRows : kMost;
  if (bytes > most.value_or(prepared.folds.empty() ? each_once : kMostOfFolds)) return;
  linalg::run_tasks(std::ssize(parts), static_cast<Index>(bytes), [&](Index i) {
    Design& x = parts[static_cast<std::size_t>(i)]->x;
    if (x.bytes_to_pack() > 0.0) x = x.packed();
  });
}

std::string target_in_words(const Dataset& train) {
  return train.target_name.empty() ? "" : fmt::format(" \"{}\"", train.target_name);
}

/// How many classes the target of no named model has; 0 where it is a number. `are_classes`: it is none.
Index classes_of(const Dataset& train, bool are_classes) {
  constexpr double kMost = 10.0, kShare = 4.0;
  constexpr Index kLeastRows = 5;
  std::map<double, Index> rows_of;  // by value
  for (const double y : train.y) {
    if (!are_classes && (std::isnan(y) || y != std::floor(y))) return 0;
    ++rows_of[y];
    if (!are_classes && static_cast<double>(rows_of.size()) > kMost) return 0;
  }
  const auto classes = static_cast<Index>(rows_of.size());
  if (are_classes || classes == 2) return classes;
  if (classes < 2) return 0;
  const double low = rows_of.begin()->first, high = rows_of.rbegin()->first;
  if ((low != 0.0 && low != 1.0) || high - low != static_cast<double>(classes - 1)) return 0;
  const double least = static_cast<double>(train.rows()) / (kShare * static_cast<double>(classes));
  for (const auto& [value, rows] : rows_of)
    if (rows < kLeastRows || static_cast<double>(rows) < least) return 0;
  return classes;
}

/// What was seen in the files, and what the target was taken for.
void add_notes(std::vector<std::string>& notes, Rows& rows, const TuneOptions& given, const Model& model) {
  for (const Dataset* part : parts_of(rows))
    for (const std::string& note : part->notes)
      notes.push_back(part == &rows.train ? note : fmt::format("{}: {}", part->source, note));
  if (given.model.empty() && model.code)
    notes.push_back(fmt::format(
        "the target{} holds classes, so --model {} is taken{}", target_in_words(rows.train), model.name,
        rows.train.table.classes.empty() ? "; --model ridge takes them for numbers" : ""));
}

void number_rows(Rows& rows) {
  for (Dataset* part : parts_of(rows)) {
    if (!part->row_number.empty()) continue;
    part->row_number.resize(static_cast<std::size_t>(part->rows()));
    std::iota(part->row_number.begin(), part->row_number.end(), Index{0});
  }
}

}  // namespace

const Model& choose_model(const Dataset& train, const TuneOptions& options) {
  const bool is_text = !train.table.classes.empty();
  if (!options.model.empty()) {
    const Model& named = model(options.model);
    if (is_text && !named.code)
      throw InputError(
          fmt::format("{}: the target{} is text: --model {} wants a number; logistic, softmax and "
                      "svm take classes",
                      train.source, target_in_words(train), named.name));
    return named;
  }
  const bool asks_for_classes = !options.class_weights.empty() || options.penalty.lambda_per == "class";
  if (train.y.size() == 0 || (options.y && !is_text)) return model("ridge");
  const Index classes = classes_of(train, is_text || asks_for_classes);
  if (!is_text && asks_for_classes && classes > 2 && 2 * classes > train.rows())
    throw InputError(fmt::format(
        "{}: is for classifications and needs classes, but the training target takes {} values in {} rows; "
        "--model softmax takes them for classes, and --model ridge for numbers, without it",
        options.class_weights.empty() ? "--lambda-per class" : "--class-weights", classes, train.rows()));
  if (options.penalty.lambda_per == "class") return model("softmax");
  return model(classes == 0 ? "ridge" : classes <= 2 ? "logistic" : "softmax");
}

Prepared prepare(Rows rows, const TuneOptions& given) {
  TuneOptions options = given;
  options.model = choose_model(rows.train, given).name;
  verify_model(options);
  Prepared prepared;
  prepared.model = &model(options.model);
  prepared.penalty = penalty_of(*prepared.model, options.penalty.kind);
  add_notes(prepared.notes, rows, given, *prepared.model);
  if (options.keep_rows || options.penalty.lambda_per == "row") number_rows(rows);
  prepared.y_step = options.y ? parse_y_step(*options.y) : prepared.model->y;
  verify_rows(rows, options, *prepared.model);
  leave_out_weightless(rows);
  align(rows);
  const bool has_folds = has_folds_of(rows, options.validation);
  const std::vector<RowParts> parts = std::move(rows.parts);
  const bool stratified = prepared.model->code.has_value();
  const bool all_train = has_folds || options.validation.judges_by_rows();
  prepared.criterion = has_folds ? "folds" : all_train ? options.validation.criterion : "holdout";
  prepared.split = split_of(std::move(rows), options, all_train, stratified);
  const Dataset& train = prepared.split.train;
  if (has_folds) make_folds(train, parts, options, stratified, prepared);
  prepared.fold_count = static_cast<Index>(prepared.folds.size());
  prepared.features = train.features();
  prepared.feature_names = train.feature_names;
  label(prepared);
  weigh(prepared, options.class_weights);
  pretreat(prepared, options);
  pack_where_it_pays(prepared, options.copy_bytes);
  // Its rows are those of training, whose targets nobody asks for twice.
  if (all_train) {
    prepared.split.validation = {};
    prepared.split.validation.x = train.x;
  }
  prepared.table = train.table;
  if (train.x.omits_zeros() && options.x == "standardize" && train.table.columns.empty())
    prepared.notes.emplace_back(
        "the sparse features are scaled without centring, so that zeros stay zeros; --x center,standardize "
        "centres them too");
  return prepared;
}

}  // namespace yosida
