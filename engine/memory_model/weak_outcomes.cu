// SPDX-License-Identifier: MIT
// Performs small programs of the reference model in the weak form, and prints which outcomes there
// were. weak_outcomes_test.py writes the programs and judges the outcomes.
//
// Standard input: the number of seeds, then the programs. A program: its blocks, the threads of
// each block, its locations, its threads; then each thread: block, rank, steps; and each step:
// kind, location, order, scope, and the value to write or the mask of the lanes that meet. One line
// of output for each program: what its reads have read, "0 3;1 3" for two outcomes of two reads.
#include <cuda_runtime.h>

#include <cstdio>
#include <cuda/atomic>
#include <iostream>
#include <set>
#include <vector>

#include "cpu_backend/scheduled.hpp"
#include "racecheck/races/checker.hpp"

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

template <class T>
T* managed(std::size_t size) {
  T* memory = nullptr;
  if (cudaMallocManaged(&memory, (size + 1) * sizeof(T)) != cudaSuccess) std::exit(1);
  return memory;
}

int read_number() {
  int number = 0;
  if (!(std::cin >> number)) {
    std::fputs("a number is missing\n", stderr);
    std::exit(2);
  }
  return number;
}

void run_program(unsigned blocks, int seeds) {
  const auto threads_of_block = static_cast<unsigned>(read_number());
  const int locations = read_number();
  const int count = read_number();
  auto* threads = managed<thread_steps>(static_cast<std::size_t>(count));
  std::vector<step> all;
  int results = 0;
  for (int i = 0; i < count; ++i) {
    const auto block = static_cast<unsigned>(read_number());
    const auto rank = static_cast<unsigned>(read_number());
    threads[i] = {block, rank, static_cast<int>(all.size()), read_number()};
    for (int s = 0; s < threads[i].count; ++s) {
      step now{};
      for (int* field : {&now.kind, &now.location, &now.order, &now.scope, &now.value}) {
        *field = read_number();
      }
      if (now.kind == reads || now.kind == exchanges) now.result = results++;
      all.push_back(now);
    }
  }
  auto* steps = managed<step>(all.size());
  std::copy(all.begin(), all.end(), steps);
  auto* memory = managed<int>(static_cast<std::size_t>(locations));
  auto* read = managed<int>(static_cast<std::size_t>(results));
  std::set<std::vector<int>> outcomes;
  for (int seed = 0; seed < seeds; ++seed) {
    cpu_backend::scheduled::set_seed(static_cast<std::uint64_t>(seed));
    racecheck::checker::instance().weak().draw_values(static_cast<std::uint64_t>(seed));
    std::fill(memory, memory + locations, 0);
    perform<<<blocks, threads_of_block>>>(threads, count, steps, memory, read);
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
    outcomes.emplace(read, read + results);
  }
  const char* between = "";
  for (const std::vector<int>& outcome : outcomes) {
    std::fputs(between, stdout);
    between = "";
    for (const int value : outcome) {
      std::printf("%s%d", between, value);
      between = " ";
    }
    between = ";";
  }
  std::puts("");
  (void)cudaFree(threads);
  (void)cudaFree(steps);
  (void)cudaFree(memory);
  (void)cudaFree(read);
}

}  // namespace

int main() {
  constexpr bool looks_for_races = false;
  racecheck::checker::instance().begin_weak_form(looks_for_races);
  const int seeds = read_number();
  for (int blocks = 0; std::cin >> blocks;) run_program(static_cast<unsigned>(blocks), seeds);
}
