#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {
namespace search {

enum class Scale { linear, logarithmic };

/// One bounded number to search for.
struct Dimension {
  double low;
  double high;
  Scale scale = Scale::linear;
  std::string name = {};
};

/// The box that is searched. Samplers see the unit cube: each dimension from 0 (low) to 1 (high) on its
/// scale. May be read from several threads.
class Space {
 public:
  /// Throws InputError, naming the dimension, unless low < high, both are finite, and a logarithmic one is
  /// above 0; and where there is no dimension.
  explicit Space(std::vector<Dimension> dimensions);

  Index size() const { return static_cast<Index>(dimensions_.size()); }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// Exactly low at 0 and high at 1.
  Vector from_unit(const Vector& unit) const;
  /// The inverse of from_unit.
  Vector to_unit(const Vector& x) const;

 private:
  std::vector<Dimension> dimensions_;
};

}  // namespace search
}  // namespace yosida
