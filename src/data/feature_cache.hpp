#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "yosida/data/dataset.hpp"

namespace yosida {

/// Features that took work to make, kept in a folder as arrays of NumPy: hog_x.npy (numbers of 4 bytes),
/// hog_y.npy, and hog.json, which says what they were made of and has the sha256 of both.
class FeatureCache {
 public:
  /// The archive that the features are made of, by its sha256, and how they are made.
  FeatureCache(std::filesystem::path folder, std::string archive_sha256, std::string method);

  std::filesystem::path x_file() const { return folder_ / "hog_x.npy"; }
  std::filesystem::path y_file() const { return folder_ / "hog_y.npy"; }
  /// The features that are kept here, or nothing where there are none. Throws InputError where what is there
  /// is damaged, or made of something else or in another way.
  std::optional<Dataset> read() const;
  /// Replaces what is there. The features must be dense and exact in 4 bytes. Each file is whole at any time,
  /// and hog.json comes last, so that a process killed here leaves nothing that would be taken for right; two
  /// processes write one after the other. Throws OutputError.
  void write(const Dataset& data) const;

 private:
  std::filesystem::path key_file() const { return folder_ / "hog.json"; }

  std::filesystem::path folder_;
  std::string archive_sha256_;
  std::string method_;
};

}  // namespace yosida
