#pragma once

#include <memory>
#include <string>
#include <vector>

#include "yosida/linalg/mpi.hpp"
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
  double share_ = 0.0;
  double last_shown_ = -1.0;
};

/// The same for a study: how many of its runs are done, and the time that is left. In a pipe a line now and
/// then.
class StudyProgress {
 public:
  StudyProgress(std::string name, bool quiet);
  ~StudyProgress();
  void show(const study::Progress& at);

 private:
  void write_line(const study::Progress& at);

  std::string name_;
  bool active_, writes_lines_;
  double next_line_ = 5.0;  // seconds from the beginning
  std::vector<std::string> shown_;
};

/// While it lives, Ctrl-C (or a termination signal, or USR1) asks for what is there; a second one ends the
/// process, and so does the first where nothing is there yet.
class Interruption {
 public:
  /// What there is to show.
  enum class Answer { from_now_on, with_first_iterate };
  explicit Interruption(Answer answer);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  /// Takes note of the first iterate.
  Observer observer() const;
  /// Asks runs to stop.
  StopToken token() const;
  /// From now on the processes of the session stop together where one of them is asked.
  static void share(mpi::Session& session);
  static bool was_asked();
  /// "Ctrl-C"
  static std::string by_whom();
};

}  // namespace yosida::cli
