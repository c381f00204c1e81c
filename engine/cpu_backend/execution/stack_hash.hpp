// SPDX-License-Identifier: MIT
// Tells whether a thread is in the state that it was in before.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace cpu_backend {

// Goes on from `hash` with the words from `begin` to `end`. Reads stacks across the red zones that
// AddressSanitizer puts between variables.
__attribute__((no_sanitize("address"))) inline std::uint64_t hash_of_memory(std::uint64_t hash,
                                                                            const void* begin,
                                                                            const void* end) {
  const auto* last = static_cast<const std::uint64_t*>(end);
  for (auto* word = static_cast<const std::uint64_t*>(begin); word < last; ++word) {
    hash = (std::rotl(hash, 5) ^ *word) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

// A hash of the registers and of the stack of the thread that runs, up to the stack's end. `frame`
// is that of the calling function, which must have saved all registers there
// (__builtin_unwind_init). The function's own variables do not count: what it leaves there would
// make each turn another state.
inline std::uint64_t hash_of_thread(const void* frame, const void* end) {
#if defined(__aarch64__)
  // The frame's address is that of the caller's frame, as it was saved; after it come the other
  // registers, and after those the variables.
  constexpr std::size_t saved_registers = 2 + 10 + 8;
  const auto* saved = static_cast<const void* const*>(frame);
  return hash_of_memory(hash_of_memory(0, saved, saved + saved_registers), *saved, end);
#else
  // The registers lie below the frame's address, and the variables below those.
  constexpr std::ptrdiff_t saved_registers = 5 * sizeof(void*);
  return hash_of_memory(0, static_cast<const std::byte*>(frame) - saved_registers, end);
#endif
}

}  // namespace cpu_backend
