#include "study/sqlite.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace yosida::study::sqlite {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kMostBytesOfRow = 256 << 20;

}  // namespace

bool Error::is_busy() const { return primary() == SQLITE_BUSY || primary() == SQLITE_PROTOCOL; }

Database::Database(const std::string& name, int flags) : handle_(nullptr, sqlite3_close) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);  // also one that failed must be closed
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostBytesOfRow);
  for (const auto& [option, value] : {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1),
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      {SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
    sqlite3_db_config(handle, option, value, nullptr);
  execute("PRAGMA cell_size_check = ON");
}

void Database::fail(int code) const {
  sqlite3* handle = handle_.get();
  throw Error(code, handle != nullptr ? sqlite3_system_errno(handle) : 0,
              handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code));
}

void Database::execute(const std::string& sql) const {
  const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::integer(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.bytes(0) : std::string();
}

std::string Database::file_name() const {
  const char* name = sqlite3_db_filename(handle(), "main");
  return name != nullptr ? name : "";
}

bool Database::is_read_only() const { return sqlite3_db_readonly(handle(), "main") == 1; }

std::int64_t Database::size_in_bytes() const {
  return integer("PRAGMA page_count") * integer("PRAGMA page_size");
}

void Database::limit_steps() const {
  // A row takes some hundred bytes and some dozen steps.
  constexpr std::int64_t kFewest = 100'000'000;
  const std::int64_t most =
      std::min<std::int64_t>(kFewest + size_in_bytes(), std::numeric_limits<int>::max());
  sqlite3_progress_handler(
      handle(), static_cast<int>(most), [](void*) { return 1; }, nullptr);
}

bool Database::has_moved() const {
  int moved = 0;  // stays so for a database in memory
  sqlite3_file_control(handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

Statement::Statement(const Database& database, std::string_view sql)
    : database_(database), handle_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* handle = nullptr;
  const int code =
      sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  handle_.reset(handle);
  require(code);
}

void Statement::require(int code) const {
  if (code != SQLITE_OK) database_.fail(code);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  require(sqlite3_bind_int64(handle_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  require(sqlite3_bind_double(handle_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  // A null pointer would be bound as NULL.
  const char* data = text.empty() ? "" : text.data();
  require(sqlite3_bind_text64(handle_.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  require(sqlite3_bind_blob64(handle_.get(), parameter, data, bytes.size(), SQLITE_STATIC));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail(code);
  return code == SQLITE_ROW;
}

std::string Statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return data != nullptr ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::int64_t Statement::size_in_bytes() const {
  std::int64_t size = 0;
  for (int column = 0; column < sqlite3_column_count(handle_.get()); ++column)
    if (type(column) == SQLITE_TEXT || type(column) == SQLITE_BLOB)
      size += sqlite3_column_bytes(handle_.get(), column);
  return size;
}

Transaction::Transaction(const Database& database, Kind kind)
    : database_(database),
      is_part_(kind == Kind::deferred && sqlite3_get_autocommit(database.handle()) == 0) {
  if (is_part_) return;
  database_.execute(kind == Kind::immediate ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // SQLite itself rolls back after some errors; there is then nothing left to do, nor to say.
  if (!is_part_ && sqlite3_get_autocommit(database_.handle()) == 0)
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() { database_.execute("COMMIT"); }

}  // namespace yosida::study::sqlite
