// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void barrier_in_a_branch(const int* values, std::size_t n, int* reversed, unsigned blocks,
                         unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv,
                        {exercises::function("barrier_in_a_branch", barrier_in_a_branch)});
}
