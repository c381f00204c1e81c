// SPDX-License-Identifier: MIT
// A small program of the reference model, as numbers, and how a device performs it. The numbers:
// blocks, the threads of each block, locations, threads; then each thread: block, rank, steps; and
// each step: kind, location, order, scope, the value to write or the mask of the lanes that meet,
// and the value that a compare-and-swap expects. random_programs.py and the litmus tests make such
// programs.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cuda/atomic>
#include <vector>

namespace {  // A kernel can't be inline.

enum kind { reads, writes, exchanges, fences, meets_block, meets_lanes, compares };
constexpr int weak = 0;  // among the orders

struct step {
  int kind, location, order, scope;
  int value;  // that is written; of a barrier of lanes their mask
  int expected;
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
  if (now.kind == compares) {
    results[now.result] = now.expected;
    at.compare_exchange_strong(results[now.result], now.value, order);
  }
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

template <class T>
T* managed(std::size_t size) {
  T* memory = nullptr;
  if (cudaMallocManaged(&memory, (size + 1) * sizeof(T)) != cudaSuccess) std::exit(1);
  return memory;
}

class performed_program {
 public:
  // next() gives the next of the numbers after the first one, which is `blocks`.
  template <class Next>
  performed_program(unsigned blocks, Next next) : blocks_(blocks) {
    threads_of_block_ = static_cast<unsigned>(next());
    locations_ = next();
    count_ = next();
    threads_ = managed<thread_steps>(static_cast<std::size_t>(count_));
    std::vector<step> all;
    for (int i = 0; i < count_; ++i) {
      const auto block = static_cast<unsigned>(next());
      const auto rank = static_cast<unsigned>(next());
      threads_[i] = {block, rank, static_cast<int>(all.size()), next()};
      for (int s = 0; s < threads_[i].count; ++s) {
        step now{};
        for (int* field :
             {&now.kind, &now.location, &now.order, &now.scope, &now.value, &now.expected}) {
          *field = next();
        }
        if (now.kind == reads || now.kind == exchanges || now.kind == compares) {
          now.result = results_++;
        }
        all.push_back(now);
      }
    }
    steps_ = managed<step>(all.size());
    std::copy(all.begin(), all.end(), steps_);
    memory_ = managed<int>(static_cast<std::size_t>(locations_));
    read_ = managed<int>(static_cast<std::size_t>(results_));
  }
  performed_program(const performed_program&) = delete;
  performed_program& operator=(const performed_program&) = delete;
  ~performed_program() {
    (void)cudaFree(threads_);
    (void)cudaFree(steps_);
    (void)cudaFree(memory_);
    (void)cudaFree(read_);
  }

  // One launch, with all locations 0 before. Ends the process if the launch fails.
  void run() {
    std::fill(memory_, memory_ + locations_, 0);
    std::fill(read_, read_ + results_, 0);
    perform<<<blocks_, threads_of_block_>>>(threads_, count_, steps_, memory_, read_);
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
  }

  // What its reads have read, in the order of the threads and their steps.
  std::vector<int> outcome() const { return {read_, read_ + results_}; }
  // The locations' values.
  std::vector<int> memory() const { return {memory_, memory_ + locations_}; }

 private:
  unsigned blocks_;
  unsigned threads_of_block_ = 0;
  int locations_ = 0;
  int count_ = 0;
  int results_ = 0;
  thread_steps* threads_ = nullptr;
  step* steps_ = nullptr;
  int* memory_ = nullptr;
  int* read_ = nullptr;
};

}  // namespace
