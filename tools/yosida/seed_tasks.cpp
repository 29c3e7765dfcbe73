#include "seed_tasks.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "yosida/data/sha256.hpp"

namespace yosida::cli {

DataIdentity::DataIdentity(const DataFlags& data, const PenaltyFlags& penalty) {
  const std::pair<const char*, const std::string&> named[] = {{"train", data.train},
                                                              {"valid", data.validation},
                                                              {"test", data.test},
                                                              {"train-target", data.train_target},
                                                              {"valid-target", data.validation_target},
                                                              {"test-target", data.test_target},
                                                              {"groups", penalty.groups_file}};
  for (const auto& [flag, path] : named) {
    if (path.empty()) continue;
    // Every seed reads its files anew, which a pipe gives only once.
    std::error_code unknown;
    if (const auto kind = std::filesystem::status(path, unknown);
        path == "-" || (std::filesystem::exists(kind) && std::filesystem::is_other(kind)))
      throw InputError(
          fmt::format("--{} {}: a pipe or device can be read only once, and compare reads its data for each "
                      "seed: write it to a file first",
                      flag, path));
    std::error_code none;  // of a file that is not there: sha256_of_file says so
    File file{.path = path,
              .sha256 = {},
              .written = std::filesystem::last_write_time(path, none),
              .size = std::filesystem::file_size(path, none)};
    sha256_of_flag_[flag] = file.sha256 = sha256_of_file(path);
    files_.push_back(std::move(file));
  }
  if (!data.data.empty()) sha256_of_flag_["built-in"] = data.data;
  sha256_ = sha256_of_text(nlohmann::json(sha256_of_flag_).dump());
}

void DataIdentity::require_unchanged() const {
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

Task DataIdentity::read(DataFlags data, const PenaltyFlags& penalty, std::uint64_t seed) const try {
  data.seed = seed;
  Task task(data, penalty);
  require_unchanged();
  return task;
} catch (const InputError&) {
  require_unchanged();  // else it is the rows of this seed
  throw;
}

std::shared_ptr<const SeedTask> SeedTasks::of(std::uint64_t seed) {
  const std::shared_ptr<Slot> slot = slot_of(seed);
  std::call_once(slot->once, [&] { slot->task = make(seed); });
  return slot->task;
}

std::shared_ptr<SeedTasks::Slot> SeedTasks::slot_of(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : slots_)
    if (each->seed == seed) return each;
  if (slots_.size() == options_.kept) slots_.pop_front();
  return slots_.emplace_back(std::make_shared<Slot>(seed));
}

std::shared_ptr<const SeedTask> SeedTasks::make(std::uint64_t seed) const {
  auto task = std::make_shared<SeedTask>(SeedTask{.task = options_.make(seed), .oracle = {}});
  if (!options_.oracle) return task;
  if (const Index several = task->task.hyperparameters(); several > 1)
    throw InputError(fmt::format("--oracle: searches one lambda; here are {} of them", several));
  const SettingValues none;
  const MethodRun any{.method = method(kDefaultMethod), .settings = none, .flags = options_.run};
  task->oracle = task->task.oracle(any.options(seed).start);
  return task;
}

}  // namespace yosida::cli
