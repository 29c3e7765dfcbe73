#pragma once

#include <map>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/study/run_spec.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// What the problem of a run is called where runs stand side by side.
struct ProblemName {
  std::string name;    // of an experiment, a built-in data set or the file of the training rows
  std::string sha256;  // of what has this name; empty where the name says all
};
/// `file_names` are those of the outcome, `data_sha256` is of the record.
ProblemName problem_name(const SpecInWords& words, const std::map<std::string, std::string>& file_names,
                         const std::string& data_sha256);
/// The names as texts; different files of the same name have digits of their sha256 behind it.
std::vector<std::string> told_apart(const std::vector<ProblemName>& names);

}  // namespace study
}  // namespace yosida
