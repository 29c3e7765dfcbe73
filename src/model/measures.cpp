#include "yosida/model/measures.hpp"

#include <string>

#include "model/metrics.hpp"

namespace yosida {
namespace {

bool has_numbers(const Loss& loss) { return !loss.is_classification(); }
bool has_two_classes(const Loss& loss) { return loss.is_classification() && loss.outputs() == 1; }

constexpr Measure kMeasures[] = {
    {.name = kLoss,
     .title = "loss",
     .meaning = "loss",
     .larger_is_better = false,
     .leads = false,
     .exists = [](const Loss&) { return true; },
     .value = [](const Predicted& rows) { return std::optional(rows.mean_loss); }},
    {.name = kScaledLoss,
     .title = "scaled loss",
     .meaning = "loss / variance of y",
     .larger_is_better = false,
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
     .leads = false,
     .exists = has_numbers,
     .value =
         [](const Predicted& rows) {
           return r_squared(rows.data.x, rows.data.y, expected_target(rows.loss.link(), rows.margins),
                            rows.data.weight);
         }},
    {.name = "accuracy",
     .title = "accuracy",
     .meaning = "accuracy",
     .larger_is_better = true,
     .leads = false,
     .exists = [](const Loss& loss) { return loss.is_classification(); },
     .value =
         [](const Predicted& rows) {
           const Index outputs = rows.loss.outputs();
           return std::optional(outputs > 1 ? accuracy(rows.data.x, rows.data.y, rows.margins, outputs)
                                            : accuracy(rows.data.x, rows.data.y, rows.margins));
         }},
    {.name = "area_under_roc",
     .title = "area under ROC",
     .meaning = "area under the ROC curve",
     .larger_is_better = true,
     .leads = false,
     .exists = has_two_classes,
     .value = [](const Predicted& rows) { return area_under_roc(rows.data.x, rows.data.y, rows.margins); }},
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

}  // namespace yosida
