// SPDX-License-Identifier: MIT
// Prediction 2: Four items at a time
//
// Each block claims four items with one atomic, and writes its number to each of them. The kernel
// is launched with 8 blocks of 1 thread, owners has 84 elements, and the counter is 0 before.
//
// A common mistake (ab): A relaxed counter is too weak to share out work.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// No race
// The addition is indivisible, so each number is handed out once, four items apart. Relaxed is
// enough, because the counter publishes nothing: no block reads what another one has written.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void claim(unsigned* next, unsigned* owners) {
  using counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  constexpr auto relaxed = cuda::memory_order_relaxed;
  while (true) {
    const unsigned first = counter(*next).fetch_add(4, relaxed);
    if (first >= 80) return;
    for (unsigned k = 0; k < 4; ++k) owners[first + k] = blockIdx.x;
  }
}
// END a
}  // namespace a

namespace b {
// No race
// The counter now counts chunks and not items. Each chunk still belongs to one block.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void claim(unsigned* next, unsigned* owners) {
  using counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  constexpr auto relaxed = cuda::memory_order_relaxed;
  while (true) {
    const unsigned first = 4 * counter(*next).fetch_add(1, relaxed);
    if (first >= 80) return;
    for (unsigned k = 0; k < 4; ++k) owners[first + k] = blockIdx.x;
  }
}
// END b
}  // namespace b

namespace c {
// Race: missing release, missing acquire, no synchronisation
// The counter moves on by one item, but each block takes four. So the chunks overlap, and several
// blocks write the same element.
// See README.md#exercises
// BEGIN c
__global__ void claim(unsigned* next, unsigned* owners) {
  using counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  constexpr auto relaxed = cuda::memory_order_relaxed;
  while (true) {
    const unsigned first = counter(*next).fetch_add(1, relaxed);
    if (first >= 80) return;
    for (unsigned k = 0; k < 4; ++k) owners[first + k] = blockIdx.x;
  }
}
// END c
}  // namespace c

namespace d {
// Race: scope too narrow
// An atomic of block scope is indivisible for the threads of its own block alone. Two blocks may
// get the same number.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void claim(unsigned* next, unsigned* owners) {
  using counter = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
  constexpr auto relaxed = cuda::memory_order_relaxed;
  while (true) {
    const unsigned first = counter(*next).fetch_add(4, relaxed);
    if (first >= 80) return;
    for (unsigned k = 0; k < 4; ++k) owners[first + k] = blockIdx.x;
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::claim, b::claim, c::claim, d::claim}, [](auto claim) {
    auto next = lab::zeroed<unsigned>(1), owners = lab::zeroed<unsigned>(84);
    claim<<<8, 1>>>(next.data(), owners.data());
  });
}
