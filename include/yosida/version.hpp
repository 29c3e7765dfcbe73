#pragma once

#include "yosida/export.hpp"

/// The version of these headers, as numbers for the preprocessor and as text. CMake takes the project's from
/// here.
#define YOSIDA_VERSION_MAJOR 0
#define YOSIDA_VERSION_MINOR 2
#define YOSIDA_VERSION_PATCH 0
#define YOSIDA_VERSION "0.2.0"

namespace YOSIDA_EXPORT yosida {

/// The version of the library that is running: where it is shared, that of the headers may be another.
const char* version();

}  // namespace yosida
