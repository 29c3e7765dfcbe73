#include "yosida/study/problem_name.hpp"

#include <fmt/format.h>

#include <set>

namespace yosida::study {
namespace {

constexpr std::size_t kDigits = 8;  // of a sha256 of 64, in a name

}  // namespace

ProblemName problem_name(const SpecInWords& words, const std::map<std::string, std::string>& file_names,
                         const std::string& data_sha256) {
  if (!words.spec.experiment.empty()) return {.name = words.spec.experiment, .sha256 = {}};
  const auto& files = words.files;
  if (const auto named = file_names.find("train"); named != file_names.end()) {
    const auto sha256 = words.spec.files.find("train");
    return {.name = named->second, .sha256 = sha256 == words.spec.files.end() ? data_sha256 : sha256->second};
  }
  if (!files.empty() && files[0].first == "built-in") return {.name = files[0].second, .sha256 = {}};
  const std::string sha256 = files.empty() ? data_sha256 : files[0].second;
  return {.name = sha256.empty() ? "data" : fmt::format("data {}", sha256.substr(0, kDigits)), .sha256 = {}};
}

std::vector<std::string> told_apart(const std::vector<ProblemName>& names) {
  std::map<std::string, std::set<std::string>> of_name;
  for (const auto& [name, sha256] : names) of_name[name].insert(sha256);
  std::vector<std::string> texts;
  for (const auto& [name, sha256] : names)
    texts.push_back(of_name[name].size() == 1 || sha256.empty()
                        ? name
                        : fmt::format("{} {}", name, sha256.substr(0, kDigits)));
  return texts;
}

}  // namespace yosida::study
