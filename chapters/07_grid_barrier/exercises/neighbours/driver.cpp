// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void drift(unsigned* from, unsigned* to, unsigned n, unsigned steps, unsigned* done, unsigned late,
           unsigned blocks, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("drift", drift)});
}
