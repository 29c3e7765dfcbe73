#pragma once

#include <memory>
#include <string>

#include "yosida/study/runner.hpp"
#include "yosida/tune/options.hpp"

namespace yosida::cli {

/// A line on the terminal that follows a run, gone when it is destroyed. Nothing in a pipe.
class Progress {
 public:
  Progress(std::string method, const Budget& budget, bool quiet);
  ~Progress();
  Observer observer();

 private:
  void show(const TracePoint& point);

  std::string method_;
  Budget budget_;
  bool active_;
  double best_;
  double last_shown_ = -1.0;
};

/// The same for a study: how many of its runs are done, and the time that is left.
class StudyProgress {
 public:
  StudyProgress(std::string name, bool quiet);
  ~StudyProgress();
  void show(const study::Progress& at);

 private:
  std::string name_;
  bool active_;
  std::string shown_;
};

/// While it lives, Ctrl-C (or a termination signal) ends the run at the next iteration; a second one
/// kills the process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  Observer observer() const;
  static bool was_asked();
};

}  // namespace yosida::cli
