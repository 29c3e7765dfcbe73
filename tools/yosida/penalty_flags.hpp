#pragma once

#include <string>
#include <vector>

#include "data_flags.hpp"
#include "yosida/model/penalty.hpp"

namespace yosida::cli {

/// Which weights share a λ.
struct PenaltyFlags {
  std::string lambda_per;  // empty: group where groups are given, else shared
  std::string groups_file;
  std::vector<std::string> groups;  // NAME=col,col,…
  std::vector<std::string> unpenalised;

  void add_to(CLI::App& command);
};

struct NamedPenalty {
  Penalty penalty;                 // which weights share a λ, for a penalty that is ℓ₂ alone
  std::vector<std::string> names;  // of each λ
};
/// Throws InputError, naming flag, value and rule, where the flags do not fit each other or the data.
NamedPenalty make_penalty(const PenaltyFlags& flags, const Prepared& data, const std::string& x_steps);

}  // namespace yosida::cli
