// SPDX-License-Identifier: MIT
// What the structures of three-dimensional copies are made with.
#pragma once

#include "driver_types.h"

#define __DRIVER_FUNCTIONS_H__

inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, std::size_t pitch, std::size_t width,
                                          std::size_t height) {
  return {pointer, pitch, width, height};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
