#pragma once

#include <vector>

#include "yosida/tune/part_report.hpp"
#include "yosida/tune/prepare.hpp"

namespace yosida {

/// What weights w (intercepts last) do on the parts that have rows; `y_scale` is that of the split's own
/// target.
Report report_all(const Split& split, const Prepared& data, double y_scale, bool intercept, const Vector& w,
                  bool with_train = true);
/// Reports what margins say of the rows of one part.
PartReport report_margins(const Dataset& data, const Loss& loss, double y_scale, const Vector& m,
                          double mean_loss);
/// Over folds or targets: validation losses by the shares given, others by equal ones.
Report mean_report(const std::vector<Report>& folds, const std::vector<double>& validation_share);

}  // namespace yosida
