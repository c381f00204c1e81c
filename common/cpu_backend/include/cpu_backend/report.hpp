// SPDX-License-Identifier: MIT
// How the CPU backend names things to a student.
#pragma once

#include <string>

#include "cpu_backend/grid.hpp"
#include "cpu_backend/place.hpp"
#include "vector_types.h"

namespace cpu_backend {

// "reduce.cu:41"
std::string describe(const place& at);
// "thread (5,0,0)"
std::string describe(const uint3& thread);
// "block (3,0,0)"
std::string describe_block(const uint3& block);

// Prints to stderr, as one piece: "kernel launched at FILE:LINE: MESSAGE".
void report(const grid& about, const std::string& message);

}  // namespace cpu_backend
