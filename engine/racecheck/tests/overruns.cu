// SPDX-License-Identifier: MIT
// Kernels that run out of shared memory, or of what they have allocated themselves, each in its own
// way: overruns_test.py expects racecheck to name the variable, the index, the line and the thread.
// `overruns CASE` runs one.
#include <cuda_runtime.h>

#include <cuda/atomic>
#include <cuda/barrier>

#include "racecheck/tests/cases.hpp"

namespace {

constexpr int threads = 64;

__global__ void doubled(int* out) {
  __shared__ int s[64];
  s[2 * threadIdx.x] = 1;  // mark: doubled
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

// Between two that fill whole pages, so that nothing but the checker keeps them apart.
template <int by>
__global__ void shifted(int* out) {
  __shared__ int before[1024];
  __shared__ int s[64];
  __shared__ int after[1024];
  before[threadIdx.x] = s[threadIdx.x] = after[threadIdx.x] = 0;
  __syncthreads();
  s[static_cast<int>(threadIdx.x) + by] = 1;  // mark: shifted
  __syncthreads();
  out[threadIdx.x] = before[threadIdx.x] + s[threadIdx.x] + after[threadIdx.x];
}

struct pair_of_arrays {
  int first[16];
  float second[16];
};

__global__ void structure(int* out) {
  __shared__ pair_of_arrays s;
  s.second[threadIdx.x] = 1;  // mark: structure
  __syncthreads();
  out[threadIdx.x] = static_cast<int>(s.second[threadIdx.x / 8]);
}

__global__ void dynamic(int* out, int by) {
  extern __shared__ int elements[];
  elements[static_cast<int>(threadIdx.x) + by] = 1;  // mark: dynamic
  __syncthreads();
  out[threadIdx.x] = threadIdx.x == 0;
}

__global__ void misaligned(int* out, const char* bytes) {
  out[threadIdx.x] = static_cast<int>(*reinterpret_cast<const double*>(bytes + 4));  // mark: double
}

__global__ void misaligned_in_dynamic(int* out) {
  extern __shared__ char raw[];
  double* words = reinterpret_cast<double*>(raw + 12);
  words[0] = 1;  // mark: word of dynamic memory
  out[threadIdx.x] = raw[0];
}

struct pair {
  double x, y;
};
struct numbered_pair {
  long long number;
  pair values;
};

// All right: 8 bytes are enough for a pair, which is copied as 16.
__global__ void aligned(int* out) {
  __shared__ numbered_pair pairs[64];
  pairs[threadIdx.x] = {1, {2, 3}};
  __syncthreads();
  __shared__ pair copies[64];
  copies[threadIdx.x] = pairs[threadIdx.x].values;
  out[threadIdx.x] = static_cast<int>(copies[threadIdx.x].x);
}

// All right: the last element of one, the first of the next.
__global__ void fits(int* out) {
  __shared__ int first[64];
  __shared__ int second[1024];
  first[threadIdx.x] = second[1023 - threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = first[63 - threadIdx.x] + second[960 + threadIdx.x];
}

using counter = cuda::atomic<int, cuda::thread_scope_block>;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// The compiler may keep a variable for each of these that says whether it is constructed, and reads
// it before each use.
struct point {
  int x, y;
  point() = default;
  __device__ point(int both) : x(both), y(both) {}
};
struct left_empty {
  int x;
  __device__ left_empty() {}
};
struct stage {
  block_barrier full;
  counter count;
};
__shared__ counter counters_of_file[64];

template <class Type>
__device__ int in_template(int i) {
  __shared__ Type values[64];
  values[i].store(i);
  __syncthreads();
  return values[63 - i].load();
}

// All right.
__global__ void constructed(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ block_barrier full[2];
  __shared__ stage stages[2];
  __shared__ counter rows[8][8];
  __shared__ alignas(128) point points[64];
  __shared__ left_empty one, many[64];
  if (i == 0) {
    for (int each = 0; each < 2; ++each) {
      init(&full[each], threads);
      init(&stages[each].full, threads);
      stages[each].count.store(0);
    }
    one.x = 1;
  }
  rows[i / 8][i % 8].store(i);
  points[i] = point(i);
  many[i].x = i;
  counters_of_file[i].store(i);
  __syncthreads();
  for (int each = 0; each < 2; ++each) {
    __shared__ counter in_loop[64];
    in_loop[i].store(i);
    full[each].arrive_and_wait();
    stages[each].count.fetch_add(in_loop[63 - i].load());
    stages[each].full.arrive_and_wait();
  }
  out[i] = rows[7 - i / 8][7 - i % 8].load() + points[63 - i].y + many[63 - i].x + one.x +
           counters_of_file[63 - i].load() + in_template<counter>(i) + stages[1].count.load();
}

__global__ void past_atomics(int* out) {
  __shared__ counter values[64];
  values[threadIdx.x].store(1);
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x + 1].load();  // mark: atomics
}

__device__ int* allocated;

// So that no compiler warns of memory that was freed.
[[gnu::noinline]] __device__ int read_at(const int* at) { return *at; }       // mark: read_at
[[gnu::noinline]] __device__ void delete_all(int* array) { delete[] array; }  // mark: delete

enum class heap_mistake { none, past_the_end, unwritten, after_free, freed_twice, after_delete };

template <heap_mistake wrong>
__global__ void uses_heap(int* out) {
  auto* const mine = static_cast<int*>(malloc(16));  // mark: malloc
  for (int i = 0; i < 4; ++i) {
    if (wrong != heap_mistake::unwritten || i != 2) mine[i] = i;
  }
  int* const array = new int[8];  // mark: new
  for (int i = 0; i < 8; ++i) array[i] = i;
  out[0] = mine[wrong == heap_mistake::past_the_end ? 4 : 3];  // mark: past the malloc
  out[1] = read_at(mine + 2) + read_at(array + 7);
  delete_all(array);
  if (wrong == heap_mistake::after_delete) out[2] = read_at(array);
  free(mine);  // mark: free
  if (wrong == heap_mistake::after_free) out[2] = read_at(mine + 1);
  if (wrong == heap_mistake::freed_twice) free(mine);  // mark: second free
}

__global__ void allocates() {
  allocated = new int[8];  // mark: new for all
  for (int i = 0; i < 8; ++i) allocated[i] = i;
}
__global__ void frees(int* out) {
  if (blockIdx.x == 0) {
    delete[] allocated;  // mark: delete for all
  } else {
    out[0] = read_at(allocated);
  }
}
__global__ void reads(int* out) { out[threadIdx.x] = allocated[threadIdx.x % 4]; }  // mark: reads

const struct {
  const char* name;
  void (*run)(int* out);
} cases[] = {
    {"doubled", [](int* out) { doubled<<<1, threads>>>(out); }},
    {"past_the_end", [](int* out) { shifted<64><<<1, threads>>>(out); }},
    {"one_past_the_end", [](int* out) { shifted<65><<<1, threads>>>(out); }},
    {"one_before", [](int* out) { shifted<-1><<<1, threads>>>(out); }},
    {"before", [](int* out) { shifted<-64><<<1, threads>>>(out); }},
    {"structure", [](int* out) { structure<<<1, threads>>>(out); }},
    {"past_dynamic", [](int* out) { dynamic<<<1, threads, threads * sizeof(int)>>>(out, 64); }},
    {"no_dynamic", [](int* out) { dynamic<<<1, threads>>>(out, 0); }},
    {"before_dynamic", [](int* out) { dynamic<<<1, threads, threads * sizeof(int)>>>(out, -64); }},
    {"misaligned",
     [](int* out) { misaligned<<<1, threads>>>(out, reinterpret_cast<const char*>(out)); }},
    {"in_dynamic", [](int* out) { misaligned_in_dynamic<<<1, threads, 64>>>(out); }},
    {"aligned", [](int* out) { aligned<<<1, threads>>>(out); }},
    {"fits", [](int* out) { fits<<<1, threads>>>(out); }},
    {"heap", [](int* out) { uses_heap<heap_mistake::none><<<1, 1>>>(out); }},
    {"past_the_heap", [](int* out) { uses_heap<heap_mistake::past_the_end><<<1, 1>>>(out); }},
    {"unwritten_heap", [](int* out) { uses_heap<heap_mistake::unwritten><<<1, 1>>>(out); }},
    {"after_free", [](int* out) { uses_heap<heap_mistake::after_free><<<1, 1>>>(out); }},
    {"after_delete", [](int* out) { uses_heap<heap_mistake::after_delete><<<1, 1>>>(out); }},
    {"freed_twice", [](int* out) { uses_heap<heap_mistake::freed_twice><<<1, 1>>>(out); }},
    {"freed_by_another_block",
     [](int* out) {
       allocates<<<1, 1>>>();
       frees<<<2, 1>>>(out);
     }},
    {"freed_in_a_launch_before",
     [](int* out) {
       allocates<<<1, 1>>>();
       frees<<<1, 1>>>(out);
       reads<<<1, 1>>>(out);
     }},
    {"heap_of_a_launch_before",
     [](int* out) {
       allocates<<<1, 1>>>();
       reads<<<1, threads>>>(out);
       frees<<<1, 1>>>(out);
     }},
    {"constructed", [](int* out) { constructed<<<1, threads>>>(out); }},
    {"past_atomics", [](int* out) { past_atomics<<<1, threads>>>(out); }},
};

}  // namespace

int main(int count, char** words) {
  for (const auto& each : cases) {
    if (count != 2 || std::strcmp(each.name, words[1]) != 0) continue;
    int* const out = zeros(threads);
    std::puts("printed before the launch");
    each.run(out);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  return 2;
}
