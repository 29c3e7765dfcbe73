#include "study/trace_codec.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "yosida/error.hpp"

namespace yosida::study {
namespace {

using json = nlohmann::ordered_json;

/// Every quantity of a point with its name, to be written or to be read.
template <typename Point, typename Visit>
void for_each_quantity(Point& point, Visit visit) {
  visit("iteration", point.iteration);
  visit("lambda", point.lambda);
  visit("train", point.loss.train);
  visit("validation", point.loss.validation);
  visit("test", point.loss.test);
  visit("primal_residual", point.primal_residual);
  visit("dual_residual", point.dual_residual);
  visit("train_gradients", point.work.train_gradients);
  visit("validation_gradients", point.work.validation_gradients);
  visit("hessian_products", point.work.hessian_products);
  visit("loss_evaluations", point.work.loss_evaluations);
  visit("inner_solves", point.work.inner_solves);
  visit("factorisations", point.work.factorisations);
  visit("seconds", point.seconds);
}

/// The same for what only a search has: these columns are there where some point has a trial.
template <typename Point, typename Visit>
void for_each_quantity_of_trials(Point& point, Visit visit) {
  visit("tried", point.tried);
  visit("tried_validation", point.tried_validation);
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

void from_json(const json& value, std::int64_t& number) { number = value.get<std::int64_t>(); }
void from_json(const json& value, double& number) {
  if (!value.is_string()) {
    number = value.get<double>();
    return;
  }
  const auto& name = value.get_ref<const std::string&>();
  if (name == "NaN") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (name == "Infinity") {
    number = std::numeric_limits<double>::infinity();
  } else if (name == "-Infinity") {
    number = -std::numeric_limits<double>::infinity();
  } else {
    throw InputError(fmt::format("trace: \"{}\" is not a number", name));
  }
}
void from_json(const json& value, std::optional<double>& number) {
  number.reset();
  if (!value.is_null()) from_json(value, number.emplace());
}
void from_json(const json& array, Vector& values) {
  values.resize(static_cast<Index>(array.size()));
  for (Index j = 0; j < values.size(); ++j) from_json(array.at(static_cast<std::size_t>(j)), values[j]);
}

}  // namespace

std::string trace_to_json(const Trace& trace) {
  json columns = json::object();
  const TracePoint any;
  const bool with_trials = has_trials(trace);
  const auto begin = [&](const char* name, const auto&) { columns[name] = json::array(); };
  for_each_quantity(any, begin);
  if (with_trials) for_each_quantity_of_trials(any, begin);
  for (const TracePoint& point : trace) {
    const auto add = [&](const char* name, const auto& value) { columns[name].push_back(to_json(value)); };
    for_each_quantity(point, add);
    if (with_trials) for_each_quantity_of_trials(point, add);
  }
  return columns.dump();
}

Trace trace_from_json(std::string_view text) try {
  const json columns = json::parse(text);
  Trace trace(columns.at("iteration").size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const auto take = [&](const char* name, auto& value) {
      const json& column = columns.at(name);
      if (column.size() != trace.size())
        throw InputError(fmt::format("trace: {} values of {}, where there are {} points", column.size(), name,
                                     trace.size()));
      from_json(column.at(i), value);
    };
    for_each_quantity(trace[i], take);
    if (columns.contains("tried")) for_each_quantity_of_trials(trace[i], take);
  }
  return trace;
} catch (const json::exception& error) {
  throw InputError(fmt::format("trace: {}", error.what()));
}

std::string deflate(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                text.size(), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw std::runtime_error("trace: zlib failed");
  bytes.resize(size);
  return bytes;
}

std::string inflate(std::string_view bytes) {
  // Its size is not known beforehand: twice the room until it suffices.
  for (std::size_t room = 8 * bytes.size() + 64;; room *= 2) {
    std::string text(room, '\0');
    uLongf size = room;
    const int code = uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    if (code == Z_BUF_ERROR) continue;  // said for want of room only; an end too early is Z_DATA_ERROR
    if (code != Z_OK) throw InputError("trace: is not a whole zlib stream");
    text.resize(size);
    return text;
  }
}

}  // namespace yosida::study
