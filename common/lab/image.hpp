// SPDX-License-Identifier: MIT
// Pictures as PNG files, where libpng was there when lab was built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/result_file.hpp"

namespace lab {

// A picture that png() has made says so: a chunk of text with its checksum (PNG specification,
// sections 5.3 and 11.3.4.3), after the signature and the header, which take 33 bytes.
inline const file_kind image_file = {
    .mark = std::string("\0\0\0\x0ctEXtSoftware\0lab\x8b\x0b\x5d\x91", 24), .place = 33};

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
