// SPDX-License-Identifier: MIT
// CUDA's keywords. Every function runs on the host here, so most of them have nothing left to say.
#pragma once

#include "cpu_backend/form.hpp"

// In a .cu file these are markers: translate.py reads what they say about a function or a variable,
// and takes them out. A .cpp file that includes a header with kernels is compiled as it is.
#ifdef __CUDACC__
#define __global__ __cpu_backend_global__ __cpu_backend_kernel__
#define __device__ __cpu_backend_device__
#define __host__ __cpu_backend_host__
#define __constant__ __cpu_backend_constant__
#define __managed__ __cpu_backend_managed__
#define __cluster_dims__(...) __cpu_backend_cluster_dims__
#define __launch_bounds__(...) __cpu_backend_launch_bounds__(__VA_ARGS__)
#else
#define __global__ __cpu_backend_kernel__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __cluster_dims__(...)
#define __launch_bounds__(...)
#endif
#define __grid_constant__
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#ifndef __clang__  // which has it itself; as there, the condition is not evaluated
#define __builtin_assume(condition) static_cast<void>(sizeof(bool(condition)))
#endif

// libstdc++ writes __attribute__((__noinline__)); an empty attribute keeps that valid, and costs
// CUDA code that asks for it nothing but a hint.
#define __noinline__

// translate.py knows this marker: `extern` before it means dynamic shared memory, otherwise the
// variable becomes `static thread_local`, because one OS thread plays one multiprocessor and holds
// one block at a time.
#define __shared__ __cpu_backend_shared__
