#include "data/file_list.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): strverscmp is of POSIX systems

#include <algorithm>
#include <memory>

#include "yosida/error.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

void sort_by_name(std::vector<fs::path>& files) {
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return strverscmp(a.c_str(), b.c_str()) < 0; });
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with('.'))
      files.push_back(entry.path());
  if (error) throw InputError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  if (files.empty())
    throw InputError(fmt::format("{}: is a directory without files, where data is needed", folder.string()));
  sort_by_name(files);
  return files;
}

std::vector<fs::path> files_like(const std::string& pattern) {
  glob_t found{};
  const std::unique_ptr<glob_t, decltype(&globfree)> cleared(&found, globfree);
  const int code = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  if (code == GLOB_NOSPACE) throw std::bad_alloc();
  std::vector<fs::path> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::erase_if(files, [](const fs::path& file) { return fs::is_directory(file); });
  if (files.empty()) throw InputError(fmt::format("{}: no file has a name like this", pattern));
  sort_by_name(files);
  return files;
}

}  // namespace

std::vector<fs::path> files_of(const fs::path& given) {
  std::error_code ignored;
  const fs::file_status status = fs::status(given, ignored);
  const std::string text = given.string();
  std::vector<fs::path> files{given};
  if (fs::is_directory(status)) {
    files = files_in(given);
  } else if (!fs::exists(status) && text.find(',') != std::string::npos) {
    files.clear();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      if (end == begin)
        throw InputError(fmt::format("{}: a name is missing: files are named as file,file,...", text));
      for (fs::path& file : files_of(text.substr(begin, end - begin))) files.push_back(std::move(file));
      begin = end + 1;
    }
  } else if (!fs::exists(status) && text.find_first_of("*?[") != std::string::npos) {
    files = files_like(text);
  }
  if (files.size() == 1) return files;
  const auto is_empty = [&](const fs::path& file) {
    return fs::is_regular_file(file, ignored) && fs::file_size(file, ignored) == 0;
  };
  if (std::all_of(files.begin(), files.end(), is_empty))
    throw InputError(fmt::format("{}: all {} files are empty (0 bytes)", text, files.size()));
  std::erase_if(files, is_empty);
  return files;
}

}  // namespace yosida
