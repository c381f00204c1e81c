// SPDX-License-Identifier: MIT
// The work of chapters 05 and 06: the Mandelbrot set, in whole numbers, so that the counts are the
// same to the last bit on every processor.
#pragma once

#include <cstdint>

namespace course {

// A coordinate: a whole number of units of 2^-28, from -8 to just below 8.
//
// Why not float? A compiler may contract a * b + c into one instruction that rounds once, or leave
// it as two that round twice; nvcc does by default, g++ on x86-64 cannot, and the orbit of a point
// near the set's edge amplifies the last bit until its count is another one. Here no product is
// rounded, each step rounds down by one shift, and two's complement leaves no choice in either. The
// price on a GPU: three 32 x 32 -> 64 bit multiplications for a step, at half the rate of float's.
using fixed = std::int32_t;
inline constexpr int fraction_bits = 28;

constexpr fixed to_fixed(double value) {
  return static_cast<fixed>(value * (std::int32_t{1} << fraction_bits));
}

// The first n <= limit for which |z_n| > 2, where z_0 = 0 and z_{n+1} = z_n^2 + c; `limit` where
// there is none. |cx| and |cy| are below 4: then nothing below overflows, since |z_n| <= 2 before a
// step, and so |z_{n+1}| < 4 + 4. For any thread, and for the host.
__host__ __device__ inline std::uint32_t escape_count(fixed cx, fixed cy, std::uint32_t limit) {
  constexpr std::int64_t four = std::int64_t{4} << (2 * fraction_bits);
  fixed x = 0;
  fixed y = 0;
  for (std::uint32_t n = 0; n < limit; ++n) {
    const std::int64_t xx = std::int64_t{x} * x;
    const std::int64_t yy = std::int64_t{y} * y;
    const std::int64_t xy = std::int64_t{x} * y;
    if (xx + yy > four) return n;
    // One bit less, for 2xy. A shift to the right rounds down, negative numbers too.
    y = static_cast<fixed>(xy >> (fraction_bits - 1)) + cy;
    x = static_cast<fixed>((xx - yy) >> fraction_bits) + cx;
  }
  return limit;
}

// A square part of the plane as a picture of size * size pixels, cut into tiles.
struct picture {
  std::uint32_t size = 0;  // Pixels of each side, 1 to largest_picture.
  std::uint32_t tile = 0;  // Pixels of each side of a tile, at least 1. Tiles at the right and
                           // bottom edges are smaller where it does not divide `size`.
  std::uint32_t iterations = 0;  // escape_count's limit.
  fixed left = 0;                // The c of pixel (0, 0); all c lie within escape_count's bounds.
  fixed top = 0;
  std::int64_t step = 0;  // From pixel to pixel, in units of 2^-60: fixed would round too much.

  __host__ __device__ fixed cx(std::uint32_t column) const { return left + offset(column); }
  __host__ __device__ fixed cy(std::uint32_t row) const { return top + offset(row); }
  __host__ __device__ std::uint32_t tiles_a_side() const { return (size + tile - 1) / tile; }
  __host__ __device__ std::uint64_t tile_count() const {
    return std::uint64_t{tiles_a_side()} * tiles_a_side();
  }
  __host__ __device__ std::uint64_t pixel_count() const { return std::uint64_t{size} * size; }

 private:
  __host__ __device__ fixed offset(std::uint32_t pixel) const {
    return static_cast<fixed>((pixel * step) >> 32);
  }
};

inline constexpr std::uint32_t largest_picture = 32'768;

// A named part of the plane.
struct view {
  const char* name;
  fixed left;
  fixed top;
  fixed width;
};

inline constexpr view views[] = {
    // All of it: a tile outside the circle of radius 2 costs one step a pixel, one inside costs
    // all.
    {"whole", to_fixed(-2.75), to_fixed(-2), to_fixed(4)},
    {"seahorse", to_fixed(-0.76), to_fixed(0.09), to_fixed(0.03125)},
    {"elephant", to_fixed(0.265), to_fixed(-0.015625), to_fixed(0.03125)},
};

inline picture picture_of(const view& part, std::uint32_t size, std::uint32_t tile,
                          std::uint32_t iterations) {
  const std::int64_t width = std::int64_t{part.width} << 32;
  return {.size = size,
          .tile = tile,
          .iterations = iterations,
          .left = part.left,
          .top = part.top,
          .step = width / size};
}

// An item of work: one tile, by its place among the tiles. A small handle; the picture itself is an
// argument of the kernel.
struct tile_index {
  std::uint32_t column;
  std::uint32_t row;

  // No tile. No picture has one so far out.
  __host__ __device__ static constexpr tile_index none() { return {~0U, ~0U}; }
  __host__ __device__ friend constexpr bool operator==(tile_index x, tile_index y) {
    return x.column == y.column && x.row == y.row;
  }
};

// Where a tile lies, in pixels.
struct tile_area {
  std::uint32_t left;
  std::uint32_t top;
  std::uint32_t width;
  std::uint32_t height;
};

__host__ __device__ inline tile_area area_of(const picture& of, tile_index tile) {
  const std::uint32_t left = tile.column * of.tile;
  const std::uint32_t top = tile.row * of.tile;
  const std::uint32_t to_right = of.size - left;
  const std::uint32_t to_bottom = of.size - top;
  return {.left = left,
          .top = top,
          .width = of.tile < to_right ? of.tile : to_right,
          .height = of.tile < to_bottom ? of.tile : to_bottom};
}

}  // namespace course
