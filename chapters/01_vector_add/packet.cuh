// SPDX-License-Identifier: MIT
// Sixteen bytes at a time: the widest load and store of one thread that every GPU has. (From
// compute capability 10.0 on there are some of 32 bytes, which this course does not use.)
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace course {

// Neighbouring elements that one thread moves in one access. The alignment is what lets the
// compiler emit a single 16-byte instruction, and what the hardware then insists on.
template <class T>
struct alignas(16) packet {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8 && alignof(T) == sizeof(T),
                "a packet holds 2, 4, 8 or 16 numbers without a gap");
  static constexpr std::size_t size = 16 / sizeof(T);

  T element[size];
};

// How n elements fall into packets: first `head` single elements, then `count` packets, then fewer
// than packet<T>::size single elements.
struct packet_range {
  std::size_t head;
  std::size_t count;
};

// The packets that are aligned in *all* the given arrays of n elements. Arrays that are misaligned
// by different amounts have none: all n elements are then the head, and go one by one.
// All arrays are of one type, since a packet of another one has another number of elements.
// Each pointer is aligned to its own T, as C++ demands anyway. For any thread; no communication.
template <class T, std::same_as<T>... Others>
__device__ packet_range aligned_packets(std::size_t n, const T* first, const Others*... others) {
  const auto misalignment = [](const auto* pointer) -> std::size_t {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 / sizeof(T);
  };
  const std::size_t offset = misalignment(first);
  const bool together = ((misalignment(others) == offset) && ...);
  const std::size_t to_boundary = offset == 0 ? 0 : packet<T>::size - offset;
  if (!together || to_boundary > n) return {.head = n, .count = 0};
  return {.head = to_boundary, .count = (n - to_boundary) / packet<T>::size};
}

}  // namespace course
