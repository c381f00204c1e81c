// SPDX-License-Identifier: MIT
// A prediction, told in chunks.json: how a block takes four items at a time.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
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
