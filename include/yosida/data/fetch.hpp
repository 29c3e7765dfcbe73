#pragma once

#include <filesystem>

#include "yosida/data/catalog.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// Gets the files of a data set by the program that its origin names (npm, apt-get), verifies them and puts
/// them into their folder below `to`. Nothing is left there where it fails: InputError with the entry's
/// advice for what cannot be fetched, OutputError with the last words of the program where that failed.
void fetch(const CatalogEntry& entry, const std::filesystem::path& to);

}  // namespace yosida
