#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// The traffic signs of the catalog's `gtsrb` as numbers: 4080 rows × 1568 features, y = −1 for 30 and +1 for
/// 80 km/h, in the order of the classes and of the lines of their tables.
struct GtsrbFeatures {
  Dataset data;
  std::filesystem::path x_file, y_file;  // where they are kept as arrays of NumPy
  std::string not_kept;                  // why they are not kept there; empty where they are
};

/// The signs are cut out, made 40 × 40 and described by histograms of oriented gradients (cells of 5 × 5
/// pixels, blocks of 10 × 10, stride 5, 8 bins): the archive is looked for in `folders` and verified. What is
/// kept of an earlier call is taken once its sha256 is right, also where the archive is gone; it is made anew
/// where it is damaged. `kept_in` empty: in the folder gtsrb of the user's cache. `tell` hears of what takes
/// seconds, and of damage. Throws InputError where nothing is kept and the archive is missing or wrong, or
/// this build is without OpenCV, and where the user has no cache (see data_cache) and `kept_in` is empty.
GtsrbFeatures gtsrb_features(const std::vector<std::filesystem::path>& folders,
                             const std::filesystem::path& kept_in = {},
                             const std::function<void(const std::string&)>& tell = {});
/// Why this build cannot make them, and what to do; empty where it can.
std::string gtsrb_features_fault();

}  // namespace yosida
