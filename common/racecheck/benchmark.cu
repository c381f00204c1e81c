// SPDX-License-Identifier: MIT
// What the race checker costs where there is no conflict: time for each checked access, and memory
// for each checked byte, over the number of accesses and of threads.
//   meson test --benchmark racecheck_benchmark -v
#include <cuda_runtime.h>
#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Each thread reads and writes neighbouring elements of its own, `rounds` times.
__global__ void own_elements(int* data, unsigned elements_a_thread, unsigned rounds) {
  int* const mine = data + (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * elements_a_thread;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < elements_a_thread; ++i) mine[i] = mine[i] + 1;
  }
}

// All threads of the grid in turn, as in a grid-stride loop.
template <class T>
__global__ void grid_stride(T* data, std::size_t elements) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements;
       i += stride)
    data[i] = static_cast<T>(data[i] + 1);
}

// Each element is read by three threads.
__global__ void add_neighbours(const int* data, std::size_t elements, int* any) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i + 2 < elements;
       i += stride)
    if (data[i] + data[i + 1] + data[i + 2] != 0) *any = 1;
}

// Every thread of a block reads one element, as in a list of work.
__global__ void read_by_block(const int2* data, int* any) {
  if (data[blockIdx.x].x + data[blockIdx.x].y != 0) *any = 1;
}

// Every thread reads all elements.
__global__ void read_by_all(const int* data, std::size_t elements, int* sums) {
  int sum = 0;
  for (std::size_t i = 0; i < elements; ++i) sum += data[i];
  sums[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

// Each element is updated by one atomic, of the grid's threads in turn.
__global__ void update_atomically(unsigned* data, std::size_t elements) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements;
       i += stride)
    atomicAdd(data + i, 1u);
}

// The same by each block.
__global__ void update_atomically_by_all_blocks(unsigned* data, std::size_t elements) {
  for (std::size_t i = threadIdx.x; i < elements; i += blockDim.x) atomicAdd(data + i, 1u);
}

__global__ void halving_tree(int* partials) {
  __shared__ int sums[256];
  sums[threadIdx.x] = 1;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = sums[0];
}

__global__ void tickets(unsigned* counter) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(counter, 1u);
    __threadfence();
  }
  __syncthreads();
}

template <class Launch>
double seconds(Launch launch) {
  using clock = std::chrono::steady_clock;
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const auto begin = clock::now();
    launch();
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
    const double took = std::chrono::duration<double>(clock::now() - begin).count();
    if (took < least) least = took;
  }
  return least;
}

// A line of /proc/self/status, in bytes.
double status(const char* name) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  double kilobytes = -1;
  while (file && kilobytes < 0 && std::fgets(line, sizeof line, file)) {
    if (std::strncmp(line, name, std::strlen(name)) == 0) {
      kilobytes = std::strtod(line + std::strlen(name) + 1, nullptr);
    }
  }
  if (file) std::fclose(file);
  if (kilobytes < 0) {
    std::printf("/proc/self/status has no %s\n", name);
    std::exit(1);
  }
  return 1024 * kilobytes;
}

// From here on the peak of the memory in use counts.
void forget_peak() {
  malloc_trim(0);  // What is free already must not serve for what is counted.
  std::FILE* file = std::fopen("/proc/self/clear_refs", "w");
  const bool done = file && std::fputs("5", file) >= 0;
  if (!file || std::fclose(file) != 0 || !done) {
    std::puts("/proc/self/clear_refs can't be written, so no peak can be measured");
    std::exit(1);
  }
}

template <class T>
T* allocate(std::size_t elements) {
  T* data = nullptr;
  if (cudaMalloc(&data, elements * sizeof(T)) != cudaSuccess ||
      cudaMemset(data, 0, elements * sizeof(T)) != cudaSuccess) {
    std::puts("no memory");
    std::exit(1);
  }
  return data;
}

__global__ void do_nothing() {}

struct cost {
  double seconds;
  double bytes_a_byte;
};

// Of launch(data), which accesses all `elements` of data: the least time, and the most memory. The
// stacks of its threads do not count: they are there before, from the same launch with other
// memory.
template <class T, class Launch>
cost measure(std::size_t elements, Launch launch) {
  T* other = allocate<T>(elements);
  seconds([&] { launch(other); });
  (void)cudaFree(other);
  T* data = allocate<T>(elements);
  // What the checker remembers of a launch goes at the begin of the next one.
  do_nothing<<<1, 1>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
  forget_peak();
  const double before = status("VmRSS:");
  const double time = seconds([&] { launch(data); });
  const double grown = status("VmHWM:") - before;
  (void)cudaFree(data);
  return {time, grown / static_cast<double>(elements * sizeof(T))};
}

}  // namespace

int main() {
  std::puts("own elements: threads, accesses, ns an access, bytes of shadow a byte");
  for (const unsigned threads : {1u << 10, 1u << 14, 1u << 18}) {
    const unsigned elements = 16, rounds = 4;
    const cost of = measure<int>(std::size_t{threads} * elements, [=](int* data) {
      own_elements<<<threads / 256, 256>>>(data, elements, rounds);
    });
    const double accesses = 2.0 * threads * elements * rounds;
    std::printf("%8u %12.0f %8.1f %8.1f\n", threads, accesses, of.seconds / accesses * 1e9,
                of.bytes_a_byte);
  }

  std::puts("grid-stride, 8 blocks of 256: elements, ns an access, bytes of shadow a byte");
  for (const std::size_t elements :
       {std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 24}) {
    const cost of =
        measure<int>(elements, [=](int* data) { grid_stride<<<8, 256>>>(data, elements); });
    std::printf("%12zu %8.1f %8.1f\n", elements, of.seconds / (2.0 * elements) * 1e9,
                of.bytes_a_byte);
  }

  std::puts("one atomic for each element: elements, ns an atomic, bytes of shadow a byte");
  for (const std::size_t elements :
       {std::size_t{1} << 16, std::size_t{1} << 18, std::size_t{1} << 20}) {
    const cost of = measure<unsigned>(
        elements, [=](unsigned* data) { update_atomically<<<8, 256>>>(data, elements); });
    std::printf("%12zu %8.1f %8.1f\n", elements, of.seconds / elements * 1e9, of.bytes_a_byte);
  }

  std::puts(
      "all read by every thread of blocks of 256: blocks, ns an access, bytes of shadow a byte");
  for (const unsigned blocks : {1u, 8u, 64u}) {
    constexpr std::size_t elements = 1 << 12;
    int* sums = allocate<int>(std::size_t{blocks} * 256);
    const cost of = measure<int>(
        elements, [=](int* data) { read_by_all<<<blocks, 256>>>(data, elements, sums); });
    std::printf("%12u %8.1f %8.1f\n", blocks, of.seconds / (256.0 * blocks * elements) * 1e9,
                of.bytes_a_byte);
    (void)cudaFree(sums);
  }

  std::puts("other accesses of 4 MiB: ns an access, bytes of shadow a byte");
  constexpr std::size_t bytes = std::size_t{1} << 22;
  const auto print = [](const char* name, double accesses, const cost& of) {
    std::printf("%-44s %8.1f %8.1f\n", name, of.seconds / accesses * 1e9, of.bytes_a_byte);
  };
  print("single bytes, read and written", 2.0 * bytes,
        measure<unsigned char>(bytes,
                               [=](unsigned char* data) { grid_stride<<<8, 256>>>(data, bytes); }));
  print("single words of 8 bytes", 2.0 * bytes / 8,
        measure<long long>(bytes / 8,
                           [=](long long* data) { grid_stride<<<8, 256>>>(data, bytes / 8); }));
  int* any = allocate<int>(1);  // of the elements that are not zero: none
  print("each read by three neighbouring threads", 3.0 * bytes / 4,
        measure<int>(bytes / 4,
                     [=](int* data) { add_neighbours<<<8, 256>>>(data, bytes / 4, any); }));
  constexpr std::size_t few_blocks = 1 << 14;
  print("each read by a block's 256 threads", 2.0 * few_blocks * 256,
        measure<int2>(few_blocks,
                      [=](int2* data) { read_by_block<<<few_blocks, 256>>>(data, any); }));
  (void)cudaFree(any);

  std::puts("an atomic of each of 8 blocks for each element: elements, ns and bytes an atomic");
  for (const std::size_t elements : {std::size_t{1} << 16, std::size_t{1} << 20}) {
    const cost of = measure<unsigned>(elements, [=](unsigned* data) {
      update_atomically_by_all_blocks<<<8, 256>>>(data, elements);
    });
    std::printf("%12zu %8.1f %8.1f\n", elements, of.seconds / (8.0 * elements) * 1e9,
                of.bytes_a_byte * sizeof(unsigned) / 8);
  }

  std::puts("halving tree: blocks of 256, ns a thread, of which 10 barriers");
  for (const unsigned blocks : {8u, 64u, 1024u}) {
    int* partials = allocate<int>(blocks);
    const double time = seconds([&] { halving_tree<<<blocks, 256>>>(partials); });
    std::printf("%12u %8.1f\n", blocks, time / (256.0 * blocks) * 1e9);
    (void)cudaFree(partials);
  }

  std::puts("a ticket with two fences: blocks of 256, microseconds a block");
  for (const unsigned blocks : {8u, 64u, 256u, 1024u}) {
    unsigned* counter = allocate<unsigned>(1);
    const double time = seconds([&] { tickets<<<blocks, 256>>>(counter); });
    std::printf("%12u %8.1f\n", blocks, time / blocks * 1e6);
    (void)cudaFree(counter);
  }
}
