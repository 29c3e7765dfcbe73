#include "model/model_terms.hpp"

namespace yosida {
namespace {

/// The row whose pretreated columns are all 0: where steps shift columns, their centres.
Vector centres_of(const FittedModel& model) {
  Vector row = Vector::Zero(model.weights.rows());
  const auto& steps = model.pretreatment.x;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->kind == XStep::difference) {
      // The first column is free, since only differences count.
      Vector wider = Vector::Zero(row.size() + 1);
      for (Index j = 0; j < row.size(); ++j) wider[j + 1] = wider[j] + row[j];
      row = std::move(wider);
      continue;
    }
    if (step->scale.size() > 0) row.array() *= step->scale.array();
    if (step->shift.size() > 0) row += step->shift;
  }
  return row;
}

}  // namespace

ModelTerms terms_of(const FittedModel& model) {
  const Coefficients own = model.coefficients();
  const Vector centre = centres_of(model);
  const Vector& fill = model.pretreatment.missing_fill;
  ModelTerms terms;
  terms.has_names = !model.feature_names.empty();
  // At the centres pretreated columns are 0, and the intercept as it was trained is left.
  terms.intercept = model.intercept;
  if (!model.labels)
    terms.intercept = terms.intercept.array() * model.pretreatment.y_scale + model.pretreatment.y_shift;
  for (Index j = 0; j < model.features; ++j)
    terms.columns.push_back({.name = own.names[static_cast<std::size_t>(j)],
                             .fill = fill.size() > 0 ? std::optional(fill[j]) : std::nullopt,
                             .centre = centre[j],
                             .weight = own.weights.row(j).transpose()});
  return terms;
}

}  // namespace yosida
