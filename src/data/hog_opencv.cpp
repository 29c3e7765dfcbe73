#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <vector>

#include "data/hog.hpp"

extern "C" __attribute__((visibility("default"))) void yosida_hog(const unsigned char* pixels, int rows,
                                                                  int columns, std::size_t row_bytes,
                                                                  float* features) {
  using namespace yosida::hog;
  const cv::HOGDescriptor descriptor({picture_side, picture_side}, {block_side, block_side},
                                     {block_stride, block_stride}, {cell_side, cell_side}, bins);
  // OpenCV has no picture of constant pixels; resize does not write to them.
  const cv::Mat picture(rows, columns, CV_8UC3, const_cast<unsigned char*>(pixels), row_bytes);
  cv::Mat resized;
  cv::resize(picture, resized, {picture_side, picture_side});
  std::vector<float> computed;
  descriptor.compute(resized, computed);
  std::copy(computed.begin(), computed.end(), features);
}
