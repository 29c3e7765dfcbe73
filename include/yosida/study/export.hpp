#pragma once

#include <string>
#include <string_view>

#include "yosida/export.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/study/store.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// What of a study leaves it, and in which form.
struct ExportOptions {
  std::string study;     // its name, for messages
  bool as_json = false;  // else CSV
  bool traces = false, without_times = false;
};

/// Gives `write` the runs of a store that is only read, as of one moment, in the order of the store; traces
/// are written as they are read. Throws InputError where the study is damaged, and what `write` throws.
void export_runs(const Store& store, const ExportOptions& options, FunctionRef<void(std::string_view)> write);

/// The columns of `tune --trace`, one line for each point.
std::string trace_table(const Trace& trace);

}  // namespace study
}  // namespace yosida
