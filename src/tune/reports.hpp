#pragma once

#include <vector>

#include "yosida/tune/part_report.hpp"
#include "yosida/tune/prepare.hpp"

namespace yosida {

/// Of weights w, intercepts last, on the parts that have rows.
Report report_all(const Split& split, const Prepared& data, bool intercept, const Vector& w);
/// Over folds: train losses by equal shares, validation losses by those given.
Report mean_report(const std::vector<Report>& folds, const std::vector<double>& validation_share);

}  // namespace yosida
