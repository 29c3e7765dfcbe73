#include "yosida/problem/collapse.hpp"

#include <algorithm>

#include "linalg/rates.hpp"
#include "problem/collapsed_least_squares.hpp"
#include "problem/gram_least_squares.hpp"
#include "problem/rotated_problem.hpp"

namespace yosida {
namespace {

/// Factoring holds about this many matrices of the size of the basis at once.
constexpr double kCopiesOfBasis = 14.0;
/// Products hold so many of their own size.
constexpr double kCopiesOfProducts = 4.0;

/// An exact answer is worth so long, whatever iterations are expected to take: these are more where rows are
/// ill-conditioned. (A design of 500 × 500 and condition 1e12 takes conjugate gradients minutes.)
constexpr double kLittle = 0.35;   // seconds
constexpr double kNothing = 0.02;  // seconds
/// Where passes over the rows are expected to take no longer than this, nobody notices which form is taken:
/// then it is not the one that needs more operations.
constexpr double kUnnoticed = 0.25;  // seconds
/// Where products would lose digits, a run takes so many times the iterations that are expected.
constexpr double kIllConditioned = 5.0;

/// A small problem may use a gigabyte to collapse; a large design only a fraction of its own size
/// (a run is held to 1.2 times the design and 64 MB).
double memory_allowed(double design_bytes) {
  constexpr double kLargeDesign = 400e6;
  return design_bytes < kLargeDesign ? 1e9 : 0.15 * design_bytes + 32e6;
}

struct Shape {
  double n, m, d, rank;
  double pass_bytes;  // of the training and the validation rows

  explicit Shape(const LinearProblem& problem)
      : n(static_cast<double>(problem.split().train.rows())),
        m(static_cast<double>(problem.split().validation.rows())),
        d(static_cast<double>(problem.split().train.features())),
        rank(std::min(d, n + 1.0)),
        pass_bytes(
            4.0 * (problem.split().train.x.product_flops() + problem.split().validation.x.product_flops())) {}
  double allowed() const { return memory_allowed(8.0 * d * (n + m)); }
};

double seconds_direct(const Shape& shape, double iterations) {
  constexpr double kOverhead = 3e-6;  // of two passes, however short
  return iterations * (shape.pass_bytes / rates().bytes + kOverhead);
}

double seconds_of_factors(const LinearProblem& problem, const Shape& shape, double iterations) {
  const auto cost = CollapsedLeastSquares::cost(problem);
  const double vectors = 22.0 * shape.rank * shape.rank * shape.rank;
  return (cost.setup - vectors) / rates().factors + vectors / rates().vectors +
         iterations * 2.0 * cost.collapsed_iteration / rates().bytes;
}

double seconds_of_products(const LinearProblem& problem, const Shape& shape) {
  constexpr double kPasses = 4.0;  // of what is checked, and the sums beside the products
  const auto cost = GramLeastSquares::cost(problem);
  return cost.products / rates().products + cost.factor / rates().factors +
         kPasses * shape.pass_bytes / rates().bytes;
}

/// The forms of another loss than squares with few rows. Where columns are many, vectors of weights take
/// longer to read and write than the rows.
std::vector<FormCost> forms_of_wide(const LinearProblem& problem, const Shape& shape, double iterations) {
  constexpr double kVectors = 20.0;  // read and written for each pass
  const auto outputs = static_cast<double>(problem.loss().outputs());
  const FormCost direct = {
      Form::direct, iterations * outputs * (shape.pass_bytes + kVectors * 8.0 * shape.d) / rates().bytes};
  const double numbers = (shape.n + shape.m) * shape.n;
  const double rotated_pass = 8.0 * numbers / rates().bytes + 4.0 * numbers * outputs / rates().products;
  const FormCost rotated = {
      Form::rotated, RotatedProblem::products_flops(problem) / rates().factors + iterations * rotated_pass};
  if (rotated.seconds < direct.seconds) return {rotated, direct};
  return {direct};
}

}  // namespace

std::string_view to_string(Form form) {
  switch (form) {
    case Form::direct:
      return "direct";
    case Form::rotated:
      return "rotated";
    case Form::factors:
      return "factors";
    case Form::products:
      return "products";
  }
  return "unknown";
}

std::vector<FormCost> forms_of(const LinearProblem& problem, double iterations, Coordinates coordinates) {
  const Shape shape(problem);
  const FormCost direct = {Form::direct, seconds_direct(shape, iterations)};
  if (coordinates == Coordinates::features) return {direct};
  if (!CollapsedLeastSquares::collapses(problem)) {
    if (coordinates != Coordinates::any) return {direct};
    if (RotatedProblem::rotates(problem))
      return {{Form::rotated, RotatedProblem::factoring_flops(problem) / rates().vectors}, direct};
    if (RotatedProblem::is_wide(problem)) return forms_of_wide(problem, shape, iterations);
    return {direct};
  }
  std::vector<FormCost> exact;
  const double smaller = std::min(shape.n, shape.d);
  if (coordinates == Coordinates::any && direct.seconds > kUnnoticed &&
      kCopiesOfProducts * 8.0 * smaller * smaller <= shape.allowed())
    exact.push_back({Form::products, seconds_of_products(problem, shape)});
  if (kCopiesOfBasis * 8.0 * shape.d * shape.rank <= shape.allowed())
    exact.push_back({Form::factors, seconds_of_factors(problem, shape, iterations)});
  // Factors keep more digits: where they take no time to speak of, they are the better ones.
  const auto rank_of = [](const FormCost& each) {
    return each.form == Form::factors && each.seconds <= kNothing ? 0.0 : each.seconds;
  };
  std::stable_sort(exact.begin(), exact.end(),
                   [&](const FormCost& a, const FormCost& b) { return rank_of(a) < rank_of(b); });
  // Factors behind products are for rows that these would lose digits of: iterations are many more there.
  const bool behind_products = !exact.empty() && exact.front().form == Form::products;
  const double worth = std::max((behind_products ? kIllConditioned : 1.0) * direct.seconds, kLittle);
  const auto dearer =
      std::find_if(exact.begin(), exact.end(), [&](const FormCost& each) { return each.seconds > worth; });
  exact.insert(dearer, direct);
  return exact;
}

std::shared_ptr<const BilevelProblem> in_form(std::shared_ptr<const LinearProblem> problem, Form form,
                                              const StopToken& stop) {
  switch (form) {
    case Form::direct:
      return problem;
    case Form::rotated:
      return RotatedProblem::of(problem);
    case Form::factors:
      return std::make_shared<CollapsedLeastSquares>(std::move(problem), stop);
    case Form::products:
      return GramLeastSquares::of(std::move(problem), stop);
  }
  return nullptr;
}

std::shared_ptr<const BilevelProblem> in_cheapest_form(const std::shared_ptr<const LinearProblem>& problem,
                                                       double iterations, Coordinates coordinates,
                                                       const StopToken& stop) {
  for (const FormCost& each : forms_of(*problem, iterations, coordinates))
    if (auto made = in_form(problem, each.form, stop)) return made;
  return problem;
}

}  // namespace yosida
