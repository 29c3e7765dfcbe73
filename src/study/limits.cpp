#include "study/limits.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace yosida::study {
namespace {

using json = nlohmann::json;

constexpr int kDeepest = 64;
/// Names and structures together. Readers look for names one by one, so that time grows by the square of it.
constexpr int kMostNames = 10'000;
/// Numbers and the like, for each of which an export has a cell: one per λ, in a few lists.
constexpr int kMostValues = 1'000'000;

/// Follows the parser without keeping anything: each function says whether to go on.
class Check final : public nlohmann::json_sax<json> {
 public:
  std::string fault;

  bool null() override { return count_value(); }
  bool boolean(bool) override { return count_value(); }
  bool number_integer(number_integer_t) override { return count_value(); }
  bool number_unsigned(number_unsigned_t) override { return count_value(); }
  bool number_float(number_float_t, const string_t&) override { return count_value(); }
  bool string(string_t&) override { return count_value(); }
  bool binary(binary_t&) override { return count_value(); }
  bool key(string_t&) override { return count_name(); }
  bool start_object(std::size_t) override { return go_down(); }
  bool start_array(std::size_t) override { return go_down(); }
  bool end_object() override { return go_up(); }
  bool end_array() override { return go_up(); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    fault = fmt::format("is no JSON in UTF-8: see byte {}", position);
    return false;
  }

 private:
  bool count_value() {
    if (++values_ > kMostValues) fault = fmt::format("has more than {} values", kMostValues);
    return fault.empty();
  }
  bool count_name() {
    if (++names_ > kMostNames) fault = fmt::format("has more than {} names and lists", kMostNames);
    return fault.empty();
  }
  bool go_down() {
    if (++depth_ > kDeepest) fault = fmt::format("is nested more than {} deep", kDeepest);
    return fault.empty() && count_name();
  }
  bool go_up() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  int names_ = 0;
  int values_ = 0;
};

}  // namespace

std::string fault_of_json(std::string_view text) {
  if (text.size() > kMostBytesOfJson)
    return fmt::format("has {} bytes, where no more than {} are read", text.size(), kMostBytesOfJson);
  Check check;
  json::sax_parse(text, &check);
  return check.fault;
}

}  // namespace yosida::study
