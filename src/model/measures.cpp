#include "yosida/model/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "linalg/row_numbers.hpp"
#include "model/metrics.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida {
namespace {

bool has_numbers(const Loss& loss) { return !loss.is_classification(); }
bool has_classes(const Loss& loss) { return loss.is_classification(); }
bool has_two_classes(const Loss& loss) { return loss.is_classification() && loss.outputs() == 1; }
bool has_probabilities(const Loss& loss) {
  return loss.link() == Link::probability || loss.link() == Link::softmax;
}
/// The loss is half a deviance, or the log likelihood of classes.
bool has_deviance(const Loss& loss) {
  return loss.is_quadratic() || loss.link() == Link::exponential || has_probabilities(loss);
}

/// The expected targets, which margins are already for some losses; `place` holds those of others.
const Vector& expected(const Predicted& rows, Vector& place) {
  if (rows.loss.link() == Link::identity) return rows.margins;
  place = expected_target(rows.loss.link(), rows.margins);
  return place;
}

/// The margins of the best constant prediction, those of each output.
Vector constant_margins(const Predicted& rows) {
  const Design& x = rows.data.x;
  const Vector &y = rows.data.y, &weight = rows.data.weight;
  if (rows.loss.link() == Link::softmax) {
    Vector share(rows.loss.outputs());
    for (Index k = 0; k < share.size(); ++k)
      share[k] = mean_of(x, (y.array() == static_cast<double>(k)).cast<double>().matrix(), weight);
    return share.array().max(1e-300).log();  // a class without rows costs nothing
  }
  const double mean = mean_of(x, y, weight);
  switch (rows.loss.link()) {
    case Link::probability:
      return Vector::Constant(1, std::log1p(mean) - std::log1p(-mean));
    case Link::exponential:
      return Vector::Constant(1, std::log(mean));
    default:
      return Vector::Constant(1, mean);
  }
}

/// 1 − the loss over that of the best constant prediction of these rows.
std::optional<double> deviance_explained(const Predicted& rows) {
  const Vector &y = rows.data.y, &weight = rows.data.weight;
  if (rows.loss.is_quadratic()) return r_squared(rows.data.x, y, rows.margins, weight);
  const Vector constant = constant_margins(rows);
  if (!constant.allFinite()) return std::nullopt;
  const Vector margins = constant.replicate(y.size(), 1);
  Vector values(y.size());
  rows.loss.values(as_span(margins), as_span(y), as_span(values));
  if (weight.size() > 0) values = values.cwiseProduct(weight);
  const double of_constant = mean_of(rows.data.x, values);
  return of_constant > 0.0 ? std::optional(1.0 - rows.mean_loss / of_constant) : std::nullopt;
}

constexpr Measure kMeasures[] = {
    {.name = kLoss,
     .title = "loss",
     .meaning = "loss",
     .larger_is_better = false,
     .is_usual = true,
     .leads = false,
     .exists = [](const Loss&) { return true; },
     .value = [](const Predicted& rows) { return std::optional(rows.mean_loss); }},
    {.name = kScaledLoss,
     .title = "scaled loss",
     .meaning = "loss / variance of y",
     .larger_is_better = false,
     .is_usual = true,
     .leads = true,
     .exists = [](const Loss& loss) { return loss.is_quadratic(); },
     .value =
         [](const Predicted& rows) {
           const double spread = variance(rows.data.x, rows.data.y, rows.data.weight);
           return spread > 0.0 ? std::optional(rows.mean_loss / spread) : std::nullopt;
         }},
    {.name = "r_squared",
     .title = "R²",
     .meaning = "R²",
     .larger_is_better = true,
     .is_usual = true,
     .leads = false,
     .exists = has_numbers,
     .value =
         [](const Predicted& rows) {
           Vector place;
           return r_squared(rows.data.x, rows.data.y, expected(rows, place), rows.data.weight);
         }},
    {.name = "rmse",
     .title = "RMSE",
     .meaning = "root of the mean squared error",
     .larger_is_better = false,
     .is_usual = true,
     .leads = false,
     .exists = has_numbers,
     .value =
         [](const Predicted& rows) {
           Vector place;
           return std::optional(rows.y_scale * root_mean_squared_error(rows.data.x, rows.data.y,
                                                                       expected(rows, place),
                                                                       rows.data.weight));
         }},
    {.name = "mae",
     .title = "MAE",
     .meaning = "mean absolute error",
     .larger_is_better = false,
     .is_usual = false,
     .leads = false,
     .exists = has_numbers,
     .value =
         [](const Predicted& rows) {
           Vector place;
           return std::optional(rows.y_scale * mean_absolute_error(rows.data.x, rows.data.y,
                                                                   expected(rows, place), rows.data.weight));
         }},
    {.name = "accuracy",
     .title = "accuracy",
     .meaning = "accuracy",
     .larger_is_better = true,
     .is_usual = true,
     .leads = false,
     .exists = has_classes,
     .value =
         [](const Predicted& rows) {
           const Index outputs = rows.loss.outputs();
           return std::optional(outputs > 1 ? accuracy(rows.data.x, rows.data.y, rows.margins, outputs)
                                            : accuracy(rows.data.x, rows.data.y, rows.margins));
         }},
    {.name = "balanced_accuracy",
     .title = "balanced acc.",
     .meaning = "balanced accuracy",
     .larger_is_better = true,
     .is_usual = false,
     .leads = false,
     .exists = has_classes,
     .value = [](const Predicted& rows) { return balanced_accuracy(confusion_of(rows)); }},
    {.name = "f1",
     .title = "F1",
     .meaning = "F1",
     .larger_is_better = true,
     .is_usual = true,
     .leads = false,
     .exists = has_classes,
     .value = [](const Predicted& rows) { return f1(confusion_of(rows)); }},
    {.name = "precision",
     .title = "precision",
     .meaning = "precision",
     .larger_is_better = true,
     .is_usual = false,
     .leads = false,
     .exists = has_classes,
     .value = [](const Predicted& rows) { return precision(confusion_of(rows)); }},
    {.name = "recall",
     .title = "recall",
     .meaning = "recall",
     .larger_is_better = true,
     .is_usual = false,
     .leads = false,
     .exists = has_classes,
     .value = [](const Predicted& rows) { return recall(confusion_of(rows)); }},
    {.name = "area_under_roc",
     .title = "area under ROC",
     .meaning = "area under the ROC curve",
     .larger_is_better = true,
     .is_usual = true,
     .leads = false,
     .exists = has_two_classes,
     .value = [](const Predicted& rows) { return area_under_roc(rows.data.x, rows.data.y, rows.margins); }},
    {.name = "log_loss",
     .title = "log loss",
     .meaning = "log loss",
     .larger_is_better = false,
     .is_usual = false,
     .leads = false,
     .exists = has_probabilities,
     .value = [](const Predicted& rows) { return std::optional(rows.mean_loss); }},
    {.name = "deviance_explained",
     .title = "dev. explained",
     .meaning = "deviance explained",
     .larger_is_better = true,
     .is_usual = false,
     .leads = false,
     .exists = has_deviance,
     .value = deviance_explained},
};

}  // namespace

std::span<const Measure> measures() { return kMeasures; }

std::optional<std::size_t> find_measure(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kMeasures); ++i)
    if (kMeasures[i].name == name) return i;
  return {};
}

std::string measure_names() {
  std::string names;
  for (const Measure& each : kMeasures) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

void require_measure(std::string_view name) {
  if (find_measure(name)) return;
  std::vector<std::string> known;
  for (const Measure& each : kMeasures) known.emplace_back(each.name);
  refuse_unknown("measure", name, known, fmt::format("must be one of {}", measure_names()));
}

void require_measure(std::string_view name, const Loss& loss, std::string_view model) {
  require_measure(name);
  if (!kMeasures[*find_measure(name)].exists(loss))
    throw InputError(fmt::format("measure = {}: {} does not have it", name, model));
}

std::vector<std::size_t> parse_measures(const std::vector<std::string>& names, const Loss& loss,
                                        std::string_view model) {
  std::vector<bool> wanted(std::size(kMeasures), false);
  for (const std::string& name : names) {
    if (name != "usual" && name != "all") {
      require_measure(name, loss, model);
      wanted[*find_measure(name)] = true;
      continue;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (kMeasures[i].exists(loss) && (name == "all" || kMeasures[i].is_usual)) wanted[i] = true;
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) chosen.push_back(i);
  return chosen;
}

Matrix confusion_of(const Predicted& rows) {
  return confusion_matrix(rows.data.x, rows.data.y, rows.margins, std::max<Index>(2, rows.loss.outputs()));
}

}  // namespace yosida
