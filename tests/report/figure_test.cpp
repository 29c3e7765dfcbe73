#include "yosida/report/figure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "report/chart.hpp"
#include "yosida/report/palette.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Axis logarithmic(double low, double high) {
  return {.title = "", .scale = Scale::logarithmic, .low = low, .high = high};
}

// ---- axes ----

TEST(Ticks, OfALogarithmicScaleAreOneTwoFive) {
  EXPECT_EQ(ticks(logarithmic(0.01, 0.2)), (std::vector<double>{0.01, 0.02, 0.05, 0.1, 0.2}));
  EXPECT_EQ(ticks(logarithmic(0.004, 30)), (std::vector<double>{0.01, 0.1, 1, 10}));
}

TEST(Ticks, OfManyDecadesAreFew) {
  for (const double decades : {3.0, 9.0, 40.0, 300.0}) {
    const std::vector<double> values = ticks(logarithmic(1e-150, 1e-150 * std::pow(10.0, decades)));
    EXPECT_GE(values.size(), 3U) << decades;
    EXPECT_LE(values.size(), 8U) << decades;
  }
}

TEST(Ticks, OfLessThanADecadeAreThereToo) {
  EXPECT_EQ(ticks(logarithmic(0.021, 0.029)).size(), 4U);
  EXPECT_GE(ticks(logarithmic(3.1, 9.9)).size(), 3U);
}

TEST(Ticks, OfALinearScale) {
  EXPECT_EQ(ticks({.title = "", .scale = Scale::linear, .low = -21.0, .high = 9.0}),
            (std::vector<double>{-20, -15, -10, -5, 0, 5}));
}

TEST(Ticks, LabelsAreShort) {
  EXPECT_EQ(tick_label(0.005), "0.005");
  EXPECT_EQ(tick_label(20000), "20000");
  EXPECT_EQ(tick_label(1e-7), "10⁻⁷");
  EXPECT_EQ(tick_label(5e12), "5·10¹²");
  EXPECT_EQ(tick_label(-15), "−15");
  EXPECT_EQ(tick_label(0.0), "0");
}

// ---- figures ----

MethodRow row_of(const std::string& label) {
  MethodRow row;
  row.label = row.method = label;
  row.final.emplace_back();
  return row;
}

/// Two rows, one of which grows without bound.
ProblemContents sample() {
  ProblemContents problem;
  problem.name = "sample";
  problem.title = "A sample";
  problem.measures = {"loss"};
  problem.curve_measure = "loss";
  problem.rows = {row_of("steady"), row_of("growing")};
  const std::vector<double> axis = {0, 1, 10, 100};
  for (std::size_t row = 0; row < 2; ++row) {
    Curve curve;
    curve.row = row;
    curve.seeds = 2;
    curve.iterations = curve.work = curve.seconds = axis;
    curve.median =
        row == 0 ? std::vector<double>{1.0, 0.5, 0.2, 0.1} : std::vector<double>{1.0, 1e10, 1e200, kNan};
    curve.low = curve.high = curve.median;
    curve.running = {2, 2, 2, row == 0 ? 2 : 0};
    problem.curves.push_back(curve);
  }
  return problem;
}

std::string svg_named(const ProblemContents& problem, const std::string& name) {
  for (const Figure& figure : figures_of(problem))
    if (figure.name == name) return figure.svg;
  ADD_FAILURE() << "no figure " << name;
  return "";
}

TEST(Figures, OfAllThatThereIsAndOfNothingElse) {
  std::vector<std::string> names;
  for (const Figure& figure : figures_of(sample())) names.push_back(figure.name);
  EXPECT_EQ(names, (std::vector<std::string>{"convergence"}));
  EXPECT_TRUE(figures_of(ProblemContents()).empty());
}

TEST(Figures, HoldNoNumberThatIsNone) {
  for (const Figure& figure : figures_of(sample())) {
    EXPECT_EQ(figure.svg.find("nan"), std::string::npos) << figure.name;
    EXPECT_EQ(figure.svg.find("inf"), std::string::npos) << figure.name;
    EXPECT_EQ(figure.svg.find("e+"), std::string::npos) << figure.name;
  }
}

TEST(Figures, WhatGrowsDoesNotSquashTheRest) {
  // The steady line goes through most of the frame's height.
  const std::string svg = svg_named(sample(), "convergence");
  const std::string colour = hues()[colour_of("steady").place].light;
  const std::size_t end = svg.find("\" fill=\"none\" stroke=\"" + colour + "\"");
  ASSERT_NE(end, std::string::npos) << svg;
  const std::size_t begin = svg.rfind("<path d=\"M", end);
  ASSERT_NE(begin, std::string::npos) << svg;
  const std::string points = svg.substr(begin, end - begin);  // <path d="Mx y … x y
  const double first = std::stod(points.substr(points.find(' ', points.find('M')) + 1));
  const double last = std::stod(points.substr(points.rfind(' ') + 1));
  EXPECT_GT(last - first, 120.0) << "of 220";
}

TEST(Figures, ReferToNothingOutsideThemselves) {
  for (const Figure& figure : figures_of(sample())) {
    EXPECT_EQ(figure.svg.find("href"), std::string::npos);
    EXPECT_EQ(figure.svg.find("http", figure.svg.find("www.w3.org")), std::string::npos);
    EXPECT_EQ(figure.svg.find("<script"), std::string::npos);
  }
}

TEST(Figures, NamesAreText) {
  ProblemContents problem = sample();
  problem.title = problem.rows[0].label = problem.rows[0].method = "<script>\"&' \x01\xff größer";
  for (const Figure& figure : figures_of(problem)) {
    EXPECT_EQ(figure.svg.find("<script"), std::string::npos);
    EXPECT_NE(figure.svg.find("&lt;script&gt;&quot;&amp;' "), std::string::npos);
    EXPECT_EQ(figure.svg.find('\x01'), std::string::npos);
    EXPECT_EQ(figure.svg.find('\xff'), std::string::npos);
    EXPECT_NE(figure.svg.find("größer"), std::string::npos);
  }
}

TEST(Figures, OfVeryManyRowsShowTheBest) {
  ProblemContents problem = sample();
  for (int i = 2; i < 300; ++i) {
    problem.rows.push_back(row_of("row" + std::to_string(i)));
    problem.rows.back().final[0].validation =
        Cell{.mean = 1.0 * i, .deviation = 0, .median = 1.0 * i, .count = 2};
    Curve curve = problem.curves[0];
    curve.row = static_cast<std::size_t>(i);
    problem.curves.push_back(curve);
  }
  const std::string svg = svg_named(problem, "convergence");
  EXPECT_NE(svg.find(">row2<"), std::string::npos);
  EXPECT_EQ(svg.find(">row200<"), std::string::npos);
  EXPECT_NE(svg.find("24 of 300 rows"), std::string::npos);
}

TEST(Figures, LongNamesThatDifferStayDifferent) {
  ProblemContents problem = sample();
  const std::string middle(80, 'x');
  problem.rows[0].label = "a method" + middle + "one";
  problem.rows[1].label = "a method" + middle + "two";
  const std::string svg = svg_named(problem, "convergence");
  EXPECT_EQ(svg.find(middle), std::string::npos);
  EXPECT_NE(svg.find("xone<"), std::string::npos);
  EXPECT_NE(svg.find("xtwo<"), std::string::npos);
  problem.rows[0].label = middle + "1" + middle;
  problem.rows[1].label = middle + "2" + middle;
  EXPECT_NE(svg_named(problem, "convergence").find("x (2)<"), std::string::npos);
}

TEST(Figures, GapsToTheOracleStandAgainstWork) {
  ProblemContents problem = sample();
  problem.curves[0].gap = {9.0, 4.0, 0.0, -0.5};  // at the oracle and below it: on the lower edge
  problem.curves[0].gap_low = problem.curves[0].gap_high = problem.curves[0].gap;
  const std::string svg = svg_named(problem, "convergence");
  EXPECT_NE(svg.find("gap to the oracle in %"), std::string::npos);
  EXPECT_NE(svg.find("lower edge"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg_named(sample(), "convergence").find("gap to the oracle"), std::string::npos)
      << "without an oracle";
}

// ---- colours ----

TEST(Palette, EveryMethodHasALookOfItsOwn) {
  std::set<std::pair<std::size_t, std::size_t>> looks;
  for (const Method& method : methods()) {
    const MethodColour colour = colour_of(method.name);
    EXPECT_LT(colour.place, hues().size());
    EXPECT_LT(colour.turn, 3U) << method.name << " is not in the table of colours";
    EXPECT_TRUE(looks.emplace(colour.place, colour.turn).second) << method.name;
  }
  EXPECT_EQ(colour_of("my-hpo").place, 0U);
  EXPECT_EQ(colour_of("").turn, 3U);
}

}  // namespace
}  // namespace yosida::report
