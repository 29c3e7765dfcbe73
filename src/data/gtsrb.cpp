#include "yosida/data/gtsrb.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "data/feature_cache.hpp"
#include "data/hog.hpp"
#include "data/signs.hpp"
#include "data/tar.hpp"
#include "yosida/data/catalog.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

constexpr Index pictures_of_30 = 2220;
constexpr Index pictures_of_80 = 1860;
constexpr Index pictures = pictures_of_30 + pictures_of_80;

std::string method() {
  return fmt::format(
      "histograms of oriented gradients: picture {0} x {0}, cell {1} x {1}, block {2} x {2}, "
      "stride {3}, {4} bins",
      hog::picture_side, hog::cell_side, hog::block_side, hog::block_stride, hog::bins);
}

/// What is kept and of the right shape.
std::optional<Dataset> read_kept(const FeatureCache& cache) {
  std::optional<Dataset> kept = cache.read();
  if (kept && (kept->rows() != pictures || kept->features() != hog::features))
    throw InputError(fmt::format("{}: has {} rows of {} features: must have {} of {}",
                                 cache.x_file().string(), kept->rows(), kept->features(), pictures,
                                 hog::features));
  return kept;
}

}  // namespace

std::string gtsrb_features_fault() { return hog::fault(); }

GtsrbFeatures gtsrb_features(const std::vector<fs::path>& folders, const fs::path& kept_in,
                             const std::function<void(const std::string&)>& tell) {
  const auto say = [&](const std::string& sentence) {
    if (tell) tell(sentence);
  };
  const CatalogEntry& entry = catalog_entry("gtsrb");
  const FeatureCache cache(kept_in.empty() ? data_cache() / "gtsrb" : kept_in, entry.files.at(0).sha256,
                           method());
  GtsrbFeatures features{.data = {}, .x_file = cache.x_file(), .y_file = cache.y_file(), .not_kept = ""};
  try {
    if (auto kept = read_kept(cache)) {
      features.data = *std::move(kept);
      return features;
    }
  } catch (const InputError& error) {
    say(fmt::format("the features of gtsrb that are kept are of no use and must be made anew: {}",
                    error.what()));
  }
  const fs::path archive = require_data(entry, folders).at(0);
  hog::function();  // where it cannot be had, that is known before seconds are spent on unpacking
  say("making the features of gtsrb: a few seconds ...");
  ByteStream stream(archive);
  features.data = describe_signs(archive.string(), read_tar(stream),
                                 {{"00001", -1.0, pictures_of_30}, {"00005", 1.0, pictures_of_80}});
  try {
    cache.write(features.data);
  } catch (const OutputError& error) {
    features.not_kept = fmt::format("the features of gtsrb cannot be kept: {}", error.what());
  }
  return features;
}

}  // namespace yosida
