#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "yosida/study/store.hpp"

namespace yosida::study {

/// The claims of one Store. Each is a lock of one byte of a side file of the study, at a place that the run's
/// key decides; the system drops it when the process dies. Byte 0 is locked, together with others, by all who
/// use the file: the last of them removes it.
///
/// Not the study itself: SQLite's own locks on a file are lost as soon as a process closes any descriptor
/// of it. Open-file-description locks: two Stores of one process exclude each other.
class Claims : public std::enable_shared_from_this<Claims> {
 public:
  /// An empty path: claims for this object alone. Throws InputError where the file cannot be made.
  explicit Claims(std::string path);
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// Claims a run; null where it is claimed already.
  std::unique_ptr<Claim> claim(const std::string& key);

 private:
  class Held;
  void enter();
  bool is_at_path() const;
  bool set_lock(int kind, std::uint64_t place, bool wait) const;
  void drop(const std::string& key);

  std::string path_;
  int file_ = -1;
  std::mutex mutex_;
  std::set<std::string> held_;
};

}  // namespace yosida::study
