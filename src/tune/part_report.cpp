#include "yosida/tune/part_report.hpp"

#include "problem/data_term.hpp"
#include "tune/reports.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida {
namespace {

PartReport report_part(const Dataset& data, const Loss& loss, double y_scale, bool intercept,
                       const Vector& w) {
  const Vector m = margins(data, intercept, w, loss.outputs());
  return report_margins(data, loss, y_scale, m, DataTerm(data, loss, intercept).value_at(m));
}

PartReport mean_part(const std::vector<const PartReport*>& parts, const std::vector<double>& share) {
  PartReport mean;
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    double sum = 0.0;
    bool everywhere = true;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      everywhere &= parts[k]->values[i].has_value();
      sum += share[k] * parts[k]->values[i].value_or(0.0);
    }
    if (everywhere) mean.values[i] = sum;
  }
  mean.confusion = parts[0]->confusion;
  for (std::size_t k = 1; k < parts.size(); ++k) mean.confusion += parts[k]->confusion;
  return mean;
}

}  // namespace

PartReport report_margins(const Dataset& data, const Loss& loss, double y_scale, const Vector& m,
                          double mean_loss) {
  const Predicted rows{.data = data, .loss = loss, .margins = m, .mean_loss = mean_loss, .y_scale = y_scale};
  PartReport report;
  for (std::size_t i = 0; i < measures().size(); ++i)
    if (const Measure& measure = measures()[i]; measure.exists(loss)) report.values[i] = measure.value(rows);
  if (loss.is_classification()) report.confusion = confusion_of(rows);
  return report;
}

Report report_all(const Split& split, const Prepared& data, double y_scale, bool intercept, const Vector& w,
                  bool with_train) {
  const Loss& loss = *data.loss;
  Report report;
  if (with_train) report.train = report_part(split.train, loss, y_scale, intercept, w);
  if (split.validation.rows() > 0)
    report.validation = report_part(split.validation, loss, y_scale, intercept, w);
  if (split.test) report.test = report_part(*split.test, loss, y_scale, intercept, w);
  if (data.penalty != PenaltyForm::l2)
    report.nonzero_weights =
        static_cast<double>((w.head(split.train.features() * loss.outputs()).array() != 0.0).count());
  return report;
}

Report mean_report(const std::vector<Report>& folds, const std::vector<double>& validation_share) {
  std::vector<const PartReport*> train, validation, test;
  for (const Report& fold : folds) {
    train.push_back(&fold.train);
    if (fold.validation) validation.push_back(&*fold.validation);
    if (fold.test) test.push_back(&*fold.test);
  }
  const std::vector<double> equal(folds.size(), 1.0 / static_cast<double>(folds.size()));
  Report mean{.train = mean_part(train, equal)};
  if (!validation.empty()) mean.validation = mean_part(validation, validation_share);
  if (!test.empty()) mean.test = mean_part(test, equal);
  if (folds[0].nonzero_weights) {
    double sum = 0.0;
    for (const Report& fold : folds) sum += *fold.nonzero_weights;
    mean.nonzero_weights = sum / static_cast<double>(folds.size());
  }
  return mean;
}

}  // namespace yosida
