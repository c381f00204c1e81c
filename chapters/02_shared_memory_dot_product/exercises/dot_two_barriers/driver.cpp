// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>

#include "runner/runner.hpp"

void dot_two_barriers(const std::int64_t* a, const std::int64_t* b, std::size_t n,
                      std::int64_t* partials, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("dot_two_barriers", dot_two_barriers)});
}
