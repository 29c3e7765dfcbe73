#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "yosida/study/store.hpp"

namespace yosida::study {

/// A run as a database has it, before anything of it is known to be right.
struct StoredRun {
  std::string key;
  Record run;                  ///< without its trace
  std::string trace;           ///< a zlib stream
  bool trace_is_json = false;  ///< not packed, as schema 1 had it
};

/// What is wrong with a run, apart from its trace; empty where it may be stored, and read.
std::string fault_of(const Record& record);

/// The record of a run that was read. Throws InputError where it is damaged: whatever is given out may be
/// parsed and taken apart without another check.
Record checked(StoredRun&& stored, bool with_trace);

/// Where a Store keeps its runs. A backend knows its database and nothing of what runs mean; all of its
/// functions may be called from several threads, and throw as those of Store do.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual bool has(const std::string& key) = 0;
  virtual std::vector<std::string> keys() = 0;
  virtual std::unique_ptr<Claim> claim(const std::string& key) = 0;
  /// The trace as a zlib stream; that of the record is not looked at.
  virtual void put(const std::string& key, const Record& record, const std::string& trace) = 0;
  /// All records, in any order.
  virtual std::vector<Record> records(bool with_traces) = 0;
  /// The runs whose keys start so, by key.
  struct Found {
    std::optional<Record> first;    ///< with its trace
    std::vector<std::string> keys;  ///< no more than `most` of them
  };
  virtual Found find(const std::string& key_prefix, std::size_t most) = 0;
  virtual void in_snapshot(const std::function<void()>& action) = 0;
  virtual std::vector<Session> sessions() = 0;
  virtual std::vector<std::string> planned() = 0;
  virtual void put(const Session& session, const std::vector<std::string>& planned) = 0;
  virtual void remove(const std::vector<std::string>& keys) = 0;
  virtual std::int64_t size_in_bytes() = 0;
};

std::unique_ptr<Backend> open_sqlite(const std::string& path, Store::Mode mode);
std::unique_ptr<Backend> open_in_memory();
/// A place as yosida/study/place.hpp says it.
std::unique_ptr<Backend> open_postgres(const std::string& place, Store::Mode mode);

}  // namespace yosida::study
