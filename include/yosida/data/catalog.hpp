#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// A file of a data set, known by its contents.
struct CatalogFile {
  std::string name;
  std::uintmax_t bytes;
  std::string sha256;
};

/// How a data set is got.
enum class Origin {
  built_in,        // made by the program
  npm,             // a package of the npm registry
  debian_package,  // a package of Debian
  by_hand,         // `advice` says how
};

/// A data set with a name.
struct CatalogEntry {
  std::string name;
  std::string title;    // what it is
  std::string shape;    // rows and features
  std::string licence;  // as far as its publishers say
  Origin origin;
  std::string package;  // for npm and Debian, with the version that has these bytes
  std::string advice;   // exact words on how to get it
  std::string folder;   // below a data folder; empty: in the folder itself
  std::vector<CatalogFile> files;
};

/// All data sets with a name.
const std::vector<CatalogEntry>& catalog();
/// Throws InputError with the nearest name where there is no such data set.
const CatalogEntry& catalog_entry(const std::string& name);

/// Where data sets are looked for, in this order: the folder given (unless empty), $YOSIDA_DATA, the user's
/// cache
/// ($XDG_CACHE_HOME/yosida or ~/.cache/yosida). Throws InputError where the one given is none.
std::vector<std::filesystem::path> data_folders(const std::string& data_dir);
/// The last of these.
std::filesystem::path data_cache();
/// The folder of data_cache() in which parsed files are kept (ReadOptions::cache). Throws InputError as it
/// does.
std::filesystem::path parsed_files();

/// The first file of this name in the folders, in the entry's own folder or directly. Its contents are not
/// looked at.
std::optional<std::filesystem::path> find_data_file(const CatalogEntry& entry, const CatalogFile& file,
                                                    const std::vector<std::filesystem::path>& folders);
/// Throws InputError, naming what was expected and what is there, unless size and sha256 are those of the
/// catalog.
void verify_data_file(const CatalogFile& file, const std::filesystem::path& path);
/// The verified paths of all files. Throws InputError with the entry's advice where one is missing.
std::vector<std::filesystem::path> require_data(const CatalogEntry& entry,
                                                const std::vector<std::filesystem::path>& folders);

}  // namespace yosida
