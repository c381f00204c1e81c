// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void block_maximum(const int* values, std::size_t n, int* maxima, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("block_maximum", block_maximum)});
}
