#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "data/sha256.hpp"
#include "study/backend.hpp"
#include "study/place.hpp"
#include "study/postgres.hpp"
#include "study/study_file.hpp"
#include "yosida/error.hpp"

namespace yosida::study {
namespace {

using postgres::Connection;
using postgres::Parameter;
using postgres::Row;
using Mode = Store::Mode;

constexpr std::chrono::seconds kPatience{120};
constexpr std::chrono::milliseconds kLookAgain{200};

// Keys are compared byte by byte, whatever language the database is set up for. The names of columns, and
// what they hold, are those of a file (study_file.cpp); `study` says of which schema.
constexpr const char* kMakeTables[] = {
    R"(CREATE TABLE run (
         key text COLLATE "C" NOT NULL PRIMARY KEY,
         method text NOT NULL,
         seed bigint NOT NULL,
         spec text NOT NULL,
         status text NOT NULL,
         outcome text NOT NULL,
         trace bytea NOT NULL,
         program text NOT NULL,
         data_sha256 text NOT NULL,
         seconds double precision NOT NULL,
         finished text NOT NULL
       ))",
    "CREATE TABLE session (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, started text NOT NULL, "
    "command text NOT NULL, program text NOT NULL, machine text NOT NULL)",
    "CREATE TABLE plan (key text NOT NULL)", "CREATE TABLE study (schema bigint NOT NULL)"};

/// A number for a lock that all studies of a database have to tell apart.
std::int64_t lock_number(const std::string& study, const std::string& what) {
  const std::string digits = sha256_of_text(study + "/" + what).substr(0, 16);
  return static_cast<std::int64_t>(std::stoull(digits, nullptr, 16));
}

bool is_one_of(const std::string& state, std::initializer_list<const char*> states) {
  return std::any_of(states.begin(), states.end(), [&](const char* each) { return state == each; });
}

/// The connection of a study with the claims that hang on it: these outlive the Store.
class Server : public std::enable_shared_from_this<Server> {
 public:
  Server(const std::string& place, Mode mode)
      : shown_(shown_place(place)), mode_(mode), parts_(database_place(place)), connection_(connect()) {}

  const std::string& shown() const { return shown_; }
  const std::string& study() const { return parts_.study; }

  /// Operations are done one at a time. Where the server has gone away, this waits for it and does the
  /// operation again: each of ours may be repeated.
  template <typename Operation>
  auto alone(bool writes, const Operation& operation) {
    const std::lock_guard guard(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (true) {
      try {
        if (connection_.is_lost() && !in_snapshot_) come_back();
        return operation(connection_);
      } catch (const postgres::Error& error) {
        roll_back();
        const bool passes = error.is_lost || is_one_of(error.state, {"40001", "40P01", "57P03", "53300"});
        if (!passes || in_snapshot_ || std::chrono::steady_clock::now() >= deadline)
          throw_as_ours(error, writes);
      } catch (...) {
        roll_back();
        throw;
      }
      std::this_thread::sleep_for(kLookAgain);
    }
  }

  /// All that is read in it is of one moment.
  void in_snapshot(const std::function<void()>& action) {
    const std::lock_guard guard(mutex_);
    alone(false, [&](const Connection& connection) {
      connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      connection.execute("SELECT 1 FROM study");  // the moment is that of the first read
    });
    in_snapshot_ = true;
    try {
      action();
    } catch (...) {
      end_snapshot();
      throw;
    }
    end_snapshot();
  }

  std::unique_ptr<Claim> claim(const std::string& key);

 private:
  class Held;

  Connection connect() const {
    try {
      Connection connection(parts_.connection);
      set_up(connection);
      return connection;
    } catch (const postgres::Error& error) {
      throw InputError(fmt::format("{}: the database cannot be opened: {}", shown_, error.what()));
    }
  }

  void set_up(const Connection& connection) const {
    connection.execute(fmt::format("SET search_path = \"{}\"", parts_.study));
    connection.execute(fmt::format("SET lock_timeout = '{}s'", kPatience.count()));
    // The claims of a machine that died without a word end within a minute.
    connection.execute("SET tcp_keepalives_idle = 30");
    connection.execute("SET tcp_keepalives_interval = 10");
    connection.execute("SET tcp_keepalives_count = 3");
    if (mode_ == Mode::read) connection.execute("SET default_transaction_read_only = on");
    // A commit is on the disk when put() returns.
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = "
        "'off'");
  }

  /// Claims ended with the old connection. Where another has one of them by now, its run is done twice and
  /// stored once: runs that are equal have equal results.
  void come_back() {
    connection_.reconnect();
    set_up(connection_);
    for (const std::string& key : held_)
      connection_.execute("SELECT pg_try_advisory_lock($1)", {lock_number(parts_.study, key)});
  }

  void roll_back() const noexcept try {
    if (!in_snapshot_ && !connection_.is_lost()) connection_.execute("ROLLBACK");
  } catch (const std::exception&) {
    // The connection is lost then, and with it whatever was to be rolled back.
  }

  void end_snapshot() noexcept {
    in_snapshot_ = false;
    roll_back();
  }

  void drop(const std::string& key) noexcept try {
    const std::lock_guard guard(mutex_);
    held_.erase(key);
    if (!connection_.is_lost())
      connection_.execute("SELECT pg_advisory_unlock($1)", {lock_number(parts_.study, key)});
  } catch (const std::exception&) {
    // The claim ended with the connection.
  }

  [[noreturn]] void throw_as_ours(const postgres::Error& error, bool writes) const {
    const std::string kept = "the runs stored so far are kept";
    if (error.is_lost)
      throw OutputError(fmt::format("{}: the server does not answer: {}; see to it and start again: {}",
                                    shown_, error.what(), kept));
    if (error.state == "53100")
      throw OutputError(
          fmt::format("{}: the server's disk is full; make room and start again: {}", shown_, kept));
    if (error.state == "55P03")
      throw OutputError(
          fmt::format("{}: another program has held it for {} seconds; end that one and start again: {}",
                      shown_, kPatience.count(), kept));
    if (is_one_of(error.state, {"42P01", "42703", "3F000"}))
      throw InputError(fmt::format("{}: is damaged: {}", shown_, error.what()));
    if (is_one_of(error.state, {"42501", "25006"}))
      throw InputError(
          fmt::format("{}: cannot be {}: {}", shown_, writes ? "written" : "read", error.what()));
    if (error.state.starts_with("22"))
      throw InputError(fmt::format("{}: does not take this text: {}", shown_, error.what()));
    const std::string text =
        fmt::format("{}: cannot be {}: {}", shown_, writes ? "written" : "read", error.what());
    if (writes) throw OutputError(fmt::format("{}; {}", text, kept));
    throw InputError(text);
  }

  const std::string shown_;
  const Mode mode_;
  const DatabasePlace parts_;
  std::recursive_mutex mutex_;  // of all below; of a snapshot, also around what is read in it
  Connection connection_;
  bool in_snapshot_ = false;
  std::set<std::string> held_;
};

class Server::Held final : public Claim {
 public:
  Held(std::shared_ptr<Server> server, std::string key) : server_(std::move(server)), key_(std::move(key)) {}
  ~Held() override { server_->drop(key_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::shared_ptr<Server> server_;
  std::string key_;
};

std::unique_ptr<Claim> Server::claim(const std::string& key) {
  if (key.size() != 64 || key.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw InputError(fmt::format("key \"{}\": must be a sha256 in hexadecimal digits", key));
  const std::lock_guard guard(mutex_);
  // The server would give the same lock to this connection twice.
  if (held_.contains(key)) return nullptr;
  // An advisory lock: it ends with the connection, and nothing waits for it.
  const bool is_ours = alone(true, [&](const Connection& connection) {
    bool got = false;
    connection.execute("SELECT pg_try_advisory_lock($1)", {lock_number(parts_.study, key)},
                       [&](const Row& row) { got = row.bytes(0) == std::string(1, '\1'); });
    return got;
  });
  if (!is_ours) return nullptr;
  held_.insert(key);
  return std::make_unique<Held>(shared_from_this(), key);
}

constexpr const char* kColumns =
    "key, method, seed, spec, status, outcome, program, data_sha256, seconds, finished";

/// The record in a row of kColumns, which has its trace behind them where that is asked for.
Record record_of(const Row& row, const std::string& shown, bool with_trace) {
  StoredRun stored;
  stored.key = row.bytes(0);
  const std::string name = stored.key;
  Record& run = stored.run;
  run.spec = {
      .method = row.bytes(1), .seed = static_cast<std::uint64_t>(row.integer(2)), .json = row.bytes(3)};
  run.status = row.bytes(4);
  run.outcome = row.bytes(5);
  run.program = row.bytes(6);
  run.data_sha256 = row.bytes(7);
  run.seconds = row.real(8);
  run.finished = row.bytes(9);
  if (with_trace) stored.trace = row.bytes(10);
  try {
    return checked(std::move(stored), with_trace);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: run {} is damaged: {}", shown, name, error.what()));
  }
}

class PostgresBackend final : public Backend {
 private:
  template <typename Operation>
  auto read(const Operation& operation) {
    return server_->alone(false, operation);
  }
  template <typename Operation>
  void write(const Operation& operation) {
    server_->alone(true, operation);
  }

 public:
  PostgresBackend(const std::string& place, Mode mode) : server_(std::make_shared<Server>(place, mode)) {
    if (mode == Mode::create) make();
    require_study();
  }

  bool has(const std::string& key) override {
    return read([&](const Connection& connection) {
      bool is_there = false;
      connection.execute("SELECT 1 FROM run WHERE key = $1", {key}, [&](const Row&) { is_there = true; });
      return is_there;
    });
  }

  std::vector<std::string> keys() override { return column("SELECT key FROM run"); }
  std::vector<std::string> planned() override { return column("SELECT key FROM plan"); }

  std::unique_ptr<Claim> claim(const std::string& key) override { return server_->claim(key); }

  void put(const std::string& key, const Record& record, const std::string& trace) override {
    write([&](const Connection& connection) {
      connection.execute(
          "INSERT INTO run (key, method, seed, spec, status, outcome, trace, program, data_sha256, seconds, "
          "finished) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (key) DO NOTHING",
          {key, record.spec.method, static_cast<std::int64_t>(record.spec.seed), record.spec.json,
           record.status, record.outcome, Parameter::bytes(trace), record.program, record.data_sha256,
           record.seconds, record.finished});
    });
  }

  void put(const Session& session, const std::vector<std::string>& planned) override {
    write([&](const Connection& connection) {
      connection.execute("BEGIN");
      // Readers are let through.
      connection.execute("LOCK TABLE plan IN EXCLUSIVE MODE");
      connection.execute("INSERT INTO session (started, command, program, machine) VALUES ($1, $2, $3, $4)",
                         {session.started, session.command, session.program, session.machine});
      connection.execute("DELETE FROM plan");
      for (const std::string& key : planned) connection.execute("INSERT INTO plan (key) VALUES ($1)", {key});
      connection.execute("COMMIT");
    });
  }

  std::vector<Session> sessions() override {
    return read([&](const Connection& connection) {
      std::vector<Session> sessions;
      connection.execute("SELECT started, command, program, machine FROM session ORDER BY number", {},
                         [&](const Row& row) {
                           sessions.push_back({.started = row.bytes(0),
                                               .command = row.bytes(1),
                                               .program = row.bytes(2),
                                               .machine = row.bytes(3)});
                         });
      return sessions;
    });
  }

  std::vector<Record> records(bool with_traces) override {
    return read([&](const Connection& connection) {
      std::vector<Record> records;
      connection.execute(
          fmt::format("SELECT {}{} FROM run", kColumns, with_traces ? ", trace" : ""), {},
          [&](const Row& row) { records.push_back(record_of(row, server_->shown(), with_traces)); });
      return records;
    });
  }

  Found find(const std::string& key_prefix, std::size_t most) override {
    return read([&](const Connection& connection) {
      Found found;
      connection.execute(
          fmt::format("SELECT {}, trace FROM run WHERE key >= $1 AND key < $1 || 'g' ORDER BY key LIMIT {}",
                      kColumns, most),
          {key_prefix}, [&](const Row& row) {
            if (!found.first) found.first = record_of(row, server_->shown(), true);
            found.keys.push_back(row.bytes(0));
          });
      return found;
    });
  }

  void in_snapshot(const std::function<void()>& action) override { server_->in_snapshot(action); }

  void remove(const std::vector<std::string>& keys) override {
    write([&](const Connection& connection) {
      connection.execute("BEGIN");
      for (const std::string& key : keys) connection.execute("DELETE FROM run WHERE key = $1", {key});
      connection.execute("COMMIT");
      // This frees space for new rows of the study and stops nobody who reads or writes.
      connection.execute("VACUUM run");
    });
  }

  std::int64_t size_in_bytes() override {
    return read([&](const Connection& connection) {
      std::int64_t bytes = 0;
      connection.execute(
          "SELECT (pg_total_relation_size('run') + pg_total_relation_size('session') + "
          "pg_total_relation_size('plan'))::bigint",
          {}, [&](const Row& row) { bytes = row.integer(0); });
      return bytes;
    });
  }

 private:
  std::vector<std::string> column(const char* sql) {
    return read([&](const Connection& connection) {
      std::vector<std::string> texts;
      connection.execute(sql, {}, [&](const Row& row) { texts.push_back(row.bytes(0)); });
      return texts;
    });
  }

  bool has_table(const Connection& connection) const {
    bool is_there = false;
    // By a query, which sees what others have just committed; to_regclass() may answer from a cache.
    connection.execute(
        "SELECT 1 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace "
        "WHERE nspname = $1 AND relname = 'study'",
        {server_->study()}, [&](const Row&) { is_there = true; });
    return is_there;
  }

  /// Makes the tables in one transaction; of processes that begin at the same moment, one does.
  void make() {
    write([&](const Connection& connection) {
      if (has_table(connection)) return;
      connection.execute("BEGIN");
      connection.execute("SELECT pg_advisory_xact_lock($1)", {lock_number(server_->study(), "make")});
      if (!has_table(connection)) {
        connection.execute(fmt::format("CREATE SCHEMA IF NOT EXISTS \"{}\"", server_->study()));
        for (const char* table : kMakeTables) connection.execute(table);
        connection.execute("INSERT INTO study (schema) VALUES ($1)", {std::int64_t{kSchema}});
      }
      connection.execute("COMMIT");
    });
  }

  void require_study() {
    read([&](const Connection& connection) {
      if (!has_table(connection))
        throw InputError(fmt::format(
            "{}: the database has no study \"{}\"; yosida compare --study makes it, study=NAME names another",
            server_->shown(), server_->study()));
      std::int64_t schema = 0;
      connection.execute("SELECT schema FROM study", {}, [&](const Row& row) { schema = row.integer(0); });
      if (schema > kSchema)
        throw InputError(
            fmt::format("{}: study of schema {}, this program knows up to {}; use a newer yosida",
                        server_->shown(), schema, kSchema));
      if (schema != kSchema)
        throw InputError(fmt::format("{}: is damaged: study of schema {}", server_->shown(), schema));
    });
  }

  std::shared_ptr<Server> server_;
};

}  // namespace

std::unique_ptr<Backend> open_postgres(const std::string& place, Mode mode) {
  return std::make_unique<PostgresBackend>(place, mode);
}

}  // namespace yosida::study
