// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void distances(unsigned* values, unsigned n, unsigned* largest_of_block, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("distances", distances)});
}
