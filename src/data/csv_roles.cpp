#include "data/csv_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/field.hpp"
#include "data/formats.hpp"
#include "yosida/error.hpp"

namespace yosida::csv {
namespace {

class Roles {
 public:
  Roles(Layout& layout, const ReadOptions& options) : layout_(layout), options_(options) {}

  void give_all() {
    const auto columns = static_cast<std::size_t>(layout_.columns);
    layout_.role.assign(columns, Role::feature);
    layout_.kind.assign(columns, {});
    if (const auto column = target_column(layout_.source, options_, layout_.columns, layout_.names))
      give(*column, Role::target);
    const auto give_named = [&](const std::string& name, Role role) {
      give(place_of(words(role), name), role);
    };
    if (!options_.weight.empty()) give_named(options_.weight, Role::weight);
    if (!options_.fold.empty() && !(options_.fold_optional && !has_column(options_.fold)))
      give_named(options_.fold, Role::fold);
    if (!options_.id.empty()) keep_ids();
    for (const std::string& name : options_.ignore) give_named(name, Role::ignored);
    for (const std::string& name : options_.categorical) force(name, "category", ColumnKind::category);
    for (const std::string& name : options_.numeric) force(name, "column of numbers", ColumnKind::number);
    if (!options_.like.columns.empty()) take_those_of(options_.like);
    if (!options_.like.classes.empty())
      for (std::size_t field = 0; field < columns; ++field)
        if (layout_.role[field] == Role::target) layout_.kind[field].kind = ColumnKind::category;
    if (options_.only.empty()) return;
    const std::set<std::string_view> wanted(options_.only.begin(), options_.only.end());
    for (std::size_t field = 0; field < layout_.names.size(); ++field) {
      if (layout_.role[field] == Role::feature && !wanted.contains(layout_.names[field]))
        layout_.role[field] = Role::ignored;
    }
  }

 private:
  Index place_of(std::string_view what, const std::string& name) const {
    return column_named(layout_.source, what, name, layout_.columns, layout_.names);
  }

  bool has_column(const std::string& name) const {
    return std::find(layout_.names.begin(), layout_.names.end(), name) != layout_.names.end();
  }

  void give(Index column, Role role) {
    Role& current = layout_.role[column];
    if (current != Role::feature && current != role)
      throw InputError(fmt::format("{}: column {} is both the {} and the {}: it can be one of them",
                                   layout_.source, layout_.in_words(column), words(current), words(role)));
    current = role;
  }

  // A model may know the column as a feature, too; an id is kept beside it and is none.
  void keep_ids() {
    const Index column = place_of(words(Role::id), options_.id);
    const auto& known = options_.like.columns;
    if (std::any_of(known.begin(), known.end(),
                    [&](const TableColumn& each) { return each.name == layout_.name_of(column); }))
      throw InputError(
          fmt::format("{}: column {} is both a feature of the model and the {}: it can be one of "
                      "them",
                      layout_.source, layout_.in_words(column), words(Role::id)));
    give(column, Role::id);
  }

  void force(const std::string& name, std::string_view what, ColumnKind kind) {
    const Index column = place_of(what, name);
    const auto at = static_cast<std::size_t>(column);
    if (layout_.kind[at].is_forced || (layout_.role[at] != Role::feature && layout_.role[at] != Role::target))
      throw InputError(fmt::format("{}: column {} is both a {} and a {}: it can be one of them",
                                   layout_.source, layout_.in_words(column), what,
                                   layout_.kind[at].is_forced ? "category" : words(layout_.role[at])));
    layout_.kind[at] = {.kind = kind, .is_forced = true};
  }

  // The columns of another table, by name; all others are passed over. Where this table has no names, its
  // columns are those in order if they are as many, else by the indices that are their names.
  void take_those_of(const TableForm& like) {
    std::map<std::string, std::size_t> field_of;
    const bool are_in_order = layout_.names.empty() && std::count(layout_.role.begin(), layout_.role.end(),
                                                                  Role::feature) == std::ssize(like.columns);
    for (Index field = 0; field < layout_.columns; ++field)
      if (Role& role = layout_.role[static_cast<std::size_t>(field)]; role == Role::feature) {
        field_of[are_in_order ? like.columns[field_of.size()].name : layout_.name_of(field)] =
            static_cast<std::size_t>(field);
        role = Role::ignored;
      }
    if (layout_.names.empty() && !are_in_order && !are_indices(like))
      throw InputError(fmt::format("{}: has {} columns without names, {} are needed: {}", layout_.source,
                                   field_of.size(), like.columns.size(), comma_separated(names_of(like))));
    std::vector<std::string> absent;
    for (const TableColumn& column : like.columns) {
      const auto found = field_of.find(column.name);
      if (found == field_of.end()) {
        absent.push_back(in_quotes(column.name));
        continue;
      }
      layout_.like_fields.push_back(found->second);
      layout_.role[found->second] = Role::feature;
      FieldKind& kind = layout_.kind[found->second];
      kind = {.kind = column.kind,
              .order = column.order,
              .is_forced = (kind.is_forced || column.ignores_text) && column.kind == ColumnKind::number,
              .unit = field::unit_of(column)};
    }
    if (!absent.empty())
      throw InputError(fmt::format("{}: has no column{} {}, which the model was trained with", layout_.source,
                                   absent.size() == 1 ? "" : "s", comma_separated(absent)));
  }

  static bool are_indices(const TableForm& form) {
    return std::all_of(form.columns.begin(), form.columns.end(), [](const TableColumn& column) {
      return !column.name.empty() && column.name.find_first_not_of("0123456789") == std::string::npos;
    });
  }

  static std::vector<std::string> names_of(const TableForm& form) {
    std::vector<std::string> names;
    for (const TableColumn& column : form.columns) names.push_back(column.name);
    return names;
  }

  Layout& layout_;
  const ReadOptions& options_;
};

}  // namespace

bool ask_for_names(const ReadOptions& options) {
  const auto is_name = [](const std::string& text) { return !text.empty() && !parse_number(text); };
  const auto have_name = [&](const std::vector<std::string>& texts) {
    return std::any_of(texts.begin(), texts.end(), is_name);
  };
  return is_name(options.target) || is_name(options.weight) || is_name(options.fold) || is_name(options.id) ||
         have_name(options.ignore) || have_name(options.only) || have_name(options.categorical) ||
         have_name(options.numeric) || !options.like.columns.empty();
}

bool name_column(const ReadOptions& options, const std::string& name) {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto& columns = options.like.columns;
  return name == options.target || name == options.weight || name == options.fold || name == options.id ||
         has(options.ignore) || has(options.only) || has(options.categorical) || has(options.numeric) ||
         std::any_of(columns.begin(), columns.end(),
                     [&](const TableColumn& column) { return column.name == name; });
}

void give_roles(Layout& layout, const ReadOptions& options) { Roles(layout, options).give_all(); }

}  // namespace yosida::csv
