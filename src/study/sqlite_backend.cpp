#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <utility>

#include "study/backend.hpp"
#include "study/claims.hpp"
#include "study/limits.hpp"
#include "study/study_file.hpp"
#include "yosida/error.hpp"

namespace yosida::study {
namespace {

using sqlite::Database;
using sqlite::Statement;
using sqlite::Transaction;

/// A row of columns_of_run: its cells are of the types that the table says, whatever the file has there.
class RunRow {
 public:
  explicit RunRow(const Statement& row) : row_(row) {}

  /// The first digits of the key, which name the run in messages.
  std::string name() const { return row_.bytes(0).substr(0, kDigits); }
  StoredRun run(bool with_trace) const {
    StoredRun stored;
    Record& run = stored.run;
    run.spec.method = text(1, "method");
    require(2, "seed", SQLITE_INTEGER);
    run.spec.seed = static_cast<std::uint64_t>(row_.integer(2));
    run.spec.json = text(3, "spec");
    run.status = text(4, "status");
    run.outcome = text(5, "outcome");
    run.program = text(7, "program");
    run.data_sha256 = text(8, "data_sha256");
    require(9, "seconds", SQLITE_FLOAT);
    run.seconds = row_.real(9);
    run.finished = text(10, "finished");
    stored.key = text(0, "key");
    if (!with_trace) return stored;
    stored.trace_is_json = row_.type(6) == SQLITE_TEXT;
    if (!stored.trace_is_json) require(6, "trace", SQLITE_BLOB);
    stored.trace = row_.bytes(6);
    return stored;
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

/// The record in a row of columns_of_run. Throws InputError, naming the run, where it is damaged.
Record record_of(const Statement& statement, const std::string& path, bool with_trace) {
  const RunRow row(statement);
  try {
    return checked(row.run(with_trace), with_trace);
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

/// One file, by way of SQLite.
class SqliteBackend final : public Backend {
 private:
  /// One at a time, waiting for other programs; errors are about the path.
  template <typename Operation>
  auto alone(const Operation& operation) {
    const std::lock_guard guard(mutex_);
    try {
      return sqlite::patiently([&] { return operation(database_); });
    } catch (const sqlite::Error& error) {
      throw_as_ours(path_, error);
    }
  }
  /// The same for what is written: an error says so, and the file must be the one that has this name.
  template <typename Operation>
  void write(const Operation& operation) {
    const std::lock_guard guard(mutex_);
    // Before, since side files may belong to what stands there now; and after, so that none is lost unsaid.
    require_at_path(path_, database_);
    try {
      sqlite::patiently([&] { operation(database_); });
    } catch (const sqlite::Error& error) {
      throw_write_failure(path_, error);
    }
    require_at_path(path_, database_);
  }
  std::string claims_file() const {
    const std::string file = database_.file_name();
    return file.empty() ? file : file + "-claims";
  }

 public:
  SqliteBackend(std::string path, Database database)
      : path_(std::move(path)), database_(std::move(database)) {}

  /// One that the dead have left, where nobody else uses it: whoever uses it last removes it.
  void take_over_claims() {
    if (const std::string file = claims_file(); std::filesystem::exists(file))
      claims_ = std::make_shared<Claims>(file);
  }

  bool has(const std::string& key) override {
    return alone([&](const Database& database) {
      return Statement(database, "SELECT 1 FROM run WHERE key = ?1").bind(1, std::string_view(key)).step();
    });
  }

  std::vector<std::string> keys() override {
    return alone([&](const Database& database) {
      const Transaction snapshot(database, Transaction::Kind::deferred);
      RowLimit limit(database, path_);
      Statement rows(database, "SELECT key FROM run");
      std::vector<std::string> keys;
      while (rows.step()) {
        limit.count(rows);
        keys.push_back(rows.bytes(0));
      }
      return keys;
    });
  }

  std::unique_ptr<Claim> claim(const std::string& key) override {
    const std::lock_guard guard(mutex_);
    if (!claims_) claims_ = std::make_shared<Claims>(claims_file());
    return claims_->claim(key);
  }

  void put(const std::string& key, const Record& record, const std::string& trace) override {
    write([&](const Database& database) {
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

  void put(const Session& session, const std::vector<std::string>& planned) override {
    write([&](const Database& database) {
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

  std::vector<Session> sessions() override {
    return alone([&](const Database& database) {
      const Transaction snapshot(database, Transaction::Kind::deferred);
      std::vector<Session> sessions;
      if (!has_table(database, "session")) return sessions;
      RowLimit limit(database, path_);
      Statement rows(database, "SELECT started, command, program, machine FROM session ORDER BY rowid");
      while (rows.step()) {
        limit.count(rows);
        for (int column = 0; column < 4; ++column)
          if (rows.type(column) != SQLITE_TEXT)
            throw InputError(
                fmt::format("{}: is damaged: session {} holds what is no text", path_, sessions.size() + 1));
        sessions.push_back({.started = rows.bytes(0),
                            .command = rows.bytes(1),
                            .program = rows.bytes(2),
                            .machine = rows.bytes(3)});
      }
      return sessions;
    });
  }

  std::vector<std::string> planned() override {
    return alone([&](const Database& database) {
      const Transaction snapshot(database, Transaction::Kind::deferred);
      std::vector<std::string> keys;
      if (!has_table(database, "plan")) return keys;
      RowLimit limit(database, path_);
      Statement rows(database, "SELECT key FROM plan");
      while (rows.step()) {
        limit.count(rows);
        keys.push_back(rows.bytes(0));
      }
      return keys;
    });
  }

  std::vector<Record> records(bool with_traces) override {
    return alone([&](const Database& database) {
      const Transaction snapshot(database, Transaction::Kind::deferred);
      RowLimit limit(database, path_);
      // Sorted here: SQLite would read all rows before it gives the first, and those of a damaged file may
      // not end.
      Statement rows(database, fmt::format("SELECT {} FROM run", columns_of_run(database, with_traces)));
      std::vector<Record> records;
      while (rows.step()) {
        limit.count(rows);
        records.push_back(record_of(rows, path_, with_traces));
      }
      return records;
    });
  }

  Found find(const std::string& key_prefix, std::size_t most) override {
    return alone([&](const Database& database) {
      const Transaction snapshot(database, Transaction::Kind::deferred);
      // Keys are digits and a to f: those that start so are from the prefix itself up to the prefix and a g.
      Statement rows(
          database,
          fmt::format("SELECT {} FROM run WHERE key >= ?1 AND key < ?1 || 'g' ORDER BY key LIMIT {}",
                      columns_of_run(database, true), most));
      rows.bind(1, std::string_view(key_prefix));
      Found found;
      while (rows.step()) {
        if (!found.first) found.first = record_of(rows, path_, true);
        found.keys.push_back(rows.bytes(0));
      }
      return found;
    });
  }

  void in_snapshot(const std::function<void()>& action) override {
    const std::lock_guard guard(mutex_);
    std::optional<Transaction> snapshot;
    alone([&](const Database& database) {
      snapshot.emplace(database, Transaction::Kind::deferred);
      database.integer("PRAGMA user_version");  // the moment is that of the first read
    });
    action();
  }

  void remove(const std::vector<std::string>& keys) override {
    alone([&](const Database& database) {
      Transaction transaction(database, Transaction::Kind::immediate);
      for (const std::string& key : keys)
        Statement(database, "DELETE FROM run WHERE key = ?1").bind(1, std::string_view(key)).step();
      transaction.commit();
    });
    const std::lock_guard guard(mutex_);
    try {
      sqlite::patiently([&] { database_.execute("VACUUM"); });
    } catch (const sqlite::Error& error) {
      if (error.primary() == SQLITE_CORRUPT) throw_as_ours(path_, error);
      throw OutputError(fmt::format("{}: the runs are removed, but the file is as large as before: {}", path_,
                                    error.what()));
    }
    // No error where it fails: somebody is reading, and whoever closes the file last will do this.
    sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  }

  /// The size of the file and of the newest runs, which lie beside it.
  std::int64_t size_in_bytes() override {
    std::int64_t bytes = 0;
    for (const char* ending : {"", "-wal"}) {
      std::error_code missing;
      const auto size = std::filesystem::file_size(database_.file_name() + ending, missing);
      if (!missing) bytes += static_cast<std::int64_t>(size);
    }
    return bytes;
  }

 private:
  std::string path_;  // as it was given; messages use it
  Database database_;
  std::shared_ptr<Claims> claims_;  // made for the first claim
  std::recursive_mutex mutex_;      // of all above; of a snapshot, also around what is read in it
};

}  // namespace

std::unique_ptr<Backend> open_sqlite(const std::string& path, Store::Mode mode) {
  auto backend = std::make_unique<SqliteBackend>(path, open_study_file(path, mode));
  if (mode != Store::Mode::read) backend->take_over_claims();
  return backend;
}

std::unique_ptr<Backend> open_in_memory() {
  Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  create_tables(database);
  return std::make_unique<SqliteBackend>("study in memory", std::move(database));
}

}  // namespace yosida::study
