#pragma once

#include <string>
#include <vector>

#include "report/run_digest.hpp"

namespace yosida::report {

/// How runs were done.
struct RowIdentity {
  std::string method;
  SettingValues settings;
  SettingValues others;  // all else that decides a result: budgets, bounds, …
  std::string build;     // in words; empty where builds are not told apart
  std::optional<double> budget, step;
};
RowIdentity row_identity(const study::SpecInWords& spec, bool tells_builds);

/// Whether a row stands before another: by the families of methods as MethodFamily has them, what we do not
/// know before our own, and in a family by the table of methods, whose first, the default, is the last row.
bool stands_before(const RowIdentity& a, const RowIdentity& b);

/// The method, and whatever tells it from the others of its name: "sho α=0.05". All different. Where there
/// are several builds, each row says its own.
std::vector<std::string> labels(const std::vector<RowIdentity>& rows);

/// Name, title, about and files of the problem of a run, which has this name.
ProblemContents described_problem(const RunDigest& run, const std::string& name);

/// Adds what is needed for all of them to be different.
void make_unique(std::vector<std::string>& names);

}  // namespace yosida::report
