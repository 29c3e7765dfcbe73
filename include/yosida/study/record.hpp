#pragma once

#include <cstdint>
#include <string>

#include "yosida/export.hpp"
#include "yosida/solver/solve.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// What a run is to do, as JSON text with its keys in order: two runs are the same run where these are equal.
struct RunSpec {
  std::string method;  // with its settings, as a person would write it: "sho:alpha=0.05"
  std::uint64_t seed = 0;
  std::string json;  // everything that decides the result: method, settings, seed, budget, model, data sha256

  /// sha256 of json: the name of the run in a store.
  std::string key() const;
};

/// A finished run.
struct Record {
  RunSpec spec;
  std::string status;   // a StopReason, or "failed": then outcome says why
  std::string outcome;  // JSON text; holds no times
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

}  // namespace study
}  // namespace yosida
