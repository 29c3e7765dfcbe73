#pragma once

#include "yosida/tune/options.hpp"

namespace yosida {

/// Start and budget as the options have them, for one λ; observers and trace too.
SolveOptions solve_options(const TuneOptions& options);

}  // namespace yosida
