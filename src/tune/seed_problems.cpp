#include "yosida/tune/seed_problems.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/file_list.hpp"
#include "data/sha256.hpp"

namespace yosida {

std::string sha256_of_files(const std::map<std::string, std::string>& files) {
  return sha256_of_text(nlohmann::json(files).dump());
}

StudyData::StudyData(DataFiles files, TuneOptions options)
    : where_(with_catalog(std::move(files))), options_(std::move(options)) {
  const std::pair<const char*, const std::string&> named[] = {{"train", where_.train},
                                                              {"valid", where_.validation},
                                                              {"test", where_.test},
                                                              {"train-target", where_.train_target},
                                                              {"valid-target", where_.validation_target},
                                                              {"test-target", where_.test_target},
                                                              {"groups", options_.penalty.groups_file}};
  for (const auto& [flag, path] : named) {
    if (path.empty()) continue;
    // A file is read for its sha256 and for its rows, which a pipe gives only once.
    std::error_code unknown;
    if (const auto kind = std::filesystem::status(path, unknown);
        path == "-" || (std::filesystem::exists(kind) && std::filesystem::is_other(kind)))
      throw InputError(
          fmt::format("--{} {}: a pipe or device can be read only once, and a study reads its data for their "
                      "sha256 too: write it to a file first",
                      flag, path));
    std::string sums;
    const std::vector<std::filesystem::path> files_of_flag = files_of(path);
    for (const std::filesystem::path& each : files_of_flag) {
      std::error_code none;  // of a file that is not there: sha256_of_file says so
      files_.push_back({.path = each.string(),
                        .sha256 = {},
                        .written = std::filesystem::last_write_time(each, none),
                        .size = std::filesystem::file_size(each, none)});
      sums += files_.back().sha256 = sha256_of_file(each.string());
    }
    sha256_of_flag_[flag] = files_of_flag.size() == 1 ? sums : sha256_of_text(sums);
    name_of_flag_[flag] = std::filesystem::path(path).filename().string();
  }
  if (!where_.built_in.empty()) sha256_of_flag_["built-in"] = where_.built_in;
  sha256_ = sha256_of_files(sha256_of_flag_);
}

void StudyData::require_unchanged() const {
  for (const auto& [path, sha256, written, size] : files_) {
    std::error_code error;
    if (std::filesystem::last_write_time(path, error) == written && !error &&
        std::filesystem::file_size(path, error) == size && !error)
      continue;
    if (!std::filesystem::exists(path, error))
      throw DataChanged(fmt::format("{}: is gone since this comparison began; what is done is kept", path));
    if (sha256_of_file(path) != sha256)
      throw DataChanged(
          fmt::format("{}: has changed since this comparison began; what is done is kept", path));
  }
}

Rows StudyData::rows(const TuneOptions& options) {
  if (!where_.built_in.empty()) return read_rows(where_, options);
  const std::lock_guard lock(mutex_);
  if (!rows_) rows_ = read_rows(where_, options);
  return *rows_;
}

TuneProblem StudyData::problem(std::uint64_t seed) try {
  TuneOptions options = options_;
  options.seed = seed;
  TuneProblem made(rows(options), options);
  require_unchanged();
  return made;
} catch (const InputError&) {
  require_unchanged();  // else it is the rows of this seed
  throw;
}

std::shared_ptr<const SeedProblem> SeedProblems::of(std::uint64_t seed, const StopToken& stop) {
  const std::shared_ptr<Slot> slot = slot_of(seed);
  std::call_once(slot->once, [&] { slot->made = make(seed, stop); });
  return slot->made;
}

std::shared_ptr<SeedProblems::Slot> SeedProblems::slot_of(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : slots_)
    if (each->seed == seed) return each;
  if (slots_.size() == options_.kept) slots_.pop_front();
  return slots_.emplace_back(std::make_shared<Slot>(seed));
}

std::shared_ptr<const SeedProblem> SeedProblems::make(std::uint64_t seed, const StopToken& stop) const {
  auto made = std::make_shared<SeedProblem>(SeedProblem{.problem = options_.make(seed), .oracle = {}});
  if (options_.oracle) {
    TuneOptions bounds = *options_.oracle;
    bounds.stop = stop;
    made->oracle = find_oracle(made->problem, bounds);
  }
  return made;
}

}  // namespace yosida
