#include "report/grouping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "yosida/solver/methods.hpp"
#include "yosida/study/builds.hpp"
#include "yosida/study/experiments.hpp"

namespace yosida::report {
namespace {

std::optional<double> number_of(const std::string& text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return {};
  return value;
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

/// Where a method stands; before our own comes what the table does not know.
std::pair<int, std::ptrdiff_t> rank(const std::string& name) {
  const std::vector<Method>& all = methods();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Method& method) { return method.name == name; });
  constexpr int kOwn = static_cast<int>(MethodFamily::own);
  if (found == all.end()) return {kOwn, 0};
  const int family = static_cast<int>(found->family);
  return family == kOwn ? std::pair(kOwn + 1, all.end() - found) : std::pair(family, found - all.begin());
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
  if (setting == study::kBudgetOfRow) return "budget";
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

}  // namespace

RowIdentity row_identity(const study::SpecInWords& spec, bool tells_builds) {
  RowIdentity identity{.method = spec.spec.options.method,
                       .settings = spec.settings,
                       .others = spec.others,
                       .build = tells_builds ? study::build_in_words(spec.spec.build) : "",
                       .budget = spec.budget,
                       .step = {}};
  // A step size of 0 means that the method chooses it itself.
  if (const auto found = identity.settings.find("alpha"); found != identity.settings.end())
    if (const auto step = number_of(found->second); step && *step > 0.0) identity.step = step;
  return identity;
}

bool stands_before(const RowIdentity& a, const RowIdentity& b) {
  const auto place = [](const RowIdentity& row) {
    return std::tuple(rank(row.method), row.method, ordered(row.settings), ordered(row.others), row.build);
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
  if (std::any_of(rows.begin(), rows.end(),
                  [&](const RowIdentity& row) { return row.build != rows[0].build; }))
    for (std::size_t i = 0; i < rows.size(); ++i) texts[i] += fmt::format(" build={}", rows[i].build);
  make_unique(texts);
  return texts;
}

ProblemContents described_problem(const RunDigest& run, const std::string& name) {
  const study::SpecInWords& spec = *run.spec;
  ProblemContents contents;
  contents.name = name;
  contents.about = spec.about;
  for (const auto& [flag, sha256] : spec.files) {
    const auto file = run.file_names.find(flag);
    contents.files.emplace_back(
        file == run.file_names.end() ? flag : fmt::format("{} {}", flag, file->second), sha256);
  }
  if (contents.files.empty() && !run.data_sha256.empty())
    contents.files.emplace_back("data", run.data_sha256);
  const TuneOptions& options = spec.spec.options;
  const study::Experiment* experiment = study::find_experiment(spec.spec.experiment);
  if (experiment != nullptr) {
    contents.title = experiment->title;
    contents.paper_tables = experiment->tables;
    contents.paper_figure = experiment->figure;
    contents.name =
        study::variant_name(*experiment, options.x, options.y.value_or(""), options.penalty.lambda_per);
    if (contents.name != experiment->name) contents.title += fmt::format(" ({})", contents.name);
  } else {
    contents.title = options.model.empty() ? name : fmt::format("{} on {}", options.model, name);
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
