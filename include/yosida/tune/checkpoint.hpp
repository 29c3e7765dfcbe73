#pragma once

#include <filesystem>

#include "yosida/export.hpp"
#include "yosida/tune/tune.hpp"

namespace YOSIDA_EXPORT yosida {

/// run_method with a checkpoint: a file that holds what the run has computed, written about once a second,
/// whole or not at all. Where it is there already, the run goes on from it, on any number of processes, to
/// the same bits. It stays when the run is over. Throws InputError where it belongs to another run,
/// OutputError where it cannot be written at the start.
Tuned run_method(const TuneProblem& problem, const TuneOptions& options,
                 const std::filesystem::path& checkpoint);

}  // namespace yosida
