#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// Charts as SVG: a row of panels over a legend. They refer to nothing outside themselves.
namespace yosida::report {

enum class Scale { linear, logarithmic };

/// From `low` to `high`, which must be above it and, on a logarithmic scale, above 0. What is outside is cut
/// off at the frame.
struct Axis {
  std::string title;
  Scale scale = Scale::linear;
  double low = 0.0, high = 1.0;
  /// The lower end of a logarithmic scale stands for 0 and is labelled 0.
  bool has_zero = false;
};

/// Where an axis has its numbers: on a logarithmic scale 1, 2 and 5 × 10^k, as many as can be read.
std::vector<double> ticks(const Axis& axis);
/// "0.05", "10⁻⁷"
std::string tick_label(double value);

struct Stroke {
  std::string colour;
  std::string dashes;  // as SVG has them; "" is solid
  double width = 1.4;
};

/// Axes and what is drawn between them. Points that are not finite interrupt a line.
class Panel {
 public:
  Panel(Axis x, Axis y);

  void band(std::span<const double> x, std::span<const double> low, std::span<const double> high,
            const std::string& colour);
  void line(std::span<const double> x, std::span<const double> y, const Stroke& stroke);
  /// A horizontal line through the panel.
  void level(double y, const Stroke& stroke);

  /// The panel with its frame at this place of the picture; `number` tells it from the others.
  std::string svg(double left, double top, double width, double height, std::size_t number) const;

 private:
  double at_x(double value) const;  // of the frame's width
  double at_y(double value) const;  // of the frame's height, downwards
  std::string axes(double left, double top, double width, double height) const;

  /// Positions are shares of the frame: marks are drawn when its size is known.
  struct Mark {
    enum class Kind { band, line } kind;
    std::vector<std::pair<double, double>> points;
    Stroke stroke;
  };
  Axis x_, y_;
  std::vector<Mark> drawn_;
};

struct LegendEntry {
  std::string text;
  Stroke stroke;
};

/// The whole file. `description` is for those who do not see it; `note` stands below the legend.
std::string svg_of(const std::vector<Panel>& panels, const std::vector<LegendEntry>& legend,
                   const std::string& title, const std::string& description, const std::string& note);

}  // namespace yosida::report
