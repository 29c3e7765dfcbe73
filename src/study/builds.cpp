#include "yosida/study/builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "code_identity.hpp"
#include "yosida/version.hpp"

namespace yosida::study {
namespace {

constexpr const char* kUnknown = "unknown";

}  // namespace

const std::string& this_build() {
  static const std::string build = fmt::format("{}+{}", version(), YOSIDA_CODE_IDENTITY);
  return build;
}

std::string build_in_words(const std::string& build) { return build.empty() ? kUnknown : build; }

PlannedRuns plan_runs(const Store& store, std::vector<SpecText> specs, bool accepts_builds) {
  PlannedRuns planned{.specs = std::move(specs), .of_others = {}};
  const std::vector<Record> records = store.records(false);
  std::unordered_set<std::string> there;
  for (const Record& record : records) there.insert(record.spec.json);
  const auto is_there = [&](const SpecText& spec) { return there.contains(spec.json); };
  if (std::all_of(planned.specs.begin(), planned.specs.end(), is_there)) return planned;
  std::unordered_map<std::string, const Record*> by_others;  // by the text without the build
  for (const Record& record : records) {
    const auto [found, is_new] = by_others.emplace(text_without_build(record.spec), &record);
    if (!is_new && found->second->finished < record.finished) found->second = &record;
  }
  std::unordered_set<std::string> counted;  // a run may be asked for twice
  for (SpecText& spec : planned.specs) {
    if (is_there(spec)) continue;
    const auto other = by_others.find(text_without_build(spec));
    if (other == by_others.end()) continue;
    if (counted.insert(spec.json).second)
      ++planned.of_others[build_in_words(spec_of(other->second->spec).build)];
    if (accepts_builds) spec = other->second->spec;
  }
  return planned;
}

std::string in_words(const std::map<std::string, std::int64_t>& of_builds) {
  std::string text;
  for (const auto& [build, count] : of_builds)
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", count,
                        build == kUnknown ? "an unknown build" : build);
  return text;
}

}  // namespace yosida::study
