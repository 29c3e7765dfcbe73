#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/data/dataset.hpp"

namespace yosida {

/// 8 bits of blue, green and red a pixel (OpenCV's order), row by row.
struct Picture {
  int rows = 0;
  int columns = 0;
  std::vector<unsigned char> pixels;
};
/// Reads a PPM file of the binary kind (P6). Throws InputError that starts with `name`.
Picture read_ppm(const std::string& name, std::string_view bytes);

/// The pictures of one kind of sign: the folder that holds them with their table of regions, GT-<folder>.csv.
struct SignClass {
  std::string folder;
  double label;
  Index pictures;
};
/// The histograms of gradients of the signs, cut out of their pictures: a row for each line of the tables,
/// classes one behind the other. `files` is what the archive `source` holds. Throws InputError where these do
/// not fit together.
Dataset describe_signs(const std::string& source, const std::map<std::string, std::string>& files,
                       const std::vector<SignClass>& classes);

}  // namespace yosida
