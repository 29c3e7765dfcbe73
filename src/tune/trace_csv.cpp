#include "yosida/tune/trace_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "csv_field.hpp"
#include "problem/work_columns.hpp"

namespace yosida {

std::string trace_csv(const Trace& trace, const std::vector<std::string>& lambda_names) {
  constexpr std::size_t kMostColumns = 32;
  const bool has_lambda = lambda_names.size() <= kMostColumns;
  std::string text = "iteration";
  if (lambda_names.size() == 1) text += ",lambda";
  if (lambda_names.size() > 1 && has_lambda)
    for (const std::string& name : lambda_names) text += fmt::format(",{}", csv_field("lambda_" + name));
  text += ",train,validation,test,primal,dual";
  for (const auto& [name, count] : kWorkCounts) text += fmt::format(",{}", name);
  text += fmt::format(",{},{},seconds", kPaperCount, kGradientEquivalents);
  const bool has_trials =
      std::any_of(trace.begin(), trace.end(), [](const TracePoint& point) { return point.tried.size() > 0; });
  if (has_trials && has_lambda)
    for (const std::string& name : lambda_names)
      text += lambda_names.size() == 1 ? ",tried" : fmt::format(",{}", csv_field("tried_" + name));
  text += has_trials ? ",tried_validation\n" : "\n";
  const auto field = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.17g}", value) : std::string();
  };
  for (const TracePoint& point : trace) {
    const Work& work = point.work;
    text += std::to_string(point.iteration);
    if (has_lambda)
      for (const double lambda : point.lambda) text += fmt::format(",{}", field(lambda));
    text += fmt::format(",{},{},{},{},{}", field(point.loss.train), field(point.loss.validation),
                        point.loss.test ? field(*point.loss.test) : "", field(point.primal_residual),
                        field(point.dual_residual));
    for (const auto& [name, count] : kWorkCounts) text += fmt::format(",{}", work.*count);
    text +=
        fmt::format(",{},{},{:.6f}", work.paper_count(), field(work.gradient_equivalents()), point.seconds);
    if (has_trials && has_lambda)
      for (std::size_t j = 0; j < lambda_names.size(); ++j)
        text += fmt::format(",{}", point.tried.size() > 0 ? field(point.tried[static_cast<Index>(j)]) : "");
    text += has_trials ? fmt::format(",{}\n", field(point.tried_validation)) : "\n";
  }
  return text;
}

}  // namespace yosida
