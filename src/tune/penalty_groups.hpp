#pragma once

#include <string>
#include <vector>

#include "yosida/model/penalty.hpp"
#include "yosida/tune/prepare.hpp"

namespace yosida {

struct NamedPenalty {
  Penalty penalty;                 // which weights share a λ, for a penalty that is ℓ₂ alone
  std::vector<std::string> names;  // of each λ
};
/// Throws InputError, naming option, value and rule, where the options do not fit each other or the data.
NamedPenalty make_penalty(const TuneOptions& options, const Prepared& data);

}  // namespace yosida
