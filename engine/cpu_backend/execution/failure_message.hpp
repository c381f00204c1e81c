// SPDX-License-Identifier: MIT
// What the CPU backend says to a student about a launch that fails, and how it names things there.
#pragma once

#include <string>

#include "cpu_backend/execution/place.hpp"
#include "vector_types.h"

namespace cpu_backend {

struct grid;

// "reduce.cu:41"
std::string describe(const place& at);
// "thread (5,0,0)"
std::string describe(const uint3& thread);
// "block (3,0,0)"
std::string describe_block(const uint3& block);

// Prints to stderr, as one piece: "kernel launched at FILE:LINE: MESSAGE".
void print_failure(const grid& about, const std::string& message);

}  // namespace cpu_backend
