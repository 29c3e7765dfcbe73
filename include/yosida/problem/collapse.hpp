#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// The coordinates that a method may see weights in.
enum class Coordinates {
  features,   ///< its iterates may be anywhere
  row_space,  ///< any basis of the training rows and the ones vector
  any,        ///< it asks for nothing but inner and linear solves: any basis of the training rows, centred
};

/// Equal forms of one problem, which differ in what they cost.
enum class Form {
  direct,    ///< passes over the rows
  rotated,   ///< few rows or columns, in the basis of the training rows: any loss
  factors,   ///< least squares by triangular factors and singular values
  products,  ///< least squares by products of columns or of rows, where these are exact enough
};
/// "direct", "rotated", "factors" or "products".
std::string_view to_string(Form form);

/// What a form is expected to take, from the rows to the end of a run.
struct FormCost {
  Form form;
  double seconds;  ///< on two cores
};

/// The forms that the problem has for a method of these coordinates and so many iterations (each a training
/// and a validation gradient), the one to take first, within the memory that the size of the design allows.
std::vector<FormCost> forms_of(const LinearProblem& problem, double iterations, Coordinates coordinates);

/// The problem in this form; null where it is not exact enough there (products alone). Throws RunEnded where
/// it is told to stop.
std::shared_ptr<const BilevelProblem> in_form(std::shared_ptr<const LinearProblem> problem, Form form,
                                              const StopToken& stop = {});

/// The problem in the first of its forms that is exact enough.
std::shared_ptr<const BilevelProblem> in_cheapest_form(const std::shared_ptr<const LinearProblem>& problem,
                                                       double iterations, Coordinates coordinates,
                                                       const StopToken& stop = {});

}  // namespace yosida
