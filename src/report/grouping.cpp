#include "report/grouping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>

#include "yosida/study/experiments.hpp"

namespace yosida::report {
namespace {

using json = nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A value as a person would write it.
std::string written(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string text;
  for (const json& each : value) text += (text.empty() ? "" : " / ") + written(each);
  return text;
}

/// What was not given, or switched off.
bool is_blank(const json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

std::optional<double> number_of(const std::string& text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return {};
  return value;
}

/// Every value inside what has a name, by the names joined with dots.
void flatten(const json& value, const std::string& name, SettingValues& into) {
  if (!value.is_object()) {
    if (!is_blank(value)) into[name] = written(value);
    return;
  }
  for (const auto& [key, each] : value.items()) flatten(each, fmt::format("{}.{}", name, key), into);
}

/// Sorts texts that are numbers by value, before those that are none.
struct Ordered {
  explicit Ordered(const std::string& text_) : number(number_of(text_)), text(text_) {}
  bool operator<(const Ordered& other) const {
    return std::tuple(!number, number.value_or(0.0), text) <
           std::tuple(!other.number, other.number.value_or(0.0), other.text);
  }
  std::optional<double> number;
  std::string text;
};

std::vector<std::pair<std::string, Ordered>> ordered(const SettingValues& values) {
  std::vector<std::pair<std::string, Ordered>> result;
  for (const auto& [name, value] : values) result.emplace_back(name, Ordered(value));
  return result;
}

constexpr std::array kFirst = {"sho",     "sho-code", "my-hpo-c", "my-hpo-bt", "my-hpo-full", "random",
                               "grid",    "tpe",      "tpe-2",    "gp-ei",     "hyperband",   "hoag",
                               "reverse", "forward",  "penalty",  "stn"};
constexpr std::array kLast = {"my-hpo-1", "my-hpo-consensus", "my-hpo"};

std::size_t rank(const std::string& method) {
  const auto place_in = [&](const auto& names) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), method) - names.begin());
  };
  if (const std::size_t first = place_in(kFirst); first < kFirst.size()) return first;
  const std::size_t last = place_in(kLast);
  return kFirst.size() + (last < kLast.size() ? 1 + last : 0);
}

constexpr std::array<std::pair<std::string_view, const char*>, 8> kGreek = {{{"alpha", "α"},
                                                                             {"beta", "β"},
                                                                             {"gamma", "γ"},
                                                                             {"delta", "δ"},
                                                                             {"epsilon", "ε"},
                                                                             {"rho", "ρ"},
                                                                             {"sigma", "σ"},
                                                                             {"tau", "τ"}}};

std::string symbol(const std::string& setting) {
  for (const auto& [name, letter] : kGreek)
    if (setting == name) return letter;
  if (setting == "run.budget_gradients") return "budget";
  return setting.starts_with("run.") ? setting.substr(4) : setting;
}

/// What a row has under a name.
std::optional<std::string> value_in(const SettingValues& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::optional<std::string>() : found->second;
}

/// The names under which not all of them have the same.
std::vector<std::string> differing(const std::vector<SettingValues>& all) {
  std::set<std::string> names;
  for (const SettingValues& values : all)
    for (const auto& [name, value] : values) names.insert(name);
  std::erase_if(names, [&](const std::string& name) {
    return std::all_of(all.begin(), all.end(), [&](const SettingValues& values) {
      return value_in(values, name) == value_in(all[0], name);
    });
  });
  return {names.begin(), names.end()};
}

/// Greek letters, which are step sizes and the like, then what says most of a search.
std::size_t importance(const std::string& name) {
  if (symbol(name) != name && !name.starts_with("run.")) return 0;
  if (name == "train_steps") return 1;
  return name == "trials" ? 2 : 3;
}

/// " α=0.05 trials=10" of each row of a method: all the Greek letters that differ, and of the rest no more
/// than it takes to tell the rows apart.
std::vector<std::string> told_apart(const std::vector<SettingValues>& rows) {
  std::vector<std::string> names = differing(rows);
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return importance(a) < importance(b); });
  std::vector<std::string> texts(rows.size());
  for (const std::string& name : names) {
    std::vector<std::string> longer = texts;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const auto value = value_in(rows[i], name))
        longer[i] += fmt::format(" {}={}", symbol(name), *value);
    const auto kinds = [](const std::vector<std::string>& each) {
      return std::set(each.begin(), each.end()).size();
    };
    if (importance(name) == 0 || kinds(longer) > kinds(texts)) texts = std::move(longer);
  }
  return texts;
}

/// In the page a file is named by 64 digits; in a name eight are enough.
std::string short_name(const Pairs& files) {
  if (files.empty()) return "data";
  const auto& [flag, sha256] = files[0];
  return flag == "built-in" ? sha256 : fmt::format("data {}", sha256.substr(0, 8));
}

/// What it is in words, what matters most first. A share of 0 is as good as not given.
void add_about(Pairs& about, const json& values) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kWords = {
      {{"name", "model"}, {"rows", "rows"}, {"x", "features"}, {"y", "target scaling"}}};
  if (!values.is_object()) return;
  std::set<std::string> left_out = {"files"};
  const auto add = [&](const std::string& key, std::string name) {
    const json& value = values[key];
    if (!left_out.insert(key).second || is_blank(value) || value == 0.0) return;
    std::replace(name.begin(), name.end(), '_', ' ');
    about.emplace_back(std::move(name), written(value));
  };
  for (const auto& [key, word] : kWords)
    if (values.contains(key)) add(key, word);
  for (const auto& [key, value] : values.items()) add(key, key);
}

}  // namespace

RowIdentity row_identity(const std::string& text) {
  const json row = json::parse(text);
  RowIdentity identity;
  identity.method = row.at("method").get<std::string>();
  for (const auto& [name, value] : row.at("settings").items()) identity.settings[name] = written(value);
  for (const auto& [name, value] : row.items())
    if (name != "method" && name != "settings") flatten(value, name, identity.others);
  if (const auto found = identity.others.find("run.budget_gradients"); found != identity.others.end())
    identity.budget = number_of(found->second);
  // A step size of 0 means that the method chooses it itself.
  if (const auto found = identity.settings.find("alpha"); found != identity.settings.end())
    if (const auto step = number_of(found->second); step && *step > 0.0) identity.step = step;
  return identity;
}

bool stands_before(const RowIdentity& a, const RowIdentity& b) {
  const auto place = [](const RowIdentity& row) {
    return std::tuple(rank(row.method), row.method, ordered(row.settings), ordered(row.others));
  };
  return place(a) < place(b);
}

std::vector<std::string> labels(const std::vector<RowIdentity>& rows) {
  std::map<std::string, std::vector<std::size_t>> of_method;
  for (std::size_t i = 0; i < rows.size(); ++i) of_method[rows[i].method].push_back(i);
  std::vector<std::string> texts(rows.size());
  for (const auto& [method, places] : of_method) {
    std::vector<SettingValues> values;
    for (const std::size_t i : places) {
      values.push_back(rows[i].settings);
      values.back().insert(rows[i].others.begin(), rows[i].others.end());
    }
    const std::vector<std::string> apart = told_apart(values);
    for (std::size_t i = 0; i < places.size(); ++i) texts[places[i]] = method + apart[i];
  }
  make_unique(texts);
  return texts;
}

ProblemContents described_problem(const std::string& text, const std::string& data_sha256) {
  const json problem = json::parse(text);
  const json data = problem.value("data", json::object()), model = problem.value("model", json::object());
  ProblemContents contents;
  add_about(contents.about, model);
  add_about(contents.about, data);
  if (data.is_object() && data.contains("files") && data["files"].is_object())
    for (const auto& [name, value] : data["files"].items()) contents.files.emplace_back(name, written(value));
  if (contents.files.empty() && !data_sha256.empty()) contents.files.emplace_back("data", data_sha256);
  contents.name = problem.contains("problem") ? written(problem["problem"]) : short_name(contents.files);
  const auto text_at = [](const json& object, const char* name) {
    return object.is_object() && object.contains(name) && object[name].is_string()
               ? object[name].get<std::string>()
               : std::string();
  };
  const study::Experiment* experiment =
      problem.contains("problem") ? study::find_experiment(contents.name) : nullptr;
  if (experiment != nullptr) {
    contents.title = experiment->title;
    contents.paper_tables = experiment->tables;
    contents.paper_figure = experiment->figure;
    contents.name = study::variant_name(*experiment, text_at(model, "x"), text_at(model, "y"));
    if (contents.name != experiment->name) contents.title += fmt::format(" ({})", contents.name);
  } else {
    const std::string of_model = text_at(model, "name");
    contents.title = of_model.empty() ? contents.name : fmt::format("{} on {}", of_model, contents.name);
  }
  return contents;
}

void make_unique(std::vector<std::string>& names) {
  std::set<std::string> taken;
  std::map<std::string, int> last;  // number that was given to a name
  for (std::string& name : names) {
    const std::string given = name;
    int& number = last.try_emplace(given, 1).first->second;
    while (!taken.insert(name).second) name = fmt::format("{} ({})", given, ++number);
  }
}

}  // namespace yosida::report
