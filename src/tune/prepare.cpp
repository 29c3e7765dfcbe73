#include "yosida/tune/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// Pretreatment writes to the rows, so numbers that anyone else holds are copied first. Parts of one split
/// share a buffer, which is theirs where no others do.
void own(Rows& rows) {
  std::vector<DenseDesign*> dense;
  for (Dataset* part : parts_of(rows))
    if (!part->x.is_sparse()) dense.push_back(&part->x.dense());
  const bool are_alone = std::all_of(dense.begin(), dense.end(), [&](const DenseDesign* each) {
    return each->sharers() <= std::count_if(dense.begin(), dense.end(), [&](const DenseDesign* other) {
             return each->shares_buffer_with(*other);
           });
  });
  if (are_alone) return;
  for (DenseDesign* each : dense) *each = each->unshared();
}

/// Here, and not only where the problem is made: rows still stand where the file has them.
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

void verify_rows(Rows& rows, const TuneOptions& options, const Model& model) {
  for (const Dataset* part : parts_of(rows)) {
    require_whole(*part);
    require_targets(*part, model);
  }
  // Before a split by classes fails on a target that has none.
  if (model.code) find_labels(rows.train, *model.code);
  const ValidationOptions& validation = options.validation;
  if (rows.train.fold.size() > 0 && validation.folds)
    throw InputError("--folds: does not go with --fold-column: folds are drawn or given");
  const bool has_folds = rows.train.fold.size() > 0 || validation.folds;
  if (has_folds && (rows.validation || validation.fraction))
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
  for (Dataset* part : parts_of(rows))
    if (part->x.is_sparse()) part->x.sparse().columns = most;
  for (Dataset* part : parts_of(rows))
    if (part != &rows.train)
      align_features(*part, rows.train.feature_names, rows.train.features(), rows.train.source, false);
}

/// Training and validation rows; for cross-validation all rows but the test rows are both.
Split split_of(Rows rows, const TuneOptions& options, bool has_folds, bool stratified) {
  const ValidationOptions& validation = options.validation;
  if (rows.validation)
    return {.train = std::move(rows.train),
            .validation = std::move(*rows.validation),
            .test = std::move(rows.test)};
  Split split;
  if (!has_folds) {
    split = split_rows(std::move(rows.train), {.validation_fraction = validation.fraction.value_or(0.25),
                                               .test_fraction = validation.test_fraction,
                                               .stratified = stratified,
                                               .seed = options.seed});
  } else if (validation.test_fraction != 0.0) {
    Split drawn = split_rows(
        std::move(rows.train),
        {.validation_fraction = validation.test_fraction, .stratified = stratified, .seed = options.seed});
    split = {.train = std::move(drawn.train), .validation = {}, .test = std::move(drawn.validation)};
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

std::vector<Split> folds_of(const Dataset& rows, const TuneOptions& options, bool stratified) {
  const std::optional<Index>& count = options.validation.folds;
  return fold_splits(rows, count ? draw_folds(rows, *count, stratified, options.seed) : given_folds(rows));
}

/// Classes get the codes of the loss; a target that is a number must vary.
void label(Prepared& prepared) {
  const std::optional<ClassCode> code = prepared.model->code;
  Split& split = prepared.split;
  if (code) {
    prepared.labels = find_labels(split.train, *code);
    require_classes(prepared.folds, *prepared.labels);
    map_labels(split, *code);
    for (Split& fold : prepared.folds) {
      map_labels(*prepared.labels, *code, fold.train);
      map_labels(*prepared.labels, *code, fold.validation);
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
  weigh_rows(prepared.split, classes);
  for (Split& fold : prepared.folds) weigh_rows(fold, classes);
}

/// Each fold by its own training rows. With folds, the split holds the same rows twice, in one buffer.
void pretreat(Prepared& prepared, const TuneOptions& options) {
  const std::vector<XStep> x_steps = parse_x_steps(options.x);
  const auto fit = [&](Dataset& train) {
    return fit_pretreatment(train, x_steps, prepared.y_step, options.fill_missing);
  };
  for (Split& fold : prepared.folds) fit(fold.train).apply(fold.validation);
  Split& split = prepared.split;
  prepared.pretreatment = fit(split.train);
  if (prepared.folds.empty()) {
    prepared.pretreatment.apply(split.validation);
  } else {
    split.validation = split.train;
  }
  if (split.test) prepared.pretreatment.apply(*split.test);
}

}  // namespace

Prepared prepare(Rows rows, const TuneOptions& options) {
  verify_model(options);
  Prepared prepared;
  prepared.model = &model(options.model);
  prepared.y_step = options.y ? parse_y_step(*options.y) : prepared.model->y;
  verify_rows(rows, options, *prepared.model);
  align(rows);
  own(rows);
  const bool has_folds = options.validation.folds || rows.train.fold.size() > 0;
  const bool stratified = prepared.model->code.has_value();
  prepared.split = split_of(std::move(rows), options, has_folds, stratified);
  const Dataset& train = prepared.split.train;
  if (has_folds) prepared.folds = folds_of(train, options, stratified);
  prepared.fold_count = static_cast<Index>(prepared.folds.size());
  prepared.features = train.features();
  prepared.feature_names = train.feature_names;
  label(prepared);
  weigh(prepared, options.class_weights);
  pretreat(prepared, options);
  if (train.x.is_sparse() && options.x == "standardize")
    prepared.note =
        "the sparse features are scaled without centring, so that zeros stay zeros; --dense centres them too";
  return prepared;
}

}  // namespace yosida
