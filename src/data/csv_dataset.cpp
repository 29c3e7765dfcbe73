#include "data/csv_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/formats.hpp"

namespace yosida::csv {
namespace {

Vector as_vector(const std::vector<double>& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

class DatasetBuilder {
 public:
  DatasetBuilder(const Layout& layout, Table& table, const ReadOptions& options, const MemoryLimit& limit,
                 std::vector<std::string> notes)
      : layout_(layout), table_(table), options_(options), limit_(limit), notes_(std::move(notes)) {}

  Dataset dataset() {
    Dataset data;
    data.notes = std::move(notes_);
    data.source = layout_.source;
    data.weight_name = options_.weight;
    sort_levels();
    if (layout_.has_text || !options_.like.columns.empty()) {
      add_features_of_text(data);
    } else {
      data.x = rows_as_read();
      for (std::size_t field = 0; field < layout_.names.size(); ++field)
        if (layout_.role[field] == Role::feature) data.feature_names.push_back(layout_.names[field]);
    }
    data.table.decimal = layout_.decimal == ',' ? ',' : '.';
    if (layout_.decimal == ',' && options_.decimal == '\0' && options_.like.is_plain())
      data.notes.emplace_back("numbers have decimal commas (--decimal ,)");
    data.y = as_vector(table_.y);
    data.weight = as_vector(table_.weight);
    data.fold = as_vector(table_.fold);
    data.id = std::move(table_.id);
    for (std::size_t field = 0; field < layout_.role.size(); ++field) {
      const std::string name = layout_.names.empty() ? "" : layout_.names[field];
      if (layout_.role[field] == Role::id) data.id_name = name.empty() ? "id" : name;
      if (layout_.role[field] != Role::target) continue;
      data.target_name = name;
      if (const Levels* levels = levels_of(field)) data.table.classes = levels->texts();
    }
    return data;
  }

 private:
  Design rows_as_read() {
    const auto values = table_.values.release(static_cast<std::size_t>(table_.rows * layout_.features));
    return dense_view(values.get(), table_.rows, layout_.features, layout_.features, values);
  }

  const Levels* levels_of(std::size_t field) const {
    return layout_.slot[field] < 0 ? nullptr : &table_.levels[static_cast<std::size_t>(layout_.slot[field])];
  }

  // Levels are put into rising order, so that neither the order of rows nor threads decide theirs.
  void sort_levels() {
    for (std::size_t field = 0; field < layout_.slot.size(); ++field) {
      if (layout_.slot[field] < 0) continue;
      Levels& levels = table_.levels[static_cast<std::size_t>(layout_.slot[field])];
      if (levels.is_given()) continue;
      const std::vector<double> number = levels.sort();
      const auto renumber = [&](double& code) {
        if (code >= 0.0) code = number[static_cast<std::size_t>(code)];
      };
      if (layout_.role[field] == Role::target) std::for_each(table_.y.begin(), table_.y.end(), renumber);
      if (layout_.role[field] == Role::fold) std::for_each(table_.fold.begin(), table_.fold.end(), renumber);
      if (layout_.role[field] != Role::feature) continue;
      double* const code = table_.values.data() + layout_.place[field];
      for (Index row = 0; row < table_.rows; ++row) renumber(code[row * layout_.features]);
    }
  }

  // Features of columns of which some are no plain numbers.
  void add_features_of_text(Dataset& data) {
    TableForm& form = data.table;
    form.drop_first = options_.like.is_plain() ? options_.drop_first : options_.like.drop_first;
    std::vector<std::size_t> fields = fields_in_order();
    if (options_.like.columns.empty()) std::erase_if(fields, [&](std::size_t at) { return is_id(at, data); });
    std::vector<ColumnToEncode> columns;
    bool is_as_read = static_cast<Index>(fields.size()) == layout_.features;
    for (const std::size_t field : fields) {
      is_as_read &= layout_.slot[field] < 0 && layout_.place[field] == static_cast<Index>(columns.size());
      TableColumn column{
          .name = layout_.like_fields.empty() ? layout_.name_of(static_cast<Index>(field))
                                              : options_.like.columns[columns.size()].name,
          .kind = layout_.kind[field].kind,
          .order = layout_.kind[field].order,
          .ignores_text = layout_.kind[field].is_forced && layout_.kind[field].kind == ColumnKind::number};
      if (const std::string& unit = layout_.kind[field].unit; !unit.empty()) column.levels = {unit};
      ColumnToEncode encode{
          .place = layout_.place[field], .features = 1, .is_category = false, .drops_first = form.drop_first};
      if (const Levels* levels = levels_of(field)) {
        column.levels = levels->texts();
        encode.is_category = true;
        encode.features =
            std::max<Index>(static_cast<Index>(column.levels.size()) - (form.drop_first ? 1 : 0), 0);
        for (std::size_t k = form.drop_first ? 1 : 0; k < column.levels.size(); ++k)
          data.feature_names.push_back(fmt::format("{}={}", column.name, column.levels[k]));
        if (levels->unseen() > 0)
          data.notes.push_back(
              fmt::format("{} of {} fields of column {} have none of its {} levels (the first: {}), and are "
                          "read as none of "
                          "them; --unseen refuse refuses them",
                          levels->unseen(), table_.rows, in_quotes(column.name), column.levels.size(),
                          levels->first_unseen().empty() ? "empty" : in_quotes(levels->first_unseen())));
      } else {
        data.feature_names.push_back(column.name);
      }
      columns.push_back(encode);
      form.columns.push_back(std::move(column));
    }
    if (options_.like.columns.empty()) add_notes(data);
    data.x = is_as_read ? rows_as_read()
                        : encoded(table_.values.data(), table_.rows, layout_.features, columns,
                                  options_.dense, limit_, data.source);
  }

  // The places of the features' fields, in the order of the file or in that of another table.
  std::vector<std::size_t> fields_in_order() const {
    if (!layout_.like_fields.empty()) return layout_.like_fields;
    std::vector<std::size_t> fields;
    for (std::size_t field = 0; field < layout_.role.size(); ++field)
      if (layout_.role[field] == Role::feature) fields.push_back(field);
    return fields;
  }

  // Text that hardly ever comes twice tells rows apart and nothing else: it is passed over, unless it was
  // asked for.
  bool is_id(std::size_t field, Dataset& data) {
    const Levels* levels = levels_of(field);
    if (levels == nullptr || layout_.kind[field].is_forced) return false;
    const bool has_gaps = !levels->texts().empty() && levels->texts().front().empty();
    const auto different = static_cast<Index>(levels->texts().size()) - (has_gaps ? 1 : 0);
    const Index present = levels->present();
    if (different <= 2 || 2 * different <= present) return false;
    const std::string name = layout_.name_of(static_cast<Index>(field));
    data.notes.push_back(
        fmt::format("column {} is passed over: its {} texts are {} different ones (--categorical {} takes it "
                    "all the same)",
                    in_quotes(name), present, different, word_of_list(name, field)));
    return true;
  }

  // What became of columns that are no plain numbers.
  static void add_notes(Dataset& data) {
    std::vector<std::string> categories, dates;
    for (const TableColumn& column : data.table.columns) {
      if (column.kind == ColumnKind::category)
        categories.push_back(fmt::format("{} ({})", column.name, column.levels.size()));
      if (column.kind == ColumnKind::date) dates.push_back(column.name);
    }
    if (!categories.empty())
      data.notes.push_back(
          fmt::format("text becomes a feature for each of its levels: {}", comma_separated(categories)));
    if (!dates.empty())
      data.notes.push_back(fmt::format("dates are numbers of days since 1970-01-01, times parts of a day: {}",
                                       comma_separated(dates)));
  }

  const Layout& layout_;
  Table& table_;
  const ReadOptions& options_;
  const MemoryLimit& limit_;
  std::vector<std::string> notes_;
};

}  // namespace

Dataset dataset_of(const Layout& layout, Table& table, const ReadOptions& options, const MemoryLimit& limit,
                   std::vector<std::string> notes) {
  return DatasetBuilder(layout, table, options, limit, std::move(notes)).dataset();
}

}  // namespace yosida::csv
