// SPDX-License-Identifier: MIT
// Pictures as PNG files, where libpng was there when lab was built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lab {

// Three bytes a pixel, red, green and blue, row by row from the top.
struct image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> pixels;  // 3 * width * height
};

// Why png() cannot be used, one sentence; empty where it can. For file_option::unavailable.
std::string why_no_png();

// The contents of a PNG file. Width and height are at least 1. Throws std::runtime_error where
// libpng fails or is not there.
std::string png(const image& picture);

}  // namespace lab
