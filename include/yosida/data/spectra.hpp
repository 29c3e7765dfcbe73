#pragma once

#include <cstdint>
#include <string>

#include "yosida/data/split.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// Near-infrared-like spectra, made up: 70 samples × 699 wavelengths, the target the share of one
/// of five constituents. Broad overlapping bands, a drifting baseline, light scatter and a
/// little noise make it as ill-conditioned as the real thing. The seed draws everything.
Dataset spectra(std::uint64_t seed);

/// A built-in data set by name ("spectra"), split as the paper splits Cookie: 34 training, 17
/// validation, 19 test rows. Throws InputError for an unknown name.
Split built_in(const std::string& name, std::uint64_t seed);

}  // namespace yosida
