// SPDX-License-Identifier: MIT
// What a CUDA thread and a barrier cost on the CPU backend, on one multiprocessor, beside a plain
// serial loop over the same data. Every figure is the median of several runs, taken in turn with
// the others, of work whose result was checked before and after.
//
//   cpu_backend_benchmark [--quick] [--json FILE]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int all_runs = 9;
constexpr int quick_runs = 5;
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

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// One thing that is timed: `elements` is what its time is divided by.
struct subject {
  const char* task;
  const char* name;
  const char* part;
  double elements;
  std::uint64_t bytes;
  std::function<void()> work;
};

// The times of each, all of them run once before and then in turn, sorted.
std::vector<std::vector<double>> times_of(const std::vector<subject>& subjects, int runs) {
  std::vector<std::vector<double>> times(subjects.size());
  for (const subject& each : subjects) each.work();
  for (int run = 0; run < runs; ++run) {
    for (std::size_t k = 0; k < subjects.size(); ++k) {
      const std::size_t which = run % 2 == 0 ? k : subjects.size() - 1 - k;
      times[which].push_back(milliseconds(subjects[which].work));
    }
  }
  for (auto& each : times) std::sort(each.begin(), each.end());
  return times;
}

// The rows of the JSON file, as `lab bench` reads them.
std::string json_rows;

void add_json_row(const subject& of, std::int64_t threads, int block,
                  const std::vector<double>& sorted) {
  // The numbers of runs are odd and one more than a multiple of four: all three are runs.
  const std::size_t last = sorted.size() - 1;
  char text[512];
  std::snprintf(text, sizeof text,
                "{\"chapter\": \"cpu_backend\", \"task\": \"%s\", \"type\": \"\", "
                "\"elements\": %.0f, \"threads\": %lld, \"block\": %d, \"data\": \"memory\", "
                "\"inputs\": 1, \"name\": \"%s\", \"part\": \"%s\", \"bytes\": %llu, "
                "\"median_ms\": %.9g, \"lower_quartile_ms\": %.9g, \"upper_quartile_ms\": %.9g, "
                "\"minimum_ms\": %.9g, \"maximum_ms\": %.9g, \"rounds\": %zu, "
                "\"calls_in_a_row\": 1, \"ratios\": []}",
                of.task, of.elements, static_cast<long long>(threads), block, of.name, of.part,
                static_cast<unsigned long long>(of.bytes), sorted[last / 2], sorted[last / 4],
                sorted[last - last / 4], sorted[0], sorted[last], sorted.size());
  json_rows += (json_rows.empty() ? "\n" : ",\n") + std::string(text);
}

void write_json(const char* path, int runs) {
  std::FILE* const file = std::fopen(path, "w");
  require(file != nullptr, "the file after --json cannot be written");
  std::fprintf(file,
               "{\n\"device\": {\"name\": \"CPU backend\", \"multiprocessors\": 1},\n"
               "\"rounds\": %d,\n\"not_run\": [],\n\"rows\": [%s]\n}\n",
               runs, json_rows.c_str());
  require(std::ferror(file) == 0 && std::fclose(file) == 0, "the JSON file cannot be written");
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

void check_barriers(const arrays& of, unsigned blocks, int barriers) {
  for (unsigned block = 0; block < blocks; ++block) {
    require(of.c[block] == barriers, "a block is missing, so the barriers' time means nothing");
    of.c[block] = -1;
  }
}

void add_row(std::int64_t threads, int block, const arrays& of, int runs) {
  const auto blocks = static_cast<unsigned>((threads + block - 1) / block);
  const unsigned barrier_blocks = blocks / 4 + 1;  // a quarter, so that no row takes long
  const double barrier_threads = static_cast<double>(barrier_blocks) * block;
  const auto all = static_cast<double>(threads);
  const auto bytes = 3 * sizeof(int) * static_cast<std::uint64_t>(threads);
  const std::vector<subject> subjects = {
      {"vector add", "kernel", "variant", all, bytes,
       [&] { vector_add<<<blocks, block>>>(of.a, of.b, of.c, threads); }},
      {"a thread at a barrier", "nine_barriers", "variant", barrier_threads * few, 0,
       [&] { barriers_only<<<barrier_blocks, block>>>(of.c, few); }},
      {"a thread at a barrier", "sixty_four_barriers", "variant", barrier_threads * many, 0,
       [&] { barriers_only<<<barrier_blocks, block>>>(of.c, many); }},
      {"vector add", "serial_loop", "peer", all, bytes,
       [&] { serial_add(of.a, of.b, of.c, threads); }}};
  const auto check_all = [&] {
    subjects[0].work();
    require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
    check_sum(of, threads);
    subjects[1].work();
    require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
    check_barriers(of, barrier_blocks, few);
    subjects[2].work();
    require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
    check_barriers(of, barrier_blocks, many);
    subjects[3].work();
    check_sum(of, threads);
  };
  check_all();
  const auto times = times_of(subjects, runs);
  require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
  check_all();

  std::printf("%10lld %7d", static_cast<long long>(threads), block);
  for (std::size_t k = 0; k < subjects.size(); ++k) {
    const std::vector<double>& sorted = times[k];
    const int width = k == 0 || k == 3 ? 12 : 15;
    std::printf(" %*.2f", width, sorted[sorted.size() / 2] * 1e6 / subjects[k].elements);
    add_json_row(subjects[k], threads, block, sorted);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  const char* json_file = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      quick = true;
    } else if (word == "--json" && i + 1 < argc) {
      json_file = argv[++i];
    } else {
      std::fprintf(stderr,
                   "cpu_backend_benchmark: '%s' is not understood; there are --quick and "
                   "--json FILE\n",
                   word.c_str());
      return 2;
    }
  }
  const int runs = quick ? quick_runs : all_runs;

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
  if (!quick) {
    for (int block = 1; block <= 1024; block *= 4) add_row(1 << 22, block, of, runs);
  }
  for (std::int64_t threads = 1 << 10; threads <= most_threads; threads *= quick ? 32 : 4) {
    add_row(threads, 256, of, runs);
  }
  if (json_file != nullptr) write_json(json_file, runs);
}
