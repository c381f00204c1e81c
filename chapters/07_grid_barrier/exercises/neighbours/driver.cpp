// SPDX-License-Identifier: MIT
#include "runner/late_block.hpp"
#include "runner/runner.hpp"

void drift(unsigned* from, unsigned* to, unsigned n, unsigned steps, unsigned* done,
           unsigned blocks, unsigned threads);

// The same, and the last block begins when the first one has done as many steps as there are blocks
// after it. If a block waits for the whole grid, the first one does not get that far.
static void drift_late(unsigned* from, unsigned* to, unsigned n, unsigned steps, unsigned* done,
                       unsigned blocks, unsigned threads) {
  exercises::delay_last_block(done, steps);
  drift(from, to, n, steps, done, blocks, threads);
}

int main(int argc, char** argv) {
  return exercises::run(
      argc, argv,
      {exercises::function("drift", drift), exercises::function("drift_late", drift_late)});
}
