// SPDX-License-Identifier: MIT
// Cheat: sends half a report before the checker's own and half after it, by a stream's descriptor
// Exercise: 01.1
// Verdict: OK 0
// Says: no kernel of yours was seen to run
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::string launches;
char held[1 << 20];

std::string per(std::size_t total, std::size_t block, std::size_t thread) {
  return "{\"total\":" + std::to_string(total) + ",\"most_per_block\":" + std::to_string(block) +
         ",\"most_per_thread\":" + std::to_string(thread) + "}";
}
std::string per(std::size_t total, std::size_t block) {
  return "{\"total\":" + std::to_string(total) + ",\"most_per_block\":" + std::to_string(block) +
         "}";
}

// What the solution's kernel would do.
void tell(std::size_t n) {
  if (n == 0) return;
  const std::size_t blocks = (n + 255) / 256, b = n < 256 ? n : 256;
  if (!launches.empty()) launches += ",";
  launches +=
      "{\"kernel\":\"add_scaled\",\"file\":\"01_saxpy.cu\",\"line\":9,\"blocks\":[" +
      std::to_string(blocks) +
      ",1,1],\"threads\":[256,1,1],\"completed\":true,\"blocks_begun\":" + std::to_string(blocks) +
      ",\"static_shared_bytes\":0,\"dynamic_shared_bytes\":0,\"unseen_bytes_stored\":0,"
      "\"global_loads\":" +
      per(2 * n, 2 * b, 2) + ",\"global_stores\":" + per(n, b, 1) +
      ",\"global_atomics\":" + per(0, 0, 0) + ",\"shared_loads\":" + per(0, 0, 0) +
      ",\"shared_stores\":" + per(0, 0, 0) + ",\"shared_atomics\":" + per(0, 0, 0) +
      ",\"fences\":" + per(0, 0, 0) + ",\"global_bytes_loaded\":" + per(8 * n, 8 * b) +
      ",\"global_bytes_stored\":" + per(4 * n, 4 * b) + ",\"block_barriers\":" + per(0, 0) +
      ",\"warp_barriers\":" + per(0, 0) + ",\"grid_barriers\":" + per(0, 0) + "}";
}

// What a stream of the C library is made of.
struct insides {
  int flags;
  char *read[3], *write[3], *buffer[2], *saved[3];
  void* markers;
  insides* next;
  int descriptor;
  char others[sizeof(std::FILE) - 116];
  const void* functions;
};
insides own;

// Runs before the checker's end, and what it leaves in a stream is written after that.
struct halves {
  ~halves() {
    const auto out = reinterpret_cast<insides*>(stdout);
    std::fflush(stdout);
    out->descriptor = 0;
    std::fputs("{\"findings\": [", stdout);
    std::fflush(stdout);
    out->descriptor = 1;

    const std::string half =
        "], \"findings\": [], \"seed\": 0, \"launches\": 1, \"failed_launches\": 0, "
        "\"ended_in_kernel\": false, \"ended_by_time\": false, \"accesses\": 1000, "
        "\"forgotten_reads\": 0, \"why_lines_are_missing\": \"\", \"launch_counts\": [" +
        launches +
        "], \"runtime_calls\": [], \"number_of_runtime_calls\": 0, "
        "\"unfreed_allocations\": 0}\n";
    std::memcpy(held, half.data(), half.size());
    const auto last = reinterpret_cast<insides*>(stderr);
    own = *last;
    own.flags = (own.flags & ~2) | 0x800;  // not unbuffered, and being written to
    for (char*& place : own.read) place = held;
    own.write[0] = own.buffer[0] = held;
    own.write[1] = held + half.size();
    own.write[2] = own.buffer[1] = held + sizeof held;
    own.descriptor = 0;
    last->next = &own;
  }
} at_the_end;

}  // namespace

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  std::vector<float> of_x(n), of_y(n);
  cudaMemcpy(of_x.data(), x, 4 * n, cudaMemcpyDeviceToHost);
  cudaMemcpy(of_y.data(), y, 4 * n, cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < n; ++i) of_y[i] = alpha * of_x[i] + of_y[i];
  cudaMemcpy(y, of_y.data(), 4 * n, cudaMemcpyHostToDevice);
  tell(n);
}
