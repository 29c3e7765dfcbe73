#pragma once

#include <cstddef>
#include <string>

namespace yosida::hog {

// Histograms of oriented gradients of a picture (Dalal and Triggs 2005), by OpenCV. OpenCV is in a module of
// its own that is loaded when it is needed: with what it draws in, it would add 10 ms to every start.

constexpr int picture_side = 40;  // pixels, after resizing
constexpr int block_side = 10;
constexpr int block_stride = 5;
constexpr int cell_side = 5;
constexpr int bins = 8;

constexpr int blocks_per_side = (picture_side - block_side) / block_stride + 1;
constexpr int cells_per_block = (block_side / cell_side) * (block_side / cell_side);
constexpr int features = blocks_per_side * blocks_per_side * cells_per_block * bins;

/// Resizes a picture (8 bits of blue, green and red a pixel, `row_bytes` from one row to the next) and writes
/// its features.
using Function = void(const unsigned char* pixels, int rows, int columns, std::size_t row_bytes,
                      float* features);

/// Why it cannot be had, and what to do; empty where it can.
std::string fault();
/// Throws InputError where it cannot be had.
Function& function();

}  // namespace yosida::hog

/// What the module holds.
extern "C" yosida::hog::Function yosida_hog;
