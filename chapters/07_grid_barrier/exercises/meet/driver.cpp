// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void mix(unsigned* from, unsigned* to, unsigned n, unsigned rounds, unsigned* words,
         unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("mix", mix)});
}
