// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void guided_chunks(int* values, unsigned* first_of, unsigned items, unsigned* next, unsigned blocks,
                   unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("guided_chunks", guided_chunks)});
}
