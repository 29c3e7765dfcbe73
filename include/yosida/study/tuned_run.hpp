#pragma once

#include <map>
#include <optional>

#include "yosida/export.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/study/record.hpp"
#include "yosida/tune/seed_problems.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// One run of a study by run_method, on the problem of options.seed; nothing where the stop token of the
/// options has asked for its end. Where the rows of the seed cannot be used the run has failed, and says why.
/// `warn` hears what could not be done beside the answer. Throws DataChanged, for which no run may be stored.
std::optional<Record> tuned_run(const TuneOptions& options, SeedProblems& problems,
                                const std::map<std::string, std::string>& file_names,
                                FunctionRef<void(const std::string&)> warn);

}  // namespace study
}  // namespace yosida
