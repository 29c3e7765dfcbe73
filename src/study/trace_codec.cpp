#include "study/trace_codec.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "problem/work_columns.hpp"
#include "yosida/error.hpp"

namespace yosida::study {
namespace {

using json = nlohmann::ordered_json;

/// Calls `visit(name, quantity)` for every quantity of a point; `quantity(point)` is where that stands.
template <typename Visit>
void for_each_quantity(Visit visit) {
  visit(
      "iteration", [](auto& point) -> auto& { return point.iteration; });
  visit(
      "lambda", [](auto& point) -> auto& { return point.lambda; });
  visit(
      "train", [](auto& point) -> auto& { return point.loss.train; });
  visit(
      "validation", [](auto& point) -> auto& { return point.loss.validation; });
  visit(
      "test", [](auto& point) -> auto& { return point.loss.test; });
  visit(
      "primal_residual", [](auto& point) -> auto& { return point.primal_residual; });
  visit(
      "dual_residual", [](auto& point) -> auto& { return point.dual_residual; });
  for (const auto& [name, count] : kWorkCounts)
    visit(
        name, [count = count](auto& point) -> auto& { return point.work.*count; });
  visit(
      "factorisations", [](auto& point) -> auto& { return point.work.factorisations; });
  visit(
      "seconds", [](auto& point) -> auto& { return point.seconds; });
}

/// The same for what only a search has: these columns are there where some point has a trial.
template <typename Visit>
void for_each_quantity_of_trials(Visit visit) {
  visit(
      "tried", [](auto& point) -> auto& { return point.tried; });
  visit(
      "tried_validation", [](auto& point) -> auto& { return point.tried_validation; });
}

bool has_trials(const Trace& trace) {
  return std::any_of(trace.begin(), trace.end(),
                     [](const TracePoint& point) { return point.tried.size() > 0; });
}

json to_json(std::int64_t value) { return value; }
json to_json(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0.0 ? "Infinity" : "-Infinity";
  return value;
}
json to_json(const std::optional<double>& value) { return value ? to_json(*value) : json(nullptr); }
json to_json(const Vector& values) {
  json array = json::array();
  for (const double value : values) array.push_back(to_json(value));
  return array;
}

/// Reads the JSON of a trace. A study may have gigabytes of it, for which a parser that makes a tree takes
/// many times as long.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool is_done() {
    skip_space();
    return at_ == end_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void require(char c) {
    if (!take(c)) fail(fmt::format("a {} is missing", c));
  }
  /// Reads a name, which needs no escapes.
  std::string_view string() {
    require('"');
    const char* begin = at_;
    at_ = std::find(at_, end_, '"');
    if (at_ == end_) fail("a string has no end");
    constexpr std::ptrdiff_t kLongest = 40;
    if (at_ - begin > kLongest) fail("a string is longer than any name");
    return {begin, static_cast<std::size_t>(at_++ - begin)};
  }

  void read(std::int64_t& value) {
    skip_space();
    advance(std::from_chars(at_, end_, value));
  }
  void read(double& value) {
    skip_space();
    if (at_ != end_ && *at_ == '"') return read_name(value);
    advance(std::from_chars(at_, end_, value));
    if (!std::isfinite(value)) fail("a number is none of JSON");
  }
  void read(std::optional<double>& value) {
    skip_space();
    constexpr std::string_view kNull = "null";
    value.reset();
    if (!std::string_view(at_, end_).starts_with(kNull)) return read(value.emplace());
    at_ += kNull.size();
  }
  void read(Vector& values) {
    numbers_.clear();
    read_list([this](std::size_t) { read(numbers_.emplace_back()); });
    values = Eigen::Map<const Vector>(numbers_.data(), static_cast<Index>(numbers_.size()));
  }
  /// Calls `read_one(i)` before each value of an array.
  template <typename ReadOne>
  std::size_t read_list(const ReadOne& read_one) {
    require('[');
    std::size_t count = 0;
    if (take(']')) return count;
    do read_one(count++);
    while (take(','));
    require(']');
    return count;
  }

  /// How many values the array that follows has, where these are no arrays.
  std::size_t count_ahead() const {
    return static_cast<std::size_t>(std::count(at_, std::find(at_, end_, ']'), ',')) + 1;
  }

  [[noreturn]] void fail(const std::string& what) const { throw InputError("trace: " + what); }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  void advance(const std::from_chars_result& result) {
    if (result.ec != std::errc{}) fail("a number is missing, or too large");
    at_ = result.ptr;
  }
  void read_name(double& number) {
    const std::string_view name = string();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (name == "NaN") {
      number = std::numeric_limits<double>::quiet_NaN();
    } else if (name == "Infinity") {
      number = kInfinity;
    } else if (name == "-Infinity") {
      number = -kInfinity;
    } else {
      fail(fmt::format("\"{}\" is not a number", name));
    }
  }

  const char* at_;
  const char* end_;
  std::vector<double> numbers_;  // of the Vector that is being read
};

/// All that is counted here grows or stays in a trace of ours, and is small enough to be added up.
void check_counts(const Scanner& scanner, const Trace& trace) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  std::int64_t last = 0;
  for (const TracePoint& point : trace) {
    if (point.iteration < last) scanner.fail("its iterations are not in order");
    last = point.iteration;
    for (const std::int64_t count :
         {point.work.train_gradients, point.work.validation_gradients, point.work.hessian_products,
          point.work.loss_evaluations, point.work.inner_solves})
      if (count < 0 || count > kMost) scanner.fail(fmt::format("{} is no number of evaluations", count));
  }
}

/// Reads a column into the points: makes them where it is the first.
template <typename Quantity>
void read_column(Scanner& scanner, std::string_view name, bool is_first, Trace& trace, Quantity quantity) {
  if (is_first) trace.reserve(std::min(scanner.count_ahead(), kMostPoints));
  const std::size_t count = scanner.read_list([&](std::size_t i) {
    if (i >= kMostPoints) scanner.fail(fmt::format("there are more than {} points", kMostPoints));
    if (is_first) trace.emplace_back();
    if (i >= trace.size()) scanner.fail(fmt::format("{} has more values than others", name));
    scanner.read(quantity(trace[i]));
  });
  if (count != trace.size())
    scanner.fail(fmt::format("{} values of {}, where there are {} points", count, name, trace.size()));
}

}  // namespace

std::string trace_to_json(const Trace& trace) {
  json columns = json::object();
  const auto add = [&](const char* name, const auto quantity) {
    json& column = columns[name] = json::array();
    for (const TracePoint& point : trace) column.push_back(to_json(quantity(point)));
  };
  for_each_quantity(add);
  if (has_trials(trace)) for_each_quantity_of_trials(add);
  return columns.dump();
}

Trace trace_from_json(std::string_view text) {
  Scanner scanner(text);
  Trace trace;
  std::set<std::string_view> found;
  scanner.require('{');
  do {
    const std::string_view name = scanner.string();
    scanner.require(':');
    const bool is_first = found.empty();
    const auto read_if_named = [&](const char* each, const auto quantity) {
      if (name == each && found.insert(name).second) read_column(scanner, name, is_first, trace, quantity);
    };
    const std::size_t before = found.size();
    for_each_quantity(read_if_named);
    for_each_quantity_of_trials(read_if_named);
    if (found.size() == before) scanner.fail(fmt::format("\"{}\" is no quantity, or there twice", name));
  } while (scanner.take(','));
  scanner.require('}');
  if (!scanner.is_done()) scanner.fail("something follows its end");
  const auto require_found = [&](const char* name, auto) {
    if (!found.contains(name)) scanner.fail(fmt::format("there is no {}", name));
  };
  for_each_quantity(require_found);
  if (found.contains("tried")) for_each_quantity_of_trials(require_found);
  check_counts(scanner, trace);
  return trace;
}

std::string deflate(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                text.size(), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw std::bad_alloc();  // with room for the bound, zlib fails only where it gets no memory
  bytes.resize(size);
  return bytes;
}

std::string inflate(std::string_view bytes, std::size_t most) {
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();  // it asks for memory and nothing else
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, ::inflateEnd);
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int code = Z_OK;
  // Its size is not known beforehand: twice the room until it suffices.
  for (std::size_t room = 8 * bytes.size() + 64; code == Z_OK && stream.avail_out == 0; room *= 2) {
    const std::size_t done = text.size();
    text.resize(std::min(room, most + 1));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + done);
    stream.avail_out = static_cast<uInt>(text.size() - done);
    code = ::inflate(&stream, Z_NO_FLUSH);
    if (stream.total_out > most) throw InputError(fmt::format("trace: unpacks to more than {} bytes", most));
  }
  if (code != Z_STREAM_END || stream.avail_in > 0) throw InputError("trace: is not a whole zlib stream");
  text.resize(stream.total_out);
  return text;
}

std::string packed(const Trace& trace, std::size_t most) {
  if (trace.size() <= kMostPoints) {
    const std::string text = trace_to_json(trace);
    if (text.size() <= most) return deflate(text);
    if (trace.size() <= 1)
      throw InputError(fmt::format("trace: {} bytes of one point, where {} are the most", text.size(), most));
  }
  Trace thinner;
  for (std::size_t i = (trace.size() - 1) % 2; i < trace.size(); i += 2) thinner.push_back(trace[i]);
  return packed(thinner, most);
}

}  // namespace yosida::study
