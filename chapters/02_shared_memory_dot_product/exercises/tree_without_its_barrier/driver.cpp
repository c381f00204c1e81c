// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void totals_of_blocks(const int* values, std::size_t n, int* totals, unsigned blocks,
                      unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("totals_of_blocks", totals_of_blocks)});
}
