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

namespace yosida::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- how rows look ----

/// Told apart by those who see no difference of red and green. Dashes tell the settings of a method apart,
/// and methods of one colour.
constexpr std::array kColours = {"#d55e00", "#56b4e9", "#0072b2", "#009e73", "#8c8c8c",
                                 "#e69f00", "#cc79a7", "#7a5195", "#5b4636", "#000000"};
constexpr std::array kDashes = {"", "6 2.5", "2 2", "8 2 2 2", "4 1.5 1 1.5 1 1.5", "12 3"};

const Stroke kTrained = {.colour = "#bdbdbd", .dashes = "", .width = 4.0};
const Stroke kOracle = {.colour = "#000000", .dashes = "1 2", .width = 1.0};
const Stroke kBlack = {.colour = "#000000", .dashes = ""};

/// One colour for each method, one kind of dashes for each of its settings.
std::vector<Stroke> strokes_of(const ProblemContents& problem) {
  std::vector<std::string> methods;
  std::map<std::string, std::size_t> settings;
  std::vector<Stroke> strokes;
  for (const MethodRow& row : problem.rows) {
    auto found = std::find(methods.begin(), methods.end(), row.method);
    if (found == methods.end()) found = methods.insert(found, row.method);
    const auto method = static_cast<std::size_t>(found - methods.begin());
    strokes.push_back(
        {.colour = kColours[method % kColours.size()],
         .dashes = kDashes[(settings[row.method]++ + method / kColours.size()) % kDashes.size()]});
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
  return fmt::format("validation {}", measures()[find_measure(problem.curve_measure).value()].meaning);
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

std::vector<double> column(const std::vector<ResponsePoint>& points, double ResponsePoint::*member) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const ResponsePoint& point : points) values.push_back(point.*member);
  return values;
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

std::string convergence(const ProblemContents& problem) {
  const std::vector<Stroke> strokes = strokes_of(problem);
  const std::vector<bool> shown = shown_rows(problem);
  std::vector<const Curve*> curves;
  std::vector<bool> is_drawn(problem.rows.size(), false);
  Range range;
  double start = -kInfinity;
  std::int64_t seeds = 0;
  for (const Curve& curve : problem.curves) {
    if (!shown[curve.row]) continue;
    curves.push_back(&curve);
    is_drawn[curve.row] = true;
    range.hold(curve.median);
    range.hold(curve.low);
    start = std::max(start, first_finite(curve.median));
    seeds = std::max(seeds, curve.seeds);
  }
  leave_out_growth(range, start, 2.0);
  const double oracle = oracle_loss(problem);
  range.hold(oracle);
  std::vector<Panel> panels;
  const std::array<std::pair<const char*, std::vector<double> Curve::*>, 2> axes = {
      {{"iterations", &Curve::iterations}, {"work (gradient equivalents)", &Curve::work}}};
  for (const auto& [title, member] : axes) {
    std::vector<const std::vector<double>*> columns(curves.size());
    std::transform(curves.begin(), curves.end(), columns.begin(),
                   [member = member](const Curve* curve) { return &(curve->*member); });
    Panel panel("", counting_axis(title, columns), axis_around(axis_title(problem), range));
    if (std::isfinite(oracle)) panel.level(oracle, kOracle);
    for (const Curve* curve : curves)
      panel.band(curve->*member, curve->low, curve->high, strokes[curve->row].colour);
    for (const Curve* curve : curves) panel.line(curve->*member, curve->median, strokes[curve->row]);
    panels.push_back(std::move(panel));
  }
  std::vector<LegendEntry> legend = legend_of(problem, is_drawn, strokes);
  if (std::isfinite(oracle)) legend.push_back({.text = "oracle", .stroke = kOracle});
  return svg_of(
      panels, legend, problem.title,
      "The validation loss of each method against iterations and against work.",
      note_of(problem, seeds > 1 ? fmt::format("Median over {} seeds; bands from the smallest to the "
                                               "largest.",
                                               seeds)
                                 : std::string()));
}

/// Around the curve inside the frame, the oracle and the starts; then as far as paths go inside the frame,
/// but a λ that runs away is no reason to hide where the others are.
Axis lambda_axis(const Response& response, const std::vector<bool>& shown, double highest_loss) {
  Range core, all;
  for (const auto& [lambda, loss] : response.curve)
    if (loss <= highest_loss) core.hold(lambda);
  if (response.oracle) core.hold(response.oracle->first);
  for (const ResponsePath& path : response.paths)
    if (shown[path.row]) {
      core.hold(path.points.front().first);
      for (const auto& [lambda, loss] : path.points)
        if (loss <= highest_loss) all.hold(lambda);
    }
  const double width = std::max(core.high - core.low, 5.0);
  const double low = std::max(std::min(all.low, core.low), core.low - 0.5 * width);
  const double high = std::min(std::max(all.high, core.high), core.high + 0.5 * width);
  const double room = std::max(0.04 * (high - low), 0.1);
  return {.title = "λ", .scale = Scale::linear, .low = low - room, .high = high + room};
}

Axis loss_axis(const ProblemContents& problem, const Response& response, const std::vector<bool>& shown) {
  Range losses;
  losses.hold(column(response.curve, &ResponsePoint::second));
  if (response.oracle) losses.hold(response.oracle->second);
  double start = -kInfinity;
  for (const ResponsePath& path : response.paths)
    if (shown[path.row]) {
      if (!path.is_search) start = std::max(start, path.points.front().second);
      losses.hold(column(path.points, &ResponsePoint::second));
    }
  leave_out_growth(losses, start, 3.0);
  return axis_around(axis_title(problem), losses);
}

/// The trials of a search are points; other methods take a way.
Panel response_panel(const ProblemContents& problem, const Response& response, const std::vector<bool>& shown,
                     const std::vector<Stroke>& strokes) {
  const Axis y = loss_axis(problem, response, shown);
  Panel panel(fmt::format("seed {}", response.seed), lambda_axis(response, shown, y.high), y);
  panel.line(column(response.curve, &ResponsePoint::first), column(response.curve, &ResponsePoint::second),
             kTrained);
  for (const ResponsePath& path : response.paths) {
    if (!shown[path.row] || path.is_search) continue;
    Stroke thin = strokes[path.row];
    thin.width = 1.1;
    panel.line(column(path.points, &ResponsePoint::first), column(path.points, &ResponsePoint::second), thin);
  }
  for (const ResponsePath& path : response.paths) {
    if (!shown[path.row]) continue;
    const std::size_t first = path.is_search ? 0 : path.points.size() - 1;
    for (std::size_t i = first; i < path.points.size(); ++i)
      panel.mark(path.points[i].first, path.points[i].second, path.is_search ? Shape::cross : Shape::dot,
                 strokes[path.row].colour);
  }
  if (response.oracle)
    panel.mark(response.oracle->first, response.oracle->second, Shape::ring, kBlack.colour);
  return panel;
}

std::string response(const ProblemContents& problem) {
  const std::vector<Stroke> strokes = strokes_of(problem);
  const std::vector<bool> shown = shown_rows(problem);
  std::vector<Panel> panels;
  std::set<std::size_t> ways, searches;
  bool has_curve = false, has_oracle = false;
  for (const Response& each : problem.responses) {
    panels.push_back(response_panel(problem, each, shown, strokes));
    has_curve |= !each.curve.empty();
    has_oracle |= each.oracle.has_value();
    for (const ResponsePath& path : each.paths)
      if (shown[path.row]) (path.is_search ? searches : ways).insert(path.row);
  }
  std::vector<LegendEntry> legend;
  if (has_curve) legend.push_back({.text = "trained weights", .stroke = kTrained});
  if (has_oracle)
    legend.push_back({.text = "oracle", .stroke = kBlack, .shape = Shape::ring, .is_line = false});
  for (const std::size_t row : ways)
    legend.push_back({.text = problem.rows[row].label, .stroke = strokes[row]});
  for (const std::size_t row : searches)
    legend.push_back(
        {.text = problem.rows[row].label, .stroke = strokes[row], .shape = Shape::cross, .is_line = false});
  return svg_of(panels, legend, problem.title,
                "The validation loss as a function of the hyperparameter, with the way each method took.",
                note_of(problem,
                        "A line is the way of a method, a dot its end; crosses are the trials of a "
                        "search that were the best so far."));
}

/// How many seeds ended so.
std::size_t count_of(const Stability& stability, State state) {
  return static_cast<std::size_t>(
      std::count_if(stability.outcomes.begin(), stability.outcomes.end(),
                    [&](const SeedOutcome& outcome) { return outcome.state == state; }));
}

Panel stability_panel(const ProblemContents& problem, const std::vector<Stroke>& strokes) {
  Range steps, losses;
  std::map<double, std::size_t> rows_at, placed_at;
  for (const Stability& each : problem.stability) {
    steps.hold(each.step);
    ++rows_at[each.step];
    for (const SeedOutcome& outcome : each.outcomes) losses.hold(outcome.validation);
  }
  if (!losses.is_empty() && losses.low > 0.0) {
    // Room above for what diverged.
    losses.high = std::max(losses.high, 1.5 * losses.low);
    losses.high *= std::pow(losses.high / losses.low, 0.15);
  }
  Panel panel("", axis_around("step size α", {steps.low / 1.8, steps.high * 1.8}, 0.02),
              axis_around(axis_title(problem), losses));
  for (const Stability& each : problem.stability) {
    // Rows of equal step sizes stand side by side, nearer to each other than to the next step size.
    const auto place = static_cast<double>(placed_at[each.step]++);
    const auto count = static_cast<double>(rows_at[each.step]);
    const double x = each.step * std::pow(1.5, (place - 0.5 * (count - 1.0)) / count);
    const std::string& colour = strokes[each.row].colour;
    std::vector<double> finished;
    for (const SeedOutcome& outcome : each.outcomes)
      if (std::isfinite(outcome.validation)) finished.push_back(outcome.validation);
    if (const auto cell = cell_of(finished))
      panel.line(std::array{x / 1.06, x * 1.06}, std::array{cell->median, cell->median},
                 {.colour = colour, .dashes = "", .width = 2.2});
    for (const double loss : finished) panel.mark(x, loss, Shape::dot, colour);
    if (const std::size_t diverged = count_of(each, State::diverged); diverged > 0) {
      panel.mark_above(x, Shape::cross, colour, std::to_string(diverged));
    } else if (const std::size_t failed = count_of(each, State::failed); failed > 0) {
      panel.mark_above(x, Shape::triangle, colour, std::to_string(failed));
    }
  }
  return panel;
}

std::string stability(const ProblemContents& problem) {
  const std::vector<Stroke> strokes = strokes_of(problem);
  std::vector<LegendEntry> legend;
  std::set<std::string> methods;
  std::size_t diverged = 0, failed = 0;
  for (const Stability& each : problem.stability) {
    const std::string& method = problem.rows[each.row].method;
    if (methods.insert(method).second)
      legend.push_back({.text = method, .stroke = strokes[each.row], .shape = Shape::dot, .is_line = false});
    diverged += count_of(each, State::diverged);
    failed += count_of(each, State::failed);
  }
  if (diverged > 0)
    legend.push_back(
        {.text = "diverged, how often", .stroke = kBlack, .shape = Shape::cross, .is_line = false});
  if (failed > 0)
    legend.push_back(
        {.text = "failed, how often", .stroke = kBlack, .shape = Shape::triangle, .is_line = false});
  return svg_of({stability_panel(problem, strokes)}, legend, problem.title,
                "The final validation loss of every seed against the step size.",
                "A dot for each seed, a bar at their median.");
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
  if (!problem.responses.empty()) figures.push_back({"response", response(problem)});
  if (!problem.stability.empty()) figures.push_back({"stability", stability(problem)});
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
