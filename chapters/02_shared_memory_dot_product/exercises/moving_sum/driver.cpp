// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void moving_sum(const int* values, std::size_t count, int* sums, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("moving_sum", moving_sum)});
}
