// SPDX-License-Identifier: MIT
// Runs the examples of the memory model, the wrong ones too, and says of each how many of its
// values are wrong. Meant for `cudacheck weak`: elsewhere the wrong ones are mostly right.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "examples.cuh"

namespace {

constexpr int count = 64;
constexpr int lanes = 32;

struct arrays {
  int *data, *flags, *received;
};

int* zeros() {
  int* memory = nullptr;
  if (cudaMallocManaged(&memory, count * sizeof(int)) != cudaSuccess) {
    std::puts("no device, or no memory");
    std::exit(1);
  }
  for (int i = 0; i < count; ++i) memory[i] = 0;
  return memory;
}

// Block 1 receives what all threads of block 0 have written.
__global__ void publish_without_barrier(int* data, int* flag, int* received) {
  if (blockIdx.x == 0) {
    memory_model::wrong_publish_without_barrier(data, flag);
    return;
  }
  if (threadIdx.x == 0) {
    while (memory_model::flag_ref(*flag).load(cuda::memory_order_acquire) == 0) {
    }
  }
  __syncthreads();
  received[threadIdx.x] = data[threadIdx.x];
}

// Returns whether all is right.
template <class Launch, class Expected>
bool show(const char* name, int values, Launch launch, Expected expected) {
  const arrays of{zeros(), zeros(), zeros()};
  launch(of);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::printf("%s: the kernel failed\n", name);
    return false;
  }
  int wrong = 0;
  for (int i = 0; i < values; ++i) wrong += of.received[i] != expected(i);
  std::printf("%-32s %s\n", name, wrong == 0 ? "right" : "WRONG");
  (void)cudaFree(of.data);
  (void)cudaFree(of.flags);
  (void)cudaFree(of.received);
  return wrong == 0;
}

template <class Channel>
bool show_channel(const char* name) {
  return show(
      name, count,
      [](const arrays& of) {
        memory_model::pass_messages<Channel><<<2, 1>>>(of.data, of.flags, of.received, count);
      },
      memory_model::message);
}

}  // namespace

int main() {
  using memory_model::message;
  const auto of_next_lane = [](int lane) { return message((lane + 1) % lanes); };
  int right = 0;
  right += show_channel<memory_model::wrong_relaxed_flag>("wrong_relaxed_flag");
  right += show_channel<memory_model::release_and_acquire>("release_and_acquire");
  right += show_channel<memory_model::fences>("fences");
  right += show_channel<memory_model::classic_fences>("classic_fences");
  right += show_channel<memory_model::volatile_and_fences>("volatile_and_fences");
  right += show(
      "wrong_count_plainly", 1,
      [](const arrays& of) { memory_model::wrong_count_plainly<<<count, lanes>>>(of.received); },
      [](int) { return count * lanes; });
  right += show(
      "count", 1, [](const arrays& of) { memory_model::count<<<count, lanes>>>(of.received); },
      [](int) { return count * lanes; });
  right += show(
      "wrong_publish_without_barrier", lanes,
      [](const arrays& of) {
        publish_without_barrier<<<2, lanes>>>(of.data, of.flags, of.received);
      },
      message);
  right += show(
      "rotate_through_memory", lanes,
      [](const arrays& of) { memory_model::rotate_through_memory<<<1, lanes>>>(of.received); },
      of_next_lane);
  right += show(
      "wrong_rotate_behind_a_shuffle", lanes,
      [](const arrays& of) {
        memory_model::wrong_rotate_behind_a_shuffle<<<1, lanes>>>(of.received);
      },
      of_next_lane);
  return right == 10 ? 0 : 1;
}
