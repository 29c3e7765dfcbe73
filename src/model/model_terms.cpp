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
  const TableForm& table = model.table;
  ModelTerms terms;
  terms.has_names = !model.feature_names.empty();
  terms.decimal = table.decimal;
  // At the centres pretreated columns are 0, and the intercept as it was trained is left.
  terms.intercept = model.intercept;
  if (!model.labels)
    terms.intercept = terms.intercept.array() * model.pretreatment.y_scale + model.pretreatment.y_shift;

  Index feature = 0;
  const auto add_number = [&](TableColumn column) {
    terms.columns.push_back({.column = std::move(column),
                             .fill = fill.size() > 0 ? std::optional(fill[feature]) : std::nullopt,
                             .centre = centre[feature],
                             .weight = own.weights.row(feature).transpose(),
                             .of_level = {}});
    ++feature;
  };
  // A row has one level, so what all of its features take off is a part of the intercept.
  const auto add_category = [&](const TableColumn& column) {
    const auto levels = static_cast<Index>(column.levels.size());
    Matrix of_level = Matrix::Zero(levels, terms.outputs());
    for (Index level = table.drop_first ? 1 : 0; level < levels; ++level, ++feature) {
      of_level.row(level) = own.weights.row(feature);
      terms.intercept -= centre[feature] * own.weights.row(feature).transpose();
    }
    terms.columns.push_back(
        {.column = column, .fill = {}, .centre = 0.0, .weight = {}, .of_level = std::move(of_level)});
  };
  for (const TableColumn& column : table.columns) {
    terms.has_text |= column.kind != ColumnKind::number;
    if (column.kind == ColumnKind::category) {
      add_category(column);
    } else {
      add_number(column);
    }
  }
  if (table.columns.empty())
    for (const std::string& name : own.names) add_number({.name = name});
  return terms;
}

}  // namespace yosida
