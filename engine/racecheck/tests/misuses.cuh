// SPDX-License-Identifier: MIT
// Cases of mistakes.cu that are no races.
#pragma once

#include <stdexcept>

#include "racecheck/tests/mistakes_of_blocks.cuh"

// Block 0 leaves it written, and every other block has its own.
__global__ void unwritten_shared_of_file(memory of) {
  if (blockIdx.x == 0) of_file[threadIdx.x] = 1;
  of.result[blockIdx.x * threads + threadIdx.x] =
      of_file[threadIdx.x];  // mark: unwritten of the file
}

__global__ void past_the_end_of_shared_of_file(memory of) {
  of_file[threadIdx.x + 1] = 1;  // mark: past the end of the file's
  __syncthreads();
  of.result[threadIdx.x] = of_file[threads - 1];
}

template <bool written>
__global__ void unwritten_shared(memory of) {
  __shared__ int values[threads];
  if (written) values[threadIdx.x] = 1;
  of.result[threadIdx.x] = values[threadIdx.x];  // mark: unwritten shared
}

template <bool written>
__global__ void unwritten_device(memory of) {
  if (written) of.unwritten[threadIdx.x] = 1;
  of.result[threadIdx.x] = of.unwritten[threadIdx.x];  // mark: unwritten device
}

__constant__ int constants[2] = {3, 4};
__device__ int variables[2] = {3, 4};

__global__ void reads_constants(memory of) {
  if (threadIdx.x == 0) variables[1] = constants[0];
  __syncthreads();
  of.result[threadIdx.x] = constants[1] + variables[1];
}

__global__ void writes_constant(memory of) {
  if (threadIdx.x == 0) const_cast<int*>(constants)[1] = of.data[0];  // mark: constant written
}

// What a thread may do with its own variables, with lanes that are there, and with __ldg() of what
// the launch does not write.
__global__ void keeps_to_its_own(memory of) {
  int own[4];
  int* first = own;
  for (int i = 0; i < 4; ++i) first[i] = static_cast<int>(threadIdx.x) + i;
  const int other = __shfl_down_sync(~0u, own[threadIdx.x % 4], 1);
  of.result[threadIdx.x] = other + __ldg(of.data + threadIdx.x);
}

__global__ void local_of_another(memory of) {
  __shared__ int* where;
  int own = 5;
  if (threadIdx.x == 0) where = &own;
  __syncthreads();
  if (threadIdx.x == 1) *of.result = *where;  // mark: another's variable read
  __syncthreads();
  if (threadIdx.x == 0) of.result[1] = own;
}

__global__ void atomic_on_local(memory of) {
  int own = 0;
  of.result[threadIdx.x] = atomicAdd(&own, 1);  // mark: own variable added to
}

__global__ void lane_that_has_ended(memory of) {
  if (threadIdx.x == 0) return;
  const int sum = __shfl_sync(~0u, of.data[threadIdx.x], 0);  // mark: ended lane read
  of.result[threadIdx.x] = sum;
}

__global__ void read_only_load(memory of) {
  of.result[threadIdx.x] = of.data[0];  // mark: written where it is read-only
  __syncthreads();
  if (threadIdx.x == 1) of.data[1] = __ldg(of.result);  // mark: read-only load
}

__global__ void writes_the_first(int* out) { *out = 1; }

__device__ void write_and_meet(int* shared, int value) {
  shared[threadIdx.x] = value;
  __syncthreads();
}

template <bool is_right>
__global__ void meets_in_a_function(memory of) {
  __shared__ int shared[threads];
  const int own = static_cast<int>(threadIdx.x);
  if (is_right) {
    for (int round = 0; round < 4; ++round) write_and_meet(shared, own + round);
    if (gridDim.x == 1) write_and_meet(shared, own);
  } else if (threadIdx.x % 2 == 0) {
    write_and_meet(shared, own);  // mark: meets in one branch
  } else {
    write_and_meet(shared, -own);  // mark: meets in the other branch
  }
  of.result[threadIdx.x] = shared[threadIdx.x];
}

__global__ void adds_to_constant(memory) {
  if (threadIdx.x == 0) atomicAdd(const_cast<int*>(constants), 1);  // mark: constant added to
}

__global__ void past_the_end(memory of) {
  of.data[blocks * threads + threadIdx.x] = 1;  // mark: past the end
}

__global__ void past_the_end_of_shared(memory of) {
  __shared__ int values[threads];
  values[threadIdx.x + 1] = 1;  // mark: past the end of shared
  __syncthreads();
  of.result[threadIdx.x] = values[threads - 1];
}

__global__ void past_the_end_of_dynamic(memory of) {
  extern __shared__ int elements[];
  elements[threadIdx.x + 1] = 1;  // mark: past the end of dynamic
  __syncthreads();
  of.result[threadIdx.x] = elements[threads - 1];
}

__global__ void waits_for_later_block(memory of) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == gridDim.x - 1) {
    atomicExch(of.counter, 1u);
  } else {
    while (atomicAdd(of.counter, 0) == 0) {
    }
  }
}

__global__ void waits_by_plain_reads(memory of) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    while (*static_cast<volatile unsigned*>(of.counter) == 0) {
    }
  } else if (blockIdx.x == 1) {
    *static_cast<volatile unsigned*>(of.counter) = 1;
  }
}

__global__ void half_a_barrier(memory of) {
  if (threadIdx.x % 2 == 0) __syncthreads();
  if (threadIdx.x % 2 == 1) {
    while (atomicAdd(of.counter, 0) == 0) {
    }
  }
}

__global__ void endless(memory of) {
  volatile unsigned count = 0;
  while (of.data[0] == 0) count = count + 1;
}

__global__ void exits(memory of) {
  of.result[threadIdx.x] = 1;
  if (threadIdx.x == 3) std::exit(0);
}

__global__ void throws(memory of) {
  of.result[threadIdx.x] = 1;
  if (threadIdx.x == 3) throw std::runtime_error("thrown by a kernel");
}

__global__ void host_pointer(const int* host, int* result) { *result = *host; }

// One thread alone asks for the variable, at the end of a condition and in a loop: the compiler
// must not read it for all of them.
__device__ int asked_for;
__global__ void asked_by_one_thread(memory of) {
  const unsigned thread = threadIdx.x;
  if (thread == 0 && asked_for == 0) of.result[0] = 1;
  int sum = 0;
  for (unsigned i = 0; i < 2; ++i) {
    if (of.result[thread * 2 + i] != 0) sum += asked_for;
  }
  if (thread == 0) asked_for = sum + 1;
}

__global__ void nothing_to_see() {}
