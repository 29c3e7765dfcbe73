#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// A picture for a paper: a whole SVG file.
struct Figure {
  std::string name;  // "convergence", "response" or "stability"
  std::string svg;
};

/// What there is to draw of a problem: the validation loss against iterations and work, against λ with the
/// way each method took, and against the step size. What grows without bound leaves the frame.
std::vector<Figure> figures_of(const ProblemContents& problem);
/// Those of all problems, their names those of files: letters, digits, dots and dashes of ASCII, whatever a
/// problem is called. No two are the same.
std::vector<Figure> figure_files(const StudyContents& contents);

}  // namespace report
}  // namespace yosida
