// SPDX-License-Identifier: MIT
// How much memory there is to give away. Linux promises memory that it does not have and kills a
// process when it is asked to keep the promise; cudaMalloc must return cudaErrorMemoryAllocation
// instead.
#pragma once

#include <cstddef>

namespace cpu_backend {

// The machine's memory, or the container's share of it.
std::size_t total_memory();

// What an allocation could still get. Counts what other programs use, the container's limit, and
// what this backend has given away that nobody has touched yet. A 32nd of the total is kept back
// for the rest of the process.
std::size_t free_memory();

// Sets `bytes` aside, or returns false where they are not there. What was set aside is returned by
// return_memory with the same number.
bool set_memory_aside(std::size_t bytes);
void return_memory(std::size_t bytes);

}  // namespace cpu_backend
