// SPDX-License-Identifier: MIT
// Performs one small program of the reference model, once, and prints what its reads have read.
// proved_programs_test.py has it explored. The arguments: as weak_outcomes.cu has a program on its
// standard input.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <vector>

namespace {

enum kind { reads, writes, exchanges, fences, meets_block, meets_lanes };
constexpr int weak = 0;  // among the orders

struct step {
  int kind, location, order, scope;
  int value;   // that is written; of a barrier of lanes their mask
  int result;  // the place of what it reads
};

struct thread_steps {
  unsigned block, rank;
  int first, count;  // of the steps
};

__device__ cuda::memory_order order_of(int number) {
  constexpr cuda::memory_order orders[] = {cuda::memory_order_relaxed, cuda::memory_order_relaxed,
                                           cuda::memory_order_acquire, cuda::memory_order_release,
                                           cuda::memory_order_acq_rel, cuda::memory_order_seq_cst};
  return orders[number];
}

template <cuda::thread_scope Scope>
__device__ void perform_strongly(const step& now, int* memory, int* results) {
  cuda::atomic_ref<int, Scope> at(memory[now.location]);
  const cuda::memory_order order = order_of(now.order);
  if (now.kind == reads) results[now.result] = at.load(order);
  if (now.kind == writes) at.store(now.value, order);
  if (now.kind == exchanges) results[now.result] = at.exchange(now.value, order);
  if (now.kind == fences) cuda::atomic_thread_fence(order, Scope);
}

__global__ void perform(const thread_steps* threads, int count, const step* steps, int* memory,
                        int* results) {
  const thread_steps* own = nullptr;
  for (int i = 0; i < count; ++i) {
    if (threads[i].block == blockIdx.x && threads[i].rank == threadIdx.x) own = &threads[i];
  }
  if (!own) return;
  for (int i = own->first; i < own->first + own->count; ++i) {
    const step& now = steps[i];
    if (now.kind == meets_block) {
      __syncthreads();
    } else if (now.kind == meets_lanes) {
      __syncwarp(static_cast<unsigned>(now.value));
    } else if (now.order == weak && now.kind == reads) {
      results[now.result] = memory[now.location];
    } else if (now.order == weak) {
      memory[now.location] = now.value;
    } else if (now.scope == cuda::thread_scope_block) {
      perform_strongly<cuda::thread_scope_block>(now, memory, results);
    } else {
      perform_strongly<cuda::thread_scope_device>(now, memory, results);
    }
  }
}

int next_number(char**& words) {
  if (!*words) {
    std::fputs("a number is missing\n", stderr);
    std::exit(2);
  }
  return std::atoi(*words++);
}

template <class T>
T* managed(std::size_t size) {
  T* memory = nullptr;
  if (cudaMallocManaged(&memory, (size + 1) * sizeof(T)) != cudaSuccess) std::exit(1);
  return memory;
}

}  // namespace

int main(int, char** words) {
  ++words;
  const auto blocks = static_cast<unsigned>(next_number(words));
  const auto threads_of_block = static_cast<unsigned>(next_number(words));
  const int locations = next_number(words);
  const int count = next_number(words);
  auto* threads = managed<thread_steps>(static_cast<std::size_t>(count));
  std::vector<step> all;
  int results = 0;
  for (int i = 0; i < count; ++i) {
    const auto block = static_cast<unsigned>(next_number(words));
    const auto rank = static_cast<unsigned>(next_number(words));
    threads[i] = {block, rank, static_cast<int>(all.size()), next_number(words)};
    for (int s = 0; s < threads[i].count; ++s) {
      step now{};
      for (int* field : {&now.kind, &now.location, &now.order, &now.scope, &now.value}) {
        *field = next_number(words);
      }
      if (now.kind == reads || now.kind == exchanges) now.result = results++;
      all.push_back(now);
    }
  }
  auto* steps = managed<step>(all.size());
  std::copy(all.begin(), all.end(), steps);
  auto* memory = managed<int>(static_cast<std::size_t>(locations));
  auto* read = managed<int>(static_cast<std::size_t>(results));
  std::fill(memory, memory + locations, 0);
  std::fill(read, read + results, 0);
  perform<<<blocks, threads_of_block>>>(threads, count, steps, memory, read);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < results; ++i) std::printf("%d ", read[i]);
  for (int i = 0; i < locations; ++i) std::printf("%s%d", i == 0 ? "; " : " ", memory[i]);
  std::puts("");
  for (void* each : {static_cast<void*>(threads), static_cast<void*>(steps),
                     static_cast<void*>(memory), static_cast<void*>(read)}) {
    (void)cudaFree(each);
  }
}
