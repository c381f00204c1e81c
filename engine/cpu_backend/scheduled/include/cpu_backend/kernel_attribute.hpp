// SPDX-License-Identifier: MIT
// What __global__ means in the scheduled form: with g++, everything that the kernel calls is
// inlined.
//
// g++ instruments no call that stores a class object straight from the function that returns it, as
// in `shared[i] = multiply(a, b)` for float2: the checker would miss the store. Without the call
// there is a store that it sees. Calls through pointers remain. clang instruments what is stored.
#pragma once

#ifdef __clang__
#define __cpu_backend_kernel__
#else
#define __cpu_backend_kernel__ __attribute__((__flatten__))
#endif
