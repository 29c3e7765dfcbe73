#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <mutex>

#include "yosida/error.hpp"
#include "yosida/export.hpp"
#include "yosida/tune/data_files.hpp"
#include "yosida/tune/tune.hpp"

namespace YOSIDA_EXPORT yosida {

/// A file is no longer what the study began with: no run may be stored under its sha256.
struct DataChanged : InputError {
  using InputError::InputError;
};

/// One name for all that is read: of flags and sha256, or names, as JSON.
std::string sha256_of_files(const std::map<std::string, std::string>& files);

/// What a study reads, by its contents. Files are read once, when their rows are first asked for. Its
/// functions may be called from several threads.
class StudyData {
 public:
  /// Reads the bytes of the files, for their sha256. Throws InputError where one cannot be read.
  StudyData(DataFiles files, TuneOptions options);

  /// By the flag that names it: the sha256 of a file, the name of a built-in data set.
  const std::map<std::string, std::string>& files() const { return sha256_of_flag_; }
  /// The names of the files, without their folders, by the same flags.
  const std::map<std::string, std::string>& file_names() const { return name_of_flag_; }
  /// The sha256 of all files together, as sha256_of_files() has it.
  const std::string& sha256() const { return sha256_; }
  /// Throws DataChanged where a file has changed or is gone. Reads only those whose time or size has changed.
  void require_unchanged() const;
  /// The problem of a seed, of the same rows in other parts; built-in rows are drawn anew. Throws
  /// DataChanged, or InputError where the rows cannot be used.
  TuneProblem problem(std::uint64_t seed);

 private:
  struct File {
    std::string path, sha256;
    std::filesystem::file_time_type written;
    std::uintmax_t size;
  };
  Rows rows(const TuneOptions& options);

  const DataFiles where_;
  const TuneOptions options_;
  std::vector<File> files_;
  std::map<std::string, std::string> sha256_of_flag_, name_of_flag_;
  std::string sha256_;
  std::mutex mutex_;
  std::optional<Rows> rows_;
};

/// The data of one seed, and the best λ there is where that is asked for.
struct SeedProblem {
  TuneProblem problem;
  std::optional<Oracle> oracle;
};

/// Makes the data of a seed when it is first asked for, once for all its runs; keeps that of the last few
/// seeds. Its functions may be called from several threads.
class SeedProblems {
 public:
  /// How a problem is made, and how many are kept.
  struct Options {
    std::function<TuneProblem(std::uint64_t seed)> make;
    std::optional<TuneOptions> oracle;  // whether it is asked for, and its bounds
    std::size_t kept;                   // seeds
  };
  /// Makes nothing yet.
  explicit SeedProblems(Options options) : options_(std::move(options)) {}

  /// Throws what `make` throws, and RunEnded where it is told to stop: DataChanged, or InputError where the
  /// rows of this seed cannot be used.
  std::shared_ptr<const SeedProblem> of(std::uint64_t seed, const StopToken& stop = {});

 private:
  struct Slot {
    explicit Slot(std::uint64_t seed_) : seed(seed_) {}
    std::uint64_t seed;
    std::once_flag once;
    std::shared_ptr<const SeedProblem> made;
  };
  std::shared_ptr<Slot> slot_of(std::uint64_t seed);
  std::shared_ptr<const SeedProblem> make(std::uint64_t seed, const StopToken& stop) const;

  Options options_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Slot>> slots_;
};

}  // namespace yosida
