// SPDX-License-Identifier: MIT
// What a reduction combines: a sequence of terms, each computed where it is needed and never
// stored. A dot product is the sum of the terms a[i] * b[i], mapped and reduced in one pass.
#pragma once

#include <cstddef>
#include <type_traits>

#include "01_vector_add/packet.cuh"

namespace course {

// Whether chapter 01's packets can hold T; other types are read one by one.
template <class T>
inline constexpr bool fits_packets = std::is_arithmetic_v<T> && sizeof(T) <= 8;

// Term i is values[i].
template <class T>
struct elements {
  using value_type = T;
  static constexpr bool in_packets = fits_packets<T>;
  static constexpr unsigned loads_in_flight = 4;  // of 16 bytes, where packets can hold T

  __device__ T operator[](std::size_t i) const { return values[i]; }
  // How the first n terms fall into packets, and packet i behind the `head` single ones.
  __device__ packet_range packets(std::size_t n) const { return aligned_packets(n, values); }
  __device__ packet<T> load_packet(std::size_t head, std::size_t i) const {
    return reinterpret_cast<const packet<T>*>(values + head)[i];
  }

  const T* values;
};

// Term i is values[i], and is read by itself. For the shares that blocks have left: there is at
// most a handful for a thread, and without packets the code that merges them is a fraction as long.
template <class T>
struct shares {
  using value_type = T;
  static constexpr bool in_packets = false;
  static constexpr unsigned loads_in_flight = 4;

  __device__ T operator[](std::size_t i) const { return values[i]; }

  const T* values;
};

// Term i is a[i] * b[i].
template <class T>
struct products {
  using value_type = T;
  static constexpr bool in_packets = fits_packets<T>;
  static constexpr unsigned loads_in_flight = 2;  // of each of the two arrays

  __device__ T operator[](std::size_t i) const { return a[i] * b[i]; }
  __device__ packet_range packets(std::size_t n) const { return aligned_packets(n, a, b); }
  __device__ packet<T> load_packet(std::size_t head, std::size_t i) const {
    packet<T> x = reinterpret_cast<const packet<T>*>(a + head)[i];
    const packet<T> y = reinterpret_cast<const packet<T>*>(b + head)[i];
#pragma unroll
    for (std::size_t j = 0; j < packet<T>::size; ++j) x.element[j] *= y.element[j];
    return x;
  }

  const T* a;
  const T* b;
};

}  // namespace course
