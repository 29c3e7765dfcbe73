#include "model/model_terms.hpp"

#include <algorithm>

namespace yosida {
namespace {

/// What all steps together take off each column, in the column's own units; 0 where differences mix columns.
Vector centres_of(const FittedModel& model) {
  Vector centre = Vector::Zero(model.features);
  const auto& steps = model.pretreatment.x;
  if (std::any_of(steps.begin(), steps.end(),
                  [](const FittedStep& step) { return step.kind == XStep::difference; }))
    return centre;
  Vector scale = Vector::Ones(model.features);
  for (const FittedStep& step : steps) {
    if (step.shift.size() > 0) centre += scale.cwiseProduct(step.shift);
    if (step.scale.size() > 0) scale.array() *= step.scale.array();
  }
  return centre;
}

}  // namespace

ModelTerms terms_of(const FittedModel& model) {
  const Coefficients own = model.coefficients();
  const Vector centre = centres_of(model);
  const Vector& fill = model.pretreatment.missing_fill;
  ModelTerms terms;
  terms.has_names = !model.feature_names.empty();
  // The pretreated columns are 0 at their centres: what is left is the intercept as it was trained.
  const bool is_centred = centre.size() > 0 && (centre.array() != 0.0).any();
  terms.intercept =
      is_centred && !model.labels
          ? Vector(model.intercept.array() * model.pretreatment.y_scale + model.pretreatment.y_shift)
      : is_centred ? model.intercept
                   : own.intercept;
  for (Index j = 0; j < model.features; ++j)
    terms.columns.push_back({.name = own.names[static_cast<std::size_t>(j)],
                             .fill = fill.size() > 0 ? std::optional(fill[j]) : std::nullopt,
                             .centre = centre[j],
                             .weight = own.weights.row(j).transpose()});
  return terms;
}

}  // namespace yosida
