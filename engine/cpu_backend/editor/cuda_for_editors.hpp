// SPDX-License-Identifier: MIT
// What clangd includes in front of every .cu and .cuh file: the CPU backend's cuda_runtime.h, with
// CUDA's keywords such that Clang can parse the file as it stands. No program is compiled with it.
//
// Every function is a host function here. Clang's own difference between host and device would make
// an error of each call from a kernel to the CPU backend's functions, which are host functions. The
// price: Clang says of every launch that its function is no kernel. `.clangd` suppresses that.
#pragma once

// For CUDA, Clang puts wrappers around some headers, with functions of the device. That of <new>
// must stay out: constexpr functions, which are for both sides, would take its operators.
#if __has_include(<ext/../new>)
#define __CLANG_CUDA_WRAPPERS_NEW
#include <ext/../new>  // libstdc++'s own
#endif
// The others need the two keywords, which they take back.
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define lerp __cpu_backend_std_lerp  // as in cuda_runtime.h
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#undef lerp
#undef __device__
#undef __host__

// Without the macro the keywords say nothing: there is no translate.py here that reads its markers.
#undef __CUDACC__
#include "cuda_runtime.h"
#define __CUDACC__ 1

// As translate.py has it. So a lambda does not capture it, and `extern` may stand before it.
#undef __shared__
#define __shared__ thread_local

// Clang looks for the first or the second of them, which depends on its version, at each launch.
int cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared_bytes = 0, cudaStream_t = nullptr);
int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                                cudaStream_t = nullptr);
