// SPDX-License-Identifier: MIT
// What the race checker costs if there is no conflict: the processor time per checked access, and
// the shadow memory per byte of data, for different numbers of accesses and threads.
//   meson test -C build-cpu --benchmark racecheck_benchmark -v
// It prints a table in Markdown. docs/internals/racecheck.md shows a recorded run of it.
#include <cuda_runtime.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

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

// The number of times that each launch is measured. An odd one.
constexpr std::size_t runs = 5;

// Time of the processor: one OS thread does all of the work, and others may be running beside it.
double processor_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The median.
template <class Launch>
double seconds(Launch launch) {
  std::array<double, runs> took;
  for (double& each : took) {
    const double begin = processor_seconds();
    launch();
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
    each = processor_seconds() - begin;
  }
  std::sort(took.begin(), took.end());
  return took[runs / 2];
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

// The median time of launch(data), which accesses all `elements` of data, and the most memory. The
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

// One row of the table. `count` is the number of what the time is divided by.
void print_row(const std::string& what, double count, double seconds, const std::string& memory) {
  const double nanoseconds = seconds / count * 1e9;
  char time[32];
  if (nanoseconds < 10'000) {
    std::snprintf(time, sizeof time, "%.1f ns", nanoseconds);
  } else {
    std::snprintf(time, sizeof time, "%.1f us", nanoseconds / 1e3);
  }
  std::printf("| %s | %s | %s |\n", what.c_str(), time, memory.c_str());
  std::fflush(stdout);
}

void print_row(const std::string& what, double count, const cost& of) {
  char memory[32];
  std::snprintf(memory, sizeof memory, "%.1f", of.bytes_a_byte);
  print_row(what, count, of.seconds, memory);
}

std::string power_of_two(std::size_t value) {
  unsigned exponent = 0;
  while (value >> exponent > 1) ++exponent;
  return "2^" + std::to_string(exponent);
}

// Where and when: what a recorded run has to say.
void print_circumstances() {
  std::string processor = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    processor = line.substr(line.find(':') + 2);
    break;
  }
  char date[16] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
#ifdef __clang__
  const char* const compiler = __VERSION__;
#else
  const char* const compiler = "g++ " __VERSION__;
#endif
  // Other programs on the same cores make the figures larger.
  double load = 0;
  (void)getloadavg(&load, 1);
  std::printf(
      "%s, %ld cores, load average %.1f before the run; %s; %s; the medians of %zu runs\n\n",
      processor.c_str(), sysconf(_SC_NPROCESSORS_ONLN), load, compiler, date, runs);
}

void measure_plain_accesses() {
  for (const unsigned threads : {1u << 10, 1u << 14, 1u << 18}) {
    const unsigned elements = 16, rounds = 4;
    const cost of = measure<int>(std::size_t{threads} * elements, [=](int* data) {
      own_elements<<<threads / 256, 256>>>(data, elements, rounds);
    });
    print_row("an access, each of " + power_of_two(threads) + " threads to its own elements",
              2.0 * threads * elements * rounds, of);
  }
  for (const std::size_t elements :
       {std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 24}) {
    const cost of =
        measure<int>(elements, [=](int* data) { grid_stride<<<8, 256>>>(data, elements); });
    print_row("an access in a grid-stride loop over " + power_of_two(elements) + " elements",
              2.0 * elements, of);
  }
  for (const unsigned blocks : {1u, 8u, 64u}) {
    constexpr std::size_t elements = 1 << 12;
    int* sums = allocate<int>(std::size_t{blocks} * 256);
    const cost of = measure<int>(
        elements, [=](int* data) { read_by_all<<<blocks, 256>>>(data, elements, sums); });
    print_row("an access, all threads of " + std::to_string(blocks) +
                  (blocks == 1 ? " block" : " blocks") + " of 256 read the same 2^12 elements",
              256.0 * blocks * elements, of);
    (void)cudaFree(sums);
  }
  constexpr std::size_t bytes = std::size_t{1} << 22;
  int* any = allocate<int>(1);  // of the elements that are not zero: none
  print_row("an access, three neighbouring threads read each element", 3.0 * bytes / 4,
            measure<int>(bytes / 4,
                         [=](int* data) { add_neighbours<<<8, 256>>>(data, bytes / 4, any); }));
  constexpr std::size_t few_blocks = 1 << 14;
  print_row("an access, the 256 threads of a block read each element", 2.0 * few_blocks * 256,
            measure<int2>(few_blocks,
                          [=](int2* data) { read_by_block<<<few_blocks, 256>>>(data, any); }));
  (void)cudaFree(any);
  print_row("an access to a single byte", 2.0 * bytes,
            measure<unsigned char>(
                bytes, [=](unsigned char* data) { grid_stride<<<8, 256>>>(data, bytes); }));
  print_row("an access to a word of 8 bytes", 2.0 * bytes / 8,
            measure<long long>(bytes / 8,
                               [=](long long* data) { grid_stride<<<8, 256>>>(data, bytes / 8); }));
}

void measure_atomics() {
  for (const std::size_t elements :
       {std::size_t{1} << 16, std::size_t{1} << 18, std::size_t{1} << 20}) {
    const cost of = measure<unsigned>(
        elements, [=](unsigned* data) { update_atomically<<<8, 256>>>(data, elements); });
    print_row("an atomic, one for each of " + power_of_two(elements) + " elements",
              static_cast<double>(elements), of);
  }
  for (const std::size_t elements : {std::size_t{1} << 16, std::size_t{1} << 20}) {
    const cost of = measure<unsigned>(elements, [=](unsigned* data) {
      update_atomically_by_all_blocks<<<8, 256>>>(data, elements);
    });
    print_row(
        "an atomic, one of each of 8 blocks for each of " + power_of_two(elements) + " elements",
        8.0 * elements, of);
  }
}

void measure_synchronization() {
  for (const unsigned blocks : {8u, 64u, 1024u}) {
    int* partials = allocate<int>(blocks);
    const double time = seconds([&] { halving_tree<<<blocks, 256>>>(partials); });
    print_row("a thread of a halving tree with ten barriers, in " + std::to_string(blocks) +
                  " blocks of 256",
              256.0 * blocks, time, "");
    (void)cudaFree(partials);
  }
  for (const unsigned blocks : {8u, 64u, 256u, 1024u}) {
    unsigned* counter = allocate<unsigned>(1);
    const double time = seconds([&] { tickets<<<blocks, 256>>>(counter); });
    print_row("a block that takes a ticket with two fences, in a grid of " + std::to_string(blocks),
              blocks, time, "");
    (void)cudaFree(counter);
  }
}

}  // namespace

int main() {
  print_circumstances();
  std::puts("| what is measured | processor time | shadow memory per byte of data |");
  std::puts("| --- | ---: | ---: |");
  measure_plain_accesses();
  measure_atomics();
  measure_synchronization();
}
