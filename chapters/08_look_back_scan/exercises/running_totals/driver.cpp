// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void running_totals(const unsigned* values, unsigned* totals, unsigned count, unsigned* counter,
                    unsigned long long* status, unsigned earlier, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("running_totals", running_totals)});
}
