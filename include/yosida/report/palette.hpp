#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// A colour as "#0a62ad": for the page in its light theme, figures and terminals, and for the dark theme.
struct Hue {
  const char* light;
  const char* dark;
};
std::span<const Hue> hues();

/// The look of a method, decided by its name alone: the same on every page, in every figure and terminal.
struct MethodColour {
  std::size_t place;  // among hues()
  std::size_t turn;   // methods of one colour begin with another dash
};
MethodColour colour_of(std::string_view method);

}  // namespace report
}  // namespace yosida
