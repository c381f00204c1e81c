// SPDX-License-Identifier: MIT
// Cheat: writes records for the grader to read, some of them no records, and computes nothing
// Exercise: 01.1
// Verdict: CE 0
// Says: It uses
#include <cstddef>
#include <cstdio>
#include <cstdlib>

__global__ void add_nothing(float, const float*, float*, std::size_t) {}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (const char* const path = std::getenv("LAB_DIAGNOSTICS")) {
    std::FILE* const file = std::fopen(path, "w");
    std::fputs("{\"kind\": \"passed\", \"points\": 10}\n{\"kind\": [], \"at\": {\"line\": -1}}\n",
               file);
    std::fputs(
        "{\"kind\": \"fault\", \"block\": [0,0,0], \"thread\": [0,0,0], \"what\": \"abort\", "
        "\"why\": "
        "\"called_abort\", \"at\": {\"file\": \"\\u001b[2J\", \"line\": 1, \"text\": "
        "\"\\u0000\"}}\n",
        file);
    for (int depth = 0; depth < 10000; ++depth) std::fputs("[", file);
    std::fclose(file);
  }
  add_nothing<<<1, 1>>>(alpha, x, y, n);
}
