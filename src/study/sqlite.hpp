#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

/// The little of SQLite that a store needs.
namespace yosida::study::sqlite {

struct Error : std::runtime_error {
  Error(int code_, int system_errno_, const std::string& message)
      : std::runtime_error(message), code(code_), system_errno(system_errno_) {}
  int code;          // extended
  int system_errno;  // 0 where the system has no part in it

  int primary() const { return code & 0xff; }
  bool is_busy() const;
};

/// The file may come from anyone: nothing that its schema says is run, neither views nor triggers nor
/// functions.
class Database {
 public:
  /// Flags as of sqlite3_open_v2.
  Database(const std::string& name, int flags);

  void execute(const std::string& sql) const;
  /// The first column of the first row.
  std::int64_t integer(const std::string& sql) const;
  std::string text(const std::string& sql) const;
  /// The path of the file, with links resolved.
  std::string file_name() const;
  bool is_read_only() const;
  /// The size that this transaction sees, whatever part of it is in the -wal file.
  std::int64_t size_in_bytes() const;
  /// Ends statements that take many more steps than a file of this size has to read. Not for those that
  /// write: VACUUM takes as many as it likes.
  void limit_steps() const;
  /// Whether the name of the file is that of another by now, or of none.
  bool has_moved() const;

  sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void fail(int code) const;

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

/// Numbers of parameters start at 1, those of columns at 0. What is bound must outlive the statement.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_blob(int parameter, std::string_view bytes);
  /// True where there is a row.
  bool step();

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  /// SQLITE_TEXT and the like.
  int type(int column) const { return sqlite3_column_type(handle_.get(), column); }
  /// The size of all texts and blobs of the row together.
  std::int64_t size_in_bytes() const;
  /// The bytes of a text or blob; empty where the value is null.
  std::string bytes(int column) const;

 private:
  void require(int code) const;

  const Database& database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> handle_;
};

/// Rolled back unless it was committed. A deferred one inside another is a part of that.
class Transaction {
 public:
  enum class Kind { deferred, immediate };
  Transaction(const Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database& database_;
  bool is_part_ = false;
};

constexpr std::chrono::seconds kPatience{120};

/// Does `operation`, again and again while another program holds the file. SQLite's own waiting
/// (sqlite3_busy_timeout) leaves out some cases: a change to WAL, a recovery, the last one closing the file.
template <typename Operation>
auto patiently(const Operation& operation) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    try {
      return operation();
    } catch (const Error& error) {
      if (!error.is_busy() || std::chrono::steady_clock::now() >= deadline) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace yosida::study::sqlite
