#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "yosida/linalg/function_ref.hpp"

/// The little of PostgreSQL that a store needs. Its library, libpq, is loaded for the first connection: a
/// start of the program without one takes no longer than without libpq.
namespace yosida::study::postgres {

struct Error : std::runtime_error {
  Error(std::string state_, bool is_lost_, const std::string& message)
      : std::runtime_error(message), state(std::move(state_)), is_lost(is_lost_) {}
  std::string state;  ///< SQLSTATE, five characters; empty where the server said none
  bool is_lost;       ///< the connection is gone
};

/// What stands for $1, $2, … in a statement, in the server's own form: no digit is lost.
class Parameter {
 public:
  Parameter(std::string_view text);
  Parameter(const std::string& text) : Parameter(std::string_view(text)) {}
  Parameter(std::int64_t number);
  Parameter(double number);
  static Parameter bytes(std::string_view bytes);

  unsigned type() const { return type_; }
  const char* data() const { return number_.empty() ? text_.data() : number_.data(); }
  int size() const;

 private:
  unsigned type_;
  std::string_view text_;  // must outlive the call
  std::string number_;
};

/// One row of what a statement gives.
class Row {
 public:
  Row(const void* result, int row) : result_(result), row_(row) {}
  std::string bytes(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;

 private:
  template <typename Number>
  Number number(int column) const;

  const void* result_;
  int row_;
};

/// One at a time: not for several threads.
class Connection {
 public:
  /// Throws InputError where libpq is not there, Error where the server does not let us in.
  explicit Connection(const std::string& uri);

  /// `action` is called with each row while they arrive. Throws Error.
  void execute(
      std::string_view sql, std::span<const Parameter> parameters = {},
      FunctionRef<void(const Row&)> action = [](const Row&) {}) const;
  void execute(
      std::string_view sql, std::initializer_list<Parameter> parameters,
      FunctionRef<void(const Row&)> action = [](const Row&) {}) const {
    execute(sql, std::span(parameters.begin(), parameters.size()), action);
  }
  bool is_lost() const;
  /// Connects anew by the same URI. Throws Error.
  void reconnect() const;

 private:
  [[noreturn]] void fail(const void* result) const;
  void require_connected() const;

  std::unique_ptr<void, void (*)(void*)> handle_;
};

}  // namespace yosida::study::postgres
