// SPDX-License-Identifier: MIT
// What a CUDA thread and a barrier cost on the CPU backend, on one multiprocessor, beside a plain
// serial loop over the same data. Every figure is the median of several runs, taken in turn with
// the others.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int runs = 9;
constexpr std::int64_t most_threads = 1 << 24;

__global__ void vector_add(const int* a, const int* b, int* c, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void barriers_only(int* out, int barriers) {
  for (int round = 0; round < barriers; ++round) __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = barriers;
}

// A thread's first barrier gives it a stack of its own, so each of few barriers costs more than
// each of many: as many as a tree over the block has, and enough to forget the first.
constexpr int few = 9;
constexpr int many = 64;

__attribute__((noinline)) void serial_add(const int* a, const int* b, int* c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "cpu_backend_benchmark: %s\n", what);
  std::exit(1);
}

double nanoseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// The median time of each, all of them run once before and then in turn.
std::vector<double> medians(const std::vector<std::function<void()>>& works) {
  std::vector<std::vector<double>> times(works.size());
  for (const auto& work : works) work();
  for (int run = 0; run < runs; ++run) {
    for (std::size_t k = 0; k < works.size(); ++k) {
      const std::size_t which = run % 2 == 0 ? k : works.size() - 1 - k;
      times[which].push_back(nanoseconds(works[which]));
    }
  }
  std::vector<double> result;
  for (auto& each : times) {
    std::nth_element(each.begin(), each.begin() + runs / 2, each.end());
    result.push_back(each[runs / 2]);
  }
  return result;
}

struct arrays {
  int *a, *b, *c;
};

void check_sum(const arrays& of, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    require(of.c[i] == static_cast<int>(3 * i), "the sum is wrong, so its time means nothing");
    of.c[i] = -1;
  }
}

void print_row(std::int64_t threads, int block, const arrays& of) {
  const auto blocks = static_cast<unsigned>((threads + block - 1) / block);
  const unsigned barrier_blocks = blocks / 4 + 1;  // a quarter, so that no row takes long
  const auto launch_add = [&] { vector_add<<<blocks, block>>>(of.a, of.b, of.c, threads); };
  const auto launch_few = [&] { barriers_only<<<barrier_blocks, block>>>(of.c, few); };
  const auto launch_many = [&] { barriers_only<<<barrier_blocks, block>>>(of.c, many); };
  launch_add();
  check_sum(of, threads);
  const auto times = medians(
      {launch_add, launch_few, launch_many, [&] { serial_add(of.a, of.b, of.c, threads); }});
  require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
  const auto all = static_cast<double>(threads);
  const double barrier_threads = static_cast<double>(barrier_blocks) * block;
  std::printf("%10lld %7d %12.2f %15.2f %15.2f %12.2f\n", static_cast<long long>(threads), block,
              times[0] / all, times[1] / (barrier_threads * few),
              times[2] / (barrier_threads * many), times[3] / all);
}

}  // namespace

int main() {
  // Before the first CUDA call: afterwards the number of multiprocessors stands.
  require(setenv("LAB_SMS", "1", 1) == 0, "could not set LAB_SMS");
  arrays of{};
  for (int** each : {&of.a, &of.b, &of.c}) {
    require(cudaMallocManaged(each, most_threads * sizeof(int)) == cudaSuccess, "out of memory");
  }
  for (std::int64_t i = 0; i < most_threads; ++i) {
    of.a[i] = static_cast<int>(i);
    of.b[i] = static_cast<int>(2 * i);
    of.c[i] = -1;
  }
  const auto barriers = [](int count) { return "one of " + std::to_string(count); };
  std::printf("one multiprocessor, medians of %d runs, nanoseconds\n", runs);
  std::printf("%18s %12s %31s %12s\n", "", "a thread", "a thread at a barrier", "an element of");
  std::printf("%10s %7s %12s %15s %15s %12s\n", "threads", "block", "without",
              barriers(few).c_str(), barriers(many).c_str(), "serial loop");
  for (int block = 1; block <= 1024; block *= 4) print_row(1 << 22, block, of);
  for (std::int64_t threads = 1 << 10; threads <= most_threads; threads *= 4) {
    print_row(threads, 256, of);
  }
}
