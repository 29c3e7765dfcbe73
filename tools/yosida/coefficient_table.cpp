#include "coefficient_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "folding.hpp"
#include "output.hpp"
#include "table.hpp"
#include "yosida/number_text.hpp"

namespace yosida::cli {
namespace {

/// "3 of 8 weights are 0: a, b, c"; of many the first few.
std::string zeros_in_words(const RankedCoefficients& ranked, std::size_t most) {
  constexpr std::size_t kNamed = 20;
  const std::size_t count = ranked.zeros.size();
  const std::size_t named = std::min(count, std::min(kNamed, most));
  std::string names;
  for (std::size_t i = 0; i < named; ++i)
    names += fmt::format("{}{}", i == 0 ? ": " : ", ", printable(ranked.zeros[i]));
  return fmt::format("{} of {} weights {} 0{}{}", count, count + ranked.rows.size(),
                     count == 1 ? "is" : "are", names,
                     named < count ? fmt::format(" and {} more", count - named) : "");
}

}  // namespace

std::string coefficients_text(const FittedModel& model, std::size_t most, const std::string& indent) {
  const RankedCoefficients ranked = ranked_coefficients(model);
  const bool has_trained = !ranked.rows.empty() && ranked.rows[0].trained.size() > 0;
  const bool is_one = ranked.outputs.size() == 1;
  std::vector<Table::Column> columns = {{"column", Table::Align::left}};
  const char* const kind = model.target_names.empty() ? "class " : "";
  for (const std::string& output : ranked.outputs)
    columns.push_back({is_one ? "weight" : kind + printable(output), Table::Align::right});
  // Of several outputs one number says how much a column matters.
  if (has_trained) columns.push_back({is_one ? "as trained" : "largest as trained", Table::Align::right, 1});
  Table table(columns);
  const auto add = [&](const std::string& name, const Vector& weight, const std::string& trained) {
    std::vector<std::string> cells = {name};
    for (const double value : weight) cells.push_back(number_text(value, 5));
    if (has_trained) cells.push_back(trained);
    table.add(std::move(cells));
  };
  add("(intercept)", ranked.intercept, "");
  const std::size_t shown = std::min(most, ranked.rows.size());
  for (std::size_t i = 0; i < shown; ++i)
    add(printable(ranked.rows[i].name), ranked.rows[i].weight,
        has_trained ? number_text(is_one ? ranked.rows[i].trained[0] : ranked.rows[i].size, 4) : "");
  std::string text =
      indent + fmt::format("weights in the columns' own units, largest first by size on {}\n", ranked.scale) +
      table.text(indent + "  ", columns_of(STDOUT_FILENO));
  if (shown < ranked.rows.size())
    text += fmt::format("{}  ... {} more ...\n", indent, ranked.rows.size() - shown);
  if (!ranked.zeros.empty()) text += fmt::format("{}  {}\n", indent, zeros_in_words(ranked, most));
  return text;
}

}  // namespace yosida::cli
