#pragma once

#include <stdexcept>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// What the caller gave is wrong: a file, a field, a setting. The message names it, its value and
/// the rule it broke. The command line turns it into exit code 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A result could not be written. The command line turns it into exit code 4.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace yosida
