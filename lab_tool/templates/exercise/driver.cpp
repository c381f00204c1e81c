// SPDX-License-Identifier: MIT
#include <cstddef>

#include "runner/runner.hpp"

void exercise_name(const int* values, std::size_t count, int* doubled, unsigned blocks,
                   unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("exercise_name", exercise_name)});
}
