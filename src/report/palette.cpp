#include "yosida/report/palette.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace yosida::report {
namespace {

// Told apart by lightness as well, for colour-blind eyes. As lines and marks the light ones have a contrast
// of at least 3 to white and to black, since nobody knows the ground of a terminal; the dark ones to the
// page's dark ground.
constexpr std::array<Hue, 10> kHues = {{{"#0a62ad", "#6db5ff"},
                                        {"#c9520b", "#ff9a57"},
                                        {"#0b8261", "#3dcfa2"},
                                        {"#94389b", "#dc9cf3"},
                                        {"#8a6a00", "#e2c044"},
                                        {"#1188a8", "#5ed2ea"},
                                        {"#b8245c", "#f585b0"},
                                        {"#59626d", "#a9b3bf"},
                                        {"#56791a", "#b3d057"},
                                        {"#6352cf", "#aa9fff"}}};

// The methods that are compared most often have a colour each. Every other method shares its colour with one
// that it is hardly ever compared with.
constexpr std::array<std::string_view, 27> kMethods = {
    "my-hpo", "sho",      "hoag",        "tpe",     "grid",     "random",           "my-hpo-bt",
    "gp-ei",  "my-hpo-c", "my-hpo-full", "reverse", "sho-code", "forward",          "hyperband",
    "stn",    "penalty",  "tpe-2",       "",        "my-hpo-1", "my-hpo-consensus", "soba",
    "saba",   "meha",     "agils",       "bome",    "f2sa",     "bic-gaffa"};

}  // namespace

std::span<const Hue> hues() { return kHues; }

MethodColour colour_of(std::string_view method) {
  const auto found = std::find(kMethods.begin(), kMethods.end(), method);
  if (found != kMethods.end() && !method.empty()) {
    const auto index = static_cast<std::size_t>(found - kMethods.begin());
    return {.place = index % kHues.size(), .turn = index / kHues.size()};
  }
  // Methods of others: by a hash (FNV-1a) of the name, in a fourth turn.
  std::uint64_t hash = 1469598103934665603U;
  for (const char c : method) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return {.place = hash % kHues.size(), .turn = 3};
}

}  // namespace yosida::report
