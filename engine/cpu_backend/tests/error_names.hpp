// SPDX-License-Identifier: MIT
// Lets a failed check of a cudaError_t print the error's name.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_tostring.hpp>
#include <string>

template <>
struct Catch::StringMaker<cudaError_t> {
  static std::string convert(cudaError_t error) { return cudaGetErrorName(error); }
};
