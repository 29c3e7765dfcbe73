#include "study/study_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <system_error>

#include "study/network_file_system.hpp"
#include "study/trace_codec.hpp"
#include "yosida/error.hpp"
#include "yosida/whole_file.hpp"

namespace yosida::study {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Statement;
using sqlite::Transaction;
using Mode = Store::Mode;

constexpr std::int32_t kApplicationId = 0x596f7364;  // "Yosd"

// Schema 2. The seed is the 64 bits of an unsigned number; the trace is a zlib stream of the JSON of
// trace_to_json.
constexpr const char* kTables = R"(
  CREATE TABLE run (
    key TEXT NOT NULL PRIMARY KEY,
    method TEXT NOT NULL,
    seed INTEGER NOT NULL,
    spec TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    trace BLOB NOT NULL,
    program TEXT NOT NULL,
    data_sha256 TEXT NOT NULL,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL
  ) STRICT)";

// Schema 1 was the same but for two things: it had no columns `program` and `data_sha256`, and its trace was
// TEXT, the JSON itself.
constexpr const char* kTablesOfSchema1 = R"(
  CREATE TABLE run (
    key TEXT NOT NULL PRIMARY KEY,
    method TEXT NOT NULL,
    seed INTEGER NOT NULL,
    spec TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    trace TEXT NOT NULL,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL
  ) STRICT)";

std::string columns_of_schema(int schema, const char* trace = "trace") {
  return fmt::format("key, method, seed, spec, status, outcome, {}, {}, seconds, finished", trace,
                     schema == 1 ? "'' AS program, '' AS data_sha256" : "program, data_sha256");
}

// SQLite keeps this text as it is, so that it has no "IF NOT EXISTS".
constexpr const char* kSessionTable =
    "CREATE TABLE session (started TEXT NOT NULL, command TEXT NOT NULL, program TEXT NOT NULL, machine TEXT "
    "NOT NULL) STRICT";

// The keys of the runs that the last command asked for.
constexpr const char* kPlanTable = "CREATE TABLE plan (key TEXT NOT NULL) STRICT";

std::string reason(int error) { return std::generic_category().message(error); }

std::string not_a_database(const std::string& path) {
  return fmt::format("{}: is not a study: no SQLite database", path);
}

// ---- what stands at the path ----

/// The folder of a file that may not be there yet, with links resolved.
fs::path folder_of(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(path), error).parent_path();
}

void check_folder_is_writable(const std::string& path) {
  std::error_code error;
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, error))
    throw InputError(fmt::format("{}: the folder {} does not exist", path, folder.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw InputError(
        fmt::format("{}: the folder {} cannot be written ({}), which a study needs for its side files", path,
                    folder.string(), reason(errno)));
}

/// Locks and shared memory, by which processes keep out of each other's way, end at the machine: two machines
/// would write over each other's pages.
void check_is_local(const std::string& path) {
  const std::string name = network_file_system(folder_of(path).string());
  if (!name.empty())
    throw InputError(fmt::format(
        "{0}: lies on a network file system ({1}), where several machines would damage it; keep the study in "
        "PostgreSQL (--study postgresql://HOST/DATABASE), or in a file on a disk of this machine, and bring "
        "it "
        "there by: yosida study copy {0} PLACE",
        path, name));
}

/// SQLite names its side files by the name it is given: under two names, the newest runs of one are unknown
/// to the other, and both would write over each other's pages.
void check_has_one_name(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) == 0 && file.st_nlink > 1)
    throw InputError(
        fmt::format("{}: has {} names (hard links), under which it cannot be written safely; make it a copy "
                    "of its own, or use a symbolic link",
                    path, file.st_nlink));
}

/// The end of a journal that belongs to a transaction over several databases. Before SQLite follows such a
/// journal it reads the file that is named there, and removes that file afterwards, whatever it is.
bool names_another_file(const fs::path& journal) {
  constexpr std::string_view kEnd = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::ifstream stream(journal, std::ios::binary);
  std::string end(kEnd.size(), '\0');
  stream.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  return stream.read(end.data(), static_cast<std::streamsize>(end.size())) && end == kEnd;
}

/// SQLite opens these by their names without another look: a pipe would hold it for ever, and a link would
/// have it write to whatever that leads to.
void check_side_files(const std::string& path) {
  std::error_code error;
  const std::string file = fs::weakly_canonical(path, error).string();
  for (const char* ending : {"-journal", "-wal", "-shm", "-claims"}) {
    const fs::file_status status = fs::symlink_status(file + ending, error);
    if (fs::exists(status) && !fs::is_regular_file(status))
      throw InputError(fmt::format("{}{}: is not a plain file, as all beside a study must be", path, ending));
  }
  if (names_another_file(file + "-journal"))
    throw InputError(fmt::format(
        "{0}: is damaged: {0}-journal names another file, which no journal of a study does", path));
}

/// Before SQLite sees the file: its own words for these cases say little.
void check_path(const std::string& path, Mode mode) {
  if (path.empty()) throw InputError("the name of the study is empty: name a file");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    if (mode != Mode::create) throw InputError(fmt::format("{}: there is no such file", path));
    check_side_files(path);
    check_folder_is_writable(path);
    return check_is_local(path);
  }
  if (error) throw InputError(fmt::format("{}: cannot be opened: {}", path, error.message()));
  if (fs::is_directory(status))
    throw InputError(fmt::format("{}: is a directory, where the file of a study is needed", path));
  if (!fs::is_regular_file(status))
    throw InputError(fmt::format("{}: is not a plain file, as a study must be", path));
  if (::access(path.c_str(), R_OK) != 0)
    throw InputError(fmt::format("{}: cannot be read: {}", path, reason(errno)));
  check_side_files(path);
  const auto size = fs::file_size(path, error);
  // A process that was killed right after it had made the file leaves it empty.
  if (size == 0 && mode != Mode::create)
    throw InputError(fmt::format("{}: is empty (0 bytes), not a study", path));
  // SQLite takes a file of one byte for an empty one. Its size only: to open a file and close it again would
  // drop the locks that another Store of this process has on it.
  constexpr std::uintmax_t kSqliteHeader = 100;
  if (size > 0 && size < kSqliteHeader) throw InputError(not_a_database(path));
  if (mode == Mode::read) return;
  check_is_local(path);
  if (::access(path.c_str(), W_OK) != 0)
    throw InputError(fmt::format("{}: cannot be written: {}", path, reason(errno)));
  check_has_one_name(path);
  check_folder_is_writable(path);
}

/// The text of a table with one space where there are several, and none beside brackets and commas.
std::string without_layout(const std::string& sql) {
  std::string text;
  for (const char c : sql) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    const bool joins = text.empty() || std::string_view("(), ").find(text.back()) != std::string_view::npos;
    if (is_space && joins) continue;
    if (!text.empty() && text.back() == ' ' && std::string_view("(),").find(c) != std::string_view::npos)
      text.pop_back();
    text += is_space ? ' ' : c;
  }
  return text;
}

/// Throws InputError where the file holds anything but the tables of a study: a view in the place of a table
/// can give any number of rows, and triggers, indices and columns that are computed can do anything.
void require_tables(const Database& database, const std::string& path, int schema) {
  const std::map<std::string, std::string> known = {
      {"table run", without_layout(schema == 1 ? kTablesOfSchema1 : kTables)},
      {"index sqlite_autoindex_run_1", ""},
      {"table session", without_layout(kSessionTable)},
      {"table plan", without_layout(kPlanTable)},
      {"table sqlite_stat1", without_layout("CREATE TABLE sqlite_stat1(tbl,idx,stat)")},  // made by ANALYZE
      {"table sqlite_stat4", without_layout("CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)")}};
  Statement objects(database, "SELECT type || ' ' || name, ifnull(sql, ''), rootpage FROM sqlite_schema");
  bool has_runs = false;
  while (objects.step()) {
    const std::string name = objects.bytes(0);
    const auto found = known.find(name);
    if (found == known.end())
      throw InputError(fmt::format("{}: is damaged: it holds the {}, which no study has", path, name));
    if (without_layout(objects.bytes(1)) != found->second || objects.integer(2) <= 0)
      throw InputError(fmt::format("{}: is damaged: the {} is not that of a study", path, name));
    has_runs |= name == "table run";
  }
  if (!has_runs) throw InputError(fmt::format("{}: is damaged: it has no table run", path));
}

/// 0: an empty database. Throws InputError where the file is not a study that this program knows.
int known_schema(const Database& database, const std::string& path) {
  const std::int64_t application = database.integer("PRAGMA application_id");
  const std::int64_t schema = database.integer("PRAGMA user_version");
  if (application == 0 && schema == 0 && database.integer("SELECT count(*) FROM sqlite_master") == 0)
    return 0;
  if (application != kApplicationId)
    throw InputError(fmt::format("{}: is a database of another program, not a study", path));
  if (schema > kSchema)
    throw InputError(fmt::format("{}: study of schema {}, this program knows up to {}; use a newer yosida",
                                 path, schema, kSchema));
  if (schema < 1) throw InputError(fmt::format("{}: is damaged: study of schema {}", path, schema));
  require_tables(database, path, static_cast<int>(schema));
  return static_cast<int>(schema);
}

// ---- migration ----

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Gives the copy its name: the first that is free, or is that of an equal copy (of a migration that was
/// killed afterwards). Never replaces a file.
void name_copy(const fs::path& part, const std::string& name) {
  for (int number = 1;; ++number) {
    const std::string candidate = number == 1 ? name : fmt::format("{}-{}", name, number);
    if (::link(part.c_str(), candidate.c_str()) == 0) break;
    if (errno != EEXIST)
      throw OutputError(fmt::format("{}: the old study cannot be kept there: {}", candidate, reason(errno)));
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && content(part) == content(candidate)) break;
  }
  fs::remove(part);
}

/// Copies the study as it was last committed, whatever part of it is still in the -wal file.
void keep_old_file(const std::string& file, int schema) {
  const std::string name = fmt::format("{}.schema{}", file, schema);
  const fs::path part = name + ".part";
  fs::remove(part);  // of a migration that was killed; the caller's lock keeps others from making one
  // A connection of its own: the caller's has a transaction open, in which nothing can be copied.
  const Database source(file, SQLITE_OPEN_READWRITE);
  Statement(source, "VACUUM INTO ?1").bind(1, std::string_view(part.native())).step();
  sync_to_disk(part);
  name_copy(part, name);
  sync_to_disk(part.parent_path());
}

void migrate_from_1(const Database& database) {
  database.execute("ALTER TABLE run RENAME TO run_1");
  create_tables(database);
  Statement old(database, fmt::format("SELECT {} FROM run_1", columns_of_schema(1)));
  while (old.step()) {
    std::vector<std::string> texts;
    for (const int column : {0, 1, 3, 4, 5, 7, 8, 10}) texts.push_back(old.bytes(column));
    const std::string trace = deflate(old.bytes(6));
    Statement insert(database,
                     fmt::format("INSERT INTO run ({}) VALUES (?1, ?2, ?9, ?3, ?4, ?5, ?10, ?6, ?7, ?11, ?8)",
                                 columns_of_schema(kSchema)));
    for (std::size_t i = 0; i < texts.size(); ++i)
      insert.bind(static_cast<int>(i + 1), std::string_view(texts[i]));
    insert.bind(9, old.integer(2)).bind_blob(10, trace).bind(11, old.real(9)).step();
  }
}

/// In one transaction: killed on the way, it is as it was, and the next start does all of it again.
void make_current(const Database& database, const std::string& path, Mode mode) {
  Transaction transaction(database, Transaction::Kind::immediate);
  const int schema = known_schema(database, path);
  if (schema == kSchema) return;  // another process was quicker
  if (schema == 0) {
    if (mode != Mode::create) throw InputError(fmt::format("{}: is an empty database, not a study", path));
    create_tables(database);
  } else {
    keep_old_file(database.file_name(), schema);
    migrate_from_1(database);
    database.execute("DROP TABLE run_1");
    database.execute(fmt::format("PRAGMA user_version = {}", kSchema));
  }
  transaction.commit();
}

// ---- opening ----

Database open_to_write(const std::string& path, Mode mode) {
  const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::create ? SQLITE_OPEN_CREATE : 0);
  Database database(fs::absolute(path).string(), flags);
  if (database.is_read_only()) throw InputError(fmt::format("{}: cannot be written", path));
  sqlite::patiently([&] {
    const int schema = [&] {
      const Transaction snapshot(database, Transaction::Kind::deferred);
      return known_schema(database, path);
    }();
    if (schema != kSchema) make_current(database, path, mode);
  });
  // Readers and a writer at a time; a commit is one append. Only now: the file of another program is not
  // touched.
  const std::string mode_is = sqlite::patiently([&] { return database.text("PRAGMA journal_mode = WAL"); });
  if (mode_is != "wal")
    throw InputError(
        fmt::format("{}: cannot be put into WAL mode, which a study needs (its mode is \"{}\"); put it on a "
                    "file system of this machine",
                    path, mode_is));
  // A commit is on the disk when put() returns: a power cut loses no finished run either.
  database.execute("PRAGMA synchronous = FULL");
  return database;
}

std::string uri(const std::string& file) {
  std::string text = "file:";
  for (const char c : file) {
    if (c == '%' || c == '?' || c == '#') {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

Database open_to_read(const std::string& path, const std::string& name, int flags) {
  Database database(name, flags);
  database.execute("PRAGMA query_only = ON");
  sqlite::patiently([&] { database.limit_steps(); });
  sqlite::patiently([&] {
    const Transaction snapshot(database, Transaction::Kind::deferred);
    if (known_schema(database, path) == 0)
      throw InputError(fmt::format("{}: is an empty database, not a study", path));
  });
  return database;
}

/// In WAL mode even reading needs side files. Where they cannot be made, nobody of this user's rights is
/// writing: with nothing in a -wal file, the file alone is the study. On a network file system they are not
/// made either, since they would be of no use to other machines.
Database open_to_read(const std::string& path) {
  const std::string file = fs::canonical(path).string();
  const bool is_local = network_file_system(folder_of(path).string()).empty();
  if (is_local) try {
      // To write, if it may be: only such a connection removes the side files when it is closed.
      return open_to_read(path, file, SQLITE_OPEN_READWRITE);
    } catch (const sqlite::Error& error) {
      if (error.primary() != SQLITE_CANTOPEN && error.primary() != SQLITE_READONLY) throw;
    }
  std::error_code missing;
  if (const auto size = fs::file_size(file + "-wal", missing); !missing && size > 0)
    throw InputError(
        fmt::format("{0}: its newest runs are still in {0}-wal, and the folder {1}; copy both files to one "
                    "that can be written on a disk of this machine",
                    path, is_local ? "cannot be written" : "is on a network file system"));
  return open_to_read(path, uri(file) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

bool is_full(const sqlite::Error& error) {
  if (error.primary() == SQLITE_FULL) return true;
  if (error.primary() != SQLITE_IOERR && error.primary() != SQLITE_CANTOPEN) return false;
  return error.system_errno == ENOSPC || error.system_errno == EDQUOT || error.system_errno == EFBIG;
}

std::string described(const sqlite::Error& error) {
  if (error.system_errno == 0 || (error.primary() != SQLITE_IOERR && error.primary() != SQLITE_CANTOPEN))
    return error.what();
  return fmt::format("{}: {}", error.what(), reason(error.system_errno));
}

std::string damage(const std::string& path, const sqlite::Error& error) {
  return fmt::format("{0}: is damaged ({1}); what is left can be read by sqlite3 {0} .recover", path,
                     error.primary() == SQLITE_INTERRUPT ? "reading it does not end" : error.what());
}

/// The file is at fault, not the disk: with tables that are not those of a study, too.
bool is_damage(const sqlite::Error& error) {
  switch (error.primary()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_INTERRUPT:  // by Database::limit_steps
      return true;
    default:
      return false;
  }
}

// The index of the -wal file is mapped, which can fail for want of addresses.
bool is_out_of_memory(const sqlite::Error& error) {
  return error.primary() == SQLITE_NOMEM || (error.primary() == SQLITE_IOERR && error.system_errno == ENOMEM);
}

std::string write_failure(const std::string& path, const sqlite::Error& error) {
  if (is_full(error))
    return fmt::format("{}: the disk is full; make room and start again: the runs stored so far are kept",
                       path);
  if (error.is_busy())
    return fmt::format(
        "{}: another program has held it for {} seconds; end that one and start again: the runs stored "
        "so far are kept",
        path, sqlite::kPatience.count());
  return fmt::format(
      "{}: cannot be written: {}; see to the disk and start again: the runs stored so far are kept", path,
      described(error));
}

}  // namespace

void throw_write_failure(const std::string& path, const sqlite::Error& error) {
  if (is_out_of_memory(error)) throw std::bad_alloc();
  if (is_damage(error)) throw InputError(damage(path, error));
  throw OutputError(write_failure(path, error));
}

void throw_as_ours(const std::string& path, const sqlite::Error& error) {
  if (is_out_of_memory(error)) throw std::bad_alloc();
  if (is_full(error) || error.is_busy()) throw OutputError(write_failure(path, error));
  if (error.primary() == SQLITE_NOTADB) throw InputError(not_a_database(path));
  if (is_damage(error)) throw InputError(damage(path, error));
  throw InputError(fmt::format("{}: cannot be used: {}", path, described(error)));
}

void require_at_path(const std::string& path, const Database& database) {
  if (!database.has_moved()) return;
  // Brings home what is in the -wal file, which would otherwise be taken for that of whatever has this name
  // now.
  sqlite3_wal_checkpoint_v2(database.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  throw OutputError(
      fmt::format("{}: was removed, renamed or replaced while it was in use: no further run can be "
                  "stored in it; start again",
                  path));
}

void create_tables(const Database& database) {
  database.execute(kTables);
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.execute(fmt::format("PRAGMA user_version = {}", kSchema));
}

void create_session_tables(const Database& database) {
  if (!has_table(database, "session")) database.execute(kSessionTable);
  if (!has_table(database, "plan")) database.execute(kPlanTable);
}

bool has_table(const Database& database, std::string_view name) {
  return Statement(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1")
      .bind(1, name)
      .step();
}

std::string columns_of_run(const Database& database, bool with_trace) {
  const auto schema = static_cast<int>(database.integer("PRAGMA user_version"));
  return columns_of_schema(schema, with_trace ? "trace" : "x'' AS trace");
}

Database open_study_file(const std::string& path, Mode mode) try {
  check_path(path, mode);
  return mode == Mode::read ? open_to_read(path) : open_to_write(path, mode);
} catch (const sqlite::Error& error) {
  throw_as_ours(path, error);
} catch (const fs::filesystem_error& error) {
  throw InputError(fmt::format("{}: {}", path, error.code().message()));
}

}  // namespace yosida::study
