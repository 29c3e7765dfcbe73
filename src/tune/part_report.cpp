#include "yosida/tune/part_report.hpp"

#include "tune/reports.hpp"
#include "yosida/model/metrics.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida {
namespace {

constexpr Measure kMeasures[] = {{"scaled_loss", "scaled loss", &PartReport::scaled_loss},
                                 {"r_squared", "R squared", &PartReport::r_squared},
                                 {"accuracy", "accuracy", &PartReport::accuracy},
                                 {"area_under_roc", "ROC area", &PartReport::area_under_roc}};

PartReport report_part(const Dataset& data, const Loss& loss, bool intercept, const Vector& w) {
  Vector m = margins(data, intercept, w, loss.outputs());
  PartReport report{.loss = mean_loss(data, loss, intercept, w)};
  if (loss.outputs() > 1) {
    report.accuracy = accuracy(data.y, m, loss.outputs());
  } else if (loss.is_classification()) {
    report.accuracy = accuracy(data.y, m);
    report.area_under_roc = area_under_roc(data.y, m);
  } else {
    if (loss.name() == "poisson") m = m.array().exp();
    report.r_squared = r_squared(data.y, m, data.weight);
    if (const double spread = variance(data.y, data.weight); loss.is_quadratic() && spread > 0.0)
      report.scaled_loss = report.loss / spread;
  }
  return report;
}

PartReport mean_part(const std::vector<const PartReport*>& parts, const std::vector<double>& share) {
  PartReport mean{.loss = 0.0};
  for (std::size_t k = 0; k < parts.size(); ++k) mean.loss += share[k] * parts[k]->loss;
  for (const Measure& measure : kMeasures) {
    double sum = 0.0;
    bool everywhere = true;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      everywhere &= (parts[k]->*measure.value).has_value();
      sum += share[k] * (parts[k]->*measure.value).value_or(0.0);
    }
    if (everywhere) mean.*measure.value = sum;
  }
  return mean;
}

}  // namespace

Report report_all(const Split& split, const Prepared& data, bool intercept, const Vector& w) {
  const Loss& loss = *data.loss;
  Report report{.train = report_part(split.train, loss, intercept, w),
                .validation = report_part(split.validation, loss, intercept, w)};
  if (split.test) report.test = report_part(*split.test, loss, intercept, w);
  if (data.model->penalty != PenaltyForm::l2)
    report.nonzero_weights =
        static_cast<double>((w.head(split.train.features() * loss.outputs()).array() != 0.0).count());
  return report;
}

Report mean_report(const std::vector<Report>& folds, const std::vector<double>& validation_share) {
  std::vector<const PartReport*> train, validation;
  for (const Report& fold : folds) {
    train.push_back(&fold.train);
    validation.push_back(&*fold.validation);
  }
  const std::vector<double> equal(folds.size(), 1.0 / static_cast<double>(folds.size()));
  Report mean{.train = mean_part(train, equal), .validation = mean_part(validation, validation_share)};
  if (folds[0].nonzero_weights) {
    double sum = 0.0;
    for (const Report& fold : folds) sum += *fold.nonzero_weights;
    mean.nonzero_weights = sum / static_cast<double>(folds.size());
  }
  return mean;
}

std::span<const Measure> measures() { return kMeasures; }

}  // namespace yosida
