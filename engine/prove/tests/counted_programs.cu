// SPDX-License-Identifier: MIT
// Locks, a barrier, queues and a stack, each in a case whose executions another tool has counted.
// counted_programs_test.py has them explored. The argument is a name. One thread per block.
//
// A pointer is the number of a node and, above it, how often the word has been replaced.
//
// A block that takes an item, and whose compare-and-swap or second look comes too late, begins
// again without having changed anything. It notes that, since the other tool does not count such
// executions. The last number that is printed says how many blocks did.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/atomic>

namespace {

using word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed;
constexpr auto acquire = cuda::memory_order_acquire;
constexpr auto release = cuda::memory_order_release;
constexpr auto acq_rel = cuda::memory_order_acq_rel;

constexpr unsigned no_node = 0;
constexpr unsigned replaced_once = 1u << 16;

__device__ unsigned node_of(unsigned pointer) { return pointer % replaced_once; }
__device__ unsigned count_of(unsigned pointer) { return pointer - node_of(pointer); }
__device__ unsigned pointer_to(unsigned node, unsigned replaced) {
  return node + count_of(replaced) + replaced_once;
}

struct shared_words {
  unsigned word[3];  // strong; what they are differs
  unsigned next[6];  // of a node; strong
  unsigned value[6];
  unsigned out[2];
  unsigned has_begun_again[3];
};

__device__ void begins_again(shared_words* with) { with->has_begun_again[blockIdx.x] = 1; }

__device__ bool replaces(shared_words* with, const word& at, unsigned& expected, unsigned desired,
                         cuda::memory_order success, cuda::memory_order failure) {
  const bool is_done = at.compare_exchange_strong(expected, desired, success, failure);
  if (!is_done) begins_again(with);
  return is_done;
}

__global__ void ticket_lock(shared_words* with) {
  const word next(with->word[0]), owner(with->word[1]);
  const unsigned ticket = next.fetch_add(1, relaxed);
  while (owner.load(acquire) != ticket) {
  }
  ++with->value[0];
  owner.store(ticket + 1, release);
}

__global__ void test_and_test_and_set_lock(shared_words* with) {
  const word state(with->word[0]);
  for (;;) {
    while (state.load(relaxed) != 0) {
    }
    if (state.exchange(1, acquire) == 0) break;
  }
  ++with->value[0];
  state.store(0, release);
}

__global__ void barrier(shared_words* with) {
  const word waiting(with->word[0]), step(with->word[1]);
  if (blockIdx.x == 0) with->value[0] = 42;
  const unsigned before = step.load(acquire);
  if (waiting.fetch_add(1, acq_rel) == gridDim.x - 1) {
    waiting.store(0, relaxed);
    step.fetch_add(1, release);
  } else {
    while (step.load(acquire) == before) {
    }
  }
  if (blockIdx.x == 1) with->out[0] = with->value[0];
}

// One word counts the writes that have begun and, above them, the reads.
__global__ void bounded_queue(shared_words* with) {
  constexpr unsigned size = 4;
  const word begun(with->word[0]), read(with->word[1]), written(with->word[2]);
  if (blockIdx.x == 0) {
    unsigned now = begun.load(acquire);
    do {
      if (now % replaced_once == now / replaced_once + size) return;
    } while (!replaces(with, begun, now, now + 1, acq_rel, acquire));
    const unsigned reads = now / replaced_once;
    while (read.load(acquire) != reads) {
    }
    with->value[now % replaced_once % size] = 1;
    written.fetch_add(1, release);
    return;
  }
  for (;;) {
    unsigned now = begun.load(acquire);
    do {
      if (now % replaced_once == now / replaced_once) return;
    } while (!replaces(with, begun, now, now + replaced_once, acq_rel, acquire));
    const unsigned writes = now % replaced_once;
    while (written.load(acquire) != writes) {
    }
    with->out[now / replaced_once] = with->value[now / replaced_once % size];
    read.fetch_add(1, release);
  }
}

__device__ void push(shared_words* with, unsigned node, unsigned value) {
  const word top(with->word[0]), next(with->next[node]);
  with->value[node] = value;
  for (;;) {
    unsigned old = top.load(acquire);
    next.store(old, relaxed);
    if (top.compare_exchange_strong(old, pointer_to(node, old), release, relaxed)) return;
  }
}

__device__ unsigned pop(shared_words* with) {
  const word top(with->word[0]);
  for (;;) {
    unsigned old = top.load(acquire);
    if (node_of(old) == no_node) return 0;
    const unsigned next = word(with->next[node_of(old)]).load(relaxed);
    const unsigned node = node_of(old);
    if (replaces(with, top, old, pointer_to(node_of(next), old), release, relaxed)) {
      return with->value[node];
    }
  }
}

// Two push, and one pops.
__global__ void treiber_stack(shared_words* with) {
  const unsigned own = blockIdx.x + 1;
  if (blockIdx.x < 2) {
    word(with->word[own]).store(17, relaxed);
    push(with, own, own);
    return;
  }
  const unsigned popped = pop(with);
  if (popped != 0) with->out[0] = word(with->word[popped]).load(relaxed);
}

__device__ void enqueue(shared_words* with, unsigned node, unsigned value) {
  const word tail(with->word[1]);
  with->value[node] = value;
  word(with->next[node]).store(count_of(word(with->next[node]).load(relaxed)), relaxed);
  unsigned last = 0;
  for (bool is_done = false; !is_done;) {
    last = tail.load(acquire);
    const word after(with->next[node_of(last)]);
    unsigned next = after.load(acquire);
    if (last != tail.load(relaxed)) continue;
    if (node_of(next) == no_node) {
      is_done = after.compare_exchange_strong(next, pointer_to(node, next), release, relaxed);
    }
    if (!is_done) {
      const unsigned found = node_of(after.load(acquire));
      tail.compare_exchange_strong(last, pointer_to(found, last), release, relaxed);
    }
  }
  tail.compare_exchange_strong(last, pointer_to(node, last), release, relaxed);
}

__device__ void dequeue(shared_words* with, unsigned* value) {
  const word head(with->word[0]), tail(with->word[1]);
  for (;;) {
    unsigned first = head.load(acquire);
    unsigned last = tail.load(relaxed);
    const unsigned next = word(with->next[node_of(first)]).load(acquire);
    if (head.load(relaxed) != first) {
      begins_again(with);
      continue;
    }
    if (node_of(first) == node_of(last)) {
      if (node_of(next) == no_node) return;
      tail.compare_exchange_strong(last, pointer_to(node_of(next), last), release, relaxed);
    } else {
      *value = with->value[node_of(next)];
      const unsigned after = pointer_to(node_of(next), first);
      if (replaces(with, head, first, after, release, relaxed)) return;
    }
  }
}

// Each adds a node and takes one. Node 1 is the first one.
__global__ void michael_scott_queue(shared_words* with) {
  enqueue(with, blockIdx.x + 2, 10 + blockIdx.x);
  dequeue(with, &with->out[blockIdx.x]);
}

struct program {
  const char* name;
  void (*kernel)(shared_words*);
  unsigned blocks;
  unsigned first_words[3];
};

constexpr program programs[] = {
    {"ticket lock", ticket_lock, 2, {0, 0, 0}},
    {"test-and-test-and-set lock", test_and_test_and_set_lock, 2, {0, 0, 0}},
    {"barrier", barrier, 2, {0, 0, 0}},
    {"bounded queue", bounded_queue, 2, {1, 0, 1}},
    {"Treiber stack", treiber_stack, 3, {no_node, 0, 0}},
    {"Michael-Scott queue", michael_scott_queue, 2, {1, 1, 0}},
};

}  // namespace

int main(int count, char** words) {
  for (const program& each : programs) {
    if (count != 2 || std::strcmp(each.name, words[1]) != 0) continue;
    shared_words* with = nullptr;
    if (cudaMallocManaged(&with, sizeof *with) != cudaSuccess) return 1;
    *with = {};
    for (int i = 0; i < 3; ++i) with->word[i] = each.first_words[i];
    each.kernel<<<each.blocks, 1>>>(with);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    unsigned begun_again = 0;
    for (const unsigned each : with->has_begun_again) begun_again += each;
    for (const unsigned value : with->out) std::printf("%u ", value);
    std::printf("%u %u\n", with->value[0], begun_again);
    return cudaFree(with) == cudaSuccess ? 0 : 1;
  }
  std::fputs("the argument is the name of a program\n", stderr);
  return 2;
}
