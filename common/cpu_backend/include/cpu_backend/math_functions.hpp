// SPDX-License-Identifier: MIT
// The mathematics that CUDA has and the C library lacks, and CUDA's fast approximations, which are
// the accurate functions here: CUDA promises an error bound for them, and zero is within it.
#pragma once

#include <math.h>

// With C linkage, because newer C libraries declare these two under the same names.
extern "C" {
inline float rsqrtf(float x) noexcept { return 1.0f / ::sqrtf(x); }
inline double rsqrt(double x) noexcept { return 1.0 / ::sqrt(x); }
}
inline float rsqrt(float x) { return rsqrtf(x); }
inline float __frsqrt_rn(float x) {
  return static_cast<float>(1.0 / ::sqrt(static_cast<double>(x)));
}

inline float rcbrtf(float x) { return 1.0f / ::cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / ::cbrt(x); }

// Clamped to [0, 1]; a NaN becomes 0.
inline float __saturatef(float x) { return ::fminf(::fmaxf(x, 0.0f), 1.0f); }

inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return ::expf(x); }
inline float __exp10f(float x) { return static_cast<float>(::pow(10.0, static_cast<double>(x))); }
inline float __logf(float x) { return ::logf(x); }
inline float __log2f(float x) { return ::log2f(x); }
inline float __log10f(float x) { return ::log10f(x); }
inline float __powf(float x, float y) { return ::powf(x, y); }
inline float __sinf(float x) { return ::sinf(x); }
inline float __cosf(float x) { return ::cosf(x); }
inline float __tanf(float x) { return ::tanf(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = ::sinf(x);
  *cosine = ::cosf(x);
}
