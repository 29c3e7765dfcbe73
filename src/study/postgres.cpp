#include "study/postgres.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <vector>

#include "yosida/error.hpp"

#ifdef YOSIDA_WITH_LIBPQ
#include <dlfcn.h>
#include <libpq-fe.h>
#endif

namespace yosida::study::postgres {
namespace {

/// Types by the numbers that the server gives them (pg_type).
enum Type : unsigned { kBytes = 17, kInteger = 20, kText = 25, kReal = 701 };

std::string big_endian(std::uint64_t bits) {
  std::string bytes(sizeof(bits), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(bits >> (8 * (bytes.size() - 1 - i)));
  return bytes;
}

}  // namespace

Parameter::Parameter(std::string_view text) : type_(kText), text_(text) {}
Parameter::Parameter(std::int64_t number)
    : type_(kInteger), number_(big_endian(std::bit_cast<std::uint64_t>(number))) {}
Parameter::Parameter(double number)
    : type_(kReal), number_(big_endian(std::bit_cast<std::uint64_t>(number))) {}

Parameter Parameter::bytes(std::string_view bytes) {
  Parameter parameter(bytes);
  parameter.type_ = kBytes;
  return parameter;
}

int Parameter::size() const {
  const std::size_t size = number_.empty() ? text_.size() : number_.size();
  constexpr std::size_t kMost = 1 << 30;  // of a cell in PostgreSQL
  if (size >= kMost) throw InputError(fmt::format("a cell has {} bytes: must be fewer than {}", size, kMost));
  return static_cast<int>(size);
}

#ifdef YOSIDA_WITH_LIBPQ

namespace {

/// The functions of libpq by their own names.
struct Library {
#define YOSIDA_LIBPQ_FUNCTIONS(DO) \
  DO(PQclear)                      \
  DO(PQconnectdbParams)            \
  DO(PQerrorMessage)               \
  DO(PQfinish)                     \
  DO(PQgetResult)                  \
  DO(PQgetlength)                  \
  DO(PQgetvalue)                   \
  DO(PQntuples)                    \
  DO(PQreset)                      \
  DO(PQresultErrorField)           \
  DO(PQresultErrorMessage)         \
  DO(PQresultStatus)               \
  DO(PQsendQueryParams)            \
  DO(PQsetNoticeProcessor)         \
  DO(PQsetSingleRowMode)           \
  DO(PQstatus)
#define YOSIDA_DECLARE(name) \
  decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): names are declared
  YOSIDA_LIBPQ_FUNCTIONS(YOSIDA_DECLARE)
#undef YOSIDA_DECLARE
  std::string fault;

  Library() {
    // The system finds the library by its name. It stays loaded, because connections use it to their end.
    void* module = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    const auto load = [&](auto& function, const char* name) {
      if (module == nullptr) return;
      void* symbol = ::dlsym(module, name);
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
      if (symbol == nullptr) module = nullptr;
    };
#define YOSIDA_LOAD(name) load(name, #name);
    YOSIDA_LIBPQ_FUNCTIONS(YOSIDA_LOAD)
#undef YOSIDA_LOAD
#undef YOSIDA_LIBPQ_FUNCTIONS
    if (module == nullptr)
      fault = fmt::format("the library of PostgreSQL cannot be loaded ({}); install the package libpq5",
                          ::dlerror());
  }
};

const Library& libpq() {
  static const Library once;
  if (!once.fault.empty())
    throw InputError(fmt::format("studies in PostgreSQL cannot be used: {}", once.fault));
  return once;
}

PGconn* connection(const std::unique_ptr<void, void (*)(void*)>& handle) {
  return static_cast<PGconn*>(handle.get());
}

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

const PGresult* as_result(const void* result) { return static_cast<const PGresult*>(result); }

}  // namespace

std::string Row::bytes(int column) const {
  return {libpq().PQgetvalue(as_result(result_), row_, column),
          static_cast<std::size_t>(libpq().PQgetlength(as_result(result_), row_, column))};
}

template <typename Number>
Number Row::number(int column) const {
  const std::string text = bytes(column);
  if (text.size() != sizeof(std::uint64_t)) throw InputError("is damaged: a column is of another type");
  std::uint64_t bits = 0;
  for (const char c : text) bits = bits << 8 | static_cast<unsigned char>(c);
  return std::bit_cast<Number>(bits);
}

std::int64_t Row::integer(int column) const { return number<std::int64_t>(column); }
double Row::real(int column) const { return number<double>(column); }

Connection::Connection(const std::string& uri)
    : handle_(nullptr, [](void* handle) { libpq().PQfinish(static_cast<PGconn*>(handle)); }) {
  // What the URI says stands before defaults of ours, and behind it what must be. A machine that died without
  // a word is noticed within a minute.
  const char* names[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                         "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                         "dbname",           "client_encoding",  nullptr};
  const char* values[] = {"15", "30", "10", "3", "60000", "yosida", uri.c_str(), "UTF8", nullptr};
  handle_.reset(libpq().PQconnectdbParams(names, values, 1));
  if (handle_ == nullptr) throw std::bad_alloc();
  libpq().PQsetNoticeProcessor(
      connection(handle_), [](void*, const char*) {}, nullptr);
  require_connected();
}

void Connection::require_connected() const {
  if (libpq().PQstatus(connection(handle_)) != CONNECTION_OK)
    throw Error("", true, one_line(libpq().PQerrorMessage(connection(handle_))));
}

bool Connection::is_lost() const { return libpq().PQstatus(connection(handle_)) != CONNECTION_OK; }

void Connection::reconnect() const {
  libpq().PQreset(connection(handle_));
  require_connected();
}

void Connection::fail(const void* result) const {
  const char* state =
      result != nullptr ? libpq().PQresultErrorField(as_result(result), PG_DIAG_SQLSTATE) : nullptr;
  const char* primary =
      result != nullptr ? libpq().PQresultErrorField(as_result(result), PG_DIAG_MESSAGE_PRIMARY) : nullptr;
  const std::string code = state != nullptr ? state : "";
  // The answer that a server is ending, or none at all, comes before libpq itself takes the connection for
  // lost.
  const bool ends = code.empty() || code.starts_with("08") || code == "57P01" || code == "57P02";
  throw Error(code, ends || is_lost(),
              one_line(primary != nullptr ? primary : libpq().PQerrorMessage(connection(handle_))));
}

void Connection::execute(std::string_view sql, std::span<const Parameter> parameters,
                         FunctionRef<void(const Row&)> action) const {
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> sizes, formats;
  for (const Parameter& parameter : parameters) {
    types.push_back(parameter.type());
    values.push_back(parameter.data() != nullptr ? parameter.data() : "");
    sizes.push_back(parameter.size());
    formats.push_back(1);
  }
  constexpr int kBinary = 1;
  const std::string text(sql);
  if (libpq().PQsendQueryParams(connection(handle_), text.c_str(), static_cast<int>(types.size()),
                                types.data(), values.data(), sizes.data(), formats.data(), kBinary) == 0)
    fail(nullptr);
  // Without this, libpq would hold all rows at once.
  libpq().PQsetSingleRowMode(connection(handle_));
  // All results are taken, whatever happens: the connection is good for the next statement only then.
  std::exception_ptr failure;
  while (PGresult* next = libpq().PQgetResult(connection(handle_))) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(next, libpq().PQclear);
    if (failure) continue;
    try {
      switch (libpq().PQresultStatus(result.get())) {
        case PGRES_COMMAND_OK:
        case PGRES_EMPTY_QUERY:
          break;
        case PGRES_SINGLE_TUPLE:
        case PGRES_TUPLES_OK:
          for (int row = 0; row < libpq().PQntuples(result.get()); ++row) action(Row(result.get(), row));
          break;
        default:
          fail(result.get());
      }
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

#else

std::string Row::bytes(int) const { return {}; }
std::int64_t Row::integer(int) const { return 0; }
double Row::real(int) const { return 0.0; }

Connection::Connection(const std::string&) : handle_(nullptr, [](void*) {}) {
  throw InputError(
      "studies in PostgreSQL cannot be used: this build of yosida is without them; install the package "
      "libpq-dev, then configure and build yosida again");
}
void Connection::execute(std::string_view, std::span<const Parameter>, FunctionRef<void(const Row&)>) const {}
bool Connection::is_lost() const { return true; }
void Connection::reconnect() const {}

#endif

}  // namespace yosida::study::postgres
