#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// The candidate with the fewest edits from `word` (capitals aside), for "did you mean"; empty where none is
/// near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Throws InputError: "WHAT = NAME: there is none of that name (did you mean …?); HINT".
[[noreturn]] void refuse_unknown(std::string_view what, std::string_view name,
                                 const std::vector<std::string>& known, std::string_view hint);

/// The entry with this `name`; refuse_unknown where there is none.
template <typename Entry>
const Entry& entry_by_name(const std::vector<Entry>& entries, std::string_view name, std::string_view what,
                           std::string_view hint) {
  std::vector<std::string> known;
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  refuse_unknown(what, name, known, hint);
}

}  // namespace yosida
