#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace yosida {

/// The candidate with the fewest edits from `word` (capitals aside), for "did you mean"; empty where none is
/// near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace yosida
