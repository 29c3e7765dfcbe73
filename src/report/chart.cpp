#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "yosida/utf8.hpp"

namespace yosida::report {
namespace {

constexpr double kPanelWidth = 300, kPanelHeight = 220;
constexpr double kLeft = 58, kRight = 14, kTop = 10, kBottom = 40;  // around the frame of a panel
constexpr double kFont = 10.5, kLine = 15;
constexpr double kLegendFont = 9.5;
constexpr double kCharacter = 0.58 * kLegendFont;  // about the mean width
constexpr const char* kInk = "#222";

/// The text of an XML file. Control characters and bytes that are not UTF-8 are left out, since XML cannot
/// hold them.
std::string escaped(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8::character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(character.size());
    // XML refuses two characters of Unicode.
    if (length == 0 || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf") {
      result += kReplacement;
    } else if (const char c = character[0];
               length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) {
      result += ' ';
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += character;
    }
  }
  return result;
}

std::string text_at(double x, double y, const std::string& text, const std::string& attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes, escaped(text));
}

std::string segment(double x1, double y1, double x2, double y2, const std::string& attributes) {
  return fmt::format("<path d=\"M{:.2f} {:.2f}L{:.2f} {:.2f}\" {}/>\n", x1, y1, x2, y2, attributes);
}

std::string pen(const Stroke& stroke) {
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:.3g}\"{}", stroke.colour, stroke.width,
                     stroke.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes));
}

/// The smallest of 1, 2 and 5 × 10^k of which a range has no more than `count`.
double nice_step(double range, double count) {
  const double raw = range / count, unit = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * unit * (1 + 1e-9)) return factor * unit;
  return 10.0 * unit;
}

std::vector<double> linear_ticks(double low, double high) {
  const double step = nice_step(high - low, 6.0);
  std::vector<double> values;
  // There are no more than 7, unless the range is so narrow and far from 0 that k and k + 1 are the same
  // number.
  constexpr std::size_t kMost = 7;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && values.size() < kMost; ++k)
    values.push_back(k == 0.0 ? 0.0 : k * step);
  return values;
}

std::string superscript(int number) {
  static const char* const kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(number))) text += kDigits[digit - '0'];
  return text;
}

/// The corners of a line, without those that no eye can tell from their neighbours.
std::string path_through(const std::vector<std::pair<double, double>>& points) {
  std::string text;
  bool is_down = false;
  double last_x = 0.0, last_y = 0.0;
  for (const auto& [x, y] : points) {
    if (!std::isfinite(x) || !std::isfinite(y)) {
      is_down = false;
      continue;
    }
    if (is_down && std::abs(x - last_x) + std::abs(y - last_y) < 0.15) continue;
    text += fmt::format("{}{:.1f} {:.1f}", is_down ? 'L' : 'M', x, y);
    is_down = true;
    last_x = x;
    last_y = y;
  }
  return text;
}

constexpr double kSample = 26;        // the length of a line in the legend
constexpr std::size_t kLongest = 56;  // characters of an entry

/// Long ones without their middle, since names mostly differ at an end. No two that differ become the same.
std::vector<std::string> shortened(const std::vector<LegendEntry>& legend) {
  std::vector<std::string> texts;
  std::set<std::string> taken;
  for (const LegendEntry& entry : legend) {
    constexpr std::size_t kTail = kLongest / 2;
    const std::size_t length = utf8::characters(entry.text);
    std::string text = entry.text;
    if (length > kLongest) {
      const std::size_t tail = utf8::first(entry.text, length - kTail).size();
      text = fmt::format("{}…{}", utf8::first(entry.text, kLongest - kTail - 1), entry.text.substr(tail));
    }
    const std::string given = text;
    for (int number = 2; !taken.insert(text).second; ++number) text = fmt::format("{} ({})", given, number);
    texts.push_back(text);
  }
  return texts;
}

/// Entries stand under each other, so that those of one method do, in as many columns as fit.
struct LegendLayout {
  LegendLayout(const std::vector<LegendEntry>& legend, double room) {
    for (std::size_t columns = std::max<std::size_t>(legend.size(), 1); columns > 0; --columns) {
      lines = (legend.size() + columns - 1) / columns;
      places = {0.0};
      for (std::size_t begin = 0; begin < legend.size(); begin += lines) {
        std::size_t longest = 0;
        for (std::size_t i = begin; i < std::min(begin + lines, legend.size()); ++i)
          longest = std::max(longest, std::min(utf8::characters(legend[i].text), kLongest));
        places.push_back(places.back() + kSample + 18 + kCharacter * static_cast<double>(longest));
      }
      if (places.back() <= room) return;
    }
  }
  std::size_t lines = 0;
  std::vector<double> places;  // of each column, and of the end
};

/// Logarithmic scales have 10⁻³⁰⁰ and 10³⁰⁰ far outside the frame; pictures have no use for such numbers.
double within_reason(double share) { return std::isnan(share) ? share : std::clamp(share, -3.0, 4.0); }

double share_of(const Axis& axis, double value) {
  if (axis.scale == Scale::linear) return within_reason((value - axis.low) / (axis.high - axis.low));
  if (value <= 0.0) return axis.has_zero ? 0.0 : -1.0;
  const double share = (std::log(value) - std::log(axis.low)) / (std::log(axis.high) - std::log(axis.low));
  return within_reason(axis.has_zero ? std::max(share, 0.0) : share);
}

}  // namespace

std::vector<double> ticks(const Axis& axis) {
  if (axis.scale == Scale::linear) return linear_ticks(axis.low, axis.high);
  const double decades = std::log10(axis.high) - std::log10(axis.low);  // their ratio may overflow
  if (decades < 0.9) {                                                  // hardly more than two of 1, 2, 5
    std::vector<double> values = linear_ticks(axis.low, axis.high);
    std::erase_if(values, [](double value) { return value <= 0.0; });
    return values;
  }
  const auto every = static_cast<int>(std::ceil(decades / 7.0));
  std::vector<double> values;
  for (int k = static_cast<int>(std::floor(std::log10(axis.low)));
       k <= static_cast<int>(std::ceil(std::log10(axis.high))); ++k) {
    if (k % every != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1.0 && decades > 2.5) break;
      // Dividing by a power is exact where multiplying by its inverse is not: 5e-3 must be 0.005.
      const double value = k < 0 ? factor / std::pow(10.0, -k) : factor * std::pow(10.0, k);
      if (value >= axis.low * (1 - 1e-9) && value <= axis.high * (1 + 1e-9)) values.push_back(value);
    }
  }
  return values;
}

std::string tick_label(double value) {
  const double size = std::abs(value);
  const std::string sign = value < 0.0 ? "−" : "";
  if (size == 0.0 || (size >= 1e-3 && size < 1e5)) return fmt::format("{}{:.6g}", sign, size);
  const int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const std::string factor = fmt::format("{:.4g}", size / std::pow(10.0, exponent));
  return fmt::format("{}{}10{}", sign, factor == "1" ? "" : factor + "·", superscript(exponent));
}

Panel::Panel(Axis x, Axis y) : x_(std::move(x)), y_(std::move(y)) {}

double Panel::at_x(double value) const { return share_of(x_, value); }
double Panel::at_y(double value) const { return 1.0 - share_of(y_, value); }

void Panel::band(std::span<const double> x, std::span<const double> low, std::span<const double> high,
                 const std::string& colour) {
  Mark mark{.kind = Mark::Kind::band, .points = {}, .stroke = {.colour = colour, .dashes = ""}};
  const auto is_there = [&](std::size_t i) { return std::isfinite(low[i]) && std::isfinite(high[i]); };
  for (std::size_t i = 0; i < x.size(); ++i)
    if (is_there(i)) mark.points.emplace_back(at_x(x[i]), at_y(high[i]));
  for (std::size_t i = x.size(); i-- > 0;)
    if (is_there(i)) mark.points.emplace_back(at_x(x[i]), at_y(low[i]));
  drawn_.push_back(std::move(mark));
}

void Panel::line(std::span<const double> x, std::span<const double> y, const Stroke& stroke) {
  Mark mark{.kind = Mark::Kind::line, .points = {}, .stroke = stroke};
  for (std::size_t i = 0; i < x.size(); ++i)
    mark.points.emplace_back(at_x(x[i]), std::isfinite(y[i]) ? at_y(y[i]) : y[i]);
  drawn_.push_back(std::move(mark));
}

void Panel::level(double y, const Stroke& stroke) {
  drawn_.push_back({.kind = Mark::Kind::line, .points = {{0.0, at_y(y)}, {1.0, at_y(y)}}, .stroke = stroke});
}

std::string Panel::axes(double left, double top, double width, double height) const {
  const double right = left + width, bottom = top + height;
  std::string text = "<g stroke-linecap=\"butt\">\n";
  const std::string grid = "stroke=\"#e4e4e4\" stroke-width=\"0.8\"",
                    ink = fmt::format("stroke=\"{}\" stroke-width=\"0.8\"", kInk);
  std::string labels;
  // A label of the lower end as 0 leaves no room for a number close to it.
  const double from = x_.has_zero ? 0.07 : -1e-6;
  if (x_.has_zero) labels += text_at(left, bottom + 14, "0", " text-anchor=\"middle\"");
  for (const double value : ticks(x_)) {
    if (at_x(value) < from) continue;
    const double x = left + at_x(value) * width;
    text += segment(x, top, x, bottom, grid) + segment(x, bottom, x, bottom + 3, ink);
    labels += text_at(x, bottom + 14, tick_label(value), " text-anchor=\"middle\"");
  }
  for (const double value : ticks(y_)) {
    const double y = top + at_y(value) * height;
    text += segment(left, y, right, y, grid) + segment(left - 3, y, left, y, ink);
    labels += text_at(left - 6, y + 3.6, tick_label(value), " text-anchor=\"end\"");
  }
  text += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" {}/>\n</g>\n", left,
      top, width, height, ink);
  text += labels;
  text += text_at(0.5 * (left + right), bottom + 31, x_.title, " text-anchor=\"middle\"");
  const double x = left - 44, y = 0.5 * (top + bottom);
  text += text_at(x, y, y_.title,
                  fmt::format(" text-anchor=\"middle\" transform=\"rotate(-90 {:.1f} {:.1f})\"", x, y));
  return text;
}

std::string Panel::svg(double left, double top, double width, double height, std::size_t number) const {
  std::string text = "<g>\n" + axes(left, top, width, height);
  text += fmt::format(
      "<clipPath id=\"frame{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"{3:.1f}\" "
      "height=\"{4:.1f}\"/></clipPath>\n<g clip-path=\"url(#frame{0})\" stroke-linejoin=\"round\">\n",
      number, left, top, width, height);
  for (const Mark& each : drawn_) {
    std::vector<std::pair<double, double>> points = each.points;
    for (auto& [x, y] : points) {
      x = left + x * width;
      y = top + y * height;
    }
    switch (each.kind) {
      case Mark::Kind::band:
        if (points.size() > 2)
          text += fmt::format("<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"0.13\"/>\n", path_through(points),
                              each.stroke.colour);
        break;
      case Mark::Kind::line:
        text += fmt::format("<path d=\"{}\" {}/>\n", path_through(points), pen(each.stroke));
        break;
    }
  }
  return text + "</g>\n</g>\n";
}

std::string svg_of(const std::vector<Panel>& panels, const std::vector<LegendEntry>& legend,
                   const std::string& title, const std::string& description, const std::string& note) {
  const double of_panel = kLeft + kPanelWidth + kRight;
  const double width = of_panel * static_cast<double>(panels.size());
  const LegendLayout layout(legend, width - kLeft - kRight);
  const double legend_top = kTop + kPanelHeight + kBottom + 6;
  const double height = legend_top + kLine * static_cast<double>(layout.lines + (note.empty() ? 0 : 1)) + 4;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"{2}\" fill=\"{3}\" "
      "role=\"img\">\n<title>{4}</title>\n<desc>{5}</desc>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height, kFont, kInk, escaped(title), escaped(description));
  for (std::size_t i = 0; i < panels.size(); ++i)
    text += panels[i].svg(kLeft + of_panel * static_cast<double>(i), kTop, kPanelWidth, kPanelHeight, i);
  text += fmt::format("<g font-size=\"{}\">\n", kLegendFont);
  const std::vector<std::string> texts = shortened(legend);
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const std::size_t down = i % layout.lines;
    const double x = kLeft + layout.places[i / layout.lines];
    const double y = legend_top + kLine * (0.5 + static_cast<double>(down));
    text += segment(x, y, x + kSample, y, pen(legend[i].stroke));
    text += text_at(x + kSample + 6, y + 3.6, texts[i], "");
  }
  if (!note.empty()) text += text_at(kLeft, height - 7, note, " fill=\"#555\" font-size=\"9\"");
  return text + "</g>\n</svg>\n";
}

}  // namespace yosida::report
