#pragma once

#include <string>

#include "yosida/study/place.hpp"

namespace yosida::study {

/// A place in PostgreSQL, taken apart.
struct DatabasePlace {
  std::string connection;  ///< the URI for libpq, which knows nothing of studies
  std::string study;       ///< the schema
};

/// Throws InputError where the name of the study is not one.
DatabasePlace database_place(const std::string& place);

}  // namespace yosida::study
