// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void brighten(const unsigned char* pixels, unsigned char* brightened, std::size_t n,
              unsigned amount, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("brighten", brighten)});
}
