// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void epilogue_too_early(const int* a, int* c, std::size_t n, unsigned long long* total,
                        unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv,
                        {exercises::function("epilogue_too_early", epilogue_too_early)});
}
