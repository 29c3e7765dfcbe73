#pragma once

#include <string>
#include <vector>

#include "yosida/report/contents.hpp"

namespace yosida::report {

/// How runs were done, of RunDigest::row.
struct RowIdentity {
  std::string method;
  SettingValues settings;
  SettingValues others;  // all else that decides a result: budgets, bounds, …
  std::optional<double> budget, step;
};
RowIdentity row_identity(const std::string& text);

/// Whether a row stands before another: the paper's baseline, its methods, searches, peers, what we do not
/// know, and last the methods of this project.
bool stands_before(const RowIdentity& a, const RowIdentity& b);

/// The method, and whatever tells it from the others of its name: "sho α=0.05". All different.
std::vector<std::string> labels(const std::vector<RowIdentity>& rows);

/// Name, title, about and files, of RunDigest::problem.
ProblemContents described_problem(const std::string& text, const std::string& data_sha256);

/// Adds what is needed for all of them to be different.
void make_unique(std::vector<std::string>& names);

}  // namespace yosida::report
