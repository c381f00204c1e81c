// SPDX-License-Identifier: MIT
// CUDA's keywords. Every function runs on the host here, so most of them have nothing left to say.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// libstdc++ writes __attribute__((__noinline__)); an empty attribute keeps that valid, and costs
// CUDA code that asks for it nothing but a hint.
#define __noinline__

// translate.py knows this marker: `extern` before it means dynamic shared memory, otherwise the
// variable becomes `static thread_local`, because one OS thread plays one multiprocessor and holds
// one block at a time.
#define __shared__ __cpu_backend_shared__
