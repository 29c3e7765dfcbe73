#include "yosida/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "report/chart.hpp"
#include "yosida/model/measures.hpp"
#include "yosida/report/palette.hpp"
#include "yosida/report/rows.hpp"

namespace yosida::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- how rows look ----

/// They tell the settings of a method apart, and methods of one colour.
constexpr std::array kDashes = {"", "6 2.5", "2 2", "8 2 2 2", "4 1.5 1 1.5 1 1.5", "12 3"};

const Stroke kOracle = {.colour = "#000000", .dashes = "1 2", .width = 1.0};

/// One colour for each method, one kind of dashes for each of its settings.
std::vector<Stroke> strokes_of(const ProblemContents& problem) {
  std::map<std::string, std::size_t> settings;
  std::vector<Stroke> strokes;
  for (const MethodRow& row : problem.rows) {
    const MethodColour colour = colour_of(row.method);
    strokes.push_back({.colour = hues()[colour.place].light,
                       .dashes = kDashes[(settings[row.method]++ + colour.turn) % kDashes.size()]});
  }
  return strokes;
}

// ---- what is shown ----

/// More could not be told apart.
constexpr std::size_t kMostRows = 24;

/// Whether each row is shown. Where there are many: the best of every method, then the second best, and so
/// on.
std::vector<bool> shown_rows(const ProblemContents& problem) {
  std::vector<bool> shown(problem.rows.size(), problem.rows.size() <= kMostRows);
  if (problem.rows.size() <= kMostRows) return shown;
  std::map<std::string, std::vector<std::pair<double, std::size_t>>> by_method;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const auto& cells = problem.rows[i].final;
    const bool has_loss = !cells.empty() && cells[0].validation.has_value();
    by_method[problem.rows[i].method].emplace_back(has_loss ? cells[0].validation->median : kInfinity, i);
  }
  std::vector<std::tuple<std::size_t, double, std::size_t>> order;  // by the place within the method
  for (auto& [method, rows] : by_method) {
    std::sort(rows.begin(), rows.end());
    for (std::size_t place = 0; place < rows.size(); ++place)
      order.emplace_back(place, rows[place].first, rows[place].second);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < kMostRows; ++i) shown[std::get<2>(order[i])] = true;
  return shown;
}

std::string note_of(const ProblemContents& problem, const std::string& what) {
  if (problem.rows.size() <= kMostRows) return what;
  return fmt::format("{} {} of {} rows: the best of each method.", what, kMostRows, problem.rows.size());
}

std::string axis_title(const ProblemContents& problem) {
  return fmt::format("validation {}{}", measures()[find_measure(problem.curve_measure).value()].meaning,
                     shown_factor(problem) == 1.0 ? "" : " × 100");
}

/// Grows with the values it holds.
struct Range {
  double low = kInfinity, high = -kInfinity;
  void hold(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void hold(const std::vector<double>& values) {
    for (const double value : values) hold(value);
  }
  bool is_empty() const { return low > high; }
};

/// An axis around a range with a little room; logarithmic where all is above 0.
Axis axis_around(const std::string& title, Range range, double room = 0.05) {
  if (range.is_empty()) range = {0.0, 1.0};
  if (range.low > 0.0) {
    const double factor = std::max(std::pow(range.high / range.low, room), 1.02);
    return {.title = title,
            .scale = Scale::logarithmic,
            .low = std::max(range.low / factor, std::numeric_limits<double>::min()),
            .high = std::min(range.high * factor, 0.1 * std::numeric_limits<double>::max())};
  }
  const double width = range.high > range.low ? range.high - range.low : std::max(1.0, std::abs(range.high));
  return {.title = title,
          .scale = Scale::linear,
          .low = range.low - room * width,
          .high = range.high + room * width};
}

/// A logarithmic axis of what is counted from 0 or above it.
Axis counting_axis(const std::string& title, const std::vector<const std::vector<double>*>& columns) {
  Range above_zero;
  bool has_zero = false;
  for (const auto* values : columns)
    for (const double value : *values) {
      has_zero |= value <= 0.0;
      if (value > 0.0) above_zero.hold(value);
    }
  if (above_zero.is_empty()) above_zero = {1.0, 10.0};
  // What took a millionth of the longest is as good as nothing.
  const double low = std::max(above_zero.low, 1e-6 * above_zero.high);
  return {.title = title,
          .scale = Scale::logarithmic,
          .low = has_zero ? low / 2.2 : low / 1.05,
          .high = std::max(above_zero.high, 2.0 * low),
          .has_zero = has_zero};
}

double first_finite(const std::vector<double>& values) {
  const auto found =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  return found == values.end() ? -kInfinity : *found;
}

/// What lies above so many times the loss of the start is growing: it need not be in the frame.
void leave_out_growth(Range& range, double start, double times) {
  const double top = times * start;
  if (start > 0.0 && top > range.low) range.high = std::min(range.high, top);
}

std::vector<LegendEntry> legend_of(const ProblemContents& problem, const std::vector<bool>& is_drawn,
                                   const std::vector<Stroke>& strokes) {
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < problem.rows.size(); ++i)
    if (is_drawn[i]) legend.push_back({.text = problem.rows[i].label, .stroke = strokes[i]});
  return legend;
}

/// The median over the seeds; not finite where there is no oracle.
double oracle_loss(const ProblemContents& problem) {
  if (!problem.oracle) return kInfinity;
  const auto& cell =
      problem.curve_measure == kScaledLoss ? problem.oracle->scaled_loss : problem.oracle->loss;
  return cell ? cell->median : kInfinity;
}

// ---- the figures ----

/// What of the curves is drawn, and against what.
struct Drawn {
  const char* title;
  std::vector<double> Curve::*x;
  bool is_gap;
};

/// A method whose gap is this small is at the oracle. Smaller gaps, 0 and negative ones too, are drawn on the
/// lower edge.
constexpr double kLeastGap = 1e-5;

/// A curve in the units of the picture.
std::vector<double> shown(const std::vector<double>& values, double factor, double least) {
  std::vector<double> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [&](double value) {
    return std::isfinite(value) ? factor * std::max(value, least) : value;
  });
  return result;
}

Panel panel_of(const ProblemContents& problem, const std::vector<const Curve*>& curves, const Drawn& drawn,
               const std::vector<Stroke>& strokes) {
  const double factor = drawn.is_gap ? 100.0 : shown_factor(problem);
  const double least = drawn.is_gap ? kLeastGap : -kInfinity;
  struct Lines {
    const Curve* curve;
    std::vector<double> median, low, high;
  };
  std::vector<Lines> all;
  std::vector<const std::vector<double>*> columns;
  Range range;
  double start = -kInfinity;
  for (const Curve* curve : curves) {
    all.push_back({curve, shown(drawn.is_gap ? curve->gap : curve->median, factor, least),
                   shown(drawn.is_gap ? curve->gap_low : curve->low, factor, least),
                   shown(drawn.is_gap ? curve->gap_high : curve->high, factor, least)});
    if (all.back().median.empty()) {  // a row without an oracle among others
      all.pop_back();
      continue;
    }
    columns.push_back(&(curve->*drawn.x));
    range.hold(all.back().median);
    range.hold(all.back().low);
    start = std::max(start, first_finite(all.back().median));
  }
  leave_out_growth(range, start, 2.0);
  const double oracle = drawn.is_gap ? kInfinity : factor * oracle_loss(problem);
  range.hold(oracle);
  Panel panel(counting_axis(drawn.title, columns),
              axis_around(drawn.is_gap ? "gap to the oracle in %" : axis_title(problem), range));
  if (std::isfinite(oracle)) panel.level(oracle, kOracle);
  for (const Lines& each : all)
    panel.band(each.curve->*drawn.x, each.low, each.high, strokes[each.curve->row].colour);
  for (const Lines& each : all) panel.line(each.curve->*drawn.x, each.median, strokes[each.curve->row]);
  return panel;
}

std::string convergence(const ProblemContents& problem) {
  const std::vector<Stroke> strokes = strokes_of(problem);
  const std::vector<bool> is_shown = shown_rows(problem);
  std::vector<const Curve*> curves;
  std::vector<bool> is_drawn(problem.rows.size(), false);
  std::int64_t seeds = 0;
  bool has_gaps = false;
  for (const Curve& curve : problem.curves) {
    if (!is_shown[curve.row]) continue;
    curves.push_back(&curve);
    is_drawn[curve.row] = true;
    seeds = std::max(seeds, curve.seeds);
    has_gaps |= !curve.gap.empty();
  }
  const std::vector<Panel> panels = {
      panel_of(problem, curves, {"work (gradient equivalents)", &Curve::work, has_gaps}, strokes),
      panel_of(problem, curves, {"iterations", &Curve::iterations, false}, strokes)};
  std::vector<LegendEntry> legend = legend_of(problem, is_drawn, strokes);
  if (std::isfinite(oracle_loss(problem))) legend.push_back({.text = "oracle", .stroke = kOracle});
  std::string note;
  if (seeds > 1)
    note = fmt::format("Median {}; bands from the smallest to the largest.", in_words(problem.seeds));
  if (has_gaps) note += fmt::format(" A gap below {:g} % lies on the lower edge.", 100.0 * kLeastGap);
  return svg_of(panels, legend, problem.title,
                "How far each method is above the oracle against work, and its loss against iterations.",
                note_of(problem, note));
}

/// A name as part of a file's: letters, digits, dots and dashes of ASCII, whatever the problem is called.
std::string file_part(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  std::string part;
  for (const char c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (is_plain && part.size() < kLongest) part += c;
    if (!is_plain && !part.empty() && part.back() != '-') part += '-';
  }
  while (!part.empty() && (part.back() == '-' || part.back() == '.')) part.pop_back();
  while (!part.empty() && part.front() == '.') part.erase(part.begin());
  return part.empty() ? "problem" : part;
}

}  // namespace

std::vector<Figure> figures_of(const ProblemContents& problem) {
  std::vector<Figure> figures;
  if (!problem.curves.empty()) figures.push_back({"convergence", convergence(problem)});
  return figures;
}

std::vector<Figure> figure_files(const StudyContents& contents) {
  std::vector<Figure> files;
  std::set<std::string> taken;
  for (const ProblemContents& problem : contents.problems) {
    const std::string given = file_part(problem.name);
    std::string part = given;
    for (int number = 2; !taken.insert(part).second; ++number) part = fmt::format("{}-{}", given, number);
    for (Figure& figure : figures_of(problem))
      files.push_back({.name = fmt::format("{}-{}.svg", part, figure.name), .svg = std::move(figure.svg)});
  }
  return files;
}

}  // namespace yosida::report
