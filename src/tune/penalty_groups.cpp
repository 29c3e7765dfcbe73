#include "tune/penalty_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida {
namespace {

constexpr const char* kRest = "rest";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\"";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The columns of the features, by name or index.
class Columns {
 public:
  explicit Columns(const Prepared& data) : names_(data.feature_names), count_(data.features) {
    for (std::size_t j = 0; j < names_.size(); ++j) index_[names_[j]] = {static_cast<Index>(j)};
    Index feature = 0;
    for (const TableColumn& column : data.table.columns) {
      if (column.kind != ColumnKind::category) {
        ++feature;
        continue;
      }
      std::vector<Index>& all = index_[column.name];
      for (std::size_t k = data.table.drop_first ? 1 : 0; k < column.levels.size(); ++k)
        all.push_back(feature++);
    }
  }
  /// One feature, or those of all levels of a category.
  std::vector<Index> find(const std::string& name, const std::string& where) const {
    if (const auto named = index_.find(name); named != index_.end()) return named->second;
    Index index = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data(), end, index);
    if (parsed.ec == std::errc{} && parsed.ptr == end && index >= 0 && index < count_) return {index};
    const std::string near = nearest(name, names_);
    throw InputError(fmt::format("{}: there is no feature \"{}\"{}: must be {}an index from 0 to {}", where,
                                 name, near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                 names_.empty() ? "" : "a column's name or ", count_ - 1));
  }
  std::string name(Index j) const {
    return names_.empty() ? std::to_string(j) : names_[static_cast<std::size_t>(j)];
  }

 private:
  const std::vector<std::string>& names_;
  Index count_;
  std::unordered_map<std::string, std::vector<Index>> index_;
};

/// Which group each feature is in, as far as the user has said.
struct Groups {
  static constexpr Index kUnsaid = -2;
  std::vector<Index> of_feature;
  std::vector<std::string> names;
  std::unordered_map<std::string, Index> index = {};  // of a name

  void put(Index feature, const std::string& column, const std::string& name, const std::string& where) {
    const auto [found, is_new] = index.emplace(name, static_cast<Index>(names.size()));
    if (is_new) names.push_back(name);
    const Index wanted = found->second;
    Index& group = of_feature[static_cast<std::size_t>(feature)];
    if (group == Penalty::kNone)
      throw InputError(fmt::format("{}: column \"{}\" of group \"{}\" is unpenalised: it has no lambda",
                                   where, column, name));
    if (group != kUnsaid && group != wanted)
      throw InputError(fmt::format("{}: column \"{}\" is in two groups, \"{}\" and \"{}\": it can be in one",
                                   where, column, names[static_cast<std::size_t>(group)], name));
    group = wanted;
  }
};

/// Whole, but not without an end: the file may be a device.
std::string text_of_groups(const std::string& file) {
  constexpr std::size_t most = 100'000'000;
  std::ifstream in(file);
  if (!in) throw InputError(fmt::format("--groups {}: no such file, or it cannot be read", file));
  std::string text, chunk(std::size_t{1} << 16, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), in.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > most)
      throw InputError(fmt::format("--groups {}: goes on behind {} bytes: it must be shorter", file, most));
  }
  return text;
}

void read_groups(const std::string& file, const Columns& columns, Groups& groups) {
  std::istringstream in(text_of_groups(file));
  std::string line;
  bool any = false;
  for (Index number = 1; std::getline(in, line); ++number) {
    if (trimmed(line).empty()) continue;
    const std::string where = fmt::format("{}:{}", file, number);
    const std::size_t comma = line.rfind(',');
    if (comma == std::string::npos)
      throw InputError(fmt::format("{}: \"{}\" must be feature,group", where, line));
    const std::string column(trimmed(std::string_view(line).substr(0, comma)));
    const std::string group(trimmed(std::string_view(line).substr(comma + 1)));
    if (number == 1 && column == "feature" && group == "group") continue;
    if (column.empty() || group.empty())
      throw InputError(fmt::format("{}: \"{}\" must be feature,group, neither of them empty", where, line));
    for (const Index feature : columns.find(column, where)) groups.put(feature, column, group, where);
    any = true;
  }
  if (!any) throw InputError(fmt::format("--groups {}: holds no groups", file));
}

void parse_group(const std::string& text, const Columns& columns, Groups& groups) {
  const std::string where = "--group " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(fmt::format("{}: must be NAME=col,col,...", where));
  const std::string name(trimmed(std::string_view(text).substr(0, equals)));
  if (groups.index.contains(name))
    throw InputError(fmt::format("{}: group \"{}\" is given twice", where, name));
  std::string_view rest = std::string_view(text).substr(equals + 1);
  if (trimmed(rest).empty())
    throw InputError(fmt::format("{}: group \"{}\" is empty: it needs a column", where, name));
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string column(trimmed(rest.substr(0, comma)));
    for (const Index feature : columns.find(column, where)) groups.put(feature, column, name, where);
    if (comma == std::string_view::npos) return;
    rest.remove_prefix(comma + 1);
  }
}

std::string chosen_sharing(const PenaltyOptions& given, PenaltyForm form) {
  const bool has_groups = !given.groups_file.empty() || !given.groups.empty();
  const bool has_norms = form == PenaltyForm::groups || form == PenaltyForm::l1_groups;
  if (!given.groups_file.empty() && !given.groups.empty())
    throw InputError("--groups: does not go with --group: groups stand in a file or on the command line");
  if (has_norms && !has_groups)
    throw InputError(
        fmt::format("--penalty {}: needs --groups FILE or --group NAME=col,col,...", to_string(form)));
  std::string per = given.lambda_per.empty() ? (has_groups ? "group" : "shared") : given.lambda_per;
  if (per != "shared" && per != "feature" && per != "class" && per != "group" && per != "row")
    refuse_unknown("lambda-per", per, {"shared", "feature", "class", "group", "row"},
                   "must be shared, feature, class, group or row");
  if (has_norms && per != "group" && per != "shared")
    throw InputError(
        fmt::format("lambda-per = {}: does not go with --penalty {}: groups have one lambda each "
                    "(group), or one for all of them (shared)",
                    per, to_string(form)));
  if (has_groups && per != "group" && !has_norms)
    throw InputError(fmt::format("{}: goes with --lambda-per group, not with {}",
                                 given.groups.empty() ? "--groups" : "--group", per));
  if (per == "group" && !has_groups)
    throw InputError("lambda-per = group: needs --groups FILE or --group NAME=col,col,...");
  if (!given.group_scale.empty() && given.group_scale != "sqrt" && given.group_scale != "none")
    refuse_unknown("group-scale", given.group_scale, {"sqrt", "none"}, "must be sqrt or none");
  if (given.group_scale == "sqrt" && (!has_norms || per == "group"))
    throw InputError(
        "--group-scale sqrt: is for groups that share a lambda: --penalty group-lasso or sparse-group-lasso "
        "with --lambda-per shared");
  return per;
}

std::vector<std::string> feature_names(const Dataset& train) {
  std::vector<std::string> names = train.feature_names;
  if (names.empty())
    for (Index j = 0; j < train.features(); ++j) names.push_back(std::to_string(j));
  return names;
}

/// A λ for each training row, called by the row's number in its file, from 1.
NamedPenalty per_row(const TuneOptions& options, const Prepared& data) {
  const Dataset& train = data.split.train;
  std::vector<std::string> names;
  for (const Index row : train.row_number) names.push_back(std::to_string(row + 1));
  return {Penalty::shared(train.features() * data.loss->outputs()), names, {}, options.penalty.fixed};
}

/// Which weights share a λ, of shared, feature, class or group.
NamedPenalty shared_per(const std::string& per, const TuneOptions& options, const Prepared& data) {
  const PenaltyOptions& given = options.penalty;
  const Dataset& train = data.split.train;
  const Index outputs = data.loss->outputs();
  if (per == "class" && data.model->code != ClassCode::indices)
    throw InputError(
        fmt::format("lambda-per = class: is for softmax, which has weights for each class; {} has not",
                    data.model->name));
  if (per == "class" && !given.unpenalised.empty())
    throw InputError(
        "--unpenalised: does not go with --lambda-per class: a class has one lambda for all columns");
  if (per == "class") {
    std::vector<std::string> names;
    for (Index k = 0; k < data.labels->classes(); ++k) names.push_back(data.labels->name(k));
    return {Penalty::per_class(train.features(), outputs), names};
  }
  if (given.unpenalised.empty() && per == "shared")
    return {Penalty::shared(train.features() * outputs), {"shared"}};
  if (given.unpenalised.empty() && per == "feature")
    return {Penalty::per_feature(train.features(), outputs), feature_names(train)};

  if (options.x.find("difference") != std::string::npos)
    throw InputError(
        fmt::format("{}: does not go with --x {}: a difference of two columns is none of the columns named",
                    !given.unpenalised.empty()  ? "--unpenalised"
                    : given.groups_file.empty() ? "--group"
                                                : "--groups",
                    options.x));
  const Columns columns(data);
  Groups groups;
  groups.of_feature.assign(static_cast<std::size_t>(train.features()), Groups::kUnsaid);
  for (const std::string& column : given.unpenalised)
    for (const Index feature : columns.find(column, "--unpenalised"))
      groups.of_feature[static_cast<std::size_t>(feature)] = Penalty::kNone;
  if (per == "group") {
    if (!given.groups_file.empty()) read_groups(given.groups_file, columns, groups);
    for (const std::string& text : given.groups) parse_group(text, columns, groups);
  }
  for (std::size_t j = 0; j < groups.of_feature.size(); ++j) {
    if (groups.of_feature[j] != Groups::kUnsaid) continue;
    const std::string name = columns.name(static_cast<Index>(j));
    groups.put(static_cast<Index>(j), name, per == "shared" ? "shared" : per == "feature" ? name : kRest, "");
  }
  if (groups.names.empty())
    throw InputError("--unpenalised: names every column, so that no lambda is left to find");
  return {Penalty::by_group(groups.of_feature, static_cast<Index>(groups.names.size()), outputs),
          groups.names};
}

/// A penalty that sets weights to 0, of the parts that its name says.
NamedPenalty sparse_penalty(const std::string& per, const TuneOptions& options, const Prepared& data) {
  if (data.penalty != PenaltyForm::groups && data.labels && data.labels->classes() == 2 &&
      data.model->code == ClassCode::indices)
    throw InputError(fmt::format(
        "--penalty {}: does not go with softmax of two classes, whose weights an l1 term leaves free to move "
        "together: use --model logistic, which has one weight for each feature",
        to_string(data.penalty)));
  std::optional<Penalty> l1, l2;
  std::optional<GroupNorms> groups;
  std::vector<std::string> names;
  const bool has_norms = data.penalty == PenaltyForm::groups || data.penalty == PenaltyForm::l1_groups;
  if (data.penalty != PenaltyForm::groups) {
    const std::string of_l1 = has_norms ? "shared" : per;
    NamedPenalty own = shared_per(of_l1, options, data);
    l1 = own.penalty;
    names = of_l1 == "shared" ? std::vector<std::string>{"l1"} : own.names;
  }
  if (has_norms) {
    const NamedPenalty own = shared_per("group", options, data);
    groups = GroupNorms{.groups = own.penalty,
                        .has_shared_lambda = per == "shared",
                        .scales_by_size = options.penalty.group_scale == "sqrt"};
    if (per == "shared") {
      names.emplace_back("groups");
    } else {
      names.insert(names.end(), own.names.begin(), own.names.end());
    }
  }
  if (data.penalty == PenaltyForm::l1_l2) {
    l2 = shared_per("shared", options, data).penalty;
    names.emplace_back("l2");
  }
  const Index weights = data.split.train.features() * data.loss->outputs();
  return {Penalty::shared(weights), names, SparsePenalty(std::move(l1), std::move(groups), std::move(l2))};
}

}  // namespace

NamedPenalty make_penalty(const TuneOptions& options, const Prepared& data) {
  const std::string per = chosen_sharing(options.penalty, data.penalty);
  if (per == "row") return per_row(options, data);
  return data.penalty == PenaltyForm::l2 ? shared_per(per, options, data)
                                         : sparse_penalty(per, options, data);
}

}  // namespace yosida
