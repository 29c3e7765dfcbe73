#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// A picture for a paper: a whole SVG file.
struct Figure {
  std::string name;  // "convergence"
  std::string svg;
};

/// What a paper shows of a problem: how far each method is above the oracle against work (its loss where
/// there is no oracle), and its loss against iterations. What grows without bound leaves the frame. The page
/// saves each of its charts itself.
std::vector<Figure> figures_of(const ProblemContents& problem);
/// The figures of all problems. Their names can be names of files: letters, digits, dots and dashes of ASCII,
/// whatever a problem is called. No two are the same.
std::vector<Figure> figure_files(const StudyContents& contents);

}  // namespace report
}  // namespace yosida
