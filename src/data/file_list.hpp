#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace yosida {

/// The files that hold the rows of one table, in the order of their rows: the file of that name, where there
/// is one; else the files of a folder, those that a pattern such as part-*.csv fits, or those that names
/// between commas say, each of which may be any of these. Files of a folder or pattern are taken by name
/// (part-2 before part-10), without hidden ones; of several, those without a byte are left out. Throws
/// InputError where there is none.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& given);

}  // namespace yosida
