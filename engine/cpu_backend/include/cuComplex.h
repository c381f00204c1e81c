// SPDX-License-Identifier: MIT
// Complex numbers, as pairs of floats or of doubles.
#pragma once

#include <math.h>

#include "vector_types.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

inline cuFloatComplex make_cuFloatComplex(float real, float imaginary) { return {real, imaginary}; }
inline float cuCrealf(cuFloatComplex z) { return z.x; }
inline float cuCimagf(cuFloatComplex z) { return z.y; }
inline cuFloatComplex cuConjf(cuFloatComplex z) { return {z.x, -z.y}; }
inline cuFloatComplex cuCaddf(cuFloatComplex a, cuFloatComplex b) { return {a.x + b.x, a.y + b.y}; }
inline cuFloatComplex cuCsubf(cuFloatComplex a, cuFloatComplex b) { return {a.x - b.x, a.y - b.y}; }
inline cuFloatComplex cuCmulf(cuFloatComplex a, cuFloatComplex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
// Scaled first, so that nothing overflows on the way to a quotient that does not.
inline cuFloatComplex cuCdivf(cuFloatComplex a, cuFloatComplex b) {
  const float scale = 1 / (::fabsf(b.x) + ::fabsf(b.y));
  const cuFloatComplex c = {a.x * scale, a.y * scale};
  const cuFloatComplex d = {b.x * scale, b.y * scale};
  const float inverse = 1 / (d.x * d.x + d.y * d.y);
  return {(c.x * d.x + c.y * d.y) * inverse, (c.y * d.x - c.x * d.y) * inverse};
}
inline float cuCabsf(cuFloatComplex z) { return ::hypotf(z.x, z.y); }
inline cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c) {
  return cuCaddf(cuCmulf(a, b), c);
}
inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }

inline cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) {
  return {real, imaginary};
}
inline double cuCreal(cuDoubleComplex z) { return z.x; }
inline double cuCimag(cuDoubleComplex z) { return z.y; }
inline cuDoubleComplex cuConj(cuDoubleComplex z) { return {z.x, -z.y}; }
inline cuDoubleComplex cuCadd(cuDoubleComplex a, cuDoubleComplex b) {
  return {a.x + b.x, a.y + b.y};
}
inline cuDoubleComplex cuCsub(cuDoubleComplex a, cuDoubleComplex b) {
  return {a.x - b.x, a.y - b.y};
}
inline cuDoubleComplex cuCmul(cuDoubleComplex a, cuDoubleComplex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
// Scaled first, so that nothing overflows on the way to a quotient that does not.
inline cuDoubleComplex cuCdiv(cuDoubleComplex a, cuDoubleComplex b) {
  const double scale = 1 / (::fabs(b.x) + ::fabs(b.y));
  const cuDoubleComplex c = {a.x * scale, a.y * scale};
  const cuDoubleComplex d = {b.x * scale, b.y * scale};
  const double inverse = 1 / (d.x * d.x + d.y * d.y);
  return {(c.x * d.x + c.y * d.y) * inverse, (c.y * d.x - c.x * d.y) * inverse};
}
inline double cuCabs(cuDoubleComplex z) { return ::hypot(z.x, z.y); }
inline cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c) {
  return cuCadd(cuCmul(a, b), c);
}

inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
