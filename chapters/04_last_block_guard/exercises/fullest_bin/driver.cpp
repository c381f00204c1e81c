// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void fullest_bin(const unsigned char* values, std::size_t count, unsigned* bins, unsigned* arrived,
                 unsigned* fullest, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("fullest_bin", fullest_bin)});
}
