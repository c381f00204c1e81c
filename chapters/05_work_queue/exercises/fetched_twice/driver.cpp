// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void fetched_twice(int* pixels, unsigned tiles, unsigned* next, unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("fetched_twice", fetched_twice)});
}
