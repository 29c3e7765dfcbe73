#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "output.hpp"
#include "yosida/study/store.hpp"

namespace yosida::cli {

struct ExportFlags {
  std::string file, format = "csv", out = "-";
  bool traces = false, without_times = false;
};

/// The runs of a store that is only read, as of one moment, in the order of the store; traces are written as
/// they are read.
void export_runs(const study::Store& store, const ExportFlags& flags, OutputStream& out);

/// The columns of `tune --trace`, one line for each point.
std::string trace_table(const Trace& trace);

}  // namespace yosida::cli
