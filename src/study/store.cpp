#include "yosida/study/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <tuple>
#include <utility>

#include "study/claims.hpp"
#include "study/limits.hpp"
#include "study/study_file.hpp"
#include "study/trace_codec.hpp"
#include "yosida/error.hpp"

namespace yosida::study {
namespace {

using sqlite::Database;
using sqlite::Statement;
using sqlite::Transaction;

Database open_in_memory() {
  Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  create_tables(database);
  return database;
}

/// What is wrong with a run, apart from its trace; empty where it may be stored, and read.
std::string fault_of(const Record& record) {
  for (const auto& [field, text] : {std::pair("method", &record.spec.method),
                                    {"status", &record.status},
                                    {"program", &record.program},
                                    {"data_sha256", &record.data_sha256},
                                    {"finished", &record.finished}})
    if (text->size() > kMostBytesOfName)
      return fmt::format("its {} has {} bytes: must be at most {}", field, text->size(), kMostBytesOfName);
  for (const auto& [field, text] : {std::pair("spec", &record.spec.json), {"outcome", &record.outcome}})
    if (const std::string fault = fault_of_json(*text); !fault.empty())
      return fmt::format("its {} {}", field, fault);
  if (!std::isfinite(record.seconds)) return fmt::format("its seconds = {}: must be finite", record.seconds);
  return "";
}

/// A row of columns_of_run: its cells are of the types that the table says, whatever the file has there.
class RunRow {
 public:
  explicit RunRow(const Statement& row) : row_(row) {}

  /// As far as it is one: to name the run in messages.
  std::string name() const { return row_.bytes(0).substr(0, kDigits); }
  std::string key() const { return text(0, "key"); }
  Record record() const {
    Record record;
    record.spec.method = text(1, "method");
    require(2, "seed", SQLITE_INTEGER);
    record.spec.seed = static_cast<std::uint64_t>(row_.integer(2));
    record.spec.json = text(3, "spec");
    record.status = text(4, "status");
    record.outcome = text(5, "outcome");
    record.program = text(7, "program");
    record.data_sha256 = text(8, "data_sha256");
    require(9, "seconds", SQLITE_FLOAT);
    record.seconds = row_.real(9);
    record.finished = text(10, "finished");
    return record;
  }
  /// In schema 1 it is the JSON itself.
  Trace trace() const {
    if (row_.type(6) == SQLITE_TEXT) return trace_from_json(row_.bytes(6));
    require(6, "trace", SQLITE_BLOB);
    return trace_from_json(inflate(row_.bytes(6)));
  }

 private:
  static constexpr std::size_t kDigits = 64;  // of sha256

  void require(int column, const char* name, int type) const {
    if (row_.type(column) != type) throw InputError(fmt::format("its {} is of another type", name));
  }
  std::string text(int column, const char* name) const {
    require(column, name, SQLITE_TEXT);
    return row_.bytes(column);
  }

  const Statement& row_;
};

/// Of a row of columns_of_run. Throws InputError, naming the run, where it is damaged: whatever is given out
/// may be parsed and taken apart without another check.
Record record_of(const Statement& statement, const std::string& path, bool with_trace) {
  const RunRow row(statement);
  try {
    Record record = row.record();
    if (row.key() != record.spec.key())
      throw InputError(fmt::format("its key is not the sha256 of its spec, {}", record.spec.key()));
    if (const std::string fault = fault_of(record); !fault.empty()) throw InputError(fault);
    if (with_trace) record.trace = row.trace();
    return record;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: run {} is damaged: {}", path, row.name(), error.what()));
  }
}

/// Rows hold no more bytes than their file has, unless its pages are linked in circles: then they never end.
class RowLimit {
 public:
  RowLimit(const Database& database, const std::string& path)
      : left_(database.size_in_bytes()), path_(path) {}
  void count(const Statement& row) {
    left_ -= row.size_in_bytes() + 1;
    if (left_ < 0) throw InputError(fmt::format("{}: is damaged: its rows hold more than the file", path_));
  }

 private:
  std::int64_t left_;
  const std::string& path_;
};

}  // namespace

struct Store::Impl {
  std::string path;  // as it was given; messages use it
  Mode mode;
  Database database;
  std::shared_ptr<Claims> claims;  // made for the first claim
  std::recursive_mutex mutex;      // of all above; of a snapshot, also around what is read in it

  /// One at a time, waiting for other programs; errors are about the path.
  template <typename Operation>
  auto alone(const Operation& operation) {
    const std::lock_guard guard(mutex);
    try {
      return sqlite::patiently([&] { return operation(database); });
    } catch (const sqlite::Error& error) {
      throw_as_ours(path, error);
    }
  }
  /// The same for what is written: an error says so, and the file must be the one that has this name.
  template <typename Operation>
  void write(const Operation& operation) {
    const std::lock_guard guard(mutex);
    // Before, since side files may belong to what stands there now; and after, so that none is lost unsaid.
    require_at_path(path, database);
    try {
      sqlite::patiently([&] { operation(database); });
    } catch (const sqlite::Error& error) {
      throw_write_failure(path, error);
    }
    require_at_path(path, database);
  }
  std::string claims_file() const {
    const std::string file = database.file_name();
    return file.empty() ? file : file + "-claims";
  }
  void require_writable(const char* function) const {
    if (mode == Mode::read)
      throw std::logic_error(fmt::format("Store::{} of a store that is only read", function));
  }
};

Store::Store(const std::string& path, Mode mode)
    : impl_(new Impl{path, mode, open_study_file(path, mode), {}, {}}) {
  // Left by the dead where nobody else uses it: whoever uses it last removes it.
  if (const std::string file = impl_->claims_file(); mode != Mode::read && std::filesystem::exists(file))
    impl_->claims = std::make_shared<Claims>(file);
}
Store::Store() : impl_(new Impl{"study in memory", Mode::create, open_in_memory(), {}, {}}) {}
Store::~Store() = default;

bool Store::has(const std::string& key) const {
  return impl_->alone([&](const Database& database) {
    return Statement(database, "SELECT 1 FROM run WHERE key = ?1").bind(1, std::string_view(key)).step();
  });
}

std::vector<std::string> Store::keys() const {
  return impl_->alone([&](const Database& database) {
    const Transaction snapshot(database, Transaction::Kind::deferred);
    RowLimit limit(database, impl_->path);
    Statement rows(database, "SELECT key FROM run");
    std::vector<std::string> keys;
    while (rows.step()) {
      limit.count(rows);
      keys.push_back(rows.bytes(0));
    }
    return keys;
  });
}

std::unique_ptr<Claim> Store::claim(const std::string& key) {
  impl_->require_writable("claim");
  const std::lock_guard guard(impl_->mutex);
  if (!impl_->claims) impl_->claims = std::make_shared<Claims>(impl_->claims_file());
  return impl_->claims->claim(key);
}

void Store::put(const Record& record) {
  impl_->require_writable("put");
  if (const std::string fault = fault_of(record); !fault.empty())
    throw InputError(fmt::format("run of {}, seed {}: {}", record.spec.method, record.spec.seed, fault));
  const std::string key = record.spec.key();
  const std::string trace = packed(record.trace);
  impl_->write([&](const Database& database) {
    Statement(database,
              "INSERT INTO run (key, method, seed, spec, status, outcome, trace, program, data_sha256, "
              "seconds, finished)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (key) DO NOTHING")
        .bind(1, std::string_view(key))
        .bind(2, std::string_view(record.spec.method))
        .bind(3, static_cast<std::int64_t>(record.spec.seed))
        .bind(4, std::string_view(record.spec.json))
        .bind(5, std::string_view(record.status))
        .bind(6, std::string_view(record.outcome))
        .bind_blob(7, trace)
        .bind(8, std::string_view(record.program))
        .bind(9, std::string_view(record.data_sha256))
        .bind(10, record.seconds)
        .bind(11, std::string_view(record.finished))
        .step();
  });
}

void Store::put(const Session& session, const std::vector<std::string>& planned) {
  impl_->require_writable("put");
  impl_->write([&](const Database& database) {
    Transaction transaction(database, Transaction::Kind::immediate);
    create_session_tables(database);
    Statement(database, "INSERT INTO session (started, command, program, machine) VALUES (?1, ?2, ?3, ?4)")
        .bind(1, std::string_view(session.started))
        .bind(2, std::string_view(session.command))
        .bind(3, std::string_view(session.program))
        .bind(4, std::string_view(session.machine))
        .step();
    database.execute("DELETE FROM plan");
    for (const std::string& key : planned)
      Statement(database, "INSERT INTO plan (key) VALUES (?1)").bind(1, std::string_view(key)).step();
    transaction.commit();
  });
}

std::vector<Session> Store::sessions() const {
  return impl_->alone([&](const Database& database) {
    const Transaction snapshot(database, Transaction::Kind::deferred);
    std::vector<Session> sessions;
    if (!has_table(database, "session")) return sessions;
    RowLimit limit(database, impl_->path);
    Statement rows(database, "SELECT started, command, program, machine FROM session ORDER BY rowid");
    while (rows.step()) {
      limit.count(rows);
      for (int column = 0; column < 4; ++column)
        if (rows.type(column) != SQLITE_TEXT)
          throw InputError(fmt::format("{}: is damaged: session {} holds what is no text", impl_->path,
                                       sessions.size() + 1));
      sessions.push_back({.started = rows.bytes(0),
                          .command = rows.bytes(1),
                          .program = rows.bytes(2),
                          .machine = rows.bytes(3)});
    }
    return sessions;
  });
}

std::vector<std::string> Store::planned() const {
  return impl_->alone([&](const Database& database) {
    const Transaction snapshot(database, Transaction::Kind::deferred);
    std::vector<std::string> keys;
    if (!has_table(database, "plan")) return keys;
    RowLimit limit(database, impl_->path);
    Statement rows(database, "SELECT key FROM plan");
    while (rows.step()) {
      limit.count(rows);
      keys.push_back(rows.bytes(0));
    }
    return keys;
  });
}

std::vector<Record> Store::records(bool with_traces) const {
  return impl_->alone([&](const Database& database) {
    const Transaction snapshot(database, Transaction::Kind::deferred);
    RowLimit limit(database, impl_->path);
    // Sorted here: SQLite would read all rows before it gives the first, and those of a damaged file may not
    // end.
    Statement rows(database, fmt::format("SELECT {} FROM run", columns_of_run(database, with_traces)));
    std::vector<Record> records;
    while (rows.step()) {
      limit.count(rows);
      records.push_back(record_of(rows, impl_->path, with_traces));
    }
    const auto place = [](const Record& run) {
      return std::tie(run.spec.method, run.spec.seed, run.spec.json);
    };
    std::sort(records.begin(), records.end(),
              [&](const Record& a, const Record& b) { return place(a) < place(b); });
    const auto twice =
        std::adjacent_find(records.begin(), records.end(),
                           [](const Record& a, const Record& b) { return a.spec.json == b.spec.json; });
    if (twice != records.end())
      throw InputError(
          fmt::format("{}: run {} is damaged: it is there twice", impl_->path, twice->spec.key()));
    return records;
  });
}

std::optional<Record> Store::record(const std::string& key_prefix) const {
  std::string prefix = key_prefix;
  for (char& c : prefix)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  return impl_->alone([&](const Database& database) {
    const Transaction snapshot(database, Transaction::Kind::deferred);
    // Keys are digits and a to f: those that start so are from the prefix itself up to the prefix and a g.
    Statement rows(database,
                   fmt::format("SELECT {} FROM run WHERE key >= ?1 AND key < ?1 || 'g' ORDER BY key LIMIT 6",
                               columns_of_run(database, true)));
    rows.bind(1, std::string_view(prefix));
    std::optional<Record> found;
    std::vector<std::string> keys;
    while (rows.step()) {
      if (!found) found = record_of(rows, impl_->path, true);
      keys.push_back(rows.bytes(0));
    }
    if (keys.size() <= 1) return found;
    const bool is_more = keys.size() == 6;
    if (is_more) keys.pop_back();
    throw InputError(fmt::format("{}: several runs start with \"{}\": {}{}", impl_->path, prefix,
                                 fmt::join(keys, ", "), is_more ? ", and more" : ""));
  });
}

void Store::in_snapshot(const std::function<void()>& action) const {
  if (impl_->mode != Mode::read) throw std::logic_error("Store::in_snapshot of a store that may be written");
  const std::lock_guard guard(impl_->mutex);
  std::optional<Transaction> snapshot;
  impl_->alone([&](const Database& database) {
    snapshot.emplace(database, Transaction::Kind::deferred);
    database.integer("PRAGMA user_version");  // the moment is that of the first read
  });
  action();
}

void Store::remove(const std::vector<std::string>& keys) {
  impl_->require_writable("remove");
  impl_->alone([&](const Database& database) {
    Transaction transaction(database, Transaction::Kind::immediate);
    for (const std::string& key : keys)
      Statement(database, "DELETE FROM run WHERE key = ?1").bind(1, std::string_view(key)).step();
    transaction.commit();
  });
  const std::lock_guard guard(impl_->mutex);
  try {
    sqlite::patiently([&] { impl_->database.execute("VACUUM"); });
  } catch (const sqlite::Error& error) {
    if (error.primary() == SQLITE_CORRUPT) throw_as_ours(impl_->path, error);
    throw OutputError(fmt::format("{}: the runs are removed, but the file is as large as before: {}",
                                  impl_->path, error.what()));
  }
  // No error where it fails: somebody is reading, and whoever closes the file last will do this.
  sqlite3_wal_checkpoint_v2(impl_->database.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

}  // namespace yosida::study
