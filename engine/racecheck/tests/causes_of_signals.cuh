// SPDX-License-Identifier: MIT
// Cases of causes.cu: locks, flags and other signals.
#pragma once

#include <cuda/atomic>

#include "racecheck/tests/cases.hpp"

using device_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;

// ---- Locks

__global__ void lock_opened_plainly(int* lock, int* sum) {
  while (device_ref(*lock).exchange(1, cuda::memory_order_acquire) != 0) {  // mark: lock taken
  }
  *sum += 1;
  __threadfence();
  *lock = 0;  // mark: lock opened
}

__global__ void lock_on_one_side(int* lock, int* sum) {
  if (blockIdx.x == 0) {
    *sum += 2;  // mark: added without the lock
    return;
  }
  while (atomicCAS(lock, 0, 1) != 0) {  // mark: lock of one side
  }
  __threadfence();
  *sum += 1;  // mark: added under the lock
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void lock_of_some(int* lock, int* sum) {
  const bool locks = blockIdx.x != 0;
  while (locks && atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *sum += 1;  // mark: added by all
  __threadfence();
  if (locks) atomicExch(lock, 0);
}

__global__ void lock_opened_by_volatile(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {  // mark: lock of a volatile
  }
  __threadfence();
  *sum += 1;
  *const_cast<volatile int*>(lock) = 0;  // mark: opened by a volatile
}

// The flag is checked again under the lock, and that is right; the first check is not.
__global__ void double_checked(int* ready, int* lock, int* table, int* out) {
  if (*ready == 0) {  // mark: checked without the lock
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    if (*ready == 0) {
      *table = 42;
      *ready = 1;  // mark: set under the lock
    }
    __threadfence();
    atomicExch(lock, 0);
  }
  out[blockIdx.x] = *table;
}

// A sum is no flag: a thread that reads it takes the lock.
__global__ void sum_checked(int* lock, int* sum, int* out) {
  if (blockIdx.x == 0) {
    if (*sum > 2) *out = 1;  // mark: sum checked
    return;
  }
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *sum += 1;  // mark: sum increased
  __threadfence();
  atomicExch(lock, 0);
}

// Volatile data needs the lock as well, and in a block a barrier does not take its place.
template <class Value>
__global__ void booked(int* lock, Value* balance) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *balance = 10;  // mark: booked under the lock
    __threadfence();
    atomicExch(lock, 0);
  } else if (thread == 32) {
    *balance = 20;  // mark: booked without the lock
  }
}

template <class Value>
__global__ void write_after_unlock(int* lock, Value* place, int* seen) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *seen = *place;  // mark: seen under the lock
  __threadfence();
  atomicExch(lock, 0);              // mark: unlocked
  if (blockIdx.x == 0) *place = 1;  // mark: written after the unlock
}

__device__ void unlock(int* lock) { device_ref(*lock).store(0, cuda::memory_order_release); }

__global__ void write_after_unlock_function(int* lock, int* place, int* seen) {
  while (device_ref(*lock).exchange(1, cuda::memory_order_acquire) != 0) {
  }
  *seen = *place;                   // mark: seen in between
  unlock(lock);                     // mark: unlock called
  if (blockIdx.x == 0) *place = 1;  // mark: written after the call
}

template <class Value, bool Fences>
__global__ void read_after_signal(int* given, Value* cell, int* copy) {
  if (blockIdx.x == 0) {
    *copy = *cell;
    __threadfence();
    atomicExch(given, 1);  // mark: cell given
    *copy = *cell;         // mark: read once more
  } else {
    while (atomicAdd(given, 0) == 0) {
    }
    if (Fences) __threadfence();
    *cell = 7;  // mark: cell of the other block
  }
}

// ---- Rounds

__device__ void meet(int* arrived, int all) {
  device_ref(*arrived).fetch_add(1, cuda::memory_order_acq_rel);
  while (device_ref(*arrived).load(cuda::memory_order_acquire) < all) {
  }
}

// One meeting in each round: the next round may write while this one is still read.
template <class Value>
__global__ void one_meeting(Value* words, int* arrived, int* copies) {
  const unsigned mine = blockIdx.x, other = 1 - blockIdx.x;
  for (int round = 1; round <= 3; ++round) {
    words[mine] = round;  // mark: word of the round
    meet(arrived, 2 * round);
    copies[mine] += words[other];  // mark: other's word
  }
}

// The producer does not wait until its last item has been taken.
__global__ void no_way_back(int* item, int* sent, int* out) {
  for (int round = 1; round <= 3; ++round) {
    if (blockIdx.x == 0) {
      *item = round;  // mark: item replaced
      device_ref(*sent).store(round, cuda::memory_order_release);
    } else {
      while (device_ref(*sent).load(cuda::memory_order_acquire) < round) {
      }
      out[round] = *item;  // mark: item of the round
    }
  }
}

// ---- Atomics that order nothing

// Each thread counts, and none waits for the count.
__global__ void count_beside(int* counter, int* data) {
  data[threadIdx.x] = static_cast<int>(blockIdx.x);  // mark: stored by each block
  atomicAdd(counter, 1);
}

// The key tells that the value is there before it is.
__global__ void table_insert(int* keys, int* values, int* out) {
  const int mine = static_cast<int>(threadIdx.x) + 1;
  const int slot = mine * 7 % 64;
  const int old = atomicCAS(&keys[slot], 0, mine);
  if (old == 0) {
    values[slot] = mine * 10;  // mark: value written
  } else if (old == mine) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = values[slot];  // mark: value found
  }
}

// The end of the queue moves before the item is in it.
__global__ void queue(int* head, int* tail, int* items, int* out) {
  if (blockIdx.x == 0) {
    const int slot = atomicAdd(tail, 1);
    items[slot] = static_cast<int>(threadIdx.x);  // mark: item put
  } else {
    const int slot = atomicAdd(head, 1);
    while (device_ref(*tail).load(cuda::memory_order_acquire) <= slot) {
    }
    out[threadIdx.x] = items[slot];  // mark: item taken
  }
}

// Here the atomic only hands out the work: it tells no thread of what another one has done.
__global__ void fetched_neighbours(int* next, int* data, int* out) {
  for (int i = atomicAdd(next, 1); i < 32; i = atomicAdd(next, 1)) {
    data[i] = i;                      // mark: own one done
    if (i > 0) out[i] = data[i - 1];  // mark: neighbour's read
  }
}

// The reader looks at the sequence before and after, which does not make plain data atomic.
__global__ void seqlock(int* sequence, int* data, int* out) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < 5; ++i) {
      device_ref(*sequence).store(2 * i + 1, cuda::memory_order_relaxed);
      __threadfence();
      *data = i;  // mark: data between
      device_ref(*sequence).store(2 * i + 2, cuda::memory_order_release);
    }
  } else {
    int before, after, seen;
    do {
      before = device_ref(*sequence).load(cuda::memory_order_acquire);
      seen = *data;  // mark: data seen
      __threadfence();
      after = device_ref(*sequence).load(cuda::memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    *out = seen;
  }
}

// ---- Releases

// What comes before the flag is ordered by the fences: the flag alone is no atomic.
__global__ void volatile_flag(volatile int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    *flag = 1;  // mark: volatile flag set
  } else {
    while (*flag == 0) {  // mark: volatile flag polled
    }
    __threadfence();
    *out = *data;
  }
}

__global__ void read_after_release(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    __threadfence();
    atomicExch(flag, 1);  // mark: released early
    *out = *data;         // mark: read late
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *data = 7;  // mark: written over
  }
}

__global__ void sequence_ended(int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;                                               // mark: first data
    device_ref(*flag).store(1, cuda::memory_order_release);  // mark: released
  } else if (blockIdx.x == 1) {
    while (device_ref(*flag).load(cuda::memory_order_acquire) != 1) {
    }
    device_ref(*flag).store(2, cuda::memory_order_relaxed);  // mark: sequence ended
  } else {
    while (device_ref(*flag).load(cuda::memory_order_acquire) != 2) {
    }
    *out = *data;  // mark: last read
  }
}

// Thread 0 waits, and the others of its block do not wait for it.
__global__ void rounds(int* values, int* done, int* out) {
  const unsigned t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (blockIdx.x == 0) {
      values[round * blockDim.x + t] = round;  // mark: round written
      __syncthreads();
      if (t == 0) device_ref(*done).store(round + 1, cuda::memory_order_release);
    } else {
      while (t == 0 && device_ref(*done).load(cuda::memory_order_acquire) <= round) {
      }
      out[t] += values[round * blockDim.x + t];  // mark: round read
      __syncthreads();
    }
  }
}

// ---- All on one or two lines, where the lines alone do not tell what comes first
// clang-format off
__global__ void read_after_release_on_one_line(int* p) { if (blockIdx.x == 0) { __threadfence(); atomicExch(&p[1], 1); p[2] = p[0]; }  // mark: released and read
  else { while (!atomicAdd(&p[1], 0)) {} __threadfence(); p[0] = 7; } }  // mark: waited and written

__global__ void rounds_on_two_lines(int* m, int* done, int* out) { int t = threadIdx.x;
  for (int c = 0; c < 3; c++)
    if (blockIdx.x == 0) { m[c * 64 + t] = c; __syncthreads(); if (t == 0) device_ref(*done).store(c + 1, cuda::memory_order_release); }  // mark: whole writer
    else { if (t == 0) while (device_ref(*done).load(cuda::memory_order_acquire) <= c) {} out[t] += m[c * 64 + t]; __syncthreads(); } }  // mark: whole reader
// clang-format on
