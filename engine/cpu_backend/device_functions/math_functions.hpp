// SPDX-License-Identifier: MIT
// The mathematics that CUDA has and the C library lacks, and CUDA's fast approximations, which are
// the accurate functions here: CUDA promises an error bound for them, and zero is within it.
#pragma once

#include <math.h>

#include <cmath>

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
inline float __tanhf(float x) { return ::tanhf(x); }
inline float fdividef(float x, float y) { return x / y; }
inline float saturate(float x) { return __saturatef(x); }

// Of multiples of pi. Where x is a multiple of 1/2 the result is exact, as CUDA's is.
// With C linkage, as above.
extern "C" {
inline double sinpi(double x) noexcept {
  const double turn = ::fmod(x, 2.0);
  const double half = 2.0 * turn;
  if (half == ::trunc(half)) {
    const int quarter = (static_cast<int>(half) % 4 + 4) % 4;
    return quarter == 1 ? 1.0 : quarter == 3 ? -1.0 : ::copysign(0.0, x);
  }
  return ::sin(turn * M_PI);
}
inline double cospi(double x) noexcept {
  const double turn = ::fmod(x, 2.0);
  const double half = 2.0 * turn;
  if (half == ::trunc(half)) {
    const int quarter = (static_cast<int>(half) % 4 + 4) % 4;
    return quarter == 0 ? 1.0 : quarter == 2 ? -1.0 : 0.0;
  }
  return ::cos(turn * M_PI);
}
inline float sinpif(float x) noexcept { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) noexcept { return static_cast<float>(cospi(static_cast<double>(x))); }
}
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

// Lengths of vectors, and their reciprocals.
inline double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }
inline float rhypotf(float x, float y) { return 1.0f / ::hypotf(x, y); }
inline double norm3d(double x, double y, double z) { return ::hypot(::hypot(x, y), z); }
inline double norm4d(double x, double y, double z, double w) {
  return ::hypot(::hypot(x, y), ::hypot(z, w));
}
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline float norm4df(float x, float y, float z, float w) {
  return static_cast<float>(norm4d(x, y, z, w));
}
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
inline float rnorm4df(float x, float y, float z, float w) {
  return static_cast<float>(rnorm4d(x, y, z, w));
}

namespace cpu_backend {
// A point at which the increasing function f has the value y, by Newton's method from x on.
template <class Function, class Derivative>
double root_of(double x, double y, Function f, Derivative slope) {
  for (int i = 0; i < 60; ++i) {
    const double step = (f(x) - y) / slope(x);
    if (!::isfinite(step)) break;
    x -= step;
    if (::fabs(step) <= 1e-16 * ::fabs(x)) break;
  }
  return x;
}
}  // namespace cpu_backend

// The error function scaled, and the inverse functions of it and of the normal distribution.
inline double erfcx(double x) {
  if (x < 25) return ::exp(x * x) * ::erfc(x);
  const double inverse = 1 / (x * x);  // the asymptotic series, whose third term is below 1e-9 here
  return (1 - inverse / 2 * (1 - 3 * inverse / 2 * (1 - 5 * inverse / 2))) / (x * ::sqrt(M_PI));
}
inline double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? INFINITY : y == 2 ? -INFINITY : NAN;
  const double tail = y < 1 ? y : 2 - y;
  // From a point to the left of the root, where the curve is steeper.
  const double start = tail > 0.5 ? (1 - tail) * ::sqrt(M_PI) / 2 : ::sqrt(-::log(tail)) / 1.5;
  const double root = cpu_backend::root_of(
      start, -::log(tail), [](double x) { return -::log(::erfc(x)); },
      [](double x) { return M_2_SQRTPI * ::exp(-x * x) / ::erfc(x); });
  return y < 1 ? root : -root;
}
inline double erfinv(double y) {
  if (!(y > -1 && y < 1)) return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
  if (::fabs(y) > 0.5) return y > 0 ? erfcinv(1 - y) : -erfcinv(1 + y);
  return cpu_backend::root_of(
      y * ::sqrt(M_PI) / 2, y, [](double x) { return ::erf(x); },
      [](double x) { return M_2_SQRTPI * ::exp(-x * x); });
}
inline double normcdf(double x) { return ::erfc(-x * M_SQRT1_2) / 2; }
inline double normcdfinv(double y) { return -M_SQRT2 * erfcinv(2 * y); }
inline float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }
inline float erfinvf(float y) { return static_cast<float>(erfinv(static_cast<double>(y))); }
inline float erfcinvf(float y) { return static_cast<float>(erfcinv(static_cast<double>(y))); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
inline float normcdfinvf(float y) { return static_cast<float>(normcdfinv(static_cast<double>(y))); }

// Bessel functions of order 0 and 1.
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, ::fabs(x)); }
inline double cyl_bessel_i1(double x) { return ::copysign(std::cyl_bessel_i(1.0, ::fabs(x)), x); }
inline float cyl_bessel_i0f(float x) {
  return static_cast<float>(cyl_bessel_i0(static_cast<double>(x)));
}
inline float cyl_bessel_i1f(float x) {
  return static_cast<float>(cyl_bessel_i1(static_cast<double>(x)));
}

// CUDA's global min and max: one overload for each pair of types that CUDA has, so that a mixed
// call is resolved, or rejected, as nvcc does it. A signed and an unsigned argument are compared as
// unsigned; of a number and a NaN the result is the number.

#define CPU_BACKEND_MIN_MAX(type)                           \
  inline type min(type a, type b) { return b < a ? b : a; } \
  inline type max(type a, type b) { return a < b ? b : a; }
#define CPU_BACKEND_MIXED(name, type)                  \
  inline unsigned type name(type a, unsigned type b) { \
    return name(static_cast<unsigned type>(a), b);     \
  }                                                    \
  inline unsigned type name(unsigned type a, type b) { \
    return name(a, static_cast<unsigned type>(b));     \
  }
#define CPU_BACKEND_MIN_MAX_OF_INTEGERS(type) \
  CPU_BACKEND_MIN_MAX(type)                   \
  CPU_BACKEND_MIN_MAX(unsigned type)          \
  CPU_BACKEND_MIXED(min, type)                \
  CPU_BACKEND_MIXED(max, type)
CPU_BACKEND_MIN_MAX_OF_INTEGERS(int)
CPU_BACKEND_MIN_MAX_OF_INTEGERS(long)
CPU_BACKEND_MIN_MAX_OF_INTEGERS(long long)
#undef CPU_BACKEND_MIN_MAX_OF_INTEGERS
#undef CPU_BACKEND_MIXED
#undef CPU_BACKEND_MIN_MAX
inline float min(float a, float b) { return ::fminf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double min(float a, double b) { return ::fmin(static_cast<double>(a), b); }
inline double min(double a, float b) { return ::fmin(a, static_cast<double>(b)); }
inline float max(float a, float b) { return ::fmaxf(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
inline double max(float a, double b) { return ::fmax(static_cast<double>(a), b); }
inline double max(double a, float b) { return ::fmax(a, static_cast<double>(b)); }

inline unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
inline unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
