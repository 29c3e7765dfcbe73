#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/settings.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// A mean and a standard deviation as the paper prints them: × 100.
struct PaperCell {
  double mean, deviation;
};

/// A row of the tables 2 to 7 of Dhar, Kurup, Shah (2020).
struct PaperResult {
  int table;
  const char* problem;
  const char* method;
  const char* settings;  // "alpha=0.05", "trials=2": those that the paper varies
  PaperCell train, validation, test;
  std::int64_t gradients;  // 0: not stated
};

const std::vector<PaperResult>& paper_results();

/// What the paper has of a method with these settings: rows of more than one table where it is shown twice,
/// and these do not always agree. Empty where it has none. The settings must be all of the method's.
std::vector<PaperResult> paper_results(const std::string& problem, const std::string& method,
                                       const SettingValues& settings);

}  // namespace report
}  // namespace yosida
