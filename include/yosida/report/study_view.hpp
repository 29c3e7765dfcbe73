#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// Which runs of a study are shown, of those that other builds have made.
enum class Builds {
  each,      // all, those of another build in rows of their own
  this_one,  // those of this build alone
  any,       // of runs that differ by their build alone one: this build's, or the one that finished last
};

/// What a report shows of a study. Each run is read once, and only as much of its trace is kept as curves
/// need. May be used by one thread at a time.
class StudyView {
 public:
  /// Opens the study, which is only read. Throws InputError where it is not there or none; so does refresh()
  /// where a run is damaged.
  explicit StudyView(const std::string& path, Builds builds = Builds::each);
  ~StudyView();
  StudyView(const StudyView&) = delete;
  StudyView& operator=(const StudyView&) = delete;

  /// Reads what is new. True where the study has changed since the last call; the first reads all.
  bool refresh();

  std::int64_t runs() const;
  const StudyContents& contents() const;
  std::string json() const { return to_json(contents()); }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace report
}  // namespace yosida
