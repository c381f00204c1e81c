// SPDX-License-Identifier: MIT
#include "runner/runner.hpp"

void wide_totals(const unsigned long long* values, unsigned long long* totals, unsigned count,
                 unsigned* next_tile, unsigned* states, unsigned long long* sums, unsigned threads);

int main(int argc, char** argv) {
  return exercises::run(argc, argv, {exercises::function("wide_totals", wide_totals)});
}
