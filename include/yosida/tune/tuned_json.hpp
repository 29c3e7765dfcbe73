#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/tune/tune.hpp"

namespace YOSIDA_EXPORT yosida {

/// Everything that `tuned` holds but its model, as docs/command-line.md describes it.
std::string result_json(const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned);
/// What a study keeps of a run; it holds no times. The oracle of `tuned` is judged by its best weights,
/// `final` by the last.
std::string outcome_json(const Tuned& tuned, const std::optional<OracleGap>& final);
/// One column for each λ, none where there are more than 32.
std::string trace_csv(const Trace& trace, const std::vector<std::string>& lambda_names);

}  // namespace yosida
