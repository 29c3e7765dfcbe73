#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/study/record.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// The right to do a run, held against every other process and Store until it is dropped. The system drops it
/// where the process dies, and PostgreSQL where its connection ends.
class Claim {
 public:
  virtual ~Claim() = default;
};

/// A study: finished runs in one SQLite file, or in PostgreSQL. Several processes may work on one study at a
/// time, on several machines where it is in PostgreSQL; the functions of one Store may be called from several
/// threads. A study may come from anyone: what it gives out is of the types that Record says, spec and
/// outcome are JSON of at most 64 MiB that is nested no deeper than 64, and what is stored is held to the
/// same.
class Store {
 public:
  /// What may be done to the study.
  enum class Mode {
    read,    // it must be there; one of an older schema is read as it is
    update,  // it must be there; may be migrated
    create,  // made where it is not there, or is empty
  };
  /// A file, or a place in PostgreSQL as yosida/study/place.hpp says it. Throws InputError where it is not a
  /// store, is one of a newer schema, cannot be written (a file that has several names or lies on a network
  /// file system cannot, unless it is only read) or is not there. A file of an older schema is migrated, the
  /// old file kept beside it under its name with .schema1 added. A store that others hold, and a server that
  /// went away, are waited for in every function for two minutes before that is an OutputError.
  Store(const std::string& place, Mode mode);
  /// A store in memory, for runs that nobody keeps.
  Store();
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Whether the run of this key is in the store.
  bool has(const std::string& key) const;
  /// The keys of all runs, in no order that means anything.
  std::vector<std::string> keys() const;
  /// Nothing where another process, or another holder of a Claim, has claimed the run and is alive. It may
  /// have ended just now: ask has() again once the claim is yours.
  std::unique_ptr<Claim> claim(const std::string& key);
  /// One transaction, on the disk when it returns; a run that is there already stays as it is. Throws
  /// OutputError where it cannot be written, or the file was removed, renamed or replaced: what was stored
  /// before is intact. Throws InputError where the file is damaged, spec or outcome are not JSON or seconds
  /// not finite. Where a trace has more than 2 000 000 points or 256 MiB of JSON, every second point is left
  /// out, again and again until it has no more.
  void put(const Record& record);

  /// All runs, by method, settings and seed: the same order whatever the order they were done in. Traces only
  /// where asked for. Throws InputError, here and below, where a run is damaged.
  std::vector<Record> records(bool with_traces) const;
  /// The run whose key starts so, with its trace; nothing where there is none. Throws InputError, naming the
  /// candidates, where there are several.
  std::optional<Record> record(const std::string& key_prefix) const;
  /// Calls `action`: all that it reads is of one moment, whatever others write meanwhile. Only of a store
  /// that is read.
  void in_snapshot(const std::function<void()>& action) const;
  /// What worked on this study, in its order.
  std::vector<Session> sessions() const;
  /// The keys of the runs that the last of them asked for, there or not.
  std::vector<std::string> planned() const;
  /// What begins to work on this study, and the keys of all runs that it asks for. Throws OutputError where
  /// it cannot be written.
  void put(const Session& session, const std::vector<std::string>& planned = {});
  /// Removes runs in one transaction; gives back the space.
  void remove(const std::vector<std::string>& keys);
  /// The bytes that the study takes; 0 in memory.
  std::int64_t size_in_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What copy_study has done.
struct CopyReport {
  std::int64_t copied = 0, there_before = 0;
};
/// Copies runs with their traces, and the sessions where the other study has none. A run that is there stays
/// as it is. Throws as Store does; what was copied before stays.
CopyReport copy_study(const Store& from, Store& to);

}  // namespace study
}  // namespace yosida
