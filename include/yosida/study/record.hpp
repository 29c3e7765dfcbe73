#pragma once

#include <optional>
#include <string>

#include "yosida/export.hpp"
#include "yosida/study/run_spec.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// The status of a run that ended in an error.
inline constexpr const char* kFailed = "failed";

/// A finished run.
struct Record {
  SpecText spec;
  std::string status;   // a StopReason, or kFailed: then outcome says why
  std::string outcome;  // a RunOutcome as JSON text
  Trace trace;
  std::string program;  // version of what ran it
  /// Which data. Of compare: sha256 of the JSON text (no spaces, names in order) of the object that has the
  /// sha256 of every file under the flag that names it: that at data.files of its spec. "" where unknown.
  std::string data_sha256;
  double seconds = 0.0;  // of the solver
  std::string finished;  // when, as utc_now() says it
};

/// A command that worked on a study: how its runs were made.
struct Session {
  std::string started;  // as utc_now() says it
  std::string command;
  std::string program;  // version
  std::string machine;  // as this_machine() says it
};

/// Processor, cores and system: "AMD EPYC 7B13, 2 cores, Linux 6.1.0 x86_64".
std::string this_machine();

/// 2026-01-31T12:00:00Z
std::string utc_now();
/// Since 1970, of such a text; nothing where it is none.
std::optional<double> seconds_of(const std::string& utc);

}  // namespace study
}  // namespace yosida
