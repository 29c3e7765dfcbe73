#pragma once

#include "yosida/tune/tune_problem.hpp"

namespace yosida {

/// Throws InputError, naming option, value and rule, where the options do not fit each other or the data.
NamedPenalty make_penalty(const TuneOptions& options, const Prepared& data);

}  // namespace yosida
